/** What the planner's numbers mean, in sentences. */
import type { Planned, PlannedOption } from "../parts/api_types.js";
import { atMost, times } from "../parts/at_most.js";
import { count, figure } from "../parts/format.js";
import { accuracyWords, marginWords, type Measure } from "../questions/accuracy.js";
import type { ErrorName, PlanState } from "./planner_state.js";

const long = new Intl.NumberFormat("en", { notation: "compact", compactDisplay: "long", maximumFractionDigits: 1 });

/** What each error is called. */
export const ERRORS: Record<ErrorName, string> = {
  margin: "Margin of one answer (95\u00a0%)",
  l2: "L2 over all answers",
  error: "Largest error",
};

/** 1,200,000 as "1.2 million people". */
export const peopleWords = (n: number): string => `${long.format(n)} people`;

/** How far apart the likelihoods of one report may be, and how that is usually judged. */
export function epsilonWords(epsilon: number): string {
  const apart = `a report is at most ${times(Math.exp(epsilon))} times likelier after one answer than after another`;
  if (epsilon <= 0.5) return `${apart}: very private`;
  if (epsilon <= 1) return `${apart}: private`;
  if (epsilon <= 2) return `${apart}: usual`;
  return `${apart}: weak, and devices refuse it unless their owner allows more than 2`;
}

/** What an error of that size means. */
export function errorWords(name: ErrorName, measure: Measure, value: number): string {
  if (name === "margin") return `${measure.one} is known to about ${marginWords(measure, value)}, 95 times in 100`;
  if (name === "l2") return "expected distance between all estimated answers and the true ones";
  return "expected largest error of any round";
}

/** The answer in a few large words, and the sentence that goes with it. */
export function headline({ solve }: PlanState, measure: Measure, found: Planned): { large: string; sentence: string } {
  const people = `${count(found.users)} people`;
  const epsilon = `epsilon ${figure(found.epsilon)}`;
  const exact = exactness(measure, found);
  if (solve === "users") return { large: people, sentence: `are needed at ${epsilon}. ${exact}` };
  if (solve === "epsilon") return { large: epsilon, sentence: `is needed with ${people}. ${exact}` };
  if (solve === "rounds") return { large: `${count(found.rounds ?? 0)} rounds`, sentence: `can be asked of ${people} at ${epsilon}. ${exact}` };
  const large = found.margin === null ? `Error below ${figure(atMost(found.error ?? NaN))}` : marginWords(measure, found.margin);
  return { large, sentence: `With ${people} at ${epsilon}: ${exact.charAt(0).toLowerCase()}${exact.slice(1)}` };
}

/** Both errors of a question; the one error of a panel. */
function exactness(measure: Measure, { answers, margin, l2, rounds, error, users }: Planned): string {
  if (margin !== null && l2 !== null) return accuracyWords(measure, margin, l2, answers);
  const each = count(Math.round(users / (rounds ?? 1)));
  return `The largest error over ${count(rounds ?? 1)} rounds is expected to stay below ${figure(atMost(error ?? NaN))}; about ${each} people answer each round.`;
}

/** What each design is called beside the others: by its mechanism alone, where all have one strategy. */
export function shortNames(options: readonly PlannedOption[]): Map<string, string> {
  const alike = new Set(options.map(({ strategy }) => strategy)).size === 1;
  return new Map(options.map(({ name, mechanism }) => [name, spaced((alike ? mechanism : null) ?? name)]));
}

/** Names of designs without underscores. */
export const spaced = (text: string): string => text.replaceAll("_", " ");

/** The collector's words with their numbers as people write them: 1e-05 as 0.00001. */
export const readable = (text: string): string =>
  text.replace(/(?<![\w.])\d+(?:\.\d+)?e[+-]?\d+\b/gu, (number) => figure(Number(number)));

/** "1 byte", "2,048 bytes". */
export const bytesWords = (bytes: number): string => `${count(bytes)} byte${bytes === 1 ? "" : "s"}`;

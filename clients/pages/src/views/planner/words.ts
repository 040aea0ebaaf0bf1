/** What the planner's numbers mean, in sentences. */
import type { Planned, PlannedComparison, PlannedOption } from "../../parts/api_types.js";
import { atMost, times } from "../../parts/promise.js";
import { count, counted, figure, percent, setting } from "../../parts/format.js";
import { accuracyWords, marginWords } from "../../questions/accuracy.js";
import { type Measure } from "../../questions/kinds.js";
import type { ErrorName, PlanState, Solved } from "./state.js";

const long = new Intl.NumberFormat("en", { notation: "compact", compactDisplay: "long", maximumFractionDigits: 1 });

/** What each error is called. */
export const ERRORS: Record<ErrorName, string> = {
  margin: "Margin of one answer (95\u00a0%)",
  l2: "L2 over all answers",
  error: "Largest error",
  change: "Smallest change seen between two periods",
  share: "Least share of a word that is found (90\u00a0%)",
  difference: "Smallest difference seen between two groups",
};

/** 1,200,000 as "1.2 million people". */
export const peopleWords = (n: number): string => `${long.format(n)} people`;

/** What unequal groups are like. */
export const ratioWords = (ratio: number): string =>
  ratio === 1 ? "groups of equal size, which take the fewest people" : `the second group is ${figure(ratio)} times as large`;

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
  if (name === "change") return `a change of ${changeWords(measure, value)} is found significant 80 times in 100 (at 95\u00a0%)`;
  if (name === "difference") return `a difference of ${changeWords(measure, value)} in one answer is significant (at 5\u00a0%, two-sided)`;
  if (name === "share") return `a word that ${percent(value)} of the people have is found 9 times in 10`;
  return "expected largest error of any round";
}

/** The answer in a few large words, and the sentence that goes with it. */
export function headline({ solve, criterion }: PlanState, measure: Measure, found: Planned): { large: string; sentence: string } {
  const people = counted(found.people, "person", "people");
  const epsilon = `epsilon ${setting(found.epsilon)}`;
  const told = `${exactness(measure, found)}${recallWords(found)}`;
  const exact = found.tracking === null ? told : `In each period ${small(told)}`;
  if (found.comparison) return comparedHeadline(solve, measure, found, found.comparison);
  if (solve === "people") return { large: people, sentence: `are needed at ${epsilon}. ${exact}` };
  if (solve === "epsilon") return { large: epsilon, sentence: `is needed with ${people}. ${exact}` };
  if (solve === "rounds") return { large: counted(found.rounds ?? 0, "round"), sentence: `can be asked of ${people} at ${epsilon}. ${exact}` };
  if (found.tracking !== null && criterion === "change") {
    return { large: changeWords(measure, found.tracking.change), sentence: `is the smallest change between two periods that is seen (at 95\u00a0%, 80 times in 100), with ${people} at ${epsilon}. ${exact}` };
  }
  if (found.recall && criterion === "share") {
    return { large: percent(found.recall.share), sentence: `of the people must have a word for it to be found 9 times in 10, with ${people} at ${epsilon}. ${exactness(measure, found)}` };
  }
  const large = found.margin === null ? `Error below ${figure(atMost(found.error ?? NaN))}` : marginWords(measure, found.margin);
  return { large, sentence: `With ${people} at ${epsilon}: ${small(exact)}` };
}

/** The same of two groups: how many people show which difference. */
function comparedHeadline(solve: Solved, measure: Measure, found: Planned, { groups, difference, power }: PlannedComparison): { large: string; sentence: string } {
  const [first = 0, second = 0] = groups;
  const people = first === second ? `${count(first)} people in each of two groups` : `${count(first)} people in one group and ${count(second)} in the other`;
  const epsilon = `epsilon ${setting(found.epsilon)}`;
  const apart = changeWords(measure, difference);
  const often = `${figure(100 * power)} times in 100 (at 5\u00a0%, two-sided)`;
  if (solve === "people") return { large: people, sentence: `show a difference of ${apart} in one answer at ${epsilon}, ${often}: ${count(found.people)} people in all.` };
  if (solve === "epsilon") return { large: epsilon, sentence: `is needed for ${people} to show a difference of ${apart} in one answer, ${often}.` };
  return { large: apart, sentence: `is the smallest difference in one answer that is seen with ${people} at ${epsilon}, ${often}.` };
}

/** What a plan of two groups leaves to be said. */
export function comparisonWords(measure: Measure, found: Planned): string[] {
  if (found.comparison === null) return [];
  const which = found.comparison.ratio === 1 ? "In each group" : "In the first group";
  return [
    `${which} ${small(exactness(measure, found))}`,
    "It is the power of one answer, looked at once. A test that is watched, and stopped when it is significant, takes two to three times as many people.",
    "With more than two groups, as many people in each of them show that difference between any two.",
    "Groups are public: they are sent in the open, and cost no epsilon.",
  ];
}

/** Which words are found, of those that take longest. */
const recallWords = ({ recall }: Planned): string =>
  recall ? ` A word that ${percent(recall.share)} of them have is found ${percent(recall.probability)} of the time, however long it is.` : "";

/** The words with a small first letter, to continue a sentence. */
const small = (text: string): string => text.charAt(0).toLowerCase() + text.slice(1);

/** Both errors of a question; the one error of a panel. */
function exactness(measure: Measure, { answers, margin, l2, expected_l2: expected, rounds, error, people }: Planned): string {
  if (margin !== null && l2 !== null) return accuracyWords(measure, margin, l2, answers, expected);
  const each = count(Math.round(people / (rounds ?? 1)));
  return `The largest error over ${counted(rounds ?? 1, "round")} is expected to stay below ${figure(atMost(error ?? NaN))}; about ${each} people answer each round.`;
}

/** A change in points of a share, or in the answer's unit. */
const changeWords = (measure: Measure, change: number): string => marginWords(measure, change).replace("± ", "");

/** What a tracking survey comes to beside its error: people per period, the change that is seen, and what everybody's answer in every period would cost. */
export function trackingWords(measure: Measure, { tracking, people, epsilon }: Planned): string[] {
  if (tracking === null) return [];
  const { window, windows, periods, people_per_period: each, epsilon_in_all: all, change, every_period: every } = tracking;
  const once = `Everybody answers in one of ${windows === 1 ? "" : "every "}${count(window)} periods, so each period has about ${count(each)} of the ${count(people)} people.`;
  const added = all === null ? `which adds up without an end: ${figure(4 * epsilon)} in 4 windows` : `and ${figure(all)} over all ${count(periods ?? 0)}`;
  const loss =
    windows === 1
      ? `A person's whole history costs epsilon ${setting(epsilon)}, once.`
      : `A person's history costs epsilon ${setting(epsilon)} in each window of ${count(window)} periods, ${figure(2 * epsilon)} for any ${count(window)} periods, ${added}.`;
  const seen = `The smallest change between two periods that is seen, at 95\u00a0% and 80 times in 100, is ${changeWords(measure, change)}.`;
  const margin = every.margin === null ? "" : ` With the same people the margin would be ${marginWords(measure, every.margin)}.`;
  const cost =
    every.people === null || every.times === null
      ? `Answering in every period at epsilon ${figure(every.epsilon)} would not do: ${every.reason}.${margin}`
      : `If everybody answered in every period instead, at epsilon ${figure(every.epsilon)} each, the same error would take ${count(every.people)} people, ${figure(every.times)} times as many.${margin}`;
  return [once, loss, seen, cost];
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

/** What the planner's numbers mean, in sentences. */
import { atMost, times } from "../parts/at_most.js";
import { count, figure } from "../parts/format.js";
import type { Kind, PlanState } from "./planner_state.js";

const long = new Intl.NumberFormat("en", { notation: "compact", compactDisplay: "long", maximumFractionDigits: 1 });

/** The errors of all mechanisms over one axis; null where one cannot serve. */
export interface Curve {
  x: number[];
  series: { name: string; y: (number | null)[] }[];
}

/** What the collector's planner answers. */
export interface PlanAnswer {
  solved_for: string;
  epsilon: number;
  users: number;
  target_error: number;
  rounds: number | null;
  margin: number | null;
  best: { name: string; report_bytes: number; l2: number };
  reason: string;
  candidates: { name: string; l2: number | null; margin: number | null; report_bytes: number | null; fits: boolean }[];
  curves: { users: Curve; epsilon: Curve };
  notes: string[];
}

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

/** What the error is a distance of. */
export function errorWords(kind: Kind): string {
  if (kind === "distribution") return "expected distance between the estimated shares and the true ones, all values together";
  if (kind === "queries") return "expected distance between estimated and true answers, all queries together";
  if (kind === "mean") return "expected distance between the estimated mean and the true one";
  return "expected largest error of any round";
}

/** The answer in a few large words, and the sentence that goes with it. */
export function headline(state: PlanState, found: PlanAnswer): { large: string; sentence: string } {
  const people = `${count(found.users)} people`;
  const private_ = `epsilon ${figure(found.epsilon)}`;
  const error = `an error of at most ${figure(atMost(found.target_error))}`;
  if (state.solve === "users") return { large: people, sentence: `are needed for ${error} at ${private_}.` };
  if (state.solve === "rounds") {
    const asked = `can be asked of ${people} at ${private_}, for ${error} in any of them.`;
    return { large: `${count(found.rounds ?? 0)} rounds`, sentence: asked };
  }
  if (state.solve === "epsilon") return { large: private_, sentence: `is needed for ${error} from ${people}.` };
  return { large: error.replace("an", "An"), sentence: `can be expected from ${people} at ${private_}.` };
}

/** The collector's words with their numbers as people write them: 1e-05 as 0.00001. */
export const readable = (text: string): string =>
  text.replace(/(?<![\w.])\d+(?:\.\d+)?e[+-]?\d+\b/gu, (number) => figure(Number(number)));

/** What the plan means for a single answer; empty where nothing is known of it. */
export function oneAnswer(state: PlanState, found: PlanAnswer): string {
  if (found.margin === null) return "";
  const within = `± ${figure(found.margin)}`;
  if (state.kind === "distribution") {
    const points = figure(100 * found.margin);
    return `One value's share comes with ± ${points} percentage points: half of a rare value's 95 % interval.`;
  }
  if (state.kind === "queries") return `One query's answer comes with ${within}: half of its 95 % interval.`;
  if (state.kind === "mean") return `One coordinate of the mean comes with ${within}: half of its 95 % interval.`;
  const each = count(Math.round(found.users / (found.rounds ?? 1)));
  const largest = `The largest error of all rounds comes to about ${figure(found.margin)}, by the exact variance`;
  return `About ${each} people answer each round. ${largest}; what is proved is larger.`;
}

/** "1 byte", "2,048 bytes". */
export const bytesWords = (bytes: number): string => `${count(bytes)} byte${bytes === 1 ? "" : "s"}`;

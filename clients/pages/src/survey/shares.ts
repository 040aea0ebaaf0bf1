/** How likely one report is from every answer, brought into a form that can be drawn: pure figures, no page. */
import { isTiny, probability as inWords } from "../../../js/src/mechanisms/laws/words.js";
import { figure } from "../parts/format.js";
import { times } from "./words.js";

/** One bar: an answer, or many that make the report equally likely. */
export interface Bar {
  readonly label: string;
  /** How many times as likely as from the answer that makes it least likely. */
  readonly times: number;
  /** In words; empty where it is so small that only the ratio says something. */
  readonly probability: string;
  /** Whether it is the person's own, or theirs is among them. */
  readonly mine: boolean;
}

/** What is needed of an explanation. */
export interface Likelihoods {
  logLikelihood(value: unknown): number;
  readonly lowest: number;
  readonly logLowest: number;
  readonly ratio: number;
  readonly groups?: readonly { readonly probability: number; readonly count: number | bigint }[];
}

const MOST_GROUPS = 6;
/** Below this a probability has lost digits, or is no double at all. */
const SMALLEST = 1e-300;

/** Likelihoods of one report, all measured by the least of them. */
export class Measured {
  constructor(readonly found: Likelihoods) {}

  /** How many times as likely this answer makes the report as the one that makes it least likely. */
  times(value: unknown): number {
    return Math.min(Math.max(Math.exp(this.found.logLikelihood(value) - this.found.logLowest), 1), this.found.ratio);
  }

  bar(label: string, times: number, mine = false): Bar {
    const { logLowest } = this.found;
    const probability = isTiny(logLowest) ? "" : inWords(logLowest + Math.log(times));
    return { label, times, probability, mine };
  }

  /** Groups as bars, likeliest first; of many, neighbours are put together. `mine`: the person's own times. */
  groups(mine: number | null): Bar[] {
    const { groups = [], lowest, ratio } = this.found;
    // Where probabilities are no doubles there are two groups only, sets of answers being the only such reports.
    const heights = groups.map(({ probability }, i) => (lowest >= SMALLEST ? probability / lowest : i ? 1 : ratio));
    const each = Math.ceil(groups.length / MOST_GROUPS);
    const bars: Bar[] = [];
    for (let i = 0; i < groups.length; i += each) {
      const all = groups.slice(i, i + each).reduce((sum, group) => sum + BigInt(group.count), 0n);
      const isMine = mine !== null && heights.slice(i, i + each).some((height) => isSame(height, mine));
      const label = all === 1n ? "1 answer" : `${all.toLocaleString("en")} answers`;
      // The likeliest of those put together stands for them, so that no bar is shorter than what it shows.
      bars.push(this.bar(label, heights[i]!, isMine));
    }
    return bars;
  }
}

const isSame = (a: number, b: number): boolean => Math.abs(a - b) <= 1e-9 * Math.max(a, b);

/** What the picture shows, in a sentence or two. */
export function summary(ratio: number, epsilon: number): string {
  const limit = times(Math.exp(epsilon));
  if (ratio <= 1 + 1e-12) return `Every answer makes this report equally likely. The promise allows ${limit} times.`;
  return (
    `No answer makes this report more than ${times(ratio)} times as likely as another does. ` +
    `The promise allows ${limit} times: e^ε with ε\u00a0=\u00a0${figure(epsilon)}.`
  );
}

/** One answer's figures in a sentence. */
export function sentence({ times: height, probability }: Bar): string {
  const how = height <= 1 + 1e-9 ? "as unlikely as from any" : `${times(height)} times as likely as the least`;
  const exactly = probability === "" ? "" : `: its probability is ${probability}`;
  return `From that answer this very report would be ${how}${exactly}.`;
}

/** What a survey promises each person, in the words that all pages, captions and files share. */
import { atMost, times } from "./at_most.js";
import { power, setting } from "./format.js";

export interface Promised {
  readonly epsilon: number;
  /** What the promise leaves out: 0 for all mechanisms but Gaussian noise. */
  readonly delta: number;
}

/** "ε = 1", and delta wherever there is one: without it the promise would say more than holds. */
export const promised = ({ epsilon, delta }: Promised): string =>
  `ε = ${setting(epsilon)}${delta === 0 ? "" : `, δ = ${power(atMost(delta))}`}`;

/** The promise in a sentence: of every report, or where there is a delta of every set of them. */
export function likelier({ epsilon, delta }: Promised): string {
  const factor = times(Math.exp(epsilon));
  if (delta === 0) return `No report is more than ${factor} times likelier from one answer than from any other.`;
  return `For every set of reports, its probability with one answer is at most ${factor} times that with any other, plus ${power(atMost(delta))}.`;
}

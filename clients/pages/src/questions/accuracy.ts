/** How exact the answers will be, in words: the margin of one answer first, then the distance of all of them. */
import type { ExpectedL2 } from "../parts/api_types.js";
import { count, figure } from "../parts/format.js";
import { capital } from "../parts/trouble.js";
import type { Measure } from "./kinds.js";

/** A margin in the answer's own unit. */
export function marginWords({ unit }: Measure, margin: number): string {
  if (unit !== null) return `± ${figure(margin)}${unit && `\u00a0${unit}`}`;
  const points = figure(100 * margin);
  return `± ${points} point${points === "1" ? "" : "s"}`;
}

/** "Each share is known to about ± 0.4 points (95 %); all 40 together: L2 at most 0.012, about 0.01 for uniform values." */
export function accuracyWords(measure: Measure, margin: number, l2: number, answers: number | null = null, expected: ExpectedL2 | null = null): string {
  const all = answers === null ? "all answers" : `all ${count(answers)}`;
  const about = expected === null ? "" : `, about ${figure(expected.l2)} for ${expected.people}`;
  const together = answers === 1 || measure.one === "the mean" ? "" : `; ${all} together: L2 at most ${figure(l2)}${about}`;
  return `${capital(measure.one)} is known to about ${marginWords(measure, margin)} (95\u00a0%)${together}.`;
}

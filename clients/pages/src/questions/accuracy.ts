/** How exact the answers will be, in words: the margin of one answer first, then the distance of all of them. */
import { count, figure } from "../parts/format.js";
import { capital } from "../parts/trouble.js";

/** What one answer is called, by the question's kind. */
const ONE: Record<string, string> = { shares: "each share", queries: "each answer", vector: "each coordinate" };

/** A margin in the answer's own unit: shares in points, that is, hundredths. */
export function marginWords(kind: string, margin: number): string {
  if (kind !== "shares") return `± ${figure(margin)}`;
  const points = figure(100 * margin);
  return `± ${points} point${points === "1" ? "" : "s"}`;
}

/** "Each share is known to about ± 0.4 points (95 %); all 40 together: L2 0.012." */
export function accuracyWords(kind: string, margin: number, l2: number, answers: number | null = null): string {
  const all = answers === null ? "all answers" : `all ${count(answers)}`;
  const together = answers === 1 ? "" : `; ${all} together: L2 ${figure(l2)}`;
  const one = Object.hasOwn(ONE, kind) ? ONE[kind]! : "each answer";
  return `${capital(one)} is known to about ${marginWords(kind, margin)} (95\u00a0%)${together}.`;
}

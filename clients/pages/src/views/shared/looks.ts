/** Which intervals are shown while reports come in: those that hold at every look together, or those of one look. */
import { percent } from "../../parts/format.js";
import { switchOf } from "./switch.js";

/** Intervals that hold at every look until the survey is closed, or those of one look. */
export type Looks = "open" | "0";

export const looksSwitch = (take: (looks: Looks) => void): HTMLFieldSetElement =>
  switchOf("Holding at", { every: "Every look", one: "One look" }, "every", (name) => take(name === "one" ? "0" : "open"));

/**
 * What the intervals mean for somebody who watches; null where no more reports come, and the two are the same.
 *
 * `always` is what the collector says of them: null where they are of one look.
 */
export function looksWords(always: string | null, looks: Looks, level: number): string | null {
  if (always !== null) return `While reports come in: however often you look, intervals hold at all looks together with ${percent(level)}, if people come from one population. They are shorter once all is counted.`;
  return looks === "open" ? null : `Intervals of one look: each is right with ${percent(level)} if you look once. Who looks again and again sees one without the truth more often.`;
}

/** What the page says about the survey at hand: what epsilon means for it, what the ledger holds. */
import type { Ledger } from "../../../js/src/index.js";
import { atMost, surestOf, times } from "../parts/at_most.js";
import { counted, figure } from "../parts/format.js";

export { atMost, surestOf, times };

/** What this epsilon promises, in two sentences. */
export function promise(epsilon: number): readonly [string, string] {
  const factor = times(Math.exp(epsilon));
  return [
    `Whatever you answer, what leaves here makes nobody more than ${factor} times surer of one answer over another.`,
    `Somebody who could as well toss a coin between two answers, 50 %, comes to ${surestOf(epsilon)} at most.`,
  ];
}

/** How strong the promise is; the bounds are where a coin toss becomes 62 %, 73 % and 88 %. */
export function strength(epsilon: number): string {
  if (epsilon <= 0.5) return "very strong";
  if (epsilon <= 1) return "strong";
  if (epsilon <= 2) return "fair";
  return "weak";
}

/** What was spent and is left, before this survey is answered. */
export function ledgerBefore(ledger: Pick<Ledger, "spent" | "left" | "budget" | "entries">, epsilon: number): string {
  const { spent, left, budget, entries } = ledger;
  const surveys = counted(distinct(entries), "survey");
  const before =
    entries.length === 0
      ? "This browser has answered nothing on this site yet."
      : `This browser has answered ${surveys} on this site and spent ${figure(spent)} of ${figure(budget)}.`;
  return `${before} This one costs ${figure(epsilon)} and leaves ${figure(rest(left, epsilon))}.`;
}

/** What was spent and is left, this answer included. */
export function ledgerAfter(ledger: Pick<Ledger, "spent" | "left" | "budget" | "entries">): string {
  const { spent, left, budget, entries } = ledger;
  const surveys = counted(distinct(entries), "survey");
  return `Spent on this site so far: ${figure(spent)} of ${figure(budget)}, for ${surveys}. Left: ${figure(left)}.`;
}

/** How many surveys were answered: one that renews has an entry for every window. */
const distinct = (entries: Ledger["entries"]): number => new Set(entries.map(({ survey }) => survey)).size;

/** What the page refuses on the person's behalf. */
export const limits = (cap: number, budget: number): string =>
  `On your behalf this page refuses a survey that costs more than ${figure(cap)}, ` +
  `and any that would take all of them together beyond ${figure(budget)}.`;

/** Subtracted as people write decimals: 0.3 - 0.1 leaves 0.2. */
const rest = (left: number, epsilon: number): number => Math.max(0, Number((left - epsilon).toPrecision(12)));

/** A fingerprint in groups that two people can read to each other. */
export const grouped = (hex: string): string => hex.match(/.{1,4}/g)?.join(" ") ?? "";

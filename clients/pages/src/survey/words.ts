/** What the page says about the survey at hand: what epsilon means for it, what the ledger holds. */
import type { Ledger, Relay } from "../../../js/src/index.js";
import { count, counted, figure } from "../parts/format.js";
import { atMost, surestOf, times } from "../parts/promise.js";

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

// What the page says of a survey whose reports go through a relay: who can see what, and where a report is.

/** Who sees what, in one sentence. */
export const whoSees = ({ url }: Relay, origin: string): string =>
  `The relay at ${hostOf(url)} sees your address and which survey you answer, but not your report; ` +
  `the collector at ${hostOf(origin)} gets the report, shuffled among others, but not whose it is.`;

/** What a page that the collector has sent cannot hide. */
const SENT_BY_COLLECTOR = "The collector has sent you this page, so it saw your address then, though not your report.";

/** What that rests on, and what the page cannot hide: `seen` tells when the collector saw the address. */
export const restsOn = ({ least }: Relay, seen = SENT_BY_COLLECTOR): string =>
  "That holds as long as the two do not share what they see; what one report says is limited in any case. " +
  `The relay forwards no fewer than ${count(least)} reports at a time, so it can take a while until yours is counted. ` +
  seen;

/** Where the report goes, beside its bytes. */
export const sealedWords = (url: string): string =>
  `It leaves sealed: ${hostOf(url)}, the relay, gets a message of a fixed size that the collector alone can open.`;

export const hostOf = (url: string): string => new URL(url).host;

// What is said of a report that stands, wherever it is shown.

/** What somebody reads whose answer came after another tab's. */
export const UNUSED = "This browser had already answered. That report stands; what you chose just now was not used.";

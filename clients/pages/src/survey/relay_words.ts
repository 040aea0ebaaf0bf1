/** What the page says of a survey whose reports go through a relay: who can see what, and where a report is. */
import type { Relay } from "../../../js/src/index.js";
import { count } from "../parts/format.js";

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

/** What leaves, byte for byte: the report, and the request around it. */
import { fromHex } from "../../../js/src/core/bytes.js";
import { type Answer, encodeBatch } from "../../../js/src/index.js";
import { el } from "../parts/dom.js";
import { counted } from "../parts/format.js";
import { sealedWords } from "./words.js";

/** Bytes of the survey's id that stand before every report. */
export const TAG_BYTES = 4;
const MOST_SHOWN = 96;
/** Longer reports are folded away, so that what they say is not lost under them. */
const MOST_OPEN = 32;

/** Bytes in hexadecimal, pairs set apart; long ones are cut, and say so. */
export function hex(bytes: Uint8Array, most = MOST_SHOWN): string {
  const pairs = Array.from(bytes.subarray(0, most), (byte) => byte.toString(16).padStart(2, "0")).join(" ");
  return bytes.length > most ? `${pairs} … ${counted(bytes.length - most, "more byte")}` : pairs;
}

/** The report itself, in large letters; a long one to be unfolded. */
export function reportBytes(kept: Answer): HTMLElement {
  const report = kept.report.subarray(TAG_BYTES);
  const shown = el("code", { class: "bytes" }, hex(report));
  if (report.length <= MOST_OPEN) return el("p", {}, shown);
  return el("details", {}, el("summary", {}, `The ${counted(report.length, "byte")} themselves`), shown);
}

/** Who sees the address of a report that goes to the collector directly. */
const DIRECT =
  "As with every visit to a website, the collector’s machine and the network see the address it comes from; the " +
  "collector’s program does not keep it.";

const part = ([name, bytes]: readonly [string, Uint8Array]): HTMLElement[] => [
  el("dt", {}, name),
  el("dd", {}, el("code", {}, hex(bytes))),
];

/** Everything in the request's body, part by part. */
export function requestBytes(kept: Answer): HTMLElement {
  const body = encodeBatch(kept.survey, [[kept.reportId, kept.report]]);
  const parts: readonly (readonly [string, Uint8Array])[] = [
    ["the format", body.subarray(0, 4)],
    ["which survey: its id", fromHex(kept.survey)],
    ["a random number, so that the same report sent twice counts once", kept.reportId],
    ["which survey once more, in short", kept.report.subarray(0, TAG_BYTES)],
    ["the report", kept.report.subarray(TAG_BYTES)],
  ];
  return el(
    "details",
    {},
    el("summary", {}, `All ${counted(body.length, "byte")} of the request`),
    el("dl", { class: "parts" }, ...parts.flatMap(part)),
    el("p", { class: "quiet small" }, "No name, no cookie, no address of a page. ", kept.relay ? sealedWords(kept.relay) : DIRECT),
  );
}

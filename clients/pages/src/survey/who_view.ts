/** Who asks, and how this page checked it; for those who want to know exactly. */
import { Panel } from "../../../js/src/index.js";
import { el } from "../parts/dom.js";
import { counted } from "../parts/format.js";
import type { Found } from "./machine.js";
import { plain } from "./fields/values.js";
import { grouped } from "./words.js";

/** Letters of a survey's JSON that are shown. */
const MOST_SHOWN = 20_000;

/** Where the program comes from that checks and draws, on the collector's own page. */
const FROM_HERE =
  "What checks and draws here is a program that this very site has sent: a dishonest site could send another. " +
  "Sottovoce’s documentation, page “In the browser”, tells how to compare the SHA-256 of its files.";

export function who({ survey, fingerprint }: Found, origin: string, program = FROM_HERE): HTMLElement {
  const facts: [string, string | HTMLElement][] = [
    ["Asked by", origin],
    ["Signed with the key", el("code", {}, grouped(fingerprint))],
    ["The survey’s id", el("code", {}, grouped(survey.id))],
  ];
  if (survey.relay) facts.push(["Sent through the relay", survey.relay.url]);
  if (!(survey instanceof Panel)) {
    const { name, reportBytes } = survey.mechanism;
    facts.push(["Randomized by", `${name}, ${counted(reportBytes, "byte")} a report`]);
  }
  const text = plain(new TextDecoder().decode(survey.canonical));
  const signed = text.length > MOST_SHOWN ? `${text.slice(0, MOST_SHOWN)} …` : text;
  return el(
    "details",
    { class: "who" },
    el("summary", {}, "Who asks, and how this was checked"),
    el("dl", { class: "parts" }, ...facts.flatMap(([name, fact]) => [el("dt", {}, name), el("dd", {}, fact)])),
    el(
      "p",
      { class: "quiet small" },
      "The survey’s signature and id were checked on this machine. This browser keeps the first key that a site " +
        "shows it, and refuses any other from then on; compare it with what the owner has published. Before a report is drawn it also " +
        "checks that the survey is in the signed list of all surveys asked here, and that this list continues the one it saw before.",
    ),
    el("p", { class: "quiet small" }, program),
    el("details", {}, el("summary", {}, "The survey as it was signed"), el("pre", { tabindex: 0 }, signed)),
  );
}

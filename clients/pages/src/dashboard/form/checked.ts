/** A survey that the collector found good: what it says, what it costs, and the button that publishes it. */
import { el, fill } from "../../parts/dom.js";
import { counted } from "../../parts/format.js";
import { sentence } from "../../parts/trouble.js";
import type { Draft } from "./draft.js";
import { foretold } from "./foretold.js";
import type { Stated } from "./publishing.js";

/** Longest JSON that is shown. */
const SHOWN = 20_000;
/** Characters of an explanation that are shown at once. */
const UNFOLDED = 300;

/** The panel; `publish` is called by its button, `place` is where it is said how that goes. */
export function checkedPanel(
  draft: Draft,
  stated: Stated,
  publish: (button: HTMLButtonElement) => void,
): { element: HTMLElement; place: HTMLElement } {
  const place = el("div", { role: "status" });
  const button = el("button", { type: "button", onclick: () => publish(button) }, "Publish");
  const element = el(
    "div",
    {},
    explanation(sentence(stated.explanation.replaceAll("_", " "))),
    el(
      "dl",
      { class: "facts" },
      ...fact("Mechanism", stated.mechanism?.replaceAll("_", " ") ?? null),
      ...fact("A report is", stated.report_bytes === null ? null : counted(stated.report_bytes, "byte")),
      ...fact("Id", stated.id.slice(0, 12)),
    ),
    stated.notes.length > 0 &&
      el("ul", { class: "notes" }, ...stated.notes.map((note) => el("li", {}, sentence(note)))),
    // The planner compares other strategies than the one that was chosen here, whose error the explanation says.
    draft.kind !== "queries" && foretold(draft, stated.mechanism),
    el(
      "details",
      {},
      el("summary", {}, "The statement that is signed"),
      el("pre", { tabindex: "0" }, pretty(stated.statement)),
    ),
    el("p", { class: "quiet" }, "Once published it can never be edited: its id is the hash of what it says."),
    el("div", { class: "publish" }, place, button),
  );
  return { element, place };
}

/** Folded where it is long, so that what follows it is in sight. */
const explanation = (words: string): HTMLElement =>
  words.length <= UNFOLDED
    ? el("p", {}, words)
    : el("details", { class: "explained" }, el("summary", {}, "How the answers are found, and how accurate they are"), el("p", {}, words));

const fact = (name: string, value: string | null): HTMLElement[] =>
  value === null ? [] : [el("dt", {}, name), el("dd", { class: "figures" }, value)];

function pretty(statement: string): string {
  const text = JSON.stringify(JSON.parse(statement), null, 2);
  return text.length > SHOWN
    ? `${text.slice(0, SHOWN)}\n… and ${counted(text.length - SHOWN, "character")} more`
    : text;
}

/** Says in place of the panel what it is for. */
export function nothingChecked(panel: HTMLElement): void {
  fill(
    panel,
    el(
      "p",
      { class: "quiet" },
      "Check the survey to see what devices will send, and how accurate the answers will be. Nothing is published by that.",
    ),
  );
}

/** What stops the page, as it is shown. */
import { el } from "../parts/dom.js";
import type { Trouble } from "./trouble.js";

/** `again`, where there is one, is what the button does. */
export function troubleView(trouble: Trouble, again?: () => void): HTMLElement {
  const { title, text, about, reason, passing, evidence } = trouble;
  return el(
    "section",
    { class: "card stopped" },
    el("h1", { tabindex: -1 }, title),
    about !== "" && el("p", {}, el("b", {}, about)),
    el("p", {}, text),
    evidenceView(evidence),
    reason !== "" && el("p", { class: "quiet small" }, "In the program’s words: ", reason),
    passing && again ? el("p", {}, el("button", { type: "button", onclick: again }, "Try now")) : null,
  );
}

// Two signed heads of a collector's log that contradict each other: anybody who has its key can check both.

/** Nothing where there is no evidence. */
export const evidenceView = (notes: readonly string[] = []): HTMLElement | null =>
  notes.length === 0
    ? null
    : el(
        "details",
        { class: "evidence" },
        el("summary", {}, "The evidence: what the collector signed, then and now"),
        ...notes.map((note) => el("pre", { tabindex: 0 }, note)),
      );

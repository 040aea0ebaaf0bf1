/** A survey that the collector found good: what it says, what it costs, and the button that publishes it. */
import { ask } from "../../parts/api.js";
import type { CentralGuarantee, DraftAnswer } from "../../parts/api_types.js";
import { el, fill } from "../../parts/dom.js";
import { counted } from "../../parts/format.js";
import { guaranteesList } from "../../parts/promise.js";
import { Refetch } from "../../parts/refetch.js";
import { sentence } from "../../parts/trouble.js";
import { accuracyWords } from "../../questions/accuracy.js";
import type { Measure } from "../../questions/kinds.js";
import type { SurveyDraft } from "./draft.js";

/** Longest JSON that is shown. */
const SHOWN = 20_000;

/** The panel; `publish` is called by its button, `place` is where it is said how that goes. */
export function checkedPanel(
  measure: Measure,
  stated: DraftAnswer,
  publish: (button: HTMLButtonElement) => void,
): { element: HTMLElement; place: HTMLElement } {
  const place = el("div", { role: "status" });
  const button = el("button", { type: "button", onclick: () => publish(button) }, "Publish");
  const element = el(
    "div",
    {},
    stated.promise !== null && el("p", { class: "promise" }, sentence(`Everybody is promised ${stated.promise}`)),
    stated.central && guaranteesList(stated.central),
    accuracy(measure, stated),
    explanation(stated),
    el(
      "dl",
      { class: "facts" },
      ...fact("Strategy", stated.strategy),
      ...fact("Mechanism", stated.mechanism?.replaceAll("_", " ") ?? null),
      ...fact("A report is", stated.report_bytes === null ? null : counted(stated.report_bytes, "byte")),
      ...fact("Id", stated.id.slice(0, 12)),
    ),
    stated.notes.length > 0 &&
      el("ul", { class: "notes" }, ...stated.notes.map((note) => el("li", {}, sentence(note)))),
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

/** What can be expected of so many people; nothing where it is not one number. */
const accuracy = (measure: Measure, { people, margin, l2, promise }: DraftAnswer): HTMLElement | null =>
  people === null || margin === null || l2 === null
    ? null
    : el("p", { class: "accuracy" }, el("strong", {}, `With ${counted(people, "person", "people")}${promise === null ? "" : ", in each period"}: `), accuracyWords(measure, margin, l2));

/** Folded where the accuracy says the most important of it already. */
const explanation = ({ explanation: words, margin }: DraftAnswer): HTMLElement => {
  const told = el("p", {}, sentence(words.replaceAll("_", " ")));
  return margin === null ? told : el("details", { class: "explained" }, el("summary", {}, "Why this design"), told);
};

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

// Both guarantees of a survey with a relay while its form is filled in, before anything is checked or published.

/** Their place, and what to call when the form has changed; `draft` gives null while there is nothing to tell. */
export function liveGuarantees(draft: () => SurveyDraft | null): { element: HTMLElement; changed: () => void } {
  const element = el("div", { class: "live-guarantees", "aria-live": "polite" });
  const show = (central: CentralGuarantee | null): void => fill(element, central && guaranteesList(central));
  const told = new Refetch<CentralGuarantee | null>(
    async () => {
      const asked = draft();
      if (!element.isConnected) told.stop();
      return asked && element.isConnected ? (await ask<DraftAnswer>("/v1/drafts", asked)).central : null;
    },
    show,
    () => show(null), // what is wrong is said when the form is checked
  );
  return { element, changed: () => told.wanted() };
}

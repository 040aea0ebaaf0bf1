/** One survey in the list. */
import type { Status, SurveyEntry } from "../../parts/api_types.js";
import { el, fill } from "../../parts/dom.js";
import { count, counted } from "../../parts/format.js";
import { promised } from "../../parts/promise.js";
import { nameOf } from "./entries.js";
import { kindName, kindPicture } from "../../questions/kinds.js";

export interface Card {
  element: HTMLLIElement;
  /** Shows what has come in since. */
  update: (status: Status) => void;
}

export function cardOf(entry: SurveyEntry): Card {
  const number = el("span", { class: "reports figures" }, "…");
  const unit = el("span", { class: "quiet" }, "");
  const progress = el("p", { class: "progress quiet" });
  const more = el("span");
  let shown = -1;

  function update(status: Status): void {
    const total = status.n_reports + status.waiting;
    fill(number, count(total));
    fill(unit, total === 1 ? " report" : " reports");
    fill(more, status.mechanism === null ? "" : `· ${status.mechanism.replaceAll("_", " ")}`);
    fill(progress, progressOf(status, total));
    if (shown >= 0 && shown !== total) {
      number.classList.remove("fresh");
      // Read so that the browser begins the glow anew.
      void number.offsetWidth;
      number.classList.add("fresh");
    }
    shown = total;
  }

  const element = el(
    "li",
    { class: "card survey-card", "data-id": entry.id },
    el(
      "p",
      { class: "card-top" },
      kindPicture(entry.kind),
      el("span", { class: "quiet" }, kindName(entry.kind)),
      el("span", { class: `pill ${entry.state}` }, entry.state),
    ),
    el("h2", {}, el("a", { href: `/survey/${entry.id}` }, nameOf(entry))),
    el("p", { class: "count" }, number, unit),
    progress,
    el("p", { class: "card-end quiet figures" }, el("span", {}, `${promised(entry)} `), more),
  );
  return { element, update };
}

/** "week 12 of 52"; without an end only which one. */
export function periodsBegun({ asked, rounds, every }: Pick<Status, "asked" | "rounds" | "every">): string {
  const unit = typeof every === "string" ? every : "period";
  if (!asked) return `the first ${unit} has not begun`;
  return rounds === null ? `${unit} ${count(asked)}, without an end` : `${unit} ${count(asked)} of ${count(rounds)}`;
}

function progressOf(status: Status, total: number): HTMLElement | string {
  if (status.kind === "tracking") return periodsBegun(status);
  if (status.rounds !== null) return `${count(status.asked ?? 0)} of ${counted(status.rounds, "question")} asked`;
  if (total >= status.minimum_reports) return "";
  const text = `first estimate at ${count(status.minimum_reports)}`;
  const bar = el("progress", { max: status.minimum_reports, value: total, "aria-label": text });
  return el("span", { class: "until" }, bar, text);
}

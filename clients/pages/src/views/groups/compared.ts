/** The difference of two groups that are chosen: answer by answer, and all together. */
import { clusters } from "../../charts/clusters.js";
import { captionOf } from "../../charts/svg_export.js";
import type { ByGroupBody, ComparisonBody, Status } from "../../parts/api_types.js";
import { el, fill } from "../../parts/dom.js";
import { plain } from "../../parts/format.js";
import { inWords, sentence } from "../../parts/trouble.js";
import type { Looks } from "../shared/looks.js";
import { chartCard } from "./chart_card.js";
import { differenceTable } from "./difference_table.js";
import { differences } from "./pictures.js";
import { jointWords, type AnswerUnit, verdict, watchedWords } from "./words.js";

export interface ComparedView {
  element: HTMLElement;
  /** The query of the comparison that is wanted; null as long as there are no two groups with enough reports, or no words. */
  wanted(): string | null;
  /** The groups that there are to choose from. */
  offer(by: ByGroupBody): void;
  show(found: ComparisonBody | null, query: string, measured: AnswerUnit, status: Status, looks: Looks): void;
  refuse(error: unknown): void;
}

/** `onChoose` is called when other groups, or other answers, are compared. */
export function comparedView(first: Status, onChoose: () => void): ComparedView {
  const { id, kind, title } = first;
  const chosen = el("select", { id: "first-group", onchange: onChoose });
  const other = el("select", { id: "second-group", onchange: onChoose });
  const named = el("input", { id: "compared-answers", autocomplete: "off", placeholder: kind === "words" ? "tea, coffee" : "all", onchange: onChoose });
  const watched = el("p", { class: "notice", hidden: true });
  const told = el("div", { role: "status" });
  const chart = chartCard(title, clusters);
  const table = differenceTable();
  const help =
    kind === "words"
      ? "Words that you chose without looking at these estimates, with commas between them."
      : "With commas between them; empty for all. Only those that are named count for the adjustment: choose them before you look.";
  const element = el(
    "section",
    { class: "card group-difference", "aria-labelledby": "compared", hidden: true },
    el("div", { class: "panel-head" }, el("h2", { id: "compared" }, "Difference of two groups"), chart.save),
    el("div", { class: "compared" }, el("label", { for: chosen.id }, "First"), chosen, el("label", { for: other.id }, "less"), other),
    el("details", { class: "which", open: kind === "words" }, el("summary", {}, "Which answers"), el("label", { for: named.id }, "Answers"), named, el("p", { class: "quiet" }, help)),
    watched,
    told,
    chart.host,
    table.element,
  );
  let enough: string[] = [];

  function wanted(): string | null {
    const answers = named.value.split(",").map((text) => text.trim()).filter((text) => text !== "");
    if (chosen.value === other.value || !enough.includes(chosen.value) || !enough.includes(other.value)) return null;
    if (kind === "words" && answers.length === 0) return null;
    return new URLSearchParams([["first", chosen.value], ["second", other.value], ...answers.map((answer) => ["answer", answer])]).toString();
  }

  function offer({ by, groups }: ByGroupBody): void {
    const options = groups.map(({ value, label, n_reports: n }) => ({ value: `${by}=${value}`, label: n === null ? `${label} (too few reports yet)` : label, n }));
    enough = options.filter(({ n }) => n !== null).map(({ value }) => value);
    [chosen, other].forEach((select, at) => {
      const before = options.some(({ value }) => value === select.value) ? select.value : (enough[at] ?? options[at]?.value);
      fill(select, ...options.map(({ value, label }) => el("option", { value, selected: value === before }, plain(label))));
    });
    element.hidden = options.length < 2;
  }

  /** Nothing is compared: why. */
  function empty(...why: (HTMLElement | string)[]): void {
    chart.clear();
    table.element.hidden = watched.hidden = true;
    fill(told, el("p", { class: "quiet" }, ...why));
  }

  function show(found: ComparisonBody | null, query: string, measured: AnswerUnit, { state }: Status, looks: Looks): void {
    if (found === null) {
      const same = chosen.value === other.value;
      const few = !enough.includes(chosen.value) || !enough.includes(other.value);
      return empty(same ? "Choose two different groups." : few ? "One of these groups has too few reports yet; nothing of it is shown before." : "Name the words that are compared.");
    }
    const words = watchedWords(found.always, looks, state === "open");
    watched.hidden = words === null;
    fill(watched, words ?? "");
    fill(told, el("p", {}, el("strong", {}, verdict(found))), el("p", {}, jointWords(found)), el("p", { class: "quiet" }, sentence(found.condition)));
    const caption = captionOf(found.reports.reduce((sum, n) => sum + n, 0), { epsilon: Math.max(...found.epsilon), delta: Math.max(...found.delta) }, found.level, found.always ? "population" : null);
    chart.draw(differences(found, measured), caption, `/v1/surveys/${id}/comparison.csv?${query}`);
    table.show("answer", found.names, found.differences, found.level, measured);
  }

  return { element, wanted, offer, show, refuse: (error) => empty(inWords(error)) };
}

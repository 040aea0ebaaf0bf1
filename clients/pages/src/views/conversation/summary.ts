/** After the last round: every question with its answer, side by side. */
import type { RoundStatus } from "../../parts/api_types.js";
import { el } from "../../parts/dom.js";
import { count } from "../../parts/format.js";
import { queryText } from "./query.js";

export interface SummaryLine {
  info: RoundStatus;
  answer: string;
  interval: string;
}

export function summary(lines: SummaryLine[], save: () => void): HTMLElement {
  const heads = ["round", "question", "answer", "interval", "reports"].map((head) => el("th", { scope: "col" }, head));
  const rows = lines.map(({ info, answer, interval }) =>
    el(
      "tr",
      {},
      el("td", { class: "figures", "data-head": "round" }, info.round),
      el("td", { "data-head": "question" }, queryText(info.query)),
      el("td", { class: "figures", "data-head": "answer" }, answer),
      el("td", { class: "figures", "data-head": "interval" }, interval),
      el("td", { class: "figures", "data-head": "reports" }, count(info.n_reports)),
    ),
  );
  return el(
    "section",
    { class: "summary card", "aria-labelledby": "all-asked" },
    el("h2", { id: "all-asked" }, `All ${count(lines.length)} rounds have been asked`),
    el("p", { class: "quiet" }, "Everybody who answered did so once. To go on, make a survey of more rounds and ask other people."),
    el("table", {}, el("thead", {}, el("tr", {}, ...heads)), el("tbody", {}, ...rows)),
    el("p", { class: "quiet" }, "Each interval holds for its own question. For intervals that hold all together, use session.intervals in Python."),
    el("p", { class: "deeds" }, el("button", { type: "button", onclick: save }, "Save the conversation as JSON")),
  );
}

/** How a question is written, in a few lines, with examples made of the survey's own attributes. */
import { el } from "../../parts/dom.js";
import { queryText } from "./query.js";
import { examples, type PanelAttribute } from "./words.js";

const LINES: [string, string][] = [
  ["age < 30", "compare: < <= > >= == !="],
  ["country in ('FR', 'DE')", "one of several values; texts stand in quotes"],
  ["a and b, a or b, not a", "put conditions together; brackets group"],
  ["1 if c else -1", "a share at half the error, where the radius is 1"],
  ["clip((hours - 40) / 20, -1, 1)", "a number, scaled so that it stays within the radius"],
  ["abs, min, max, //, %, bit, prefix", "whole numbers divide with // and %"],
  ["find(country, ('FR', 'DE'))", "for a choice: the place in the list, from 0"],
];

export function help(attributes: PanelAttribute[], radius: number, take: (text: string) => void): HTMLElement {
  const begun = examples(attributes, radius).map((text) =>
    el("li", {}, el("button", { type: "button", class: "chip example", onclick: () => take(text) }, queryText(text))),
  );
  const lines = LINES.flatMap(([text, meaning]) => [el("dt", {}, queryText(text)), el("dd", {}, meaning)]);
  return el(
    "details",
    { class: "help" },
    el("summary", {}, "How to write a question"),
    begun.length > 0 && el("p", { class: "quiet" }, "Begin with one of these:"),
    begun.length > 0 && el("ul", { class: "begin" }, ...begun),
    el("dl", {}, ...lines),
    el(
      "p",
      { class: "quiet" },
      `Values must stay within ±${radius}, this survey's radius. `,
      "A question that could go wrong for anybody is refused before anybody is asked.",
    ),
  );
}

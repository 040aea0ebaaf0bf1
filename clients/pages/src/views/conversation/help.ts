/** How a question is written, in a few lines, with examples made of the survey's own attributes. */
import { el, fill } from "../../parts/dom.js";
import { count } from "../../parts/format.js";
import { queryText } from "./query.js";
import { examples, insertion, type PanelAttribute, spread } from "./words.js";

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

// The survey's attributes and their values as buttons that write them into a question.

/** Most values of one attribute that stand there at once. */
const VALUES_SHOWN = 8;
/** Most values that are listed when asked for more; a query may name any of the others all the same. */
const VALUES_LISTED = 200;

/** Buttons for every attribute; `asChoice` says whether one for an attribute writes a whole choice, which `whole` takes. */
export function chips(
  attributes: PanelAttribute[],
  field: HTMLTextAreaElement,
  asChoice: () => boolean,
  whole: (query: string, labels: string[]) => void,
): HTMLElement {
  return el("ul", { class: "palette" }, ...attributes.map((attribute) => row(attribute)));

  function row(attribute: PanelAttribute): HTMLLIElement {
    const name = el("button", { type: "button", class: "chip name", onclick: () => pressed(attribute) }, attribute.name);
    const values = el("span", { class: "values" });
    const list = (most: number): void => {
      const labels = attribute.labels ?? [];
      const shown = labels.slice(0, most).map((label) =>
        el("button", { type: "button", class: "chip", onclick: () => write(attribute, label) }, String(label)),
      );
      const left = labels.length - shown.length;
      const more = left > 0 && most < VALUES_LISTED;
      fill(
        values,
        ...shown,
        more && el("button", { type: "button", class: "chip more", onclick: () => list(VALUES_LISTED) }, `${count(left)} more`),
        left > 0 && !more && el("span", { class: "quiet" }, `and ${count(left)} more`),
      );
    };
    if (attribute.labels === null) fill(values, el("span", { class: "quiet" }, attribute.about));
    else list(VALUES_SHOWN);
    return el("li", {}, name, values);
  }

  function pressed(attribute: PanelAttribute): void {
    const over = asChoice() ? spread(attribute) : null;
    if (over === null) return write(attribute);
    whole(over.query, over.labels);
    field.focus();
  }

  function write(attribute: PanelAttribute, value?: string | number): void {
    const at = document.activeElement === field || field.selectionStart > 0 ? field.selectionStart : field.value.length;
    const text = insertion(field.value.slice(0, at), attribute, value);
    field.setRangeText(text, at, Math.max(at, field.selectionEnd), "end");
    field.dispatchEvent(new Event("input", { bubbles: true }));
    field.focus();
  }
}

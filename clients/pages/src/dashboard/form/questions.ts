/** What each kind of survey asks for beyond title and epsilon; only the chosen kind's fields are shown. */
import { el, fill } from "../../parts/dom.js";
import { count } from "../../parts/format.js";
import { readLabels } from "./answers.js";
import { attributesField } from "./attributes_field.js";
import type { Filled } from "./draft.js";
import { radios, type Fields } from "./fields.js";

const WORKLOADS: Record<string, string> = {
  "prefix:64": "cumulative shares of 64 values: a CDF",
  "ranges:64": "the share of every interval of 64 values",
  "bins:100:10": "100 values in bins of ten",
  "marginals:age=10,sex=2,country=30:2": "a table for every two of three attributes",
  "parities:10:3": "parities of up to three out of ten bits",
};

/** Characters from which on a paste is worth a shortcut. */
const MUCH = 20_000;

/** The fields, and a function that shows those of the kind that is chosen. */
export function questions(
  fields: Fields,
  filled: Filled,
  onChange: () => void,
): { element: HTMLElement; show: () => void } {
  const line = (
    name: "from" | "to" | "workload" | "dimension" | "radius" | "rounds",
    inputmode = "numeric",
  ): HTMLInputElement =>
    el("input", {
      type: "text",
      inputmode,
      autocomplete: "off",
      spellcheck: "false",
      class: "figures",
      value: filled[name],
      oninput: (event: InputEvent) => {
        filled[name] = (event.target as HTMLInputElement).value;
        onChange();
      },
    });

  const labels = labelsArea(filled, onChange);
  const labelsField = el("div", {}, fields.field("labels", "Answers, one a line", labels.area, null, labels.said));
  const from = line("from");
  const to = line("to");
  from.setAttribute("aria-describedby", "error-range");
  const range = el(
    "div",
    { class: "field" },
    el("div", { class: "from-to" }, el("label", {}, "From", from), el("label", {}, "to, included", to)),
    fields.placeFor("range", from),
  );
  const attributes = attributesField(filled.attributes, onChange);
  const attributesHome = el(
    "div",
    {
      class: "field",
      tabindex: "-1",
      role: "group",
      "aria-label": "Attributes",
      "aria-describedby": "error-attributes",
    },
    attributes,
  );
  attributesHome.append(fields.placeFor("attributes", attributesHome));

  const values = el(
    "fieldset",
    { class: "group" },
    el("legend", {}, "What can people answer?"),
    el(
      "div",
      { class: "segments" },
      ...radios(
        "answers",
        filled.answers,
        { labels: ["A list"], range: ["Whole numbers"], attributes: ["Attributes"] },
        (chosen) => {
          filled.answers = chosen;
          show();
          onChange();
        },
      ),
    ),
    labelsField,
    range,
    attributesHome,
  );
  const workload = line("workload", "text");
  const queries = fields.field("workload", "Which queries?", workload, null, examples(workload));
  const rounds = fields.field(
    "rounds",
    "How many questions may be asked?",
    line("rounds"),
    "Each person answers one of them: twice the questions leave half the people to each.",
  );
  const mean = el(
    "div",
    { class: "pair" },
    fields.field("dimension", "Numbers a device holds", line("dimension")),
    fields.field(
      "radius",
      "Largest length",
      line("radius", "decimal"),
      "Longer vectors are shortened to it on the device.",
    ),
  );

  function show(): void {
    const asksValues = filled.kind === "distribution" || filled.kind === "adaptive";
    values.hidden = !asksValues;
    labelsField.hidden = filled.answers !== "labels";
    range.hidden = filled.answers !== "range";
    attributesHome.hidden = filled.answers !== "attributes";
    queries.hidden = filled.kind !== "queries";
    mean.hidden = filled.kind !== "mean";
    rounds.hidden = filled.kind !== "adaptive";
  }

  show();
  return { element: el("div", { class: "questions" }, values, queries, mean, rounds), show };
}

function labelsArea(filled: Filled, onChange: () => void): { area: HTMLTextAreaElement; said: HTMLElement } {
  const said = el("p", { class: "field-help", "aria-live": "polite" });
  const tell = (): void => {
    const read = readLabels(filled.labels);
    fill(said, "found" in read && `${count(read.found.length)} answers`);
  };
  const area = el("textarea", {
    rows: 6,
    spellcheck: "false",
    placeholder: "red\ngreen\nblue",
    oninput: () => {
      filled.labels = area.value;
      tell();
      onChange();
    },
    onpaste: (event: ClipboardEvent) => pasteMuch(area, event),
  });
  area.value = filled.labels;
  tell();
  return { area, said };
}

/** Browsers take seconds to paste thousands of lines; set at once they take none, at the price of undoing it. */
function pasteMuch(area: HTMLTextAreaElement, event: ClipboardEvent): void {
  const text = event.clipboardData?.getData("text/plain") ?? "";
  if (text.length < MUCH) return;
  event.preventDefault();
  area.setRangeText(text, area.selectionStart, area.selectionEnd, "end");
  area.dispatchEvent(new Event("input"));
}

function examples(workload: HTMLInputElement): HTMLElement {
  const use = (text: string) => () => {
    workload.value = text;
    workload.dispatchEvent(new Event("input"));
    workload.focus();
  };
  return el(
    "ul",
    { class: "examples" },
    ...Object.entries(WORKLOADS).map(([text, about]) =>
      el(
        "li",
        {},
        el("button", { type: "button", class: "plain small", onclick: use(text) }, el("code", {}, text)),
        el("span", { class: "quiet" }, about),
      ),
    ),
  );
}

/** Fields for the parameters of a question, one control for each kind of parameter. */
import type { ParameterEntry } from "../parts/api_types.js";
import { el, fill } from "../parts/dom.js";
import { counted } from "../parts/format.js";
import { capital, sentence } from "../parts/trouble.js";
import { readLabels } from "./answers.js";
import { attributesField } from "./attributes_field.js";
import { type ParameterKind, type Slot, slotsOf } from "./declared.js";
import { type Fields, radios } from "./fields.js";
import { endsOf, rowsOf, textOf, type Typed, wayOf } from "./typed.js";

/** What the fields of one form have in common. */
interface Setting {
  fields: Fields;
  /** Changed as somebody types; `changed` hears of it. */
  typed: Typed;
  changed: () => void;
  /** Which of several ways to give the same is open at first. */
  preferred: ParameterKind;
  /** Another control for numbers than a line to type in. */
  number?: (parameter: ParameterEntry, text: string, changed: (text: string) => void) => HTMLElement;
}

/** The fields in their order; of a group only the chosen way is in sight. */
export const parameterFields = (parameters: readonly ParameterEntry[], setting: Setting): HTMLElement[] =>
  slotsOf(parameters).map((slot) => (slot.ways.length === 1 ? fieldOf(slot.ways[0]!, setting) : groupOf(slot, setting)));

/** "minimum_reports" as "Minimum reports". */
export const labelOf = (name: string): string => capital(name.replaceAll("_", " "));

function groupOf(slot: Slot, setting: Setting): HTMLElement {
  const made = slot.ways.map((parameter) => ({ parameter, element: fieldOf(parameter, setting) }));
  const show = (): void => {
    const chosen = wayOf(slot, setting.typed, setting.preferred);
    for (const { parameter, element } of made) element.hidden = parameter !== chosen;
  };
  const choose = (name: string): void => {
    setting.typed.ways[slot.group] = name;
    show();
    setting.changed();
  };
  const choices = Object.fromEntries(slot.ways.map(({ name }) => [name, [labelOf(name)]]));
  show();
  return el(
    "fieldset",
    { class: "group" },
    el("legend", {}, `${labelOf(slot.group)}: given in one of these ways`),
    el(
      "div",
      { class: "segments" },
      ...radios(`way-${slot.group}`, wayOf(slot, setting.typed, setting.preferred).name, choices, choose),
    ),
    ...made.map(({ element }) => element),
  );
}

function fieldOf(parameter: ParameterEntry, setting: Setting): HTMLElement {
  const { fields, typed } = setting;
  const { name, kind } = parameter;
  const text = textOf(parameter, typed);
  const help = sentence(parameter.help);
  const type = (now: string): void => {
    typed.texts[name] = now;
    setting.changed();
  };
  switch (kind) {
    case "integer":
    case "number":
      if (setting.number !== undefined && isSlid(parameter)) return setting.number(parameter, text, type);
      return fields.field(name, labelOf(name), line(text, kind === "integer" ? "numeric" : "decimal", type), help);
    case "text":
      return fields.field(name, labelOf(name), line(text, "text", type), help);
    case "missing": {
      const counted = line(text.replace(/^(?:as |refuse$)/, ""), "text", (now) => type(now.trim() === "" ? "refuse" : `as ${now}`));
      return fields.field(name, NO_ANSWER, counted, NO_ANSWER_HELP);
    }
    case "choice": {
      const options = parameter.choices.map((word) => el("option", { value: word, selected: word === text }, capital(word)));
      const select = el("select", { onchange: () => type(select.value) }, ...options);
      return fields.field(name, labelOf(name), select, help);
    }
    case "alphabet": {
      const names = el("datalist", { id: `names-${name}` }, ...parameter.choices.map((word) => el("option", { value: word })));
      const written = line(text, "text", type);
      written.setAttribute("list", names.id);
      return fields.field(name, labelOf(name), written, help, names);
    }
    case "labels":
      return labelsField(fields, parameter, text, type);
    case "range":
      return rangeField(fields, parameter, text, type);
    case "workload": {
      const written = line(text, "text", type);
      return fields.field(name, labelOf(name), written, help, workloadExamples(written));
    }
    case "attributes":
    case "fields": {
      const home = el(
        "div",
        { class: "field", tabindex: "-1", role: "group", "aria-label": labelOf(name), "aria-describedby": `error-${name}` },
        el("p", { class: "field-help" }, help),
        attributesField(rowsOf(parameter, typed), kind === "fields", setting.changed),
      );
      home.append(fields.placeFor(name, home));
      return home;
    }
  }
}

/** What becomes of people who give no answer, in their words. */
const NO_ANSWER = "No answer counts as";
const NO_ANSWER_HELP =
  "Left empty, a person who picks nothing sends nothing, and that can be seen. Write a value, such as Prefer not to say: " +
  "then no answer is sent as that value, and silence tells nothing.";

/** Whether a slider can reach it: those go by ratio, from one number above zero to another. */
const isSlid = ({ low, required, default: first }: ParameterEntry): boolean =>
  low !== null && low > 0 && (required || first !== null);

/** A line to type in. */
const line = (value: string, inputmode: string, type: (text: string) => void): HTMLInputElement =>
  el("input", {
    type: "text",
    inputmode,
    autocomplete: "off",
    spellcheck: "false",
    class: "figures",
    value,
    oninput: (event: InputEvent) => type((event.target as HTMLInputElement).value),
  });

/** The two ends of a range, both of them in it. */
function rangeField(fields: Fields, { name, help }: ParameterEntry, text: string, type: (text: string) => void): HTMLElement {
  const ends = (): void => type(`${from.value}..${to.value}`);
  const [first, last] = endsOf(text);
  const from = line(first, "text", ends);
  const to = line(last, "text", ends);
  for (const end of [from, to]) end.setAttribute("aria-describedby", `error-${name}`);
  return el(
    "div",
    { class: "field" },
    el("p", { class: "field-help" }, sentence(help)),
    el("div", { class: "from-to" }, el("label", {}, "From", from), el("label", {}, "to, included", to)),
    fields.placeFor(name, from),
  );
}

// Names of values, one per line: a few that are typed, or thousands that are pasted.

/** Characters from which on a paste is worth a shortcut. */
const MUCH = 20_000;

/** The field; `type` hears of every change. */
function labelsField(fields: Fields, parameter: ParameterEntry, text: string, type: (text: string) => void): HTMLElement {
  const { name, help, example } = parameter;
  const said = el("p", { class: "field-help", "aria-live": "polite" });
  const tell = (now: string): void => {
    const read = readLabels(now);
    fill(said, "found" in read && counted(read.found.length, "value"));
  };
  const area = el("textarea", {
    rows: 6,
    spellcheck: "false",
    placeholder: example.replaceAll(",", "\n"),
    oninput: () => {
      tell(area.value);
      type(area.value);
    },
    onpaste: (event: ClipboardEvent) => pasteMuch(area, event),
  });
  area.value = text;
  tell(text);
  return fields.field(name, capital(name), area, `${sentence(help)} One per line.`, said);
}

/** Browsers take seconds to paste thousands of lines; set at once they take none, at the price of undoing it. */
function pasteMuch(area: HTMLTextAreaElement, event: ClipboardEvent): void {
  const text = event.clipboardData?.getData("text/plain") ?? "";
  if (text.length < MUCH) return;
  event.preventDefault();
  area.setRangeText(text, area.selectionStart, area.selectionEnd, "end");
  area.dispatchEvent(new Event("input"));
}

// Workloads to begin with, beneath the line in which they are written.

const EXAMPLES: Record<string, string> = {
  "prefix:64": "cumulative shares of 64 values: a CDF",
  "ranges:64": "the share of every interval of 64 values",
  "bins:100:10": "100 values in bins of ten",
  "marginals:age=10,sex=2,country=30:2": "a table for every two of three attributes",
  "parities:10:3": "parities of up to three out of ten bits",
};

/** Buttons that write one of them into the line. */
function workloadExamples(line: HTMLInputElement): HTMLElement {
  const use = (text: string) => () => {
    line.value = text;
    line.dispatchEvent(new Event("input"));
    line.focus();
  };
  return el(
    "ul",
    { class: "examples" },
    ...Object.entries(EXAMPLES).map(([text, about]) =>
      el(
        "li",
        {},
        el("button", { type: "button", class: "plain small", onclick: use(text) }, el("code", {}, text)),
        el("span", { class: "quiet" }, about),
      ),
    ),
  );
}

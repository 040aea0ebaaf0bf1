/** Fields for the parameters of a question, one control for each kind of parameter. */
import type { ParameterEntry } from "../parts/api_types.js";
import { el } from "../parts/dom.js";
import { capital, sentence } from "../parts/trouble.js";
import { attributesField } from "./attributes_field.js";
import { slotsOf, type ParameterKind, type Slot } from "./declared.js";
import { radios, type Fields } from "./fields.js";
import { labelsField } from "./labels_field.js";
import { endsOf, rowsOf, textOf, wayOf, type Typed } from "./typed.js";
import { workloadExamples } from "./workload_examples.js";

/** What the fields of one form have in common. */
export interface Setting {
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

/** Settings that few people need: which design, for how many people, and when answers are shown. */
import type { QuestionEntry, Questions } from "../../parts/api_types.js";
import { el } from "../../parts/dom.js";
import { count } from "../../parts/format.js";
import { isPanel } from "../../questions/declared.js";
import type { Fields } from "../../questions/fields.js";
import type { Filled, FormLine } from "./draft.js";

/** The fields that go with a question. */
export function designFields(
  question: QuestionEntry,
  { defaults }: Questions,
  fields: Fields,
  filled: Filled,
  changed: () => void,
): HTMLElement[] {
  const set = (name: FormLine) => (event: Event) => {
    filled[name] = (event.target as HTMLInputElement | HTMLSelectElement).value;
    changed();
  };
  const line = (name: FormLine, label: string, help: string, inputmode = "numeric"): HTMLElement =>
    fields.field(
      name,
      label,
      el("input", { type: "text", inputmode, autocomplete: "off", class: "figures", value: filled[name], oninput: set(name) }),
      help,
    );
  const choice = (name: FormLine, label: string, options: [string, string][]): HTMLElement => {
    if (!options.some(([value]) => value === filled[name])) filled[name] = "";
    const made = options.map(([value, text]) => el("option", { value, selected: value === filled[name] }, text));
    return fields.field(name, label, el("select", { onchange: set(name) }, ...made));
  };
  const named = (names: string[]): [string, string][] => [
    ["", "the best for this survey"],
    ...names.map((name): [string, string] => [name, name.replaceAll("_", " ")]),
  ];
  const design = (): HTMLElement[] => [
    choice("strategy", "Strategy", named(question.strategies)),
    choice("mechanism", "Mechanism", named(question.mechanisms)),
    choice("criterion", "Best means the least", [
      ["", "L2 over all answers"],
      ["margin", "margin of one answer (95\u00a0%)"],
    ]),
    line("max_report_bytes", "Longest report, in bytes", `Empty: ${count(defaults.max_report_bytes)}.`),
    line("delta", "Delta", "Empty: 0, pure differential privacy.", "decimal"),
  ];
  return [
    ...(isPanel(question) ? [] : design()),
    line("people", "People expected", `Empty: ${count(defaults.people)}. Errors are computed for this number.`),
    line("minimum_reports", "No estimate before so many reports", "Empty: as the collector is set. Anybody can reach it with invented reports."),
  ];
}

/** Whether any of them was set. */
export const isDesigned = ({ strategy, mechanism, criterion, people, delta, max_report_bytes, minimum_reports }: Filled): boolean =>
  [strategy, mechanism, criterion, people, delta, max_report_bytes, minimum_reports].some((text) => text !== "");

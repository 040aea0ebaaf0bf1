/** A list of answers that takes one line: for a form of several fields. */
import { el } from "../../parts/dom.js";
import type { Field } from "./field.js";

/** One of these names, none of them chosen at first; `read` gives its number. */
export function selectField(names: readonly string[], label: string, id: string): Field<number> {
  const first = el("option", { value: "", disabled: true, selected: true }, "Choose …");
  const options = names.map((name, i) => el("option", { value: i }, name));
  const select = el("select", { id, autocomplete: "off" }, first, ...options);
  const read = () => (select.value === "" ? null : Number(select.value));
  return {
    element: el("div", { class: "field" }, el("label", { class: "name", for: id }, label), select),
    read,
    problem: () => (read() === null ? `${label}: choose one of the answers.` : ""),
    focus: () => select.focus(),
  };
}

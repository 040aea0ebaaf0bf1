/** A list of answers to choose one from: radio buttons, or a list that opens and takes one line. */
import { el } from "../../parts/dom.js";
import type { Field } from "./field.js";
import { listing } from "./listing.js";

/** One of these names, none of them chosen at first; `read` gives its number. */
export function choices(names: readonly string[], legend: string, id: string): Field<number> {
  let chosen = -1;
  const option = (i: number): HTMLElement => {
    const button = el("input", {
      type: "radio",
      name: id,
      value: i,
      checked: i === chosen,
      autocomplete: "off",
      onchange: () => {
        chosen = i;
        group.dispatchEvent(new Event("input", { bubbles: true }));
      },
    });
    return el("label", { class: "choice" }, button, el("span", {}, names[i]!));
  };
  const { group, show } = listing(names, legend, id, option, () => (chosen < 0 ? [] : [chosen]));
  show();
  return {
    element: group,
    read: () => (chosen < 0 ? null : chosen),
    problem: () => (chosen < 0 ? "Choose one of the answers." : ""),
    focus: () => group.querySelector("input")?.focus(),
    isBlank: () => chosen < 0,
    set(i: number): void {
      chosen = i;
      show();
    },
  };
}

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
    isBlank: () => read() === null,
  };
}

/** A list of answers to choose one from: radio buttons. */
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
    set(i: number): void {
      chosen = i;
      show();
    },
  };
}

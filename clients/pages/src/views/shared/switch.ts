/** A few choices side by side, one of them taken: radio buttons that look like one switch. */
import { el } from "../../parts/dom.js";

let made = 0;

export function switchOf<Name extends string>(
  name: string,
  choices: Record<Name, string>,
  taken: NoInfer<Name>,
  take: (name: Name) => void,
): HTMLFieldSetElement {
  const group = `switch-${(made += 1)}`;
  const options = (Object.entries(choices) as [Name, string][]).map(([value, text]) => {
    const radio = el("input", { type: "radio", class: "visually-hidden", name: group, value, checked: value === taken, onchange: () => take(value) });
    return el("label", {}, radio, text);
  });
  return el("fieldset", { class: "switch" }, el("legend", {}, name), el("div", {}, ...options));
}

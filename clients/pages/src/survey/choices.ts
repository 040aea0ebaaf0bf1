/** A list of answers to choose one from: radio buttons, with a field to narrow them down where they are many. */
import { el, fill } from "../parts/dom.js";
import { count } from "../parts/format.js";
import type { Field } from "./field.js";

/** Up to so many answers stand there without a field to narrow them down. */
const FEW = 12;
/** So many are shown at once; more would only be scrolled past. */
const SHOWN = 100;

/** Those that hold what was typed, in order, those that begin with it first; and how many there are in all. */
export function narrowed(names: readonly string[], typed: string, most = SHOWN): { shown: number[]; all: number } {
  const wanted = typed.trim().toLocaleLowerCase();
  const first: number[] = [];
  const later: number[] = [];
  let all = 0;
  for (const [i, name] of names.entries()) {
    const at = wanted === "" ? 0 : name.toLocaleLowerCase().indexOf(wanted);
    if (at < 0) continue;
    all += 1;
    if (at === 0 && first.length < most) first.push(i);
    else if (at > 0 && later.length < most) later.push(i);
  }
  return { shown: [...first, ...later].slice(0, most), all };
}

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
  const list = el("div", { class: "choices" });
  const group = el("fieldset", { class: "field" }, el("legend", {}, legend), list);
  let show = (): void => fill(list, ...names.map((_, i) => option(i)));
  if (names.length > FEW) {
    const told = el("p", { class: "quiet small", role: "status", id: `${id}-told` });
    const search = el("input", {
      type: "search",
      id: `${id}-search`,
      autocomplete: "off",
      spellcheck: "false",
      "aria-describedby": `${id}-told`,
      oninput: (event: Event) => {
        event.stopPropagation();
        show();
      },
      // Enter in the search field would send the whole form off.
      onkeydown: (event: KeyboardEvent) => event.key === "Enter" && event.preventDefault(),
    });
    show = () => {
      const { shown, all } = narrowed(names, search.value);
      // What is chosen stays in sight, and stays chosen, whatever is typed.
      const kept = chosen >= 0 && !shown.includes(chosen) ? [chosen, ...shown] : shown;
      fill(list, ...kept.map(option));
      list.scrollTop = 0;
      fill(told, toldOf(shown.length, all, names.length));
    };
    list.classList.add("many");
    list.before(el("label", { class: "small quiet", for: `${id}-search` }, "Narrow the list down"), search);
    list.after(told);
  }
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

const toldOf = (shown: number, found: number, all: number): string =>
  found > shown
    ? `${count(shown)} of ${count(found)} shown: type to narrow them down.`
    : `${count(found)} of ${count(all)} shown.`;

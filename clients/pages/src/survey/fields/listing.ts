/** A list of names to choose from, with a field to narrow it down where they are many. */
import { el, fill } from "../../parts/dom.js";
import { count } from "../../parts/format.js";

/** Up to so many names stand there without a field to narrow them down. */
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

export interface Listing {
  /** The whole group, with its legend. */
  readonly group: HTMLFieldSetElement;
  /** The part that holds the options. */
  readonly list: HTMLElement;
  /** Makes the options anew. */
  show(): void;
}

/** `option` makes the line of a name; `chosen` tells which stay in sight, whatever is typed. */
export function listing(
  names: readonly string[],
  legend: string,
  id: string,
  option: (i: number) => HTMLElement,
  chosen: () => readonly number[],
): Listing {
  const list = el("div", { class: "choices" });
  const group = el("fieldset", { class: "field" }, el("legend", {}, legend), list);
  if (names.length <= FEW) return { group, list, show: () => fill(list, ...names.map((_, i) => option(i))) };
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
  function show(): void {
    const { shown, all } = narrowed(names, search.value);
    const hidden = chosen().filter((i) => !shown.includes(i));
    fill(list, ...[...hidden, ...shown].map(option));
    list.scrollTop = 0;
    fill(told, toldOf(shown.length, all, names.length));
  }
  list.classList.add("many");
  list.before(el("label", { class: "small quiet", for: `${id}-search` }, "Narrow the list down"), search);
  list.after(told);
  return { group, list, show };
}

const toldOf = (shown: number, found: number, all: number): string =>
  found > shown
    ? `${count(shown)} of ${count(found)} shown: type to narrow them down.`
    : `${count(found)} of ${count(all)} shown.`;

/** Searching a long list: words of the title, open or sealed, which kind. */
import { el, fill } from "../../parts/dom.js";
import type { ListFilter } from "./entries.js";
import { KINDS, kindName } from "../../questions/kinds.js";

export interface Filters {
  element: HTMLElement;
  wanted: () => ListFilter;
  /** Let people choose these kinds too: of another package's surveys. */
  offer: (kinds: Iterable<string>) => void;
  /** How much of the list is left, for eyes and screen readers. */
  say: (text: string) => void;
}

export function filters(onChange: () => void): Filters {
  const text = el("input", {
    type: "search",
    placeholder: "Search titles",
    "aria-label": "Search titles",
    oninput: onChange,
  });
  const state = choice("State", { all: "every state", open: "open", sealed: "sealed" }, onChange);
  const kinds = KINDS.map((kind) => [kind, kindName(kind)]);
  const kind = choice("Kind", { all: "every kind", ...Object.fromEntries(kinds) }, onChange);
  const said = el("p", { class: "quiet", role: "status" });
  return {
    element: el("div", { class: "filters", role: "search" }, text, state, kind, said),
    wanted: () => ({ text: text.value, state: state.value, kind: kind.value }),
    offer(others) {
      const known = new Set([...kind.options].map(({ value }) => value));
      kind.append(...[...new Set(others)].filter((one) => !known.has(one)).map((one) => el("option", { value: one }, kindName(one))));
    },
    say: (words) => fill(said, words),
  };
}

function choice(label: string, options: Record<string, string>, onchange: () => void): HTMLSelectElement {
  const made = Object.entries(options).map(([value, text]) => el("option", { value }, text));
  return el("select", { "aria-label": label, onchange }, ...made);
}

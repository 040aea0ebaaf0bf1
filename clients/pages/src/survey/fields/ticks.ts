/** A list of options to tick some of: check boxes, at most so many of them, or none. */
import { el, fill } from "../../parts/dom.js";
import { count } from "../../parts/format.js";
import type { Field } from "./field.js";
import { listing } from "./listing.js";

/** The state of a list of boxes: which are ticked, or that none of them is meant to be. */
export class Ticked {
  readonly #ticked = new Set<number>();
  /** Whether the person has said that none of them applies: an untouched list is not an answer. */
  isNone = false;

  constructor(readonly most: number) {}

  get isFull(): boolean {
    return this.#ticked.size >= this.most;
  }

  has(i: number): boolean {
    return this.#ticked.has(i);
  }

  /** Ticks or unticks one; a further one is not taken once there are as many as may be. */
  set(i: number, isTicked: boolean): void {
    if (!isTicked) this.#ticked.delete(i);
    else if (!this.isFull) this.#ticked.add(i);
    this.isNone &&= this.#ticked.size === 0;
  }

  setNone(isNone: boolean): void {
    this.isNone = isNone;
    if (isNone) this.#ticked.clear();
  }

  /** Their numbers in increasing order; null while nothing was said. */
  read(): number[] | null {
    return this.#ticked.size > 0 || this.isNone ? [...this.#ticked].sort((a, b) => a - b) : null;
  }

  /** How many are ticked, and what that means for the others. */
  get words(): string {
    const ticked = `${count(this.#ticked.size)} of at most ${count(this.most)} ticked`;
    if (this.#ticked.size === 0) return "";
    return this.isFull ? `${ticked}. Untick one to tick another.` : `${ticked}.`;
  }
}

/** `none` is what the box for nothing at all is called. */
export function ticks(names: readonly string[], most: number, none: string, legend: string, id: string): Field<number[]> {
  const ticked = new Ticked(most);
  const told = el("p", { class: "quiet small ticked", role: "status" });
  const changed = (): void => {
    for (const box of list.querySelectorAll("input")) {
      box.checked = ticked.has(Number(box.value));
      box.disabled = ticked.isFull && !box.checked;
    }
    empty.checked = ticked.isNone;
    fill(told, most < names.length && ticked.words);
    group.dispatchEvent(new Event("input", { bubbles: true }));
  };
  const box = (value: number, isTicked: boolean, set: (isTicked: boolean) => void): HTMLInputElement => {
    const made = el("input", {
      type: "checkbox",
      name: id,
      value,
      checked: isTicked,
      autocomplete: "off",
      onchange: () => {
        set(made.checked);
        changed();
      },
    });
    return made;
  };
  const option = (i: number): HTMLElement => {
    const made = box(i, ticked.has(i), (isTicked) => ticked.set(i, isTicked));
    made.disabled = ticked.isFull && !made.checked;
    return el("label", { class: "choice" }, made, el("span", {}, names[i]!));
  };
  const empty = box(-1, false, (isTicked) => ticked.setNone(isTicked));
  const { group, list, show } = listing(names, legend, id, option, () => ticked.read() ?? []);
  list.classList.add("ticks");
  group.append(el("label", { class: "choice none" }, empty, el("span", {}, none)), told);
  show();
  return {
    element: group,
    read: () => ticked.read(),
    problem: () => (ticked.read() === null ? `Tick what applies to you, or “${none}”.` : ""),
    focus: () => group.querySelector<HTMLInputElement>("input:enabled")?.focus(),
    isBlank: () => ticked.read() === null,
  };
}

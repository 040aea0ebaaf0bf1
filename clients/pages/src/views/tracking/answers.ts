/** Which answers a curve shows: boxes to tick, and a field to search them where there are many. */
import { el, fill } from "../../parts/dom.js";
import { count } from "../../parts/format.js";

/** Most that are drawn at once: as many as can be told apart. */
export const MOST = 4;
/** From how many on there is something to search in. */
const MANY = 12;
const LISTED = 60;

export interface Answers {
  element: HTMLElement;
  /** Those that are ticked, in the order of the survey. */
  chosen(): string[];
  offer(names: readonly string[]): void;
}

/** What is shown at first: of two answers one, since the other is the rest. */
export const firstOf = (names: readonly string[]): string[] => names.slice(0, names.length === 2 ? 1 : 3);

export function answersOf(onChoose: () => void): Answers {
  const search = el("input", { type: "search", placeholder: "Search answers", "aria-label": "Search answers", oninput: () => draw() });
  const boxes = el("div", { class: "answer-boxes" });
  const said = el("p", { class: "quiet", role: "status" });
  const element = el("fieldset", { class: "answers", hidden: true }, el("legend", {}, `Answers, up to ${MOST}`), search, boxes, said);
  let names: readonly string[] = [];
  let taken = new Set<string>();

  function toggle(name: string, on: boolean): void {
    if (on) taken.add(name);
    else taken.delete(name);
    for (const box of boxes.querySelectorAll("input")) limit(box);
    onChoose();
  }

  /** No more than can be told apart, and never none. */
  function limit(box: HTMLInputElement): void {
    box.disabled = box.checked ? taken.size === 1 : taken.size >= MOST;
  }

  function draw(): void {
    const typed = search.value.trim().toLowerCase();
    const found = names.filter((name) => taken.has(name) || name.toLowerCase().includes(typed));
    const made = found.slice(0, LISTED).map((name) => {
      const box = el("input", { type: "checkbox", checked: taken.has(name), onchange: () => toggle(name, box.checked) });
      limit(box);
      return el("label", {}, box, name);
    });
    fill(boxes, ...made);
    fill(said, found.length > LISTED && `${count(LISTED)} of ${count(found.length)}: type to find others`);
  }

  return {
    element,
    chosen: () => names.filter((name) => taken.has(name)),
    offer(now) {
      if (now.length === names.length && now.every((name, at) => name === names[at])) return;
      names = now;
      taken = new Set([...taken].filter((name) => now.includes(name)));
      if (taken.size === 0) taken = new Set(firstOf(now));
      search.hidden = names.length <= MANY;
      element.hidden = names.length < 2;
      draw();
    },
  };
}

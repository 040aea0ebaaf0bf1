/** Which of many pictures is looked at: the first few, or one by its name. */
import { el, fill } from "../../parts/dom.js";
import { titleOf, type PicturePanel } from "./picture.js";

/** Up to so many pictures stand below each other. */
export const AT_ONCE = 6;

export interface Chooser {
  element: HTMLElement;
  /** The pictures to draw out of these; at most so many where none is chosen. */
  shown(panels: PicturePanel[], most: number): PicturePanel[];
  /** How many are left to be shown by a button. */
  left(panels: PicturePanel[], most: number): number;
}

/** `onChoose` is called when another one is chosen. */
export function chooserOf(onChoose: () => void): Chooser {
  const select = el("select", { id: "choose-picture", onchange: onChoose });
  const element = el("p", { class: "choose-picture", hidden: true }, el("label", { for: select.id }, "Picture"), select);
  let names = "";

  function offer(panels: PicturePanel[]): void {
    const titles = panels.map(titleOf);
    element.hidden = panels.length <= AT_ONCE;
    if (titles.join("\n") === names) return;
    names = titles.join("\n");
    const first = el("option", { value: "" }, "one after the other");
    fill(select, first, ...titles.map((title, at) => el("option", { value: at }, title)));
  }

  return {
    element,
    shown(panels, most) {
      offer(panels);
      return select.value === "" ? panels.slice(0, most) : panels.slice(Number(select.value), Number(select.value) + 1);
    },
    left: (panels, most) => (select.value === "" ? Math.max(0, panels.length - most) : 0),
  };
}

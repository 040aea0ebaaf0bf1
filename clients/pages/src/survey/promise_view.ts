/** What every view of a survey shows: its title, who asks, and what epsilon promises. */
import { el } from "../parts/dom.js";
import { promise, strength } from "./words.js";

/** The survey's title, which is a stranger's text, and who asks. */
export function heading(title: string, origin: string): HTMLElement {
  return el(
    "header",
    { class: "title" },
    el("p", { class: "quiet small" }, `A survey by ${new URL(origin).host}`),
    el("h1", { tabindex: -1 }, title || "A survey without a title"),
  );
}

/** What epsilon promises. */
export function meaning(epsilon: number): HTMLElement {
  const [first, second] = promise(epsilon);
  const kind = `That is a ${strength(epsilon)} promise, and it holds whoever looks and whatever they know.`;
  return el(
    "div",
    { class: "meaning" },
    el("p", {}, first),
    el("p", { class: "quiet" }, `${second} ${kind} Its name is ε\u00a0=\u00a0${epsilon}.`),
  );
}

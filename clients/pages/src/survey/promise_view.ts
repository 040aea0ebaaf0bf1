/** What every view of a survey shows: its title, who asks, what epsilon promises, and who can see what. */
import type { Relay } from "../../../js/src/index.js";
import { el } from "../parts/dom.js";
import { promise, restsOn, strength, whoSees } from "./words.js";

/** The survey's title, which is a stranger's text, and who asks. */
export function heading(title: string, origin: string): HTMLElement {
  return el(
    "header",
    { class: "title" },
    el("p", { class: "quiet small" }, `A survey by ${new URL(origin).host}`),
    el("h1", { tabindex: -1 }, title || "A survey without a title"),
  );
}

/** Who can see what of a report that goes through a relay; null for one that goes to the collector directly. */
export const relayed = (relay: Relay | null, origin: string, seen?: string): HTMLElement | null =>
  relay &&
  el("div", { class: "relayed" }, el("p", {}, whoSees(relay, origin)), el("p", { class: "quiet small" }, restsOn(relay, seen)));

/** What epsilon promises. */
export function meaning(epsilon: number): HTMLElement {
  const [first, second] = promise(epsilon);
  const kind = `That is a ${strength(epsilon)} promise, and it holds against everybody, whatever they know.`;
  return el(
    "div",
    { class: "meaning" },
    el("p", {}, first),
    el("p", { class: "quiet" }, `${second} ${kind} Its name is ε\u00a0=\u00a0${epsilon}.`),
  );
}

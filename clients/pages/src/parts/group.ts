/** What a person reads of a public group before they answer. */
import { el } from "./dom.js";

export const openly = (label: string): HTMLElement =>
  el("p", { class: "group" }, "Your group, ", el("b", { class: "own" }, label), ", is sent in the open, beside the random report.");

/** What went wrong, in words, where it can be seen and heard. */
import { Refusal, Unreachable } from "./api.js";
import { el, fill } from "./dom.js";

/** An error as a sentence: the collector's own words, with a capital and a full stop. */
export function inWords(error: unknown): string {
  if (error instanceof Refusal || error instanceof Unreachable) return sentence(error.message);
  return "Something went wrong on this page; loading it again may help.";
}

/** An error of an action that somebody asked for once, as a sentence: they can ask again. */
export function onceInWords(error: unknown): string {
  return error instanceof Unreachable
    ? "The collector does not answer. Nothing is lost: try again in a moment."
    : inWords(error);
}

/** The text as a sentence: a capital at its beginning and a full stop at its end. */
export function sentence(text: string): string {
  const trimmed = text.trim();
  return capital(trimmed) + (/[.!?…]$/.test(trimmed) ? "" : ".");
}

/** The text with a capital at its beginning. */
export const capital = (text: string): string => text.charAt(0).toUpperCase() + text.slice(1);

/** A box for an error; screen readers say it at once. */
export function troubleBox(error: unknown): HTMLElement {
  return el("p", { class: "trouble", role: "alert" }, inWords(error));
}

/** A place where trouble comes and goes: `place.tell(error)`, and null when it is over. */
export function troublePlace(): { place: HTMLElement; tell: (error: unknown) => void } {
  const place = el("div", { role: "alert" });
  const tell = (error: unknown): void => {
    const said = error === null ? "" : inWords(error);
    // Said once, however often it is found again.
    if (said !== place.textContent) fill(place, said !== "" && el("p", { class: "trouble" }, said));
  };
  return { place, tell };
}

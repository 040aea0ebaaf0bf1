/** A button that copies a text. */
import { el, fill } from "../../parts/dom.js";

/** `field` holds the same text, for where a page may not write to the clipboard. */
export function copyButton(text: string, field: HTMLElement): HTMLElement {
  const copy = el("button", { type: "button", onclick: () => void copied() }, "Copy");

  async function copied(): Promise<void> {
    try {
      await navigator.clipboard.writeText(text);
      fill(copy, "Copied");
      setTimeout(() => fill(copy, "Copy"), 2_000);
    } catch {
      // Where the clipboard is closed to pages, the person's own copy works on what is now selected.
      field.focus();
    }
  }

  return copy;
}

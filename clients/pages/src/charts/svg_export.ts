/** A chart handed to the person as a file. */
import { el } from "../parts/dom.js";

/** A name that every file system takes: letters, digits and hyphens only. */
export function fileName(...parts: readonly string[]): string {
  const plain = parts.map((part) => part.toLowerCase().replace(/[^a-z0-9]+/g, "-").replace(/^-+|-+$/g, ""));
  return `${plain.filter((part) => part !== "").join("-").slice(0, 80) || "picture"}.svg`;
}

/** Saves the text of a picture under a name, as if it had been downloaded. */
export function saveSvg(text: string, name: string): void {
  const address = URL.createObjectURL(new Blob([text], { type: "image/svg+xml" }));
  const link = el("a", { href: address, download: name, hidden: true });
  document.body.append(link);
  link.click();
  link.remove();
  // The browser reads the blob after the click; letting it go at once would lose the file in some.
  setTimeout(() => URL.revokeObjectURL(address), 60_000);
}

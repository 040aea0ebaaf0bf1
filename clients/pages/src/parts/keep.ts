/** What a page remembers in the browser. Storage may be blocked, full or cleared: a page works all the same. */

type Shelf = "localStorage" | "sessionStorage";

/** What was kept under a name, or null. */
export function recall(shelf: Shelf, name: string): string | null {
  try {
    return globalThis[shelf].getItem(`sottovoce.${name}`);
  } catch {
    return null;
  }
}

/** Whether anything can be kept there at all. */
export function keeps(shelf: Shelf): boolean {
  remember(shelf, "probe", "yes");
  const kept = recall(shelf, "probe") === "yes";
  remember(shelf, "probe", null);
  return kept;
}

/** Keeps it, or with null forgets it. */
export function remember(shelf: Shelf, name: string, text: string | null): void {
  try {
    if (text === null) globalThis[shelf].removeItem(`sottovoce.${name}`);
    else globalThis[shelf].setItem(`sottovoce.${name}`, text);
  } catch {
    // Then it is asked for again next time.
  }
}

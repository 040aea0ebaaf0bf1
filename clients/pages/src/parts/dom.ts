/** Elements by function call. Text goes in as text nodes: nothing here ever reads HTML, so titles and labels cannot be any. */

type Child = Node | string | number | null | undefined | false;

/** What an element is given: attributes; true for one without a value; a function for an event, as in `onclick`. */
type Given = Record<string, string | number | boolean | null | undefined | ((event: any) => void)>;

/**
 * Makes an element.
 *
 * `el("p", { class: "quiet" }, "n = ", count)`; a null, undefined or false attribute or child is left out.
 */
export function el<Name extends keyof HTMLElementTagNameMap>(
  name: Name,
  given: Given = {},
  ...children: Child[]
): HTMLElementTagNameMap[Name] {
  const made = document.createElement(name);
  dress(made, given);
  fill(made, ...children);
  return made;
}

/** A new SVG element with its attributes and children. */
export function svg<Name extends keyof SVGElementTagNameMap>(
  name: Name,
  given: Given = {},
  ...children: Child[]
): SVGElementTagNameMap[Name] {
  const made = document.createElementNS("http://www.w3.org/2000/svg", name);
  dress(made, given);
  fill(made, ...children);
  return made;
}

/** Puts these children in the place of whatever was there. */
export function fill(parent: Element, ...children: Child[]): void {
  parent.replaceChildren(
    ...children.flatMap((child) =>
      child === null || child === undefined || child === false ? [] : [child instanceof Node ? child : String(child)],
    ),
  );
}

/** The element of that id, which the page's own HTML holds. */
export function byId<Kind extends HTMLElement = HTMLElement>(id: string): Kind {
  const found = document.getElementById(id);
  if (found === null) throw new Error(`the page has no #${id}`);
  return found as Kind;
}

function dress(made: Element, given: Given): void {
  for (const [name, value] of Object.entries(given)) {
    if (value === null || value === undefined || value === false) continue;
    if (typeof value === "function") made.addEventListener(name.slice(2), value);
    else made.setAttribute(name, value === true ? "" : String(value));
  }
}

// What a page shows is gone when it is left: browsers may keep it as it was, for a person who presses Back.

/** Empties the page when it is left, before the browser could keep it, and loads it anew if it did. */
export function emptyWhenLeft(): void {
  addEventListener("pagehide", () => fill(byId("page")));
  addEventListener("pageshow", (event) => event.persisted && location.reload());
}

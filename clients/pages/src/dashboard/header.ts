/** The head of every page of the dashboard: where one can go, how it looks, and the way out. */
import type { SignedIn } from "../parts/api_types.js";
import { el, fill } from "../parts/dom.js";
import { allows } from "../parts/session.js";
import { themeSwitch } from "../parts/theme.js";

/** Fills the header; without a session there is nowhere to go yet. */
export function showHeader(header: HTMLElement, view: ViewName, session: SignedIn | null, leave: () => void): void {
  const link = (name: ViewName, path: string, text: string): HTMLElement =>
    el("a", { href: path, "aria-current": name === view ? "page" : null }, text);
  fill(
    header,
    el(
      "a",
      { class: "brand", href: "/" },
      el("img", { src: "/assets/icon.svg", alt: "", width: 28, height: 28 }),
      "Sottovoce",
    ),
    session &&
      el(
        "nav",
        { "aria-label": "Dashboard" },
        link("surveys", "/", "Surveys"),
        allows(session, "publish") && link("create", "/new", "New survey"),
        link("planner", "/plan", "Planner"),
      ),
    el(
      "div",
      { class: "header-end" },
      session &&
        el("span", { class: "who quiet", title: `your token may: ${session.scopes.join(", ")}` }, who(session)),
      themeSwitch(),
      session && el("button", { type: "button", class: "plain small", onclick: leave }, "Sign out"),
    ),
  );
}

const who = ({ note, scopes }: SignedIn): string => note || scopes.join(", ");

// Which view an address shows. Every link loads its page anew: the collector is near, and nothing is left running.

export type ViewName = "surveys" | "create" | "planner" | "survey" | "unknown";

/** The view of a path, with the survey's id where the address has one. */
export function routeOf(path: string): { view: ViewName; id?: string } {
  const plain = path.replace(/\/+$/, "") || "/";
  if (plain === "/") return { view: "surveys" };
  if (plain === "/new") return { view: "create" };
  if (plain === "/plan") return { view: "planner" };
  const id = /^\/survey\/([0-9a-f]{64})$/.exec(plain)?.[1];
  return id === undefined ? { view: "unknown" } : { view: "survey", id };
}

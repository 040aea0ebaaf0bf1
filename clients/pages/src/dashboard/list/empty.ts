/** What a collector without surveys shows: how to make the first one. */
import { el } from "../../parts/dom.js";
import { allows, type Session } from "../session.js";
import { KINDS, kindPicture } from "./kinds.js";

export function emptyList(session: Session): HTMLElement {
  return el(
    "section",
    { class: "empty" },
    el("h1", {}, "No survey yet"),
    el(
      "p",
      { class: "lead" },
      "People answer in a whisper that says little about them; together the whispers give accurate statistics. " +
        "A survey says what is asked, and how softly.",
    ),
    el(
      "ul",
      { class: "kinds-told" },
      ...Object.entries(KINDS).map(([kind, { name, about }]) =>
        el("li", { class: "card" }, kindPicture(kind), el("h2", {}, name), el("p", { class: "quiet" }, about)),
      ),
    ),
    allows(session, "publish")
      ? el("p", {}, el("a", { class: "button", href: "/new" }, "Make the first survey"))
      : el(
          "p",
          {},
          "Your token cannot publish. Somebody whose token publishes can make a survey; it then appears here by itself.",
        ),
    el("p", { class: "quiet" }, "Or on the command line:"),
    el(
      "pre",
      {},
      'sottovoce survey create distribution --labels red,green,blue --epsilon 1 --title "Favourite colour"',
    ),
  );
}

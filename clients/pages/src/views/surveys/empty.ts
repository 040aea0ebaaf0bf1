/** What a collector without surveys shows: what can be asked, and how to make the first survey. */
import type { QuestionEntry, SignedIn } from "../../parts/api_types.js";
import { el } from "../../parts/dom.js";
import { sentence } from "../../parts/trouble.js";
import { allows } from "../../parts/session.js";
import { kindName, kindPicture } from "../../questions/kinds.js";

export function emptyList(session: SignedIn, questions: readonly QuestionEntry[]): HTMLElement {
  return el(
    "section",
    { class: "empty" },
    el("h1", {}, "No survey yet"),
    el(
      "p",
      { class: "lead" },
      "Every device randomizes its report before it sends it, so that a report says little about its sender. " +
        "Many reports together give accurate statistics.",
    ),
    el(
      "ul",
      { class: "kinds-told" },
      ...questions.map(({ kind, summary }) =>
        el("li", { class: "card" }, kindPicture(kind), el("h2", {}, kindName(kind)), el("p", { class: "quiet" }, sentence(summary))),
      ),
    ),
    allows(session, "publish")
      ? el("p", {}, el("a", { class: "button", href: "/new" }, "Make the first survey"))
      : el("p", {}, "Your token cannot publish. A survey that somebody else publishes appears here by itself."),
    el("p", { class: "quiet" }, "Or on the command line:"),
    el("pre", {}, 'sottovoce survey create shares --labels red,green,blue --epsilon 1 --title "Favourite colour"'),
  );
}

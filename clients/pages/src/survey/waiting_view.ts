/** While the question that this device has drawn of a panel is not open. */
import { el } from "../parts/dom.js";
import { heading } from "./promise_view.js";

export function waitingView(title: string, origin: string, look: () => void): HTMLElement {
  return el(
    "div",
    { class: "view" },
    heading(title, origin),
    el(
      "section",
      { class: "status waiting" },
      el("h2", {}, "Your question has not been asked yet."),
      el(
        "p",
        {},
        "This device has drawn its question by lot, and it is not open so far. Nothing was drawn from your answer, " +
          "and nothing was sent.",
      ),
      el(
        "p",
        {},
        "Leave this page open: it looks again now and then. Your answer is only in this page’s memory; if you close " +
          "it, come back later and answer then. The question drawn for this device stays the same.",
      ),
      el("p", {}, el("button", { type: "button", class: "plain", onclick: look }, "Look now")),
    ),
  );
}

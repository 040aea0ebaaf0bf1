/** Whether the report was sent, and what the person can do about it. */
import type { AnswerState } from "../../../js/src/index.js";
import { el } from "../parts/dom.js";
import { heading } from "./promise_view.js";

/** Where sending stands. */
type SendingState = "asked" | "trying" | "kept" | "sent" | "refused";

/** What the page shows for what the ledger holds, whether the person has said "send it", and whether it is trying. */
export function sendingOf(state: AnswerState, isReleased: boolean, isTrying: boolean): SendingState {
  if (state !== "unsent") return state;
  return isTrying ? "trying" : isReleased ? "kept" : "asked";
}

const TITLES: Readonly<Record<SendingState, string>> = {
  asked: "Your report is drawn. Nothing has left yet.",
  trying: "Sending …",
  kept: "Not sent yet. It is kept here.",
  sent: "It has arrived, and will be counted once.",
  refused: "The service did not take it.",
};

const TEXTS: Readonly<Record<SendingState, string>> = {
  asked:
    "It was drawn once and stays as it is: reloading or answering again draws no other. Whether you send it should " +
    "not depend on what it says.",
  trying: "The same bytes go out until they have arrived.",
  kept: "It goes out by itself, the same bytes, as soon as the service can be reached while this page is open.",
  sent: "Thank you. Reloading, a second tab or sending it again change nothing: one report from this browser.",
  refused:
    "The survey may have been closed before your report came. It is not sent again; the ledger still counts it, for " +
    "it was drawn.",
};

/** What is said otherwise where the report goes through a relay. */
const RELAYED_TITLES: Partial<Record<SendingState, string>> = {
  sent: "It is held at the relay.",
};

const RELAYED_TEXTS: Partial<Record<SendingState, string>> = {
  kept: "It goes out by itself, the same bytes, as soon as the relay can be reached while this page is open.",
  sent:
    "Thank you. When enough others have come, the relay forwards it with them, and it is counted once. Reloading, a " +
    "second tab or sending it again change nothing: one report from this browser.",
};

/** The title of where sending stands, which the page also says aloud when it changes. */
export const titleOf = (sending: SendingState, isRelayed: boolean): string =>
  (isRelayed ? RELAYED_TITLES[sending] : undefined) ?? TITLES[sending];

/** The heading of a drawn report, with the button that is due. */
export function statusView(sending: SendingState, isRelayed: boolean, problem: string, send: () => void): HTMLElement {
  const button = { asked: "Send it", kept: "Try now", trying: null, sent: null, refused: null }[sending];
  return el(
    "section",
    { class: `status ${sending}`, "aria-labelledby": "status" },
    el("h2", { id: "status", tabindex: -1 }, titleOf(sending, isRelayed)),
    el("p", {}, (isRelayed ? RELAYED_TEXTS[sending] : undefined) ?? TEXTS[sending]),
    problem !== "" && sending !== "sent" && el("p", { class: "quiet small" }, `The reason given: ${problem}`),
    button && el("p", { class: "send-bar" }, el("button", { type: "button", id: "send", onclick: send }, button)),
  );
}

// While the question that this device has drawn of a panel is not open.

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

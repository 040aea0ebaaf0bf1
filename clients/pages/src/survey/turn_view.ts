/** A tracking survey while it is not this browser's turn; and beside a report: the next turn, and refusing it. */
import { oneLine } from "../../../js/src/core/text.js";
import type { Ledger, Period, Receipt, Tracking } from "../../../js/src/index.js";
import { el } from "../parts/dom.js";
import { named } from "../parts/format.js";
import { ledgerView } from "./ledger_view.js";
import type { Found } from "./machine.js";
import { heading, meaning, relayed } from "./promise_view.js";
import { charge, deadline, EACH_IS_CHARGED, turnText, turnTitle } from "./turn_words.js";
import { who } from "./who_view.js";

/** This browser's turn, and what its owner has said about later ones. */
export interface MyTurn {
  readonly survey: Tracking;
  readonly origin: string;
  readonly receipt: Receipt;
  readonly isRefusing: boolean;
  readonly refuse: (refuses: boolean) => void;
}

/** The whole view, where nothing is to be answered now. */
export function turnView(found: Found, turn: MyTurn, ledger: Ledger): HTMLElement {
  const { survey, origin, receipt } = turn;
  const period = receipt.period!;
  const isComing = receipt.state === "waiting";
  return el(
    "div",
    { class: "view" },
    heading(survey.title, origin),
    el(
      "section",
      { class: "status waiting", "aria-labelledby": "turn" },
      el("h2", { id: "turn", tabindex: -1 }, turnTitle(receipt.state, period, survey.calendar.every)),
      el("p", {}, turnText(receipt.state, period, survey.calendar), isComing && ` ${deadline(period)}`),
      isComing && el("p", {}, calendarButton(reminded(turn, period))),
      receipt.after && nextTurn(turn, receipt.after, isComing),
    ),
    renewals(turn),
    el(
      "section",
      { class: "card", "aria-labelledby": "cost" },
      el("h2", { id: "cost" }, "What it means for you"),
      cost(survey),
      meaning(survey.epsilon),
      relayed(survey.relay, origin),
      ledgerView(ledger, isComing ? survey.epsilon : 0, !isComing),
    ),
    who(found, origin),
  );
}

/** What it costs, over the life of the survey too. */
export const cost = (survey: Tracking): HTMLElement => el("p", { class: "cost" }, charge(survey), " ", EACH_IS_CHARGED);

/** Beside a report: when this browser is asked again. */
export function turnAfter(turn: MyTurn): HTMLElement | null {
  const { survey, receipt } = turn;
  if (!survey.calendar.renews) return null;
  return el(
    "section",
    { class: "card", "aria-labelledby": "after" },
    el("h2", { id: "after" }, "Later turns"),
    cost(survey),
    receipt.after ? nextTurn(turn, receipt.after, false) : el("p", {}, "No further turn of yours follows."),
    renewals(turn, false),
  );
}

function nextTurn(turn: MyTurn, after: Period, isFollowing: boolean): HTMLElement {
  return el(
    "div",
    {},
    el("p", {}, `${isFollowing ? "The turn after it" : "Your next turn"} is ${named(after.label)}.`),
    !isFollowing && el("p", {}, calendarButton(reminded(turn, after))),
  );
}

/** Where the owner refuses further turns of a survey that renews. */
export function renewals({ survey, isRefusing, refuse }: MyTurn, isCard = true): HTMLElement | null {
  const { calendar } = survey;
  if (!calendar.renews) return null;
  const change = (event: Event) => refuse((event.target as HTMLInputElement).checked);
  return el(
    "div",
    { class: isCard ? "card renewals" : "renewals" },
    el(
      "label",
      { class: "empty" },
      el("input", { type: "checkbox", id: "renewals", checked: isRefusing, onchange: change }),
      el("span", {}, `Refuse further turns: answer this survey in one window of ${calendar.spans(calendar.window)} only.`),
    ),
    el("p", { class: "quiet small" }, "This browser keeps to it until you change it here. Nobody else learns it."),
  );
}

const reminded = ({ survey, origin }: MyTurn, period: Period) => ({
  id: survey.id,
  title: survey.title,
  address: `${origin}/s/${survey.id}`,
  period,
});

// A calendar file (iCalendar, RFC 5545) with this browser's turn, made here: one event over the whole period.
// It holds the survey's title and address, which are public, and the period; no answer. A reader learns when
// this browser will answer.

/** Octets of a line, after which it is folded. */
const LONGEST = 75;

/** The survey as an event tells of it. */
interface Reminded {
  readonly id: string;
  readonly title: string;
  /** The page's address. */
  readonly address: string;
  readonly period: Period;
}

/** The file's text; `now` is when it was made. The same turn has the same UID: read twice, it is one event. */
export function calendarFile({ id, title, address, period }: Reminded, now: number): string {
  const name = escaped(`Answer ${oneLine(title) || "a survey"}`);
  const lines = [
    "BEGIN:VCALENDAR",
    "VERSION:2.0",
    "PRODID:-//sottovoce//survey page//EN",
    "BEGIN:VEVENT",
    `UID:${id}-${period.number}@sottovoce`,
    `DTSTAMP:${digits(now)}`,
    `DTSTART;VALUE=DATE:${digits(period.start).slice(0, 8)}`,
    `DTEND;VALUE=DATE:${digits(period.end).slice(0, 8)}`,
    `SUMMARY:${name}`,
    `DESCRIPTION:${escaped(`Your turn: ${period.label}. Open ${address} in the browser in which you looked it up.`)}`,
    `URL:${address}`,
    "TRANSP:TRANSPARENT",
    "END:VEVENT",
    "END:VCALENDAR",
  ];
  return lines.map((line) => `${folded(line)}\r\n`).join("");
}

/** The control that saves it. */
function calendarButton(reminded: Reminded): HTMLElement {
  const save = () => {
    const text = calendarFile(reminded, Date.now());
    const address = URL.createObjectURL(new Blob([text], { type: "text/calendar" }));
    el("a", { href: address, download: "sottovoce-turn.ics" }).click();
    setTimeout(() => URL.revokeObjectURL(address), 60_000);
  };
  return el("button", { type: "button", class: "plain", onclick: save }, "Save it in your calendar (.ics)");
}

/** 20270308T000000Z, in UTC. */
const digits = (moment: number): string => `${new Date(moment).toISOString().slice(0, 19).replace(/[-:]/g, "")}Z`;

/** TEXT of RFC 5545, section 3.3.11. */
const escaped = (text: string): string => text.replace(/[\\;,]/g, "\\$&").replace(/\n/g, "\\n");

/** The line in parts of at most 75 octets, that split no character (section 3.1). */
function folded(line: string): string {
  let [text, length] = ["", 0];
  for (const sign of line) {
    const size = new TextEncoder().encode(sign).length;
    if (length + size > LONGEST) [text, length] = [`${text}\r\n `, 1];
    [text, length] = [text + sign, length + size];
  }
  return text;
}

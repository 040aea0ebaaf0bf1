/**
 * A calendar file (iCalendar, RFC 5545) with this browser's turn, made here: one event over the whole period.
 *
 * It holds the survey's title and address, which are public, and the period; no answer. Whoever reads it learns when
 * this browser will answer.
 */
import type { Period } from "../../../js/src/index.js";
import { oneLine } from "../../../js/src/core/text.js";
import { el } from "../parts/dom.js";

/** Octets of a line, after which it is folded. */
const LONGEST = 75;

/** The survey as an event tells of it. */
export interface Reminded {
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
export function calendarButton(reminded: Reminded): HTMLElement {
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

/** The line in parts of at most 75 octets, none of which splits a character (section 3.1). */
function folded(line: string): string {
  let [text, length] = ["", 0];
  for (const sign of line) {
    const size = new TextEncoder().encode(sign).length;
    if (length + size > LONGEST) [text, length] = [`${text}\r\n `, 1];
    [text, length] = [text + sign, length + size];
  }
  return text;
}

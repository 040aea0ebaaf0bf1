/** What the survey page says about turns, and the calendar file that it makes. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { Calendar } from "../../js/src/surveys/calendar.js";
import { calendarFile } from "../src/survey/turn_view.js";
import { named } from "../src/parts/format.js";
import { onlyIn, OtherTurn } from "../src/survey/machine.js";
import { charge, deadline, turnText, turnTitle } from "../src/survey/turn_words.js";

const calendar = (change: object = {}) =>
  Calendar.read({ starts: "2027-03-01", every: "week", window: 13, windows: 4, grace: 7, ...change } as any);

test("the cost is told in the words of the library", () => {
  assert.equal(
    charge({ calendar: calendar(), epsilon: 1, delta: 0 }),
    "It costs you epsilon 1 in each window of 13 weeks, epsilon 2 for any 13 weeks, and epsilon 4 over all 52 weeks.",
  );
});

test("turns are named as people name them", () => {
  const second = calendar().period(2);
  assert.equal(turnTitle("waiting", second, "week"), "Your turn is the week of 8 March 2027. Come back then.");
  assert.equal(turnTitle("missed", second, "week"), "Your week has passed; your seat stays empty.");
  assert.equal(turnTitle("missed", second, 14), "Your period has passed; your seat stays empty.");
  assert.equal(deadline(second), "It can be answered until 21 March 2027, in UTC.");
  assert.match(turnText("waiting", second, calendar()), /once in 13 weeks/);
  assert.match(turnText("missed", second, calendar()), /It was the week of 8 March 2027\./);
  const labels = [{ every: "day" }, { every: "month" }, { every: "year" }, { every: 1 }].map((change) => calendar(change).label(1));
  assert.deepEqual(labels.map(named), ["1 March 2027", "March 2027", "the year from 1 March 2027", "the 1 day from 1 March 2027"]);
});

test("a calendar file is one event over the whole period, in lines of at most 75 octets", () => {
  const title = "Schlaf, Träume; und \\ alles\u202e: ".repeat(5);
  const address = `https://stats.example.org/s/${"ab".repeat(32)}`;
  const file = calendarFile({ id: "ab".repeat(32), title, address, period: calendar().period(2) }, Date.UTC(2027, 0, 2, 3, 4, 5));
  assert.ok(file.endsWith("END:VEVENT\r\nEND:VCALENDAR\r\n"));
  const lines = file.split("\r\n");
  assert.ok(lines.every((line) => Buffer.byteLength(line) <= 75 && !/[\r\n\ufffd\u202e]/.test(line)));
  const unfolded = file.replaceAll("\r\n ", "").split("\r\n");
  for (const line of [
    "BEGIN:VCALENDAR",
    "VERSION:2.0",
    "DTSTAMP:20270102T030405Z",
    "DTSTART;VALUE=DATE:20270308",
    "DTEND;VALUE=DATE:20270315",
    `UID:${"ab".repeat(32)}-2@sottovoce`,
    `URL:${address}`,
  ]) {
    assert.ok(unfolded.includes(line), line);
  }
  assert.match(unfolded.find((line) => line.startsWith("SUMMARY:"))!, /^SUMMARY:Answer Schlaf\\, Träume\\; und \\\\ alles: /);
});

test("an answer is given in the period that was asked about, and in no other", () => {
  const asked = onlyIn(2, "yes");
  assert.equal(asked(calendar().period(2)), "yes");
  for (const number of [1, 3, 14, 15]) assert.throws(() => asked(calendar().period(number)), OtherTurn);
  assert.equal(onlyIn(null, "yes")(null), "yes", "a survey without periods");
});

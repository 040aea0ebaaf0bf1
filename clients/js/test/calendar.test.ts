/** Calendars and periods are the Python library's: moments, words, ids; and what is refused there is refused here. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { toHex } from "../src/core/bytes.js";
import { SurveyError } from "../src/core/errors.js";
import { Calendar } from "../src/surveys/calendar.js";
import { readSurvey } from "../src/surveys/read.js";
import { Survey } from "../src/surveys/survey.js";
import { Tracking } from "../src/surveys/tracking.js";
import { range, shares } from "./stated.js";
import { vectors } from "./vectors.js";

const { calendars, bad, tracking } = vectors("calendars");
const told = (moment: number) => new Date(moment).toISOString().replace(".000", "");
const ends = (found: number[]) => (found.length ? [found[0], found.at(-1)] : []);

test("periods begin, end, close and are named as in Python", () => {
  for (const { calendar, periods, spans, promises } of calendars) {
    const read = Calendar.read(calendar);
    assert.deepEqual([read.promise(0.1), read.promise(1, 1e-6)], promises);
    for (const { start, end, closes, ...period } of periods) {
      const { start: from, end: to, closes: until, ...rest } = read.period(period.number);
      assert.deepEqual([told(from), told(to), told(until), rest], [start, end, closes, period]);
      assert.ok(read.firstOf(period.window) <= period.number && period.number < read.firstOf(period.window + 1));
    }
    for (const [count, words] of Object.entries(spans)) assert.equal(read.spans(Number(count)), words);
  }
});

test("a moment's period, and what can be answered then, are those of Python", () => {
  for (const { calendar, moments } of calendars) {
    const read = Calendar.read(calendar);
    for (const { moment, at, answerable, windows } of moments) {
      const now = Date.parse(moment);
      const found = { moment, at: read.at(now), answerable: ends(read.answerable(now)), windows: ends(read.windowsAt(now)) };
      assert.deepEqual(found, { moment, at, answerable, windows }, JSON.stringify(calendar));
    }
  }
});

test("bad calendars are refused", () => {
  for (const calendar of bad) assert.throws(() => Calendar.read(calendar), SurveyError, JSON.stringify(calendar));
});

test("a device derives the survey of every period from the tracking survey", async () => {
  for (const { canonical, id, periods } of tracking) {
    const survey = await readSurvey(canonical);
    assert.ok(survey instanceof Tracking);
    assert.deepEqual([survey.id, survey.kind, survey.seats], [id, "tracking", survey.calendar.window]);
    for (const { number, id: period, tag } of periods) {
      const found = await survey.period(number);
      assert.deepEqual([found.id, toHex(found.tag), found.period!.number], [period, tag, number]);
      const alone = await readSurvey(found.canonical);
      assert.ok(alone instanceof Survey && alone.period!.label === survey.calendar.label(number));
    }
  }
});

test("periods that there are not, and periods without a calendar, are refused", async () => {
  const { calendar } = calendars[0];
  const asked = (more: object) => readSurvey(JSON.stringify(shares(range(4), { name: "hadamard" }, { ...more })));
  const last = calendar.window * calendar.windows;
  for (const period of [1, last]) await asked({ calendar, period });
  for (const period of [0, last + 1, 1.5, "1", null]) await assert.rejects(asked({ calendar, period }), SurveyError);
  for (const more of [{ period: 1 }, { calendar, seat: {} }, { calendar, period: 1, seat: {} }, { calendar: null }]) {
    await assert.rejects(asked(more), SurveyError);
  }
});

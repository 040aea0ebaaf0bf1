/** A curve over periods: gaps stay gaps, what is open is told as such, and every number reaches the file. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { extent, runs, told } from "../src/charts/curve_data.js";
import { hatched } from "../src/charts/curve.js";
import type { CurveBody, CurveComparisonBody, CurvePointBody, PeriodList, PeriodStatus } from "../src/parts/api_types.js";
import { firstOf } from "../src/views/tracking/answers.js";
import { differenceSpec, groupsSpec, verdictOver } from "../src/views/tracking/group_reading.js";
import { csvOf, expected, specOf, ticksOf } from "../src/views/tracking/reading.js";
import { amount, differenceWords, standing, trendWords } from "../src/views/tracking/words.js";

const day = (number: number): string => new Date(Date.UTC(2027, 0, 4 + 7 * (number - 1))).toISOString();

const period = (number: number, reports: number, state: "open" | "sealed" = "sealed"): PeriodStatus => ({
  number, id: "ab".repeat(32), label: `week ${number}`, starts: day(number), ends: day(number + 1), closes: day(number + 2), state, n_reports: reports, waiting: 0,
});

const PERIODS = [period(1, 900), period(2, 0), period(3, 1000), period(4, 300, "open")];

const point = (number: number, value: number | null): CurvePointBody => ({
  period: number, label: `week ${number}`, starts: day(number).slice(0, 10), state: number === 4 ? "open" : value === null ? "empty" : "closed", n_reports: 900,
  value, raw: value, low: value === null ? null : value - 0.1, high: value === null ? null : value + 0.1,
  band_low: value === null || number === 4 ? null : value - 0.2, band_high: value === null || number === 4 ? null : value + 0.2,
});

const body = (answer: string, values: (number | null)[]): CurveBody => ({
  survey: "ab".repeat(32), title: "t", kind: "tracking", question: "shares", answer, unit: "", share: true, epsilon: 1, delta: 0, level: 0.95, band_level: 0.98,
  always: null, method: "", points: values.map((value, at) => point(at + 1, value)), trend: null, smooth: null, answers: ["yes", "no"],
});

const YES = body("yes", [0.4, null, 0.5, 0.6]);

test("a period without an estimate is a gap that no line crosses", () => {
  const [track] = specOf(PERIODS, [YES], null).tracks;
  assert.deepEqual(track?.value, [0.4, null, 0.5, 0.6]);
  assert.deepEqual(runs(track?.value ?? []), [[0], [2, 3]]);
  assert.deepEqual(told(specOf(PERIODS, [YES], null), 1), ["no estimate", "0 reports"]);
});

test("the open period is told as unfinished, with about how many are expected", () => {
  assert.equal(expected(PERIODS), 900);
  assert.equal(expected([period(1, 5, "open")]), null);
  const spec = specOf(PERIODS, [YES], [1, 3]);
  assert.deepEqual(spec.compared, [0, 2]);
  assert.equal(told(spec, 3).at(-1), "not over: 300 of about 900 reports so far");
  assert.equal(told(spec, 0)[1], "in the band: 20\u00a0% to 60\u00a0%");
  const [low, high] = extent(spec);
  assert.ok(low <= 0.2 && high > 0.7 && high < 0.8);
});

test("a period that another answer does not know yet has no value there", () => {
  const spec = specOf(PERIODS, [YES, body("no", [0.6, null, 0.5])], null);
  assert.deepEqual(spec.tracks[1]?.value, [0.6, null, 0.5, null]);
});

test("the axis names days, and months where there are years of them", () => {
  assert.deepEqual(ticksOf([day(1), day(2)]), ["4 Jan", "11 Jan"]);
  assert.deepEqual(ticksOf(["2027-01-01", "2027-02-01"]), ["Jan 2027", "Feb 2027"]);
  assert.equal(ticksOf([day(1), day(2), day(80)])[0], "Jan 2027");
});

test("hatching stays within its box", () => {
  const lines = hatched(10, 30, 40, 100);
  assert.ok(lines.length > 5);
  for (const [x0, y0, x1, y1] of lines as [number, number, number, number][]) {
    assert.ok(x0 >= 10 && x1 <= 30 && y0 <= 100 && y1 >= 40 && x0 < x1 && y0 > y1, `${[x0, y0, x1, y1]}`);
    assert.ok(Math.abs(x1 - x0 - (y0 - y1)) < 1e-9);
  }
});

test("the file has a row for every answer and period, and no formula", () => {
  const rows = csvOf([body("=1+1", [0.5]), body('a "b", c', [null])]).trimEnd().split("\r\n");
  assert.equal(rows.length, 3);
  assert.ok(rows[0]?.startsWith("answer,period,label,starts,state,n_reports,value"));
  assert.ok(rows[1]?.startsWith("'=1+1,1,week 1,2027-01-04,closed,900,0.5,0.5,0.4,0.6,"));
  assert.ok(rows[2]?.startsWith('"a ""b"", c",1,'));
  assert.ok(rows[2]?.endsWith(",empty,900,,,,,,,"));
});

test("of two answers one is drawn at first, of many three", () => {
  assert.deepEqual(firstOf(["yes", "no"]), ["yes"]);
  assert.deepEqual(firstOf(["a", "b", "c", "d"]), ["a", "b", "c"]);
});

test("how it stands: which period runs, what takes late answers, what comes next", () => {
  const list: PeriodList = { now: day(4), promise: "", periods: [...PERIODS.slice(0, 2), period(3, 9, "open"), period(4, 1, "open")], next: period(5, 0), total: 52, page: 1, pages: 1 };
  assert.deepEqual(standing(list, false), [
    "Week 4, period 4 of 52, is running until 31 January 2027; late answers are taken until 7 February 2027.",
    "Week 3 is over and takes late answers until 31 January 2027.",
    "The next period begins on 1 February 2027, at 00:00 UTC.",
  ]);
  assert.deepEqual(standing({ ...list, periods: [] }, false), ["The first period begins on 1 February 2027, at 00:00 UTC."]);
  assert.deepEqual(standing(list, true), ["The survey is over: 4 of 52 periods were asked."]);
});

test("a difference and a trend say whether zero is left out", () => {
  const found = { later: 3, earlier: 1, answer: "yes", unit: "", share: true, value: 0.1, raw: 0.1, low: -0.01, high: 0.21, level: 0.95, method: "" };
  assert.match(differenceWords("week of 4 January 2027", "January 2027", found), /^From the week of 4 January 2027 to January 2027, “yes” rose by 10 points\. 95\u00a0% .*: −1 point to 21 points\. The interval contains zero/);
  assert.match(differenceWords("week 1", "week 3", { ...found, value: -0.1, low: -0.2, high: -0.05 }), /fell by 10 points.*leaves out zero/);
  const trend = { answer: "yes", unit: "", slope: 0.01, low: 0.005, high: 0.015, level: 0.95, p_value: 1e-9, statistic: 9, degrees: 2, p_value_change: 0.034, periods: 3, statement: "" };
  assert.match(trendWords(trend, true), /^“yes” rises by 1 point per period over 3 .*p\u00a0<\u00a00\.0001\)\. That nothing changed at all: p\u00a0=\u00a00\.034\.$/);
  assert.match(trendWords({ ...trend, low: -0.1 }, true), /^No steady rise or fall/);
  assert.equal(amount(2, { share: false, unit: "hours" }), "2\u00a0hours");
});

test("groups have a curve each over the same periods, and their difference is in points", () => {
  const point = (period: number, value: number | null) => ({ period, label: "", starts: "", state: "closed", n_reports: 9, value, raw: value, low: value, high: value, band_low: value, band_high: value }) as CurveBody["points"][number];
  const periods = [1, 2].map((number) => ({ number, label: `week ${number}`, starts: `2027-01-0${3 + number}T00:00:00Z`, state: "sealed", n_reports: 9 }) as PeriodStatus);
  const groups = ["A", "B"].map((value) => ({ value, label: `arm ${value}`, method: "", points: [point(1, 0.4), point(2, value === "A" ? null : 0.5)], trend: null }));
  const spec = groupsSpec(periods, { answer: "yes", share: true, unit: "", level: 0.95, points: [], smooth: null, groups } as unknown as CurveBody);
  assert.deepEqual(spec.tracks.map(({ name, value }) => [name, value]), [["arm A", [0.4, null]], ["arm B", [0.4, 0.5]]]);
  const apart = { ...point(1, -0.1), reports: [9, 9], first: 0.4, second: 0.5, p_value: 0.01, adjusted_p_value: 0.02 };
  const gap = { ...point(2, null), reports: null, first: null, second: null, p_value: null, adjusted_p_value: null };
  const found = { names: ["arm A", "arm B"], answer: "yes", share: true, unit: "", level: 0.95, points: [apart, gap] } as unknown as CurveComparisonBody;
  const difference = differenceSpec(periods, found);
  assert.deepEqual([difference.unit, difference.share, difference.tracks[0]?.value], ["points", false, [-10, null]]);
  assert.match(verdictOver(found), /^arm A and arm B differ in 1 of 1 closed period /);
  assert.equal(verdictOver({ ...found, points: [] }), "No period is closed yet.");
});

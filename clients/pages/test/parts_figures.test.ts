/** Numbers in words: what is promised as "at most" is rounded up, and no number is written as a machine would. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { atMost, surestOf, times } from "../src/parts/promise.js";
import { counted, figure, setting } from "../src/parts/format.js";
import { numberOf } from "../src/views/planner/slider.js";

test("what is said to be the most is never less than what it is", () => {
  for (let epsilon = 0.001; epsilon < 16; epsilon *= 1.07) {
    const factor = Math.exp(epsilon);
    assert.ok(atMost(factor) >= factor * (1 - 1e-11), String(epsilon));
    const surest = surestOf(epsilon);
    if (!surest.startsWith("more")) assert.ok(parseFloat(surest) / 100 >= 1 / (1 + 1 / factor) - 1e-11, String(epsilon));
  }
  assert.deepEqual([surestOf(1), times(Math.E), atMost(0)], ["73.2 %", "2.72", 0]);
});

test("figures have three digits, and powers of ten as people write them", () => {
  assert.deepEqual([0, 0.00001, 1234, -0.5].map(figure), ["0", "0.00001", "1230", "−0.5"]);
  assert.deepEqual([1e15, 9.9999e6, -(2 ** -20)].map(figure), ["1 × 10¹⁵", "1 × 10⁷", "−9.54 × 10⁻⁷"]);
  assert.deepEqual([Infinity, NaN].map(figure), ["∞", "unknown"]);
});

test("a half is rounded up, as by the command", () => {
  assert.deepEqual([12.25, 0.28125, 0.0123456].map(figure), ["12.3", "0.281", "0.0123"]);
});

test("what is set keeps six digits: three would be another setting", () => {
  assert.deepEqual([1, 1.2345, 0.123456789, 1e-7].map(setting), ["1", "1.2345", "0.123457", "1 × 10⁻⁷"]);
});

test("a figure in a field is read as the number that it is", () => {
  for (const value of [1e-9, 2.5e-7, 0.02, 1e9, 1.23e12]) assert.equal(numberOf(figure(value)), value);
});

test("one report, two reports; one person, two people", () => {
  assert.deepEqual([0, 1, 2000].map((n) => counted(n, "report")), ["0 reports", "1 report", "2,000 reports"]);
  assert.deepEqual([1, 2].map((n) => counted(n, "person", "people")), ["1 person", "2 people"]);
});

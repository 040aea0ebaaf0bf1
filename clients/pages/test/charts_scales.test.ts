/** Axes: round marks within what is shown, whatever the numbers are. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { along, extentOf, logTicks, thinned, ticks } from "../src/charts/ticks.js";
import { column, even, interval, tickText, worded } from "../src/charts/words.js";

test("marks are round, inside and about as many as asked for", () => {
  assert.deepEqual(ticks([0, 1], 5), [0, 0.2, 0.4, 0.6, 0.8, 1]);
  assert.deepEqual(ticks([0, 0.347], 6), [0, 0.1, 0.2, 0.3]);
  assert.deepEqual(ticks([-0.03, 0.21], 6), [0, 0.05, 0.1, 0.15, 0.2]);
  for (const [low, high] of [[0, 1e-9], [-5, 1e6], [12.34, 12.35]] as const) {
    const found = ticks([low, high], 6);
    assert.ok(found.length >= 2 && found.length <= 8, `${found}`);
    assert.ok(found.every((value) => value >= low - 1e-12 && value <= high * (1 + 1e-12)), `${found}`);
  }
});

test("an extent without length still has a mark", () => {
  assert.deepEqual(ticks([3, 3], 5), [3]);
  assert.deepEqual(extentOf([[0.5, 0.5]], false), [0.5, 1]);
  assert.deepEqual(extentOf([[null, NaN]], false), [0, 1]);
});

test("extents leave out what is not known, and hold zero when asked", () => {
  assert.deepEqual(extentOf([[null, 0.2, Infinity], [0.1]], false), [0.1, 0.2]);
  assert.deepEqual(extentOf([[0.2, 0.1]], true), [0, 0.2]);
});

test("marks of a logarithmic axis are powers of ten, and more between few of them", () => {
  assert.deepEqual(logTicks([100, 1e6], 6), [100, 1000, 1e4, 1e5, 1e6]);
  assert.deepEqual(logTicks([37, 1e6], 3), [100, 1e4, 1e6]);
  assert.deepEqual(logTicks([0.004, 0.5], 6), [0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5]);
  assert.deepEqual(logTicks([3, 4], 6), [3, 4]);
});

test("values lie along an axis, straight or by their logarithm", () => {
  assert.equal(along([0, 10], 100, 200)(2.5), 125);
  assert.ok(Math.abs(along([1, 100], 0, 2, true)(10) - 1) < 1e-12);
});

test("of many labels some are written, the first always", () => {
  assert.deepEqual(thinned(5, 10), [0, 1, 2, 3, 4]);
  assert.deepEqual(thinned(10, 4), [0, 3, 6, 9]);
});

test("numbers of one column have the same decimals", () => {
  assert.deepEqual([0.328, 0.0538, 0].map((value) => even(value, 0.35, true)), ["32.8 %", "5.4 %", "0.0 %"]);
  assert.equal(even(-0.5, 0.5, false), "−0.500");
  assert.equal(even(null, 1, true), "unknown");
  assert.equal(even(1e-9, 1e-9, false), worded(1e-9, false));
  const text = column(true, [0.0708, null], [0.1204, 0.1]);
  assert.equal(interval(0.0708, 0.1204, true, text), "7.08\u00a0% to 12.04\u00a0%");
});

test("intervals are told only where both ends are known", () => {
  assert.equal(interval(0.1, 0.2, true), "10 % to 20 %");
  assert.equal(interval(null, 0.2, true), null);
  assert.equal(tickText(20_000, false), "20K");
});

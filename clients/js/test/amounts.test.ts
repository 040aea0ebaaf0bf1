/** Sums as people write them. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { left, toNumber, total, units } from "../src/device/ledger.js";

test("decimals add up without rounding", () => {
  assert.equal(total([0.1, 0.1, 0.1]), units(0.3));
  assert.equal(toNumber(total([0.1, 0.2])), 0.3);
  assert.ok(total([0.3, 2 ** -20]) > units(0.3));
  assert.ok(total([1, Number.MIN_VALUE]) > units(1));
  assert.equal(left(8, [1, 2.5]), 4.5);
  assert.equal(left(1, [2]), 0);
  for (const x of [0, 5e-324, 1.7976931348623157e308, 9.5367431640625e-7, 123456.789])
    assert.equal(toNumber(units(x)), x);
});

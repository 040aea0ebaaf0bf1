import assert from "node:assert/strict";
import { test } from "node:test";
import { fromHex, toHex } from "../src/core/bytes.js";
import { keyOf, philox, ROTATION_SIGNS, words } from "../src/randomness/philox.js";
import { rotate } from "../src/mechanisms/codebook.js";
import { vectors } from "./vectors.js";

const hex = (word: number): string => word.toString(16).padStart(8, "0");

test("words of Philox4x32-10", () => {
  for (const { key, counter, words: expected } of vectors("philox").words) {
    assert.deepEqual([...philox(key, counter)].map(hex), expected);
  }
});

test("the signs of rotations, a set bit meaning -1", () => {
  for (const { key, size, rotation, layers } of vectors("philox").signs) {
    layers.forEach((expected: string, layer: number) => {
      const bits = words(key, size / 32, layer, rotation, ROTATION_SIGNS);
      assert.equal(toHex(new Uint8Array(Uint32Array.from(bits).buffer)), expected);
    });
  }
});

test("a survey's key is the first eight bytes of its id, also inside a larger buffer", () => {
  const inner = fromHex("00e56730c1b65eaea500").subarray(1, 9);
  assert.deepEqual(keyOf(inner).map(hex), ["c13067e5", "a5ae5eb6"]);
});

test("rotations keep lengths and angles", () => {
  // Each of 3 layers adds 7 levels of roundings of 2^-53: an error of 1e-14 would be forty times the worst case.
  const [x, y] = [3, 100].map((place) => {
    const unit = new Float64Array(128);
    unit[place] = 1;
    rotate(unit, [1, 2], 5, 3);
    return unit;
  }) as [Float64Array, Float64Array];
  const product = (a: Float64Array, b: Float64Array) => a.reduce((sum, entry, i) => sum + entry * b[i]!, 0);
  assert.ok(Math.abs(product(x, x) - 1) < 1e-14 && Math.abs(product(x, y)) < 1e-14);
  assert.ok(x.every((entry) => Math.abs(entry) < 0.5), "a rotation spreads every vector");
});

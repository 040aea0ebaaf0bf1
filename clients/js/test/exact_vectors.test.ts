/** The exact channels of trees, parities, the codebook and binary response, by walking all outcomes of their draws. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { fromHex, toHex } from "../src/core/bytes.js";
import { encodeIndex } from "../src/core/codecs.js";
import type { Mechanism } from "../src/mechanisms/base/mechanism.js";
import { binary } from "../src/mechanisms/binary.js";
import { codebook } from "../src/mechanisms/codebook.js";
import { fourier } from "../src/mechanisms/fourier.js";
import { haar, hierarchical } from "../src/mechanisms/levels.js";
import { ONE } from "../src/randomness/source.js";
import { exactly, expBounds, favouring, type Ratio, withinEpsilon } from "../src/randomness/thresholds.js";
import { type Law, lawOf } from "./enumerate.js";

const values = (size: number) => Array.from({ length: size }, (_, value) => value);
const KEY = [1, 2] as const;
const ball = (dimension: number, epsilon: number) => ({ dimension, radius: 2, epsilon, delta: 0, key: KEY });
const CODEBOOK = { size: 64, candidates: 64, marked: 3, rotations: 2, layers: 6 };
const EXTREMES = [[0, 0], [2, 0], [-2, 0], [0, 1e308], [NaN, Infinity], [1.5, -0.25], [5e-324, -5e-324]];

/** Mechanisms small enough for all their outcomes, and inputs among which the worst pair is. */
const miniatures = (epsilon: number): [Mechanism, unknown[]][] => [
  [hierarchical.make(2, epsilon, { branching: 2, tilt: 0 }), values(2)],
  [hierarchical.make(5, epsilon, { branching: 2, tilt: 8 }), values(5)],
  [hierarchical.make(7, epsilon, { branching: 7, tilt: -15 }), values(7)],
  [haar.make(2, epsilon, { tilt: 0 }), values(2)],
  [haar.make(7, epsilon, { tilt: -12 }), values(7)],
  [fourier(4, epsilon, { sizes: [2, 2], order: 2, only: 0 }, 0), values(4)],
  [fourier(6, epsilon, { sizes: [3, 2], order: 2, only: 0 }, 8), values(6)],
  [fourier(6, epsilon, { sizes: [2, 3], order: 1, only: 2 }, 0), values(6)],
  [codebook.make(ball(2, epsilon), CODEBOOK), EXTREMES],
  [binary.make(ball(1, epsilon), {}), [[2], [-2], [0], [1e308], [-1e308], [NaN], [0.3], [-1e-300]]],
];

/** The largest ratio of two inputs' chances of one report. */
function worstRatio(laws: readonly Law[]): Ratio {
  let worst: Ratio = { n: 1n, d: 1n };
  for (const payload of laws[0]!.chances.keys()) {
    for (const a of laws) {
      for (const b of laws) {
        const ratio = { n: a.chances.get(payload)!, d: b.chances.get(payload)! };
        if (ratio.n * worst.d > worst.n * ratio.d) worst = ratio;
      }
    }
  }
  return worst;
}

for (const epsilon of [0.1, 1, 3]) {
  test(`at epsilon ${epsilon} every pair of inputs is within e^epsilon, and the worst one close to it`, () => {
    for (const [mechanism, inputs] of miniatures(epsilon)) {
      const laws = inputs.map((input) => lawOf(mechanism, input));
      const payloads = [...laws[0]!.chances.keys()].sort();
      for (const { chances, denominator } of laws) {
        assert.deepEqual([...chances.keys()].sort(), payloads, "a report is impossible for some input");
        assert.equal([...chances.values()].reduce((sum, chance) => sum + chance, 0n), denominator);
        for (const payload of payloads) assert.equal(payload.length, 2 * mechanism.reportBytes);
      }
      const worst = worstRatio(laws);
      assert.ok(withinEpsilon(worst, epsilon), mechanism.name);
      const [low] = expBounds(exactly(epsilon));
      // Rounding to 2^-64 costs a share of some 2^-58 here at most; a factor of 2^-50 would be a wrong formula.
      assert.ok(worst.n * low.d * 2n ** 50n > worst.d * low.n * (2n ** 50n - 1n), mechanism.name);
    }
  });
}

test("the check has power: thresholds one unit higher exceed epsilon", () => {
  for (const [mechanism, inputs] of miniatures(1)) {
    assert.ok(!withinEpsilon(worstRatio(inputs.map((input) => lawOf(mechanism, input, 1n))), 1), mechanism.name);
  }
});

test("whatever the vector, exactly as many candidates of each block are favoured as are marked", () => {
  const threshold = favouring(3n, 61n, 1);
  for (const input of EXTREMES) {
    const { chances, denominator } = lawOf(codebook.make(ball(2, 1), CODEBOOK), input);
    assert.equal(chances.size, 2 * 2 * 64);
    // A rotation out of 2, a block out of 2, then one of 3 marked candidates.
    const favoured = [...chances].filter(([, chance]) => chance * 2n * 2n * 3n * ONE === threshold * denominator);
    const blocks = favoured.map(([payload]) => (fromHex(payload)[0]! + 256 * (fromHex(payload)[1] ?? 0)) >> 6);
    assert.deepEqual(blocks.sort(), [0, 0, 0, 1, 1, 1, 2, 2, 2, 3, 3, 3]);
  }
});

test("the law of a tree by its definition", () => {
  // Three values: levels of 2 nodes of 2 values, and of 3 of one, with weights 1 and 2.
  const keep = favouring(1n, 1n, 1);
  const parity = (n: number) => [...n.toString(2)].filter((bit) => bit === "1").length % 2;
  for (const value of values(3)) {
    const { chances, denominator } = lawOf(hierarchical.make(3, 1, { branching: 2, tilt: 8 }), value);
    let report = 0;
    for (const [span, size, weight] of [[2, 2, 1n], [1, 4, 2n]] as const) {
      for (const negative of [0, 1]) {
        for (let column = 0; column < size; column++) {
          const kept = parity(Math.floor(value / span) & column) === negative;
          const chance = chances.get(toHex(encodeIndex(report++, 1)))!;
          assert.equal(chance * 3n * BigInt(size) * ONE, weight * (kept ? keep : ONE - keep) * denominator);
        }
      }
    }
    assert.equal(report, chances.size);
  }
});

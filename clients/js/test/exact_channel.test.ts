/** The exact channel of every finite mechanism, by walking all outcomes of its draws; no sampling, no tolerance. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { toHex } from "../src/core/bytes.js";
import { encodeIndex, encodeSubset } from "../src/core/codecs.js";
import { FINITE, readMechanism } from "../src/mechanisms/registry.js";
import type { FiniteMechanism } from "../src/mechanisms/base/finite.js";
import { ONE } from "../src/randomness/source.js";
import { exactly, expBounds, favouring, type Ratio, withinEpsilon } from "../src/randomness/thresholds.js";
import { type Law, lawOf } from "./enumerate.js";
import { vectors } from "./vectors.js";

type Stated = { name: string; [parameter: string]: number | string };

const MINIATURES: [size: number, stated: Stated][] = [
  ...[2, 3, 5, 7, 8].map((size): [number, Stated] => [size, { name: "hadamard" }]),
  ...[
    [2, 1],
    [5, 1],
    [6, 2],
    [5, 4],
    [7, 4],
  ].map(([size, blocks]): [number, Stated] => [size!, { name: "hadamard_blocks", blocks: blocks! }]),
  ...[
    [7, 2, 3],
    [13, 3, 3],
    [4, 3, 2],
    [5, 5, 3],
    [15, 2, 4],
    [21, 4, 3],
    [9, 8, 2],
    [8, 9, 2],
  ].map(([size, order, dimension]): [number, Stated] => [
    size!,
    { name: "projective_geometry", order: order!, dimension: dimension! },
  ]),
  ...[2, 3, 5].map((size): [number, Stated] => [size, { name: "randomized_response" }]),
  ...[
    [2, 1],
    [4, 2],
    [5, 3],
    [5, 4],
    [17, 1],
    [17, 2],
  ].map(([size, k]): [number, Stated] => [size!, { name: "subset_selection", subset_size: k! }]),
  ...[2, 3, 5].flatMap((size): [number, Stated][] => [
    [size, { name: "unary_optimized" }],
    [size, { name: "unary_symmetric" }],
  ]),
  // The small surveys of every mechanism's vectors.
  ...[...FINITE.keys()].flatMap((name) =>
    vectors(name)
      .filter((entry: any) => entry.domain_size <= 5)
      .map((entry: any): [number, Stated] => [entry.domain_size, entry.survey.design.mechanism]),
  ),
];

const read = (size: number, stated: Stated, epsilon: number): FiniteMechanism =>
  readMechanism(stated, size, epsilon);

function lawsOf(mechanism: FiniteMechanism, size: number, shift = 0n): Law[] {
  return Array.from({ length: size }, (_, value) => lawOf(mechanism, value, shift));
}

/** The largest ratio of two values' chances of one report. */
function worstRatio(laws: readonly Law[]): Ratio {
  let worst: Ratio = { n: 1n, d: 1n };
  for (const payload of new Set(laws.flatMap(({ chances }) => [...chances.keys()]))) {
    const chances = laws.map((law) => law.chances.get(payload) ?? 0n).sort((a, b) => (a < b ? -1 : 1));
    const [d, n] = [chances[0]!, chances.at(-1)!];
    assert.ok(d > 0n, "a report is impossible for some value");
    if (n * worst.d > worst.n * d) worst = { n, d };
  }
  return worst;
}

for (const epsilon of [0.1, 1, 3]) {
  test(`at epsilon ${epsilon} every pair of values is within e^epsilon, and the worst one close to it`, () => {
    for (const [size, stated] of MINIATURES) {
      const mechanism = read(size, stated, epsilon);
      const laws = lawsOf(mechanism, size);
      for (const { chances, denominator } of laws) {
        assert.equal(
          [...chances.values()].reduce((sum, chance) => sum + chance, 0n),
          denominator,
        );
        assert.equal(laws[0]!.denominator, denominator);
        for (const payload of chances.keys()) assert.equal(payload.length, 2 * mechanism.reportBytes);
      }
      const worst = worstRatio(laws);
      assert.ok(withinEpsilon(worst, epsilon), JSON.stringify(stated));
      const [low] = expBounds(exactly(epsilon)) as [Ratio, Ratio];
      // Rounding to 2^-64 costs a share of some 2^-58 here at most; a factor of 2^-50 would be a wrong formula.
      assert.ok(worst.n * low.d * 2n ** 50n > worst.d * low.n * (2n ** 50n - 1n), JSON.stringify(stated));
    }
  });
}

test("the check has power: thresholds one unit higher exceed epsilon", () => {
  for (const [size, stated] of [
    [5, { name: "hadamard" }],
    [5, { name: "randomized_response" }],
    [4, { name: "subset_selection", subset_size: 2 }],
  ] as const) {
    assert.ok(!withinEpsilon(worstRatio(lawsOf(read(size, stated, 1), size, 1n)), 1));
  }
});

test("laws by their definitions", () => {
  const chance = (law: Law, payload: Uint8Array): Ratio => ({
    n: law.chances.get(toHex(payload)) ?? 0n,
    d: law.denominator,
  });
  const same = (a: Ratio, b: Ratio) => assert.equal(a.n * b.d, b.n * a.d);

  for (const [value, law] of lawsOf(read(5, { name: "hadamard" }, 1), 5).entries()) {
    const w = favouring(1n, 1n, 1);
    for (let position = 0; position < 8; position++) {
      const even = [...((value + 1) & position).toString(2)].filter((bit) => bit === "1").length % 2 === 0;
      same(chance(law, encodeIndex(position, 1)), { n: even ? w : ONE - w, d: ONE * 4n });
    }
  }
  for (const [value, law] of lawsOf(read(5, { name: "randomized_response" }, 1), 5).entries()) {
    const w = favouring(1n, 4n, 1);
    for (let reported = 0; reported < 5; reported++) {
      same(chance(law, encodeIndex(reported, 1)), reported === value ? { n: w, d: ONE } : { n: ONE - w, d: ONE * 4n });
    }
  }
  for (const [value, law] of lawsOf(read(4, { name: "subset_selection", subset_size: 2 }, 1), 4).entries()) {
    const w = favouring(2n, 2n, 1);
    for (let a = 0; a < 4; a++) {
      for (let b = a + 1; b < 4; b++) {
        const holds = a === value || b === value;
        same(chance(law, encodeSubset([a, b], 4)), { n: holds ? w : ONE - w, d: ONE * 3n });
      }
    }
  }
});

/** Columns and radii of every family of workloads, worked out by hand, and statements that are refused. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { SurveyError } from "../src/core/errors.js";
import { readWorkload } from "../src/workloads/read.js";

const line = (size: number, start = 0, step = 1) => ({ start, step, size });
const people = {
  attributes: [
    { name: "age", domain: line(3, 10, 5) },
    { name: "sex", domain: { labels: ["F", "M"] } },
  ],
};
const bits = { attributes: ["a", "b", "c"].map((name) => ({ name, domain: line(2) })) };
const base64 = (...numbers: number[]) => Buffer.from(Float64Array.from(numbers).buffer).toString("base64");
const integers = (...numbers: bigint[]) => Buffer.from(BigInt64Array.from(numbers).buffer).toString("base64");

const dense = { type: "dense", domain: line(2), shape: [1, 2], matrix: base64(1, 2) };
const entries = { rows: integers(1n, 0n), columns: integers(3n, 7n), values: base64(2, -3) };
const sparse = { type: "sparse", domain: line(9), queries: 2, ...entries };
const stack = { type: "stack", domain: line(2), parts: [{ type: "identity" }], weights: [1] };
const both = (...types: string[]) => ({ ...stack, parts: types.map((type) => ({ type })) });

/** A statement, the number of a value, its column, and the squared radius. */
const good: [object, bigint, number[], number][] = [
  [{ type: "identity", domain: line(3) }, 1n, [0, 1, 0], 1],
  [{ type: "prefix", domain: { alphabet: "ab", length: 1 } }, 1n, [0, 1, 1], 3],
  [{ type: "prefix", domain: { labels: [9, 4, 1] } }, 2n, [0, 0, 1], 3],
  [{ type: "ranges", domain: line(3) }, 1n, [0, 1, 1, 1, 1, 0], 4],
  [{ type: "bins", domain: line(10, 0, 2), edges: [1, 6, 7] }, 2n, [1, 0], 1],
  [{ type: "bins", domain: line(10, 0, 2), edges: [1, 6, 7] }, 0n, [0, 0], 1],
  [{ type: "bins", domain: people, attribute: "age", edges: [10, 15, 21] }, 5n, [0, 1], 1],
  [{ type: "bins", domain: { labels: [-5, 3, 70] }, edges: [-5, 3, 9] }, 1n, [0, 1], 1],
  [{ type: "marginals", domain: people, k: 1 }, 3n, [0, 1, 0, 0, 1], 2],
  [{ type: "marginals", domain: people, k: 2 }, 3n, [0, 0, 0, 1, 0, 0], 1],
  [{ type: "parities", domain: line(8), order: 2 }, 5n, [-1, 1, -1, -1, 1, -1], 6],
  [{ type: "parities", domain: bits, order: 3 }, 4n, [-1, 1, 1, -1, -1, 1, -1], 7],
  [{ type: "dense", domain: line(2), shape: [3, 2], matrix: base64(1, 2, 3, 4, 0, -0.5) }, 1n, [2, 4, -0.5], 20.25],
  [{ type: "features", domain: line(2), shape: [1, 2], matrix: base64(1, 2), names: ["x"] }, 0n, [1], 4],
  [sparse, 7n, [-3, 0], 9],
  [{ ...both("identity", "prefix"), weights: [2, 0.5] }, 0n, [2, 0, 0.5, 0.5], 4.5],
  [{ ...both("ranges", "prefix"), weights: [1, 2] }, 1n, [0, 1, 1, 0, 2], 10],
];

test("columns and radii", () => {
  for (const [stated, value, column, square] of good) {
    const workload = readWorkload(stated as any);
    assert.equal(workload.queries, column.length);
    const answers = new Float64Array(column.length).fill(NaN);
    workload.fill(value, answers);
    assert.deepEqual([...answers], column, JSON.stringify(stated));
    assert.ok(Math.abs(workload.radius ** 2 - square) < 1e-12 * square, JSON.stringify(stated));
  }
});

test("no column is longer than the radius, and one is as long", () => {
  for (const [stated] of good) {
    const { domain, queries, radius, fill, squaredNorm } = readWorkload(stated as any);
    const norms = Array.from({ length: Number(domain.size) }, (_, value) => {
      const answers = new Float64Array(queries);
      fill(BigInt(value), answers);
      const norm = answers.reduce((sum, entry) => sum + entry * entry, 0);
      assert.ok(Math.abs((squaredNorm?.(BigInt(value)) ?? radius ** 2) - norm) < 1e-12 * radius ** 2);
      return norm;
    });
    assert.ok(Math.abs(Math.max(...norms) - radius ** 2) < 1e-12 * radius ** 2, JSON.stringify(stated));
  }
});

test("a workload that is not in canonical form is refused", () => {
  const bad: unknown[] = [
    null, [], {}, { type: "identity" }, { domain: line(3) }, { type: "toString", domain: line(3) },
    { type: "identity", domain: line(1) },
    { type: "identity", domain: line(3), k: 1 },
    { type: "identity", domain: line(2 ** 26 + 1) },
    { type: "prefix", domain: people },
    { type: "prefix", domain: { labels: [1, 3, 2] } },
    { type: "ranges", domain: line(20_000) },
    { type: "bins", domain: line(10), edges: [0] },
    { type: "bins", domain: line(10), edges: [0, 5, 5] },
    { type: "bins", domain: line(10), edges: [0, 20, 30] },
    { type: "bins", domain: line(10), edges: [0, 5.5] },
    { type: "bins", domain: line(10), edges: 5 },
    { type: "bins", domain: line(10), edges: [0, 5], attribute: "age" },
    { type: "bins", domain: line(10, 9, -1), edges: [0, 5] },
    { type: "bins", domain: people, edges: [10, 15] },
    { type: "bins", domain: people, edges: [10, 15], attribute: "height" },
    { type: "bins", domain: people, edges: [0, 1], attribute: "sex" },
    { type: "marginals", domain: line(3), k: 1 },
    { type: "marginals", domain: people, k: 3 },
    { type: "marginals", domain: people, k: 0 },
    { type: "parities", domain: line(6), order: 1 },
    { type: "parities", domain: line(8, 1), order: 1 },
    { type: "parities", domain: people, order: 1 },
    { type: "parities", domain: line(8), order: 4 },
    { ...dense, shape: [2, 1] }, { ...dense, shape: [1, 2, 1] }, { ...dense, shape: [2, 2] },
    { ...dense, matrix: base64(1, NaN) },
    { ...dense, matrix: base64(1, -0) }, { ...dense, matrix: base64(0, 0) }, { ...dense, matrix: base64(1, 1e200) },
    { ...dense, matrix: base64(1, 2).replace(/=+$/, "") }, { ...dense, matrix: ` ${base64(1, 2)}` },
    { ...dense, matrix: 1 }, { ...dense, type: "features" },
    { ...dense, names: ["a", "b"] }, { ...dense, names: [1] }, { ...dense, names: ["\ud800"] },
    { ...sparse, rows: integers(1n) }, { ...sparse, rows: integers(1n, 2n) }, { ...sparse, rows: integers(1n, -1n) },
    { ...sparse, columns: integers(7n, 3n) }, { ...sparse, columns: integers(3n, 3n), rows: integers(1n, 1n) },
    { ...sparse, columns: integers(3n, 9n) }, { ...sparse, values: base64(2, 0) }, { ...sparse, queries: 0 },
    { ...stack, parts: [] }, { ...stack, weights: [] }, { ...stack, weights: [0] }, { ...stack, weights: [-1] },
    { ...stack, weights: [1, 1] },
    { ...stack, parts: [{ type: "stack", parts: [{ type: "identity" }], weights: [1] }] },
    { ...stack, parts: [{ type: "identity", domain: line(2) }] },
    { ...stack, parts: Array(1001).fill({ type: "identity" }), weights: Array(1001).fill(1) },
  ];
  for (const stated of bad) {
    assert.throws(() => readWorkload(stated as any), SurveyError, JSON.stringify(stated)?.slice(0, 200));
  }
});

import assert from "node:assert/strict";
import { test } from "node:test";
import { fromHex, toHex } from "../src/core/bytes.js";
import { SurveyError, ValueOutsideDomainError } from "../src/core/errors.js";
import { amplitude, chance } from "../src/mechanisms/binary.js";
import { mark } from "../src/mechanisms/codebook.js";
import { asVector, checkVector, clipToBall, lift } from "../src/mechanisms/base/vector.js";
import { keyOf } from "../src/randomness/philox.js";
import type { Queries } from "../src/questions/queries.js";
import type { Vector } from "../src/questions/vector.js";
import { Source } from "../src/randomness/source.js";
import { readSurvey } from "../src/surveys/read.js";
import { type Survey } from "../src/surveys/survey.js";
import { fromHexFloat, replay } from "./replay.js";
import { vector } from "./stated.js";
import { vectors } from "./vectors.js";

const CODEBOOK = { candidates: 32, layers: 6, marked: 11, name: "codebook", rotations: 15, size: 64 };
const read = async (stated: object) => (await readSurvey(JSON.stringify(stated))) as Survey;

test("codebook reports, byte for byte", async () => {
  for (const { survey, id, key, report_bytes: width, reports } of vectors("codebook").surveys) {
    assert.deepEqual(keyOf(fromHex(id)), key);
    const found = await read(survey);
    const { mechanism } = found;
    assert.equal(found.id, id);
    assert.equal(mechanism.reportBytes, width);
    const dimension = (found.question as Queries | Vector).workload.queries;
    for (const { vector, tape, payload } of reports) {
      // Trailing zeros are left out of the vectors.
      const value = Array.from({ length: dimension }, (_, i) => vector[i] ?? 0);
      assert.equal(toHex(replay(tape, (source) => mechanism.randomize(value, source))), payload);
    }
  }
});

test("every workload asked directly: columns, radii and reports", async () => {
  const { direct } = vectors("codebook");
  for (const { canonical, id, queries, radius, reports } of direct) {
    const survey = (await readSurvey(canonical)) as Survey;
    assert.equal(survey.id, id);
    const { workload } = survey.question as Queries;
    assert.ok(Math.abs(workload.radius - radius) < 1e-14 * radius, canonical);
    for (const { value, vector, tape, report } of reports) {
      const column = Array.from({ length: queries }, (_, i) => vector[i] ?? 0);
      assert.deepEqual([...(survey.input(value) as Float64Array)], column, canonical);
      assert.equal(toHex(replay(tape, (source) => survey.randomize(value, source))), report);
    }
  }
  assert.equal(new Set(direct.map(({ canonical }: any) => JSON.parse(canonical).question.workload.type)).size, 10);
});

test("chances of binary response, out of 2^64", () => {
  for (const { epsilon, radius, amplitude: most, chances } of vectors("adaptive").thresholds) {
    assert.equal(amplitude(epsilon), BigInt(most));
    for (const [x, expected] of chances) assert.equal(chance(fromHexFloat(x), radius, BigInt(most)), BigInt(expected));
  }
});

test("clipping: inside nothing moves, outside the nearest point, nothing overflows", () => {
  const clip = (...entries: number[]) => [...clipToBall(Float64Array.from(entries), 1)];
  assert.deepEqual(clip(3, 4), [0.6000000000000001, 0.8]);
  assert.deepEqual(clip(0.25, -0.5), [0.25, -0.5]);
  assert.deepEqual(clip(0, 0), [0, 0]);
  assert.deepEqual(clip(1e308, 0), [1, 0]);
  assert.deepEqual(clip(5e-324, 0), [5e-324, 0]);
});

test("the lift has length one", () => {
  assert.deepEqual([...lift(Float64Array.of(1.2, 0), 2, 4)], [0.6, 0, 0.8, 0]);
});

test("exactly as many candidates are marked as stated, whatever the scores", () => {
  assert.deepEqual([...mark(Float64Array.of(0.1, -0.7, NaN), 2)], [1, 0, 0, 1, 0, 0]);
  assert.deepEqual([...mark(Float64Array.of(NaN, NaN, NaN), 2)], [1, 0, 1, 0, 0, 0]);
  assert.deepEqual([...mark(Float64Array.of(Infinity, -Infinity, 0), 2)], [1, 0, 0, 1, 0, 0]);
  assert.deepEqual([...mark(Float64Array.of(2, 2, -2), 1)], [1, 0, 0, 0, 0, 0]);
});

test("a report leaves whatever the entries are; only a wrong shape is refused, and before any draw", async () => {
  const survey = await read(vector(3, 1, CODEBOOK));
  const { mechanism } = survey;
  const refusing = new Source(() => assert.fail("nothing may be drawn"));
  const view = new DataView(new ArrayBuffer(3));
  for (const wrong of [[], [1, 2], [1, 2, 3, 4], [1, 2, "3"], [1, 2, {}], "abc", null, view]) {
    assert.throws(() => mechanism.randomize(wrong as any, refusing), ValueOutsideDomainError);
    assert.throws(() => survey.randomize(wrong, refusing), ValueOutsideDomainError);
    assert.ok(!survey.values.has(wrong));
  }
  for (const vector of [[NaN, Infinity, -Infinity], [1, , 3] as number[], [1n, true, null] as any, [1e308, 1e308, 1e308], [5e-324, 0, -0], new Float32Array(3)]) {
    assert.equal(mechanism.randomize(vector, new Source()).length, mechanism.reportBytes);
    assert.ok(survey.values.has(vector));
  }
});

test("parameters out of range are refused", async () => {
  const refuses = (change: object, dimension = 3, radius = 1, more = {}) =>
    assert.rejects(read(vector(dimension, radius, { ...CODEBOOK, ...change }, more)), SurveyError);
  const bad: object[] = [
    { size: 96 }, { size: 32 }, { size: 2 ** 22 }, { candidates: 24 }, { candidates: 256 },
    { marked: 0 }, { marked: 17 }, { marked: 1.5 }, { rotations: 0 }, { rotations: 2 ** 32 + 1 },
    { layers: 5 }, { layers: 9 }, { more: 1 }, { name: "sphere" }, { name: "gaussian" }, { name: "rejection" },
  ];
  for (const change of bad) await refuses(change);
  for (const dimension of [64, 0, 1.5]) await refuses({}, dimension);
  await refuses({}, 3, 0);
  for (const more of [{ delta: 1e-6 }, { epsilon: 17 }, { more: 1 }]) await refuses({}, 3, 1, more);
});

test("a vector of one number may be that number", () => {
  assert.deepEqual(asVector(3, 1), [3]);
  assert.deepEqual(asVector([3], 1), [3]);
  for (const other of ["3", true, [3, 4], {}]) assert.equal(asVector(other, 1), null);
  assert.equal(asVector(3, 2), null);
  assert.throws(() => checkVector("3", 1), /a vector of 1 number$/);
  assert.throws(() => checkVector(3, 2), /a vector of 2 numbers$/);
});

/** Relations: the shared vectors, refusals, and the exact channel with its explanation. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { concat, fromHex, toHex } from "../src/core/bytes.js";
import { ReportError, SottovoceError, ValueOutsideDomainError } from "../src/core/errors.js";
import { RecordFeatures } from "../src/domain/features.js";
import { explain } from "../src/explain.js";
import { numberOf } from "../src/mechanisms/laws/ratios.js";
import { makeChannel } from "../src/mechanisms/matrix_channel.js";
import { makeProducts, productsLaw, type ProductsMechanism } from "../src/mechanisms/products.js";
import { readSurvey } from "../src/surveys/read.js";
import type { Survey } from "../src/surveys/survey.js";
import { lawOf } from "./enumerate.js";
import { replay } from "./replay.js";
import { vectors } from "./vectors.js";

const { surveys, bad_surveys: badSurveys } = vectors("relations");
const read = async ({ canonical, digest, attachment }: any) =>
  (await readSurvey(canonical, { [digest]: fromHex(attachment) })) as Survey;

test("inputs, products and reports of relations", async () => {
  for (const entry of surveys) {
    const survey = await read(entry);
    const { features, reportBytes } = survey.mechanism as ProductsMechanism;
    assert.deepEqual([survey.id, reportBytes], [entry.id, entry.report_bytes]);
    for (const { value, input, values, reports } of entry.people) {
      assert.deepEqual(survey.input(value), input);
      assert.deepEqual(features.valuesOf(input), values);
      for (const { tape, payload } of reports) {
        assert.equal(toHex(replay(tape, (source) => survey.mechanism.randomize(input, source))), payload);
        const told = explain(survey, concat(survey.tag, fromHex(payload)), value);
        assert.ok(told.likelihood(value) <= told.highest * (1 + 1e-12));
        assert.ok(told.likelihood(value) >= told.lowest * (1 - 1e-12));
        assert.ok(told.ratio <= Math.exp(survey.epsilon) && told.groups === undefined);
      }
    }
  }
});

test("surveys that are refused", async () => {
  const [good] = surveys;
  for (const { fault, changes, attachment = good.attachment } of badSurveys) {
    const stated = { ...JSON.parse(good.canonical), ...JSON.parse(changes) };
    const reading = readSurvey(JSON.stringify(stated), { [stated.design.digest]: fromHex(attachment) });
    await assert.rejects(reading, SottovoceError, fault);
  }
});

test("records that are refused are not named", async () => {
  const survey = await read(surveys[1]);
  const bad = [{ age: 40, plan: "pro" }, { age: 40, plan: "XYZ", minutes: 5 }, [NaN, "pro", 77.25], ["pro", 40, 77.25], "pro", null];
  for (const value of bad) {
    assert.equal(survey.values.has(value), false);
    const isSilent = (error: Error) => error instanceof ValueOutsideDomainError && !/XYZ|77\.25|NaN/.test(error.message);
    assert.throws(() => survey.randomize(value), isSilent);
  }
  for (const record of [[0, 0], [0, 3, 0], [65537, 0, 0], [-1, 0, 0], [0.5, 0, 0], [0, 0, 0, 0]]) {
    assert.throws(() => survey.mechanism.randomize(record, {} as any), ValueOutsideDomainError);
  }
});

/** Chances of three reports for three grid points, out of 16, within a factor of 2. */
const CHANCES = [
  [6, 4, 3],
  [3, 4, 6],
  [7, 8, 7],
];
/** The second of the list's features is never drawn. */
const MINIATURES = [
  { sizes: [0, 0], weights: [1, 2, 1, 3, 1] },
  { sizes: [3, 0], weights: [1, 0, 2, 1, 1, 1] },
];

function miniature({ sizes, weights }: { sizes: number[]; weights: number[] }): ProductsMechanism {
  const attributes = sizes.map((size, i) => ({ name: `a${i}`, size, label: String }));
  return makeProducts(new RecordFeatures(attributes, 2), makeChannel(Uint32Array.from(CHANCES.flat()), 3, 3, 16), weights);
}

/** Features from -1 to 1, and their products with what these are called; nothing of the client is used. */
function written(sizes: readonly number[], record: readonly number[]): number[] {
  const features = sizes.flatMap((size, i) =>
    size === 0 ? [{ i, size, f: record[i]! - 1 }] : [1, 2].map((value) => ({ i, size, f: record[i] === value ? 1 : -1 })),
  );
  const pairs = features.flatMap((a, i) => features.slice(i).map((b) => [a, b] as const));
  const kept = pairs.filter(([a, b]) => a.i !== b.i || a.size === 0);
  return [...features.map(({ f }) => f), ...kept.map(([a, b]) => (a === b ? 2 * a.f ** 2 - 1 : a.f * b.f))];
}

test("the exact channel of miniatures is the one that was written down, and keeps epsilon", () => {
  for (const stated of MINIATURES) {
    const { sizes, weights } = stated;
    const mechanism = miniature(stated);
    const total = weights.reduce((sum, weight) => sum + weight);
    const records = Array.from({ length: 9 }, (_, i) => [i % 3, Math.floor(i / 3)]);
    const worst = new Map<string, number[]>();
    for (const record of records) {
      const { chances, denominator } = lawOf(mechanism, record);
      written(sizes, record).forEach((value, product) => {
        for (let row = 0; row < 3; row++) {
          const payload = toHex(Uint8Array.of(3 * product + row));
          const [low, share] = [Math.floor(value + 1), (value + 1) % 1];
          const entry = (1 - share) * CHANCES[row]![low]! + share * (CHANCES[row]![low + 1] ?? 0);
          const chance = Number(chances.get(payload) ?? 0n) / Number(denominator);
          assert.ok(Math.abs(chance - (weights[product]! / total) * (entry / 16)) < 1e-15);
          if (weights[product] === 0) continue;
          worst.set(payload, [...(worst.get(payload) ?? []), chance]);
          const law = productsLaw({ mechanism, payload: fromHex(payload) } as any);
          assert.ok(Math.abs(numberOf(law.chance(record)) - chance) < 1e-15);
        }
      });
    }
    const ratios = [...worst.values()].map((chances) => Math.max(...chances) / Math.min(...chances));
    assert.ok(Math.abs(Math.max(...ratios) - 2) < 1e-12);
  }
});

test("a report says which fields it is about, in words", async () => {
  const survey = await read(surveys[1]);
  const told = (product: number) => explain(survey, concat(survey.tag, Uint8Array.of(3 * product + 1)));
  assert.match(told(0).words[0]!, /^Of 11 figures one was drawn at random, in public: age\. One number below 3: 1\.$/);
  assert.match(told(4).words[0]!, /: age squared\./);
  assert.match(told(5).words[0]!, /: age times “plan is pro”\./);
  assert.deepEqual([told(0), told(1), told(4), told(5)].map(({ fields }) => fields), [[0], [1], [0], [0, 1]]);
  assert.equal(survey.question.asks, "record");
});

test("bytes that no device sends are not explained", async () => {
  const survey = await read(surveys[1]);
  // Beyond the last product, and of the one that is never drawn.
  for (const byte of [33, 255, 6]) {
    assert.throws(() => explain(survey, concat(survey.tag, Uint8Array.of(byte))), ReportError);
  }
});

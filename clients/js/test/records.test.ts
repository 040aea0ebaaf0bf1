/** Records and their tables: the shared vectors, refusals, and the exact channel with its explanation. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { concat, fromHex, toHex } from "../src/core/bytes.js";
import { ReportError, SurveyError, ValueOutsideDomainError } from "../src/core/errors.js";
import { explain } from "../src/explain.js";
import { type TableAttribute, makeTables } from "../src/mechanisms/tables.js";
import { readSurvey } from "../src/surveys/read.js";
import { type Survey } from "../src/surveys/survey.js";
import { type Ratio, withinEpsilon } from "../src/randomness/thresholds.js";
import { lawOf } from "./enumerate.js";
import { replay } from "./replay.js";
import { shortest, vectors } from "./vectors.js";

const { surveys, bad_surveys: badSurveys } = vectors("tables");
const read = async (text: string) => (await readSurvey(text)) as Survey;

test("inputs and reports of records", async () => {
  for (const { canonical, id, report_bytes: width, reports } of surveys) {
    const survey = await read(canonical);
    assert.equal(survey.id, id);
    assert.equal(survey.mechanism.reportBytes, width);
    for (const { value, input, tape, payload } of reports) {
      const found = survey.input(value) as number[];
      assert.deepEqual([...found], input);
      assert.equal(toHex(replay(tape, (source) => survey.mechanism.randomize(found, source))), payload);
      const told = explain(survey, concat(survey.tag, fromHex(payload)), value);
      assert.ok(told.likelihood(value) <= told.highest * (1 + 1e-12));
      assert.ok(told.likelihood(value) >= told.lowest * (1 - 1e-12));
      assert.ok(told.ratio <= Math.exp(survey.epsilon));
    }
  }
});

test("surveys that are refused", async () => {
  for (const { fault, text } of badSurveys) await assert.rejects(read(shortest(text)), SurveyError, fault);
});

test("records that are refused are not named", async () => {
  const survey = await read(surveys[0].canonical);
  const bad = [
    { country: "DE", plan: "pro" },
    { country: "DE", plan: "pro", minutes: 5, more: 1 },
    { country: "XYZ", plan: "pro", minutes: 5 },
    { country: "DE", plan: "pro", minutes: "77.25" },
    { country: "DE", plan: "pro", minutes: NaN },
    ["DE", "pro"],
    "DE",
    null,
  ];
  for (const value of bad) {
    assert.equal(survey.values.has(value), false);
    const isSilent = (error: Error) =>
      error instanceof ValueOutsideDomainError && !/XYZ|77\.25|NaN/.test(error.message);
    assert.throws(() => survey.randomize(value), isSilent);
  }
});

const attribute = (size: number, steps: number): TableAttribute => ({ name: `a${size}`, size, steps, label: String });

const SMALL = [
  { attributes: [1], weight: 1, mechanism: { name: "randomized_response" } },
  { attributes: [0, 1], weight: 2, mechanism: { name: "subset_selection", subset_size: 2 } },
];

test("the exact channel of every table keeps epsilon, whatever is rounded", () => {
  const records = [0, 1].flatMap((first) => Array.from({ length: 9 }, (_, second) => [first, second]));
  for (const table of SMALL) {
    const mechanism = makeTables([attribute(2, 1), attribute(3, 4)], 1, [table]);
    const laws = records.map((record) => lawOf(mechanism, record as readonly number[]));
    let worst: Ratio = { n: 1n, d: 1n };
    for (const payload of laws[0]!.chances.keys()) {
      const chances = laws.map((law) => law.chances.get(payload) ?? 0n).sort((a, b) => (a < b ? -1 : 1));
      const [low, high] = [chances[0]!, chances.at(-1)!];
      if (high * worst.d > worst.n * low) worst = { n: high, d: low };
    }
    assert.ok(withinEpsilon(worst, 1));
    assert.ok(Number(worst.n) / Number(worst.d) > Math.exp(0.99));
  }
});

test("bytes that no device sends are not explained", async () => {
  const survey = await read(surveys[0].canonical);
  const width = survey.mechanism.reportBytes;
  for (const payload of [[4], [0, 3], [0, 0, 1], [1, 0b111]]) {
    const bytes = Uint8Array.from({ length: width }, (_, i) => payload[i] ?? 0);
    assert.throws(() => explain(survey, concat(survey.tag, bytes)), ReportError);
  }
});

/** Sets of options: the shared vectors, refusals, and the exact channel with its explanation. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { concat, fromHex, toHex } from "../src/core/bytes.js";
import { readDomain } from "../src/domain/domain.js";
import { ReportError, SottovoceError, ValueOutsideDomainError } from "../src/core/errors.js";
import { explain } from "../src/explain.js";
import type { Json } from "../src/core/json.js";
import { readSetMechanism } from "../src/mechanisms/registry.js";
import { rowOf } from "../src/mechanisms/base/sets.js";
import { readSurvey } from "../src/surveys/read.js";
import { type Survey } from "../src/surveys/survey.js";
import { type Ratio, withinEpsilon } from "../src/randomness/thresholds.js";
import { lawOf } from "./enumerate.js";
import { replay } from "./replay.js";
import { shortest, vectors } from "./vectors.js";

const { surveys, bad_surveys: badSurveys } = vectors("sets");
const read = async (text: string) => (await readSurvey(text)) as Survey;

test("inputs and reports of sets, and what they say", async () => {
  for (const { canonical, id, report_bytes: width, reports } of surveys) {
    const survey = await read(canonical);
    assert.equal(survey.id, id);
    assert.equal(survey.mechanism.reportBytes, width);
    for (const { value, input, tape, payload } of reports) {
      const found = survey.input(value && new Set(value)) as number[];
      assert.deepEqual([...found], input);
      assert.equal(toHex(replay(tape, (source) => survey.mechanism.randomize(found, source))), payload);
      const told = explain(survey, concat(survey.tag, fromHex(payload)), value);
      assert.ok(told.logLikelihood(value) <= told.logLikelihood([]) + survey.epsilon + 1e-9);
      assert.ok(told.ratio <= Math.exp(survey.epsilon) && told.ratio > Math.exp(0.99 * survey.epsilon));
    }
  }
});

test("surveys that are refused", async () => {
  for (const { fault, text } of badSurveys) await assert.rejects(read(shortest(text)), SottovoceError, fault);
});

test("sets that are refused are not named", async () => {
  const survey = await read(surveys[0].canonical);
  const bad = [["XYZ"], ["bus", "bus"], ["bus", 0], ["bus", "tram", "bike", "car"], "bus", { bus: true }, null, [["bus"]]];
  for (const value of bad) {
    assert.equal(survey.values.has(value), false);
    const isSilent = (error: Error) => error instanceof ValueOutsideDomainError && !/XYZ|bus/.test(error.message);
    assert.throws(() => survey.randomize(value), isSilent);
  }
  for (const row of [[0, 1], [0, 0, 5], [1, 0, 5], [0, 6, 7], [5, 6, 8], [0, 1, 2.5]]) {
    assert.throws(() => survey.mechanism.randomize(row, null as never), ValueOutsideDomainError);
  }
});

const SMALL: [options: number, most: number, stated: Json][] = [
  [3, 2, { name: "set_selection", subset_size: 2 }],
  [4, 2, { name: "set_selection", subset_size: 1 }],
  [4, 2, { name: "wheel", bins: 4, seeds: 2 }],
  [4, 3, { name: "one_option" }],
];

test("the exact channel keeps epsilon, and its explanation is exact", () => {
  for (const [size, most, stated] of SMALL) {
    const asked = { options: readDomain({ start: 0, step: 1, size }), most };
    const mechanism = readSetMechanism(stated, asked, { epsilon: 1, delta: 0, key: [1, 2] });
    const sets = Array.from({ length: 2 ** size }, (_, bits) => [...Array(size).keys()].filter((i) => (bits >> i) & 1));
    const rows = sets.filter((set) => set.length <= most).map((set) => rowOf(set, asked));
    const laws = rows.map((row) => lawOf(mechanism, row));
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
  for (const { canonical, report_bytes: width } of surveys) {
    const survey = await read(canonical);
    const bytes = new Uint8Array(width).fill(255);
    assert.throws(() => explain(survey, concat(survey.tag, bytes)), ReportError, canonical);
  }
});

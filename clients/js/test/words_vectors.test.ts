/** Words that nobody listed: the shared vectors of spellings, codes, hashes and reports. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { concat, fromHex, toHex } from "../src/core/bytes.js";
import { SottovoceError } from "../src/core/errors.js";
import { explain } from "../src/explain.js";
import { thresholdFor } from "../src/mechanisms/laws/law.js";
import type { PrefixMechanism } from "../src/mechanisms/hashed_prefixes.js";
import type { Words } from "../src/questions/words.js";
import { readSurvey } from "../src/surveys/read.js";
import { type Survey } from "../src/surveys/survey.js";
import { readCode } from "../src/domain/word_codes.js";
import { spelt } from "../src/domain/spelling.js";
import { replay } from "./replay.js";
import { shortest, vectors } from "./vectors.js";

const { spelling, codes, surveys, bad_surveys: badSurveys } = vectors("words");
const read = async (text: string) => (await readSurvey(text)) as Survey;

const textOf = (points: string): string =>
  points === "" ? "" : String.fromCodePoint(...points.split(" ").map((point) => parseInt(point, 16)));

test("spellings", () => {
  for (const { text, lower, keep } of spelling) {
    assert.equal(spelt(textOf(text), "lower"), lower === null ? null : textOf(lower), text);
    assert.equal(spelt(textOf(text), "keep"), keep === null ? null : textOf(keep), text);
  }
});

test("codes", () => {
  for (const { code: stated, bits, unit_bits: unitBits, values } of codes) {
    const code = readCode(stated);
    assert.deepEqual([code.bits, code.unitBits], [bits, unitBits]);
    for (const { typed, row, shown } of values) {
      const { value, word } = code.spelling(typed);
      assert.deepEqual([toHex(code.row(value)), word], [row, shown]);
      assert.equal(code.has(value), shown !== null);
    }
  }
});

test("hashes and reports", async () => {
  for (const { canonical, id, report_bytes: width, threshold, buckets, reports } of surveys) {
    const survey = await read(canonical);
    assert.equal(survey.id, id);
    const mechanism = survey.mechanism as PrefixMechanism;
    const question = survey.question as Words;
    const codeOf = (typed: string) => question.read(question.spelling(typed).value);
    assert.equal(mechanism.reportBytes, width);
    assert.equal(String(thresholdFor(mechanism.inner, 0)), threshold);
    assert.deepEqual(buckets.map((_: number, row: number) => mechanism.bucketOf(codeOf(reports[0].typed), row)), buckets);
    for (const { typed, drawn, bucket, tape, payload } of reports) {
      const value = question.spelling(typed).value;
      assert.equal(mechanism.bucketOf(codeOf(typed), drawn), bucket);
      assert.equal(toHex(replay(tape, (source) => survey.randomize(value, source))), toHex(survey.tag) + payload);
      const told = explain(survey, concat(survey.tag, fromHex(payload)), value);
      assert.ok([told.highest, told.lowest].includes(told.likelihood(value)));
      assert.ok(told.ratio <= Math.exp(survey.epsilon));
    }
  }
});

test("surveys that are refused", async () => {
  for (const { fault, text } of badSurveys) await assert.rejects(read(shortest(text)), SottovoceError, fault);
});

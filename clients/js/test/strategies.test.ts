import assert from "node:assert/strict";
import { test } from "node:test";
import { fromHex, toHex } from "../src/core/bytes.js";
import { SurveyError } from "../src/core/errors.js";
import { Codes } from "../src/mechanisms/fourier.js";
import { haarSpans, hierarchicalSpans, levelsOf } from "../src/mechanisms/levels.js";
import { tiltedWeights } from "../src/mechanisms/sampled.js";
import { readSurvey } from "../src/surveys/read.js";
import { type Survey } from "../src/surveys/survey.js";
import { fromHexFloat, replay } from "./replay.js";
import { valueAt } from "./values.js";
import { vectors } from "./vectors.js";

const { weights, surveys, bad_attachments: badAttachments, bad_surveys: badSurveys } = vectors("strategies");
const read = async (text: string, attachments: Record<string, Uint8Array> = {}) =>
  (await readSurvey(text, attachments)) as Survey;

test("weights of levels", () => {
  for (const { levels, tilt, weights: expected } of weights) assert.deepEqual(tiltedWeights(levels, tilt), expected);
});

test("tables of levels", () => {
  for (const { strategy, canonical, domain_size: size, derived } of surveys) {
    const { branching, tilt } = JSON.parse(canonical).design.mechanism;
    if (strategy !== "hierarchical" && strategy !== "haar") continue;
    const spans = strategy === "haar" ? haarSpans(size) : hierarchicalSpans(size, branching);
    const { threshold: _, ...tables } = derived;
    assert.deepEqual(levelsOf(size, spans, tilt), tables);
  }
});

test("coefficients and codes", () => {
  for (const { strategy, canonical, derived } of surveys) {
    if (strategy !== "fourier") continue;
    const layout = JSON.parse(canonical).design.mechanism;
    const codes = new Codes(layout);
    assert.deepEqual(codes.bits, derived.bits);
    const ranks = (count: number) => Array.from({ length: count }, (_, rank) => rank);
    const masks = codes.counts.flatMap((count, i) => ranks(count).map((rank) => codes.mask(i + 1, rank)));
    assert.deepEqual(masks.map(Number), derived.coefficients);
    assert.deepEqual(derived.codes.map((_: number, value: number) => Number(codes.code(value))), derived.codes);
  }
});

test("reports of every strategy, with every attachment that may stand for its digest", async () => {
  const seen = new Set<string>();
  for (const { strategy, canonical, id, digest, attachments, report_bytes: width, reports } of surveys) {
    const packed = digest === null ? [{}] : attachments.map((bytes: string) => ({ [digest]: fromHex(bytes) }));
    for (const attached of packed) {
      const survey = await read(canonical, attached);
      const { mechanism, domain } = survey;
      assert.equal(survey.id, id);
      assert.equal(mechanism.reportBytes, width);
      for (const { value, input: expected, tape, payload } of reports) {
        const found = survey.input(valueAt(domain!, value)) as any;
        assert.deepEqual(typeof found === "number" ? found : [...found], toNumbers(expected));
        assert.equal(toHex(replay(tape, (source) => mechanism.randomize(found, source))), payload);
      }
    }
    seen.add(strategy);
  }
  assert.deepEqual([...seen].sort(), ["factorized", "fourier", "haar", "hierarchical", "histogram", "optimized"]);
});

const toNumbers = (stated: number | string[]) => (typeof stated === "number" ? stated : stated.map(fromHexFloat));

test("attachments that break a rule are refused", async () => {
  for (const { fault, survey, digest, attachment } of badAttachments) {
    await assert.rejects(read(survey, { [digest]: fromHex(attachment) }), SurveyError, fault);
  }
  assert.ok(badAttachments.length > 30);
});

test("surveys whose strategy, mechanism and workload do not belong together are refused", async () => {
  for (const { survey, fault } of badSurveys) await assert.rejects(read(survey), SurveyError, fault);
  assert.ok(badSurveys.length > 15);
});

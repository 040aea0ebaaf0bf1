/** Numbers: positions, bins and reports of the vectors, what is refused, and what a report is said to tell. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { fromHex, toHex } from "../src/core/bytes.js";
import { NumberGrid, STEPS } from "../src/domain/number.js";
import { SottovoceError, ValueOutsideDomainError } from "../src/core/errors.js";
import { explain } from "../src/explain.js";
import { NumberQuestion } from "../src/questions/number.js";
import { readSurvey } from "../src/surveys/read.js";
import { Survey } from "../src/surveys/survey.js";
import { fromHexFloat, replay } from "./replay.js";
import { vectors } from "./vectors.js";

const { grids, surveys, bad_surveys } = vectors("numbers");

const survey = async ({ canonical, digest, attachment }: any) =>
  (await readSurvey(canonical, digest ? { [digest]: fromHex(attachment) } : {})) as Survey;

test("positions and bins", () => {
  let compared = 0;
  for (const { number, positions } of grids) {
    const grid = new NumberGrid(number);
    const binned = new NumberQuestion({ ...number, kind: "number", wants: "distribution" });
    for (const { value, position, bin } of positions) {
      assert.equal(grid.position(fromHexFloat(value)), position);
      assert.equal(binned.read(fromHexFloat(value)), BigInt(bin));
      compared++;
    }
    assert.equal(grid.position(number.high), grid.positions - 1);
  }
  assert.ok(compared > 50);
});

test("reports", async () => {
  for (const entry of surveys) {
    const asked = await survey(entry);
    assert.deepEqual([asked.id, toHex(asked.tag), asked.mechanism.reportBytes], [entry.id, entry.tag, entry.report_bytes]);
    for (const { value, input, tape, report } of entry.reports) {
      for (const given of value === null ? [null, undefined, NaN] : [fromHexFloat(value)]) {
        assert.equal(Number(asked.question.read(given)), input);
        assert.equal(toHex(replay(tape, (source) => asked.randomize(given, source))), report);
      }
    }
  }
});

test("what is no number is refused, and never named", async () => {
  for (const entry of surveys) {
    const asked = await survey(entry);
    const gaps = (asked.question as NumberQuestion).grid.missing === null ? [null, undefined, NaN] : [];
    for (const value of [...gaps, "7319", "", true, [7319], { valueOf: () => 7319 }]) {
      assert.equal(asked.values.has(value), false);
      assert.throws(
        () => asked.randomize(value),
        (error: Error) => error instanceof ValueOutsideDomainError && !`${error.stack}`.includes("7319"),
      );
    }
  }
});

test("bad surveys are refused", async () => {
  for (const { fault, survey: text, attachment } of bad_surveys) {
    const { digest } = JSON.parse(text).design;
    await assert.rejects(readSurvey(text, { [digest]: fromHex(attachment) }), SottovoceError, fault);
  }
});

test("a report's likelihoods are those of its two grid points, by how near they are", async () => {
  const asked = await survey(surveys[0]);
  const { low, high, points } = (asked.question as NumberQuestion).grid;
  const at = (position: number) => low + ((high - low) * position) / ((points - 1) * STEPS);
  const report = asked.randomize(0);
  const told = explain(asked, report, 0);
  const [first, second, between] = [0, STEPS, STEPS / 4].map((position) => told.likelihood(at(position)));
  assert.ok(Math.abs(between! - (0.75 * first! + 0.25 * second!)) < 1e-12);
  assert.ok(told.highest <= 44 / 128 && told.lowest >= 18 / 128 && told.ratio <= Math.E);
  assert.equal(told.groups, undefined);
  assert.match(told.words.join(" "), /^One number below 5: \d\./);
});

/** Statements with a relay: those of the Python library, and those that are refused. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { SurveyError } from "../src/core/errors.js";
import { readSurvey } from "../src/surveys/read.js";
import type { Survey } from "../src/surveys/survey.js";
import type { Tracking } from "../src/surveys/tracking.js";
import { vectors } from "./vectors.js";

const { surveys, tracking, bad } = vectors("relays");

test("a survey's relay is part of its statement, and every period of a tracking survey has it", async () => {
  for (const { canonical, id, relay } of surveys) {
    const survey = (await readSurvey(canonical)) as Survey;
    assert.deepEqual([survey.id, survey.relay], [id, relay]);
  }
  const weekly = (await readSurvey(tracking.canonical)) as Tracking;
  assert.deepEqual([weekly.id, weekly.relay], [tracking.id, tracking.relay]);
  for (const [i, id] of tracking.periods.entries()) {
    const period = await weekly.period(i + 1);
    assert.deepEqual([period.id, period.relay], [id, tracking.relay]);
  }
});

test("a relay that is not stated in its one spelling is refused", async () => {
  assert.ok(bad.length > 40);
  for (const statement of bad) await assert.rejects(readSurvey(statement), SurveyError, statement);
});

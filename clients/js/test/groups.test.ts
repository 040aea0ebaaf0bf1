/** Surveys with public groups: those of the Python library, and statements that are refused. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { toHex } from "../src/core/bytes.js";
import { SurveyError } from "../src/core/errors.js";
import { readSurvey } from "../src/surveys/read.js";
import type { Survey } from "../src/surveys/survey.js";
import type { Tracking } from "../src/surveys/tracking.js";
import { replay } from "./replay.js";
import { vectors } from "./vectors.js";

const { surveys, tracking, bad } = vectors("groups");

/** The survey of a group is the stated one, and draws the stated report. */
async function checkMember(found: Survey, stated: (typeof surveys)[number]["groups"][number]): Promise<void> {
  const read = (await readSurvey(stated.canonical)) as Survey;
  for (const survey of [found, read]) {
    assert.equal(survey.id, stated.id);
    const { number, values, label } = survey.crowd!.group!;
    assert.deepEqual({ number, values, label }, { number: stated.number, values: stated.values, label: stated.label });
    assert.equal(toHex(replay(stated.tape, (source) => survey.randomize(stated.value, source))), stated.report);
  }
}

test("a survey's groups are part of its statement, and each has a survey of its own", async () => {
  for (const { canonical, id, groups } of surveys) {
    const survey = (await readSurvey(canonical)) as Survey;
    assert.equal(survey.id, id);
    assert.equal(survey.takesReports, false);
    assert.throws(() => survey.randomize(groups[0].value), SurveyError);
    for (const group of groups) await checkMember(await survey.inGroup(group.values), group);
  }
  const drinks = (await readSurvey(surveys[0].canonical)) as Survey;
  assert.equal((await drinks.inGroup("B")).id, surveys[0].groups[1].id);
  assert.equal((await drinks.inGroup("arm B")).id, surveys[0].groups[1].id);
  for (const wrong of [undefined, null, "C", 1, {}, { arm: "C" }, { os: "A" }, { arm: "A", os: "x" }]) {
    await assert.rejects(drinks.inGroup(wrong), SurveyError);
  }
});

test("every period of a tracking survey has its groups", async () => {
  const weekly = (await readSurvey(tracking.canonical)) as Tracking;
  assert.equal(weekly.id, tracking.id);
  await checkMember(await (await weekly.period(2)).inGroup("B"), tracking.period);
});

test("groups that cannot be, and a group of none, are refused", async () => {
  assert.ok(bad.length > 20);
  for (const statement of bad) await assert.rejects(readSurvey(statement), SurveyError, statement);
});

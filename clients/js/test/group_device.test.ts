/** A device and a survey with groups: one report over all of them, for the group that was said first. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { SurveyError } from "../src/core/errors.js";
import { Device } from "../src/device/device.js";
import { MemoryStore } from "../src/device/store.js";
import { readSurvey } from "../src/surveys/read.js";
import type { Survey } from "../src/surveys/survey.js";
import { collectorOfTests, refuse, Signer } from "./server.js";
import { shares } from "./stated.js";

const server = collectorOfTests();
const signer = new Signer();
const HASTY = { attempts: 2, first: 0.001, longest: 1 };

function device(store = new MemoryStore()): Device {
  return new Device(store, { patience: HASTY, key: signer.public });
}

/** A survey with two arms, published with the surveys of its groups. */
async function arms(title: string): Promise<Survey> {
  const groups = [["arm", ["A", "B"]]];
  const statement = JSON.stringify(shares({ labels: ["red", "green"] }, { name: "hadamard" }, { title, groups }));
  const survey = (await readSurvey(statement)) as Survey;
  for (const one of [survey, await survey.inGroup("A"), await survey.inGroup("B")]) {
    server.publish(await signer.envelope(new TextDecoder().decode(one.canonical), [], "open"));
  }
  return survey;
}

const sentTo = ({ id }: Survey) => server.sent.filter((row) => row.startsWith(`53565231${id}`));

test("a report is sent for the group, and the first group stands", async () => {
  const survey = await arms("First");
  const mine = device();
  const receipt = await mine.answer(server.url, survey.id, "red", { group: "B" });
  assert.deepEqual([receipt.state, receipt.title, receipt.survey], ["sent", "First, arm B", survey.id]);
  assert.equal(sentTo(await survey.inGroup("B")).length, 1);
  const again = await mine.answer(server.url, survey.id, "green", { group: "A" });
  assert.deepEqual([again.state, again.drawn, again.title], ["sent", false, "First, arm B"]);
  assert.equal(sentTo(await survey.inGroup("A")).length, 0);
  assert.equal((await mine.ledger()).spent, 1);
});

test("an answer that has not arrived stays that of its group", async () => {
  const survey = await arms("Lost");
  const mine = device();
  const [first, second] = [await survey.inGroup("A"), await survey.inGroup("B")];
  const post = `POST /v1/surveys/${first.id}/reports`;
  const honest = server.answers.get(post)!;
  server.answers.set(post, refuse(503, "busy"));
  assert.equal((await mine.answer(server.url, survey.id, "red", { group: "A" })).state, "unsent");
  server.answers.set(post, honest);
  assert.equal((await mine.answer(server.url, survey.id, "red", { group: "B" })).state, "sent");
  assert.equal(new Set(sentTo(first)).size, 1);
  assert.equal(sentTo(second).length, 0);
});

test("without a group of the survey, and for the survey of a group, nothing is drawn", async () => {
  const survey = await arms("Wrong");
  const mine = device();
  for (const group of [undefined, null, "C", { os: "A" }]) {
    await assert.rejects(mine.answer(server.url, survey.id, "red", { group }), SurveyError);
  }
  await assert.rejects(mine.answer(server.url, (await survey.inGroup("A")).id, "red"), SurveyError);
  assert.equal((await mine.ledger()).spent, 0);
});

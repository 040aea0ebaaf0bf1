/** Mechanisms of other packages: run where the application brings them, refused everywhere else. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { toHex } from "../src/core/bytes.js";
import { canonicalText } from "../src/core/json.js";
import { explain, type LawOf } from "../src/explain.js";
import { type BroughtMechanisms, Device, type FiniteKind, MechanismError, MemoryStore, readSurvey, type Survey, SurveyError, type Tracking } from "../src/index.js";
import { LAWS, readMechanism } from "../src/mechanisms/registry.js";
import { systemSource } from "../src/randomness/source.js";
import { withinEpsilon } from "../src/randomness/thresholds.js";
import { lawOf } from "./enumerate.js";
import { lazyResponse, lazyResponseLaw } from "./lazy_response.js";
import { collectorOfTests, json, Signer } from "./server.js";
import { shares } from "./stated.js";

const server = collectorOfTests();
const signer = new Signer();
const mechanisms = { lazy_response: lazyResponse };
const labels = ["red", "green", "blue"];
const COLOURS = JSON.stringify(shares({ labels }, { name: "lazy_response" }));

const read = async (brought: BroughtMechanisms = mechanisms) => (await readSurvey(COLOURS, {}, brought)) as Survey;

test("a survey may name what was brought, and is refused without it, with what to do", async () => {
  assert.equal((await read()).randomize("green").length, 5);
  await assert.rejects(readSurvey(COLOURS), (error) => error instanceof MechanismError && /`?mechanisms/.test(error.message));
  await assert.rejects(read(Object.create(mechanisms)), MechanismError);
});

test("its reports are drawn by it alone, within epsilon", async () => {
  const { mechanism } = await read();
  const [own, other] = [0, 1].map((value) => lawOf(mechanism, value).chances.get("00")!) as [bigint, bigint];
  assert.ok(withinEpsilon({ n: own, d: other }, 1));
  assert.ok(Number(own) / Number(other) > 0.9999 * Math.E);
});

test("a device answers where its owner brought the mechanism, and nowhere else", async () => {
  const envelope = await signer.envelope(COLOURS);
  server.publish(envelope);
  const options = { key: signer.public, patience: { attempts: 1 } };
  await assert.rejects(new Device(new MemoryStore(), options).answer(server.url, envelope.id, "red"), MechanismError);
  assert.deepEqual(server.sent, []);
  const mine = new Device(new MemoryStore(), { ...options, mechanisms });
  assert.equal((await mine.answer(server.url, envelope.id, "red")).state, "sent");
  assert.equal(server.sent.length, 1);
});

test("the periods of a tracking survey may name it, and a device that joined one reads it again", async () => {
  const calendar = { starts: "2027-01-04", every: "week", window: 4, windows: 3, grace: 7 };
  const envelope = await signer.envelope(canonicalText({ calendar, ...JSON.parse(COLOURS) }));
  const { id } = envelope;
  server.publish(envelope);
  const now = Date.parse("2027-01-05");
  server.answers.set("GET /v1/time", json(200, { now: new Date(now).toISOString() }));
  const store = new MemoryStore();
  const mine = new Device(store, { key: signer.public, mechanisms, clock: () => now });
  await mine.join(server.url, id);
  const survey = (await mine.survey(server.url, id)) as Tracking;
  assert.equal((await survey.period(2)).mechanism.name, "lazy_response");
  await mine.due();
  await assert.rejects(new Device(store, { key: signer.public, clock: () => now }).due(), MechanismError);
});

test("names that are taken or malformed, and what is no mechanism, are refused before anything is fetched", () => {
  const wrong: BroughtMechanisms[] = [
    ...[...LAWS.keys(), "gaussian", "rejection", "sphere", "auto"].map((name) => ({ [name]: lazyResponse })),
    ...["", "Lazy", "lazy-response", "1st", "x".repeat(65), "lazy response"].map((name) => ({ [name]: lazyResponse })),
    ...[null, {}, { parameters: [] }, { make: lazyResponse.make }].map((kind) => ({ toy: kind as unknown as FiniteKind })),
  ];
  for (const brought of wrong) {
    assert.throws(() => new Device(new MemoryStore(), { mechanisms: brought }), MechanismError, JSON.stringify(brought));
  }
});

test("one that breaks what every mechanism owes is stopped", async () => {
  const made = lazyResponse.make(3, 1, {});
  const toy = (changed: object) => ({ lazy_response: { parameters: [], make: () => ({ ...made, ...changed }) } });
  for (const changed of [{ name: "other" }, { reportBytes: 0 }, { reportBytes: 2 ** 17 }, { reportBytes: 0.5 }]) {
    await assert.rejects(read(toy(changed)), SurveyError, JSON.stringify(changed));
  }
  for (const randomize of [() => new Uint8Array(2), () => [1] as unknown as Uint8Array]) {
    assert.throws(() => readMechanism({ name: "lazy_response" }, 3, 1, toy({ randomize })).randomize(1, systemSource), MechanismError);
  }
  const careless = readMechanism({ name: "lazy_response" }, 3, 1, toy({ randomize: () => new Uint8Array(1) }));
  for (const value of [3, -1, 0.5, "0"]) assert.throws(() => careless.randomize(value as number, systemSource), /not in the domain/);
});

test("its own parameters are stated exactly", async () => {
  const kind = { ...lazyResponse, parameters: ["coins"] };
  await assert.rejects(read({ lazy_response: kind }), /coins/);
});

test("reports are explained with its law, and refused without one", async () => {
  const survey = await read();
  const report = survey.randomize("blue");
  const told = explain(survey, report, "blue", { lazy_response: lazyResponseLaw });
  assert.ok(told.ratio <= Math.E && told.ratio > 2.71);
  const [label] = labels.filter((name) => told.likelihood(name) === told.highest);
  assert.match(told.words[0]!, new RegExp(label!));
  assert.equal(toHex(report).slice(8), `0${labels.indexOf(label!)}`);
  assert.throws(() => explain(survey, report), MechanismError);
  assert.throws(() => explain(survey, report, undefined, Object.create({ lazy_response: lazyResponseLaw as LawOf })), MechanismError);
});

/** Panels on a device: one seat for life, one answer in its round, none in any other. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { toHex } from "../src/core/bytes.js";
import { canonicalText, type Json } from "../src/core/json.js";
import { Device } from "../src/device/device.js";
import { BudgetError, MismatchError, SignatureError, SurveyError } from "../src/core/errors.js";
import { seatIn } from "../src/device/turns.js";
import { MemoryStore } from "../src/device/store.js";
import { collectorOfTests, json, refuse, Signer, TestCollector } from "./server.js";
import { panel, vector } from "./stated.js";

const server = collectorOfTests();
const signer = new Signer();

const domain = {
  attributes: [
    { domain: { size: 100, start: 0, step: 1 }, name: "age" },
    { domain: { labels: ["DE", "FR"] }, name: "country" },
  ],
};
const PEOPLE = panel(domain, 4, { title: "People" });
const PERSON = { age: 41, country: "FR" };

const question = (round: number, age: number, of: object = PEOPLE) => {
  const seat = { panel: of, query: ["<", ["attribute", "age"], age], round };
  return canonicalText(vector(1, 1, { name: "binary" }, { seat }) as Json);
};

const device = (store = new MemoryStore(), options = {}) =>
  new Device(store, { key: signer.public, patience: { attempts: 1 }, ...options });

async function start(): Promise<string> {
  const envelope = await signer.envelope(canonicalText(PEOPLE as Json));
  server.publish(envelope);
  server.answers.set(`GET /v1/surveys/${envelope.id}/rounds/latest`, refuse(404, "round_not_open"));
  return envelope.id;
}

async function open(id: string, round: number, statement = question(round, 30)): Promise<string> {
  const envelope = await signer.envelope(statement);
  server.answers.set(`GET /v1/surveys/${id}/rounds/latest`, json(200, envelope));
  server.answers.set(`POST /v1/surveys/${envelope.id}/reports`, json(200, { accepted: 1, refused: [] }));
  return envelope.id;
}

const seatOf = (store: MemoryStore, id: string): Promise<number> => seatIn(store, id, 1, 4);

test("a device waits for its own round, answers it once, and no other", async () => {
  const id = await start();
  const store = new MemoryStore();
  const waiting = await device(store).answer(server.url, id, PERSON);
  assert.deepEqual([waiting.state, waiting.epsilon], ["waiting", 0]);
  const seat = await seatOf(store, id);
  assert.ok(seat >= 1 && seat <= 4);
  for (let round = 1; round < seat; round++) {
    await open(id, round);
    assert.equal((await device(store).answer(server.url, id, PERSON)).state, "waiting");
  }
  assert.equal(server.sent.length, 0);
  const round = await open(id, seat);
  const receipt = await device(store).answer(server.url, id, PERSON);
  assert.deepEqual([receipt.state, receipt.title, receipt.survey], ["sent", `People, round ${seat}`, id]);
  assert.equal((await device(store).answer(server.url, id, PERSON)).state, "sent");
  assert.equal(server.sent.length, 1);
  assert.ok(server.sent[0]!.startsWith(`53565231${round}`));
  assert.ok(server.sent[0]!.endsWith(toHex((await device(store).report(server.url, id))!)));
  assert.ok(server.requests.every(({ path }) => !path.includes("/rounds/") || path.endsWith("/latest")));
  assert.equal(await seatOf(store, id), seat);
});

test("a round that an older version has drawn stays", async () => {
  const id = await start();
  for (const seat of [1, 2, 3, 4]) {
    const store = new (class extends MemoryStore {
      override seat = async () => seat;
    })();
    await open(id, seat);
    assert.equal((await device(store).answer(server.url, id, PERSON)).state, "sent");
  }
});

test("a device whose round is over answers no later one", async () => {
  const id = await start();
  const store = new (class extends MemoryStore {
    override seat = async () => 2;
  })();
  await open(id, 3);
  await assert.rejects(device(store).answer(server.url, id, PERSON), { code: "survey_sealed" });
  assert.equal(server.sent.length, 0);
});

test("seats are drawn once however many calls there are, and all rounds come up", async () => {
  const id = await start();
  const seats = new Set<number>();
  for (let i = 0; i < 60; i++) {
    const store = new MemoryStore();
    await Promise.all([device(store).answer(server.url, id, PERSON), device(store).answer(server.url, id, PERSON)]);
    seats.add(await seatOf(store, id));
  }
  // A given round is missed by 60 fair draws of 4 with probability 0.75^60 < 4e-8.
  assert.equal(seats.size, 4);
});

test("two questions in one round get one answer", async () => {
  const id = await start();
  const store = new MemoryStore();
  await device(store).answer(server.url, id, PERSON);
  const seat = await seatOf(store, id);
  const first = await open(id, seat);
  server.answers.set(`POST /v1/surveys/${first}/reports`, refuse(503, "busy"));
  assert.equal((await device(store).answer(server.url, id, PERSON)).state, "unsent");
  await open(id, seat, question(seat, 50));
  await assert.rejects(device(store).answer(server.url, id, PERSON), MismatchError);
  assert.equal(new Set(server.sent).size, 1);
});

test("rounds of another survey, what is no round, and rounds by themselves, are refused", async () => {
  const id = await start();
  const store = new MemoryStore();
  await device(store).answer(server.url, id, PERSON);
  const seat = await seatOf(store, id);
  for (const statement of [
    question(seat, 30, { ...PEOPLE, title: "Others" }),
    canonicalText(PEOPLE as Json),
  ]) {
    await open(id, seat, statement);
    await assert.rejects(device(store).answer(server.url, id, PERSON), MismatchError);
  }
  const alone = await signer.envelope(question(1, 30));
  server.publish(alone);
  await assert.rejects(device(store).answer(server.url, alone.id, PERSON), SurveyError);
  assert.equal(server.sent.length, 0);
});

test("a panel above the cap draws no seat", async () => {
  const id = await start();
  const store = new MemoryStore();
  await assert.rejects(device(store, { cap: 0.5 }).answer(server.url, id, PERSON), BudgetError);
  const unused = new Uint8Array(32).fill(9);
  assert.equal(await store.secret(unused), unused);
});

test("an answer to a round goes to nobody else, not even where that round is said not to be open", async () => {
  const id = await start();
  const store = new MemoryStore();
  const naive = () => new Device(store, { patience: { attempts: 1 } });
  await naive().answer(server.url, id, PERSON);
  const seat = await seatOf(store, id);
  const round = await open(id, seat);
  server.answers.set(`POST /v1/surveys/${round}/reports`, refuse(503, "busy"));
  assert.equal((await naive().answer(server.url, id, PERSON)).state, "unsent");
  const stranger = new TestCollector();
  const address = await stranger.start();
  try {
    stranger.publish(await new Signer().envelope(canonicalText(PEOPLE as Json)));
    stranger.answers.set(`GET /v1/surveys/${id}/rounds/latest`, refuse(404, "round_not_open"));
    stranger.answers.set(`POST /v1/surveys/${round}/reports`, json(200, { accepted: 1, refused: [] }));
    await assert.rejects(naive().answer(address, id, PERSON), MismatchError);
    assert.equal(stranger.sent.length, 0);
  } finally {
    await stranger.stop();
  }
});

test("an answer to a round is not sent where the survey bears another key now", async () => {
  const id = await start();
  const store = new MemoryStore();
  await device(store).answer(server.url, id, PERSON);
  const seat = await seatOf(store, id);
  await open(id, seat);
  const drawn = await device(store).answer(server.url, id, PERSON, { send: false });
  assert.deepEqual([drawn.state, drawn.drawn], ["unsent", true]);
  const other = new Signer();
  server.answers.set(`GET /v1/surveys/${id}`, json(200, await other.envelope(canonicalText(PEOPLE as Json))));
  server.answers.set(`GET /v1/surveys/${id}/rounds/latest`, refuse(404, "round_not_open"));
  await assert.rejects(device(store).answer(server.url, id, PERSON), SignatureError);
  await assert.rejects(device(store, { key: other.public }).answer(server.url, id, PERSON), MismatchError);
  assert.deepEqual(
    (await device(store).flush()).map(({ state }) => state),
    ["unsent"],
  );
  assert.equal(server.sent.length, 0);
  await start();
  assert.equal((await device(store).flush())[0]!.state, "sent");
});

/** A device and the log of a collector: what it refuses, what it remembers, what it keeps, and what it tells. */
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { canonicalText, type Json } from "../src/core/json.js";
import { Device, type DeviceOptions } from "../src/device/device.js";
import { LedgerError, ServiceError, TransparencyError } from "../src/core/errors.js";
import { seatIn } from "../src/device/turns.js";
import { MemoryStore } from "../src/device/store.js";
import { DAY } from "../src/surveys/calendar.js";
import { readCheckpoint } from "../src/transparency/tree_head.js";
import { TestLog } from "./log_server.js";
import { gatewayKey, TestRelay } from "./relay_server.js";
import { collectorOfTests, json, raw, refuse, Signer, TestCollector } from "./server.js";
import { panel, shares, vector } from "./stated.js";

const server = collectorOfTests();
const relay = new TestRelay();
before(() => relay.start());
after(() => relay.stop());
const signer = new Signer();
const OTHERS = Array.from({ length: 300 }, (_, i) => (i + 1).toString(16).padStart(64, "0"));
const HASTY = { attempts: 2, first: 0.001, longest: 1 };

const device = (store = new MemoryStore(), options: DeviceOptions = {}): Device =>
  new Device(store, { patience: HASTY, key: signer.public, ...options });

/** Publish a survey that is not in the log yet. */
async function publish(title: string, log: TestLog, more: object = {}): Promise<string> {
  const stated = shares({ labels: ["red", "green"] }, { name: "randomized_response" }, { title, ...more });
  const envelope = await signer.envelope(canonicalText({ ...stated, epsilon: 0.5 } as Json));
  server.publish(envelope);
  log.serve(envelope.id);
  return envelope.id;
}

/** Three surveys; the first is in the log. */
async function published(): Promise<{ log: TestLog; first: string; second: string; third: string }> {
  const log = new TestLog(server, signer);
  const [first, second, third] = [await publish("first", log), await publish("second", log), await publish("third", log)];
  log.surveys = [first];
  return { log, first, second, third };
}

const refused = (why: RegExp, conflict = false) => (error: unknown) => {
  assert.ok(error instanceof TransparencyError, String(error));
  assert.match(error.message, why);
  assert.equal(error.conflict, conflict);
  return true;
};

test("a survey in the log is answered, and the head is remembered", async () => {
  const { log, first, second } = await published();
  const store = new MemoryStore();
  assert.equal((await device(store).answer(server.url, first, "red")).state, "sent");
  assert.equal(await store.checkpoint(signer.public), log.checkpoint);
  log.surveys = [first, ...OTHERS.slice(0, 5), second];
  assert.equal((await device(store).answer(server.url, second, "red")).state, "sent");
  assert.equal(await store.checkpoint(signer.public), log.checkpoint);
  assert.deepEqual(log.asked, ["block=0", "block=0"], "one request for each survey, the same for everybody");
  await device(store).answer(server.url, first, "red");
  assert.equal(log.asked.length, 2, "none for what was answered before");
  assert.deepEqual((await device(store).ledger()).conflicts, []);
});

test("what a device has seen is told in whole blocks only", async () => {
  const { log, first, second, third } = await published();
  const mine = device();
  log.surveys = [first, ...OTHERS.slice(0, 256)];
  await mine.answer(server.url, first, "red");
  log.surveys = [...log.surveys, ...OTHERS.slice(256, 280), second];
  await mine.answer(server.url, second, "red");
  log.surveys = [...log.surveys, ...OTHERS.slice(280), third];
  assert.equal((await mine.answer(server.url, third, "red")).state, "sent");
  assert.deepEqual(log.asked, ["block=0", "block=1", "block=1"]);
});

test("a survey that is not in the log is refused before anybody is asked for a value", async () => {
  const { second } = await published();
  const mine = device();
  const unasked = () => assert.fail("nobody may be asked for a value here");
  await assert.rejects(mine.answer(server.url, second, unasked), refused(/is not in the log of the collector at/));
  assert.deepEqual([server.sent.length, (await mine.ledger()).entries.length], [0, 0]);
});

test("a log that goes another way is refused, and both heads are kept", async () => {
  const { log, first, second } = await published();
  const store = new MemoryStore();
  log.surveys = [first, OTHERS[0]!];
  await device(store).answer(server.url, first, "red");
  const seen = log.checkpoint;
  log.surveys = [OTHERS[1]!, first, OTHERS[2]!, second];
  for (let times = 0; times < 2; times++) {
    const answer = device(store).answer(server.url, second, "red");
    await assert.rejects(answer, refused(/does not continue the one that was shown before/, true));
    const { evidence } = (await answer.catch((error: unknown) => error)) as TransparencyError;
    assert.deepEqual(evidence, [seen, log.checkpoint]);
  }
  const { conflicts, entries } = await device(store).ledger();
  assert.deepEqual([conflicts.length, entries.length, server.sent.length], [1, 1, 1]);
  const [{ collector, remembered, found }] = conflicts as [(typeof conflicts)[0]];
  assert.deepEqual([collector, remembered, found], [server.url, seen, log.checkpoint]);
  for (const note of [remembered, found]) await readCheckpoint(note, signer.public);
  // What was shown first still counts.
  log.surveys = [first, OTHERS[0]!, second];
  assert.equal((await device(store).answer(server.url, second, "red")).state, "sent");
});

test("a log that has become shorter is refused", async () => {
  for (const length of [2, 300]) {
    const { log, first, second } = await published();
    const store = new MemoryStore();
    log.surveys = [first, second, ...OTHERS].slice(0, length);
    await device(store).answer(server.url, first, "red");
    log.surveys = [second];
    const answer = device(store).answer(server.url, second, "red");
    await assert.rejects(answer, refused(new RegExp(`it had ${length} entries, and now 1`), true));
    assert.equal((await store.conflicts()).length, 1);
  }
});

test("a log that was there once must stay, whatever the address", async () => {
  const { log, first, second } = await published();
  const store = new MemoryStore();
  await device(store).answer(server.url, first, "red");
  log.surveys = null;
  await assert.rejects(device(store).answer(server.url, second, "red"), refused(/although it had one before/));
  const sameService = server.url.replace("127.0.0.1", "localhost");
  await assert.rejects(device(store).answer(sameService, second, "red"), refused(/although it had one before/));
  assert.equal(server.sent.length, 1);
});

test("a collector without a log is answered unless the owner requires one", async () => {
  const { log, second } = await published();
  log.surveys = null;
  await assert.rejects(device(new MemoryStore(), { requireLog: true }).answer(server.url, second, "red"), refused(/requires one/));
  assert.equal((await device().answer(server.url, second, "red")).state, "sent");
});

test("a log that cannot be asked is not one that is missing", async () => {
  const { first } = await published();
  // An attacker who can stop one request must not be able to do without the log.
  for (const answer of [refuse(503, "log_behind"), refuse(403, "no"), json(200, {}), json(302, {})]) {
    server.answers.set(`GET /v1/log/proofs/${first}?block=0`, answer);
    await assert.rejects(device().answer(server.url, first, "red"), ServiceError);
  }
  assert.equal(server.sent.length, 0);
});

test("a head that another key signed is refused", async () => {
  const { log, first } = await published();
  const other = new TestLog(server, new Signer());
  other.surveys = log.surveys;
  other.serve(first);
  await assert.rejects(device().answer(server.url, first, "red"), refused(/of the log that another key signs/));
  assert.equal(server.sent.length, 0);
});

test("many calls at once remember one head, and one that is changed under each look gives up", async () => {
  const { log, first, second } = await published();
  log.surveys = [first, second];
  const store = new MemoryStore();
  const all = [first, second, first, second].map((id) => device(store).answer(server.url, id, "red"));
  assert.ok((await Promise.all(all)).every(({ state }) => state === "sent"));
  assert.equal(await store.checkpoint(signer.public), log.checkpoint);
  class Restless extends MemoryStore {
    override async remember(): Promise<boolean> {
      return false;
    }
  }
  await assert.rejects(device(new Restless()).answer(server.url, first, "red"), LedgerError);
});

test("what a store holds in place of a head is not taken for one", async () => {
  const { first } = await published();
  const store = new MemoryStore();
  await store.remember(signer.public, null, "no checkpoint");
  await assert.rejects(device(store).answer(server.url, first, "red"), refused(/signed note/));
  assert.equal(server.sent.length, 0);
});

test("a round is looked for, and not its panel", async () => {
  const log = new TestLog(server, signer);
  const people = panel({ attributes: [{ domain: { size: 100, start: 0, step: 1 }, name: "age" }] }, 1);
  const seat = { panel: people, query: ["<", ["attribute", "age"], 30], round: 1 };
  const [whole, round] = [
    await signer.envelope(canonicalText(people as Json)),
    await signer.envelope(canonicalText(vector(1, 1, { name: "binary" }, { seat }) as Json)),
  ];
  server.publish(whole);
  server.publish(round);
  server.answers.set(`GET /v1/surveys/${whole.id}/rounds/latest`, json(200, round));
  log.serve(whole.id, round.id);
  log.surveys = [whole.id];
  await assert.rejects(device().answer(server.url, whole.id, { age: 7 }), refused(/is not in the log/));
  log.surveys = [whole.id, round.id];
  assert.equal((await device().answer(server.url, whole.id, { age: 7 })).state, "sent");
});

test("a tracking survey must be in the log to be joined or answered; its periods follow from it", async () => {
  const log = new TestLog(server, signer);
  const calendar = { starts: "2027-01-04", every: "week", window: 2, windows: 1, grace: 7 };
  const id = await publish("Sleep", log, { calendar });
  const store = new MemoryStore();
  const now = Date.parse(calendar.starts) + (7 * (await seatIn(store, id, 1, 2)) - 4) * DAY;
  server.answers.set("GET /v1/time", json(200, { now: `${new Date(now).toISOString().slice(0, 19)}Z` }));
  const mine = () => device(store, { clock: () => now });
  log.surveys = OTHERS.slice(0, 3);
  await assert.rejects(mine().join(server.url, id), refused(/is not in the log/));
  await assert.rejects(mine().answer(server.url, id, "red"), refused(/is not in the log/));
  assert.deepEqual(await store.joined(), []);
  log.surveys = [...log.surveys, id];
  assert.equal((await mine().join(server.url, id)).state, "due");
  assert.equal((await mine().answer(server.url, id, "red", { send: false })).state, "unsent");
  // A log that goes another way is refused for all later answers.
  const other = await publish("Sleep more", log, { calendar });
  log.surveys = [id, other];
  await assert.rejects(mine().join(server.url, other), refused(/has become shorter/, true));
});

test("through a relay the log is asked through the relay too, and refused alike", async () => {
  const log = new TestLog(server, signer);
  const through = { delta: 1e-6, least: 2, url: relay.url };
  const [first, second] = [await publish("first", log, { relay: through }), await publish("second", log, { relay: through })];
  const gateway = await gatewayKey(3);
  for (const id of [first, second]) relay.serve(id, signer, gateway);
  relay.passTo(server);
  const store = new MemoryStore();
  const mine = () => device(store, { relay: relay.url, insistOnRelay: true });
  log.surveys = [first, OTHERS[0]!];
  assert.equal((await mine().answer("https://stats.example.org", first, "red")).state, "sent");
  assert.deepEqual(log.asked, ["block=0"]);
  log.surveys = [OTHERS[0]!, first, second];
  const answer = mine().answer("https://stats.example.org", second, "red");
  await assert.rejects(answer, refused(/does not continue/, true));
  assert.deepEqual([relay.held.length, server.sent.length], [1, 0]);
});

test("a statement that a relay cannot fetch is not answered", async () => {
  // The collector logs the hash of a survey, and shows its statement to those alone whose address it sees.
  const log = new TestLog(server, signer);
  const id = await publish("for one person", log, { relay: { delta: 1e-6, least: 2, url: relay.url } });
  log.surveys = [id];
  relay.serve(id, signer, await gatewayKey(3));
  const toStrangers = new TestCollector();
  await toStrangers.start();
  try {
    relay.passTo(toStrangers);
    const victim = device(new MemoryStore(), { requireLog: true });
    const before = relay.held.length;
    await assert.rejects(victim.answer(server.url, id, "red"), refused(/nobody else can fetch its statement/));
    assert.deepEqual([(await victim.ledger()).entries.length, relay.held.length - before], [0, 0]);
    assert.equal(toStrangers.requests.length, 1);
    relay.passTo(server);
    assert.equal((await victim.answer(server.url, id, "red")).state, "sent");
  } finally {
    await toStrangers.stop();
  }
});

test("a statement that is missing or another one is refused", async () => {
  const { first } = await published();
  for (const [answer, kind] of [
    [refuse(404, "not_in_log"), TransparencyError],
    [refuse(410, "statement_gone"), TransparencyError],
    [raw(200, "{}"), TransparencyError],
    [refuse(503, "log_behind"), ServiceError],
    [refuse(403, "no"), ServiceError],
  ] as const) {
    server.answers.set(`GET /v1/log/statements/${first}`, answer);
    await assert.rejects(device().answer(server.url, first, "red"), kind);
  }
  assert.equal(server.sent.length, 0);
});

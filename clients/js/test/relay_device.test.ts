/** A device and a survey that states a relay: sealed, through the relay alone, whatever goes wrong. */
import assert from "node:assert/strict";
import { after, afterEach, before, test } from "node:test";
import { concat, fromHex, toHex } from "../src/core/bytes.js";
import { Device, type DeviceOptions } from "../src/device/device.js";
import { MismatchError, ServiceError, SignatureError, SurveyError } from "../src/core/errors.js";
import { MemoryStore } from "../src/device/store.js";
import { decodeRequest, gatewayKey, type GatewayKey, signedKeys, TestRelay } from "./relay_server.js";
import { collectorOfTests, hangUp, json, raw, refuse, Signer, TestCollector } from "./server.js";
import { shares } from "./stated.js";

const server = collectorOfTests();
const relay = new TestRelay();
const signer = new Signer();
let [key, newer] = [null, null] as unknown as [GatewayKey, GatewayKey];

before(async () => {
  await relay.start();
  [key, newer] = [await gatewayKey(7), await gatewayKey(8)];
});
after(() => relay.stop());
afterEach(() => {
  relay.answers.clear();
  relay.requests.length = relay.held.length = 0;
});

const HASTY = { attempts: 2, first: 0.001, longest: 1 };

const stated = (more: Record<string, unknown> = {}) => ({
  ...shares({ labels: ["red", "green", "blue"] }, { name: "hadamard" }),
  relay: { delta: 0.000001, least: 1000, url: relay.url },
  ...more,
});

/** Publish a statement at the collector, and a box for it at the relay. */
async function publish(statement: object = stated()): Promise<string> {
  const sorted = JSON.stringify(Object.fromEntries(Object.entries(statement).sort(([a], [b]) => (a < b ? -1 : 1))));
  const envelope = await signer.envelope(sorted);
  server.publish(envelope);
  relay.serve(envelope.id, signer, key);
  return envelope.id;
}

const device = (options: DeviceOptions = {}, store = new MemoryStore()): Device =>
  new Device(store, { patience: HASTY, key: signer.public, ...options });

const direct = () => server.sent.length;

test("the report goes to the relay, sealed, and the collector's key alone opens it", async () => {
  const id = await publish();
  const store = new MemoryStore();
  const receipt = await device({}, store).answer(server.url, id, "red");
  assert.deepEqual([receipt.state, receipt.relay, receipt.drawn], ["sent", relay.url, true]);
  const [{ box, message }] = relay.held as [(typeof relay.held)[0]];
  assert.deepEqual([box, message.length, relay.held.length, direct()], [id, 512, 1, 0]);
  const [kept] = await store.answers();
  const { plaintext } = await relay.opened(message);
  const request = decodeRequest(plaintext);
  assert.deepEqual([request.method, request.path], ["POST", `/v1/surveys/${id}/reports`]);
  assert.match(request.contentType, /application\/vnd\.sottovoce\.reports$/);
  assert.equal(toHex(request.body), `53565231${id}${toHex(kept!.reportId)}${toHex(kept!.report)}`);
  // Neither the report nor its id is among what the relay was sent.
  const seen = relay.requests.map(({ path, body, headers }) => toHex(concat(new TextEncoder().encode(path + JSON.stringify(headers)), body)));
  for (const secret of [kept!.report, kept!.reportId]) assert.ok(!seen.join().includes(toHex(secret)));
  const altered = message.slice();
  altered[100]! ^= 1;
  await assert.rejects(relay.opened(altered));
});

test("whatever the relay does, nothing goes directly, and what is sent again is the same bytes", async () => {
  const id = await publish();
  const box = `POST /v1/boxes/${id}`;
  const store = new MemoryStore();
  const good = relay.answers.get(box)!;
  const seen: string[] = [];
  for (const failure of [
    hangUp,
    refuse(503, "busy"),
    refuse(507, "full"),
    refuse(404, "unknown_survey"),
    refuse(422, "unknown_key"),
    raw(200, "<html>hotel</html>"),
    json(200, { accepted: 0 }),
    raw(302, "", { Location: "/x" }),
  ]) {
    relay.answers.set(box, failure);
    const receipt = await device({}, store).answer(server.url, id, "red");
    assert.deepEqual([receipt.state, receipt.problem === ""], ["unsent", false]);
  }
  relay.answers.set(box, good);
  assert.deepEqual((await device({}, store).flush()).map(({ state }) => state), ["sent"]);
  for (const { method, body } of relay.requests) if (method === "POST") seen.push(toHex(body));
  assert.ok(seen.length > 8);
  assert.deepEqual([new Set(seen).size, direct(), (await store.answers()).length], [1, 0, 1]);
  // Another device's report, and the same one sealed by another device, are other bytes.
  await device().answer(server.url, id, "red");
  assert.notEqual(toHex(relay.held.at(-1)!.message), seen[0]);
});

test("keys that the survey's key has not signed are refused, and nothing is sent", async () => {
  const id = await publish();
  const stranger = new Signer();
  const mine = signedKeys([key], signer);
  const store = new MemoryStore();
  const other = signedKeys([newer], stranger);
  const asSurvey = await signer.envelope(Buffer.from(mine.configurations, "base64url").toString("latin1"));
  for (const bad of [
    other,
    { ...mine, key: other.key },
    { ...mine, configurations: other.configurations },
    { ...mine, signature: other.signature },
    signedKeys([key], signer, { by: stranger.private }),
    { ...mine, signature: asSurvey.signature },
  ]) {
    relay.answers.set("GET /v1/keys", json(200, bad));
    for (const receipt of [await device({}, store).answer(server.url, id, "red"), ...(await device({}, store).flush())]) {
      assert.deepEqual([receipt.state, /signed/.test(receipt.problem)], ["unsent", true], receipt.problem);
    }
  }
  const small = signedKeys([{ ...key, publicKey: new Uint8Array(32) }], signer);
  const unusable = [signedKeys([], signer), small, {}, { ...mine, configurations: 5 }];
  for (const answer of [hangUp, refuse(503, "busy"), raw(200, "<html>hotel</html>"), ...unusable.map((body) => json(200, body))]) {
    relay.answers.set("GET /v1/keys", answer);
    const [receipt] = await device({}, store).flush();
    assert.deepEqual([receipt!.state, receipt!.problem === ""], ["unsent", false]);
  }
  assert.deepEqual([relay.held.length, relay.sent.length, direct()], [0, 0, 0]);
});

test("a key that was changed meanwhile: the keys are fetched again, and the report is sealed to the new one", async () => {
  const id = await publish();
  const old = json(200, signedKeys([key], signer));
  relay.serve(id, signer, newer);
  const current = relay.answers.get("GET /v1/keys")!;
  let asked = 0;
  relay.answers.set("GET /v1/keys", (...exchange) => (asked++ === 0 ? old : current)(...exchange));
  assert.equal((await device().answer(server.url, id, "red")).state, "sent");
  assert.deepEqual([relay.held.length, relay.held[0]!.message[0], direct()], [1, newer.id, 0]);
  await relay.opened(relay.held[0]!.message);
  // Of several the first is taken, and those of unknown suites are passed over.
  relay.serve(id, signer, newer, key);
  const otherExchange = fromHex("0005" + "01" + "0099" + "0102");
  const otherCipher = concat(fromHex("0029" + "09" + "0020"), key.publicKey, fromHex("0004" + "00010003"));
  const others = concat(otherExchange, otherCipher);
  relay.answers.set("GET /v1/keys", json(200, signedKeys([newer, key], signer, { others })));
  assert.equal((await device().answer(server.url, id, "red")).state, "sent");
  assert.equal(relay.held[1]!.message[0], newer.id);
});

test("a device with a relay fetches everything through it, and the collector sees no request of its own", async () => {
  const front = new TestCollector(); // the collector's address, which only the relay may use
  try {
    const url = await front.start();
    for (const options of [{}, { key: signer.public }, { key: signer.public, insistOnRelay: true }]) {
      const id = await publish(stated({ title: JSON.stringify(Object.keys(options)).replaceAll(/\W/g, "") }));
      relay.passTo(server);
      const mine = new Device(new MemoryStore(), { patience: HASTY, relay: relay.url, ...options });
      assert.equal((await mine.survey(url, id)).id, id);
      assert.equal((await mine.answer(url, id, "red")).state, "sent");
      await assert.rejects(mine.survey(url, "0".repeat(64)), (error: ServiceError) => error.status === 404);
    }
    assert.deepEqual([front.requests.length, relay.held.length, direct()], [0, 3, 0]);
    const sizes = relay.requests.filter(({ path }) => path === "/v1/requests").map(({ body }) => body.length);
    assert.deepEqual([new Set(sizes), sizes.length], [new Set([512]), 12]); // each time the survey twice, the log, and a survey that is not there
    // Without a pinned key, keys and survey must at least be one signer's.
    const id = await publish(stated({ title: "two signers" }));
    relay.passTo(server);
    relay.answers.set("GET /v1/keys", json(200, signedKeys([key], new Signer())));
    const naive = new Device(new MemoryStore(), { patience: HASTY, relay: relay.url });
    await assert.rejects(naive.answer(url, id, "red"), SignatureError);
    relay.answers.set("GET /v1/keys", json(200, signedKeys([key], signer)));
    relay.answers.set("POST /v1/requests", raw(200, "<html>hotel</html>"));
    await assert.rejects(device({ relay: relay.url }).survey(url, id), ServiceError);
    assert.equal(front.requests.length, 0);
  } finally {
    await front.stop();
  }
});

test("a device that insists answers nothing directly, also not what was drawn before", async () => {
  assert.throws(() => device({ insistOnRelay: true }), /needs relay/);
  const plain = await publish(shares({ labels: ["a", "b"] }, { name: "hadamard" }));
  relay.passTo(server);
  const store = new MemoryStore();
  const insistent = device({ insistOnRelay: true, relay: relay.url }, store);
  await assert.rejects(insistent.answer(server.url, plain, "a"), MismatchError);
  assert.equal((await store.answers()).length, 0);
  await device({}, store).answer(server.url, plain, "a", { send: false });
  for (const receipt of [await insistent.answer(server.url, plain, "a"), ...(await insistent.flush())]) {
    assert.deepEqual([receipt.state, /through a relay only/.test(receipt.problem)], ["unsent", true]);
  }
  assert.equal(direct(), 0);
  // One that does not insist has the relay pass it on.
  assert.equal((await device({ relay: relay.url }, store).flush())[0]!.state, "sent");
  assert.deepEqual([direct(), relay.held.length], [1, 0]);
});

test("a person who insists trusts the named relay, and what was drawn before goes through no other either", async () => {
  const id = await publish();
  const mine = new TestRelay();
  try {
    await mine.start();
    mine.serve(id, signer, key);
    mine.passTo(server);
    const store = new MemoryStore();
    const insistent = device({ insistOnRelay: true, relay: `${mine.url}/` }, store);
    await assert.rejects(insistent.answer(server.url, id, "red"), /has not allowed/);
    await device({}, store).answer(server.url, id, "red", { send: false });
    for (const receipt of [await insistent.answer(server.url, id, "red"), ...(await insistent.flush())]) {
      assert.deepEqual([receipt.state, /has not allowed/.test(receipt.problem)], ["unsent", true]);
    }
    assert.deepEqual([relay.requests.length, direct()], [0, 0]);
    const both = { insistOnRelay: true, relay: mine.url, relays: [mine.url, relay.url] };
    assert.equal((await device(both, store).flush())[0]!.state, "sent");
  } finally {
    await mine.stop();
  }
});

test("an owner may limit the relays, and one at the collector's own address is none", async () => {
  const id = await publish();
  const other = { relays: ["https://relay.example.org"] };
  await assert.rejects(device(other).answer(server.url, id, "red"), /has not allowed/);
  assert.throws(() => device({ relays: ["http://relay.example.org"] }), SurveyError);
  assert.equal((await device({ relays: [...other.relays, relay.url] }).answer(server.url, id, "red")).state, "sent");
  const own = await publish(stated({ relay: { delta: 0.000001, least: 1000, url: server.url } }));
  await assert.rejects(device().answer(server.url, own, "red"), /own address/);
  await assert.rejects(device({ relay: server.url }).answer(server.url, own, "red"), /fetch through is at the collector's own/);
  assert.equal(direct(), 0);
});

test("of a tracking survey each period has a box of its own", async () => {
  const calendar = { every: "week", grace: 7, starts: "2027-01-04", window: 2, windows: 1 };
  const id = await publish(stated({ calendar }));
  const now = Date.parse("2027-01-12T00:00:00Z"); // both periods are open, whichever is the device's own
  server.answers.set("GET /v1/time", json(200, { now: new Date(now).toISOString() }));
  const mine = device({ clock: () => now });
  const asked: any = await mine.survey(server.url, id);
  const { period: own } = await mine.join(server.url, id);
  const period = await asked.period(own!.number);
  assert.deepEqual(period.relay, asked.relay);
  relay.serve(period.id, signer, key);
  assert.equal((await mine.answer(server.url, id, "red")).state, "sent");
  assert.deepEqual([relay.held[0]!.box, direct()], [period.id, 0]);
});

test("a platform without X25519 is told so before anything is drawn", async (t) => {
  const id = await publish();
  const store = new MemoryStore();
  const { importKey } = crypto.subtle;
  t.mock.method(crypto.subtle, "importKey", (...given: any[]) =>
    given[2].name === "X25519"
      ? Promise.reject(new DOMException("", "NotSupportedError"))
      : (importKey as any).apply(crypto.subtle, given),
  );
  for (const options of [{}, { relay: relay.url }]) {
    await assert.rejects(device(options, store).answer(server.url, id, "red"), /X25519.*nothing was sent/);
  }
  assert.deepEqual([(await store.answers()).length, relay.sent.length, direct()], [0, 0, 0]);
});

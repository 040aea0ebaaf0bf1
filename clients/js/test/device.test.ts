/** A device against a collector that may be anybody: draws once, within its budget, and sends the same bytes. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { toHex } from "../src/core/bytes.js";
import { Device, type DeviceOptions } from "../src/device/device.js";
import {
  BudgetError,
  LedgerError,
  MismatchError,
  ServiceError,
  SignatureError,
  SurveyError,
  ValueOutsideDomainError,
} from "../src/core/errors.js";
import { type Answer, MemoryStore } from "../src/device/store.js";
import { collectorOfTests, hangUp, json, raw, refuse, Signer, TestCollector } from "./server.js";
import { shares } from "./stated.js";

const server = collectorOfTests();
const signer = new Signer();

const HASTY = { attempts: 3, first: 0.001, longest: 1 };
const COLOURS = colours();

function colours(fields: Record<string, unknown> = {}): string {
  const labels = ["red", "green", "blue"];
  return JSON.stringify(shares({ labels }, { name: "hadamard" }, { title: "Colours", ...fields }));
}

async function publish(statement = COLOURS, state = "open", by = signer): Promise<string> {
  const envelope = await by.envelope(statement, [], state);
  server.publish(envelope);
  return envelope.id;
}

function device(options: DeviceOptions = {}, store = new MemoryStore()): Device {
  return new Device(store, { patience: HASTY, key: signer.public, ...options });
}

test("one answer, one report, one entry in the ledger", async () => {
  const id = await publish();
  const store = new MemoryStore();
  const mine = device({}, store);
  const receipt = await mine.answer(server.url, id, "green");
  assert.deepEqual(receipt, {
    survey: id,
    collector: server.url,
    relay: "",
    state: "sent",
    title: "Colours",
    epsilon: 1,
    delta: 0,
    problem: "",
    drawn: true,
    period: null,
    after: null,
  });
  const [kept] = (await store.answers()) as [Answer];
  assert.deepEqual(server.sent, [`53565231${id}${toHex(kept.reportId)}${toHex(kept.report)}`]);
  assert.equal(kept.reportId.length, 16);
  assert.equal(toHex(kept.report).slice(0, 8), id.slice(0, 8));
  const ledger = await mine.ledger();
  assert.deepEqual([ledger.spent, ledger.left, ledger.entries.length], [1, 7, 1]);
  assert.equal(ledger.entries[0]!.state, "sent");
});

test("asked again, whatever the value, nothing is drawn and nothing is sent", async () => {
  const id = await publish();
  const mine = device();
  await mine.answer(server.url, id, "green");
  for (const value of ["red", "blue", "no colour at all", undefined]) {
    const { state, drawn } = await mine.answer(server.url, id, value);
    assert.deepEqual([state, drawn], ["sent", false]);
  }
  assert.equal(server.sent.length, 1);
  assert.equal((await mine.ledger()).spent, 1);
});

test("many calls at once draw one report", async () => {
  const id = await publish();
  const store = new MemoryStore();
  const tabs = [device({}, store), device({}, store)];
  const values = ["red", "green", "blue"];
  const all = Array.from({ length: 30 }, (_, i) => tabs[i % 2]!.answer(server.url, id, values[i % 3]));
  const receipts = await Promise.all(all);
  assert.ok(receipts.every(({ state }) => state === "sent"));
  assert.equal(receipts.filter(({ drawn }) => drawn).length, 1, "one of them drew what stands");
  assert.equal(new Set(server.sent).size, 1);
  assert.equal((await store.answers()).length, 1);
});

test("the answer is in the ledger before anything is sent", async () => {
  const id = await publish();
  const store = new MemoryStore();
  const order: string[] = [];
  server.answers.set(`POST /v1/surveys/${id}/reports`, async (request, response) => {
    order.push(
      ...(await store.answers()).map(
        (answer) => `${answer.state} ${toHex(request.body).includes(toHex(answer.report))}`,
      ),
    );
    json(200, { accepted: 1, refused: [] })(request, response);
  });
  await device({}, store).answer(server.url, id, "red");
  assert.deepEqual(order, ["unsent true"]);
});

test("a store that cannot keep the answer lets nothing out", async () => {
  const id = await publish();
  class Full extends MemoryStore {
    override async record(): Promise<never> {
      throw new LedgerError("full");
    }
  }
  await assert.rejects(device({}, new Full()).answer(server.url, id, "red"), LedgerError);
  assert.equal(server.sent.length, 0);
});

test("what did not arrive is sent again, the same bytes, also by a later run and by flush", async () => {
  const id = await publish();
  const post = `POST /v1/surveys/${id}/reports`;
  const store = new MemoryStore();
  for (const failure of [
    hangUp,
    refuse(503, "busy"),
    refuse(429, "slow_down"),
    raw(200, "<html>hotel</html>"),
    json(200, { accepted: 0 }),
    json(200, { accepted: true }),
    raw(404, "gateway"),
    raw(302, "", { Location: "/x" }),
  ]) {
    server.answers.set(post, failure);
    const receipt = await device({}, store).answer(server.url, id, "red");
    assert.equal(receipt.state, "unsent");
    assert.notEqual(receipt.problem, "");
  }
  server.answers.set(post, json(200, { accepted: 1, refused: [] }));
  const receipts = await device({}, store).flush();
  assert.deepEqual(
    receipts.map(({ state }) => state),
    ["sent"],
  );
  assert.equal(new Set(server.sent).size, 1);
  assert.ok(server.sent.length > 8);
  assert.deepEqual(await device({}, store).flush(), []);
  assert.equal((await device({}, store).ledger()).spent, 1);
});

test("passing trouble is tried again within a call, and waiting longer than allowed is not done", async () => {
  const id = await publish();
  const post = `POST /v1/surveys/${id}/reports`;
  let times = 0;
  server.answers.set(post, (request, response) => {
    const answer = ++times < 3 ? refuse(503, "busy", { "Retry-After": "0" }) : json(200, { accepted: 1, refused: [] });
    answer(request, response);
  });
  assert.equal((await device().answer(server.url, id, "red")).state, "sent");
  assert.equal(times, 3);
  server.answers.set(post, refuse(503, "busy", { "Retry-After": "3600" }));
  const before = server.sent.length;
  assert.equal((await device().answer(server.url, id, "red")).state, "unsent");
  assert.equal(server.sent.length, before + 1);
});

test("the collector's own refusal is final for now, and nothing is drawn anew", async () => {
  const id = await publish();
  const store = new MemoryStore();
  server.answers.set(`POST /v1/surveys/${id}/reports`, refuse(409, "survey_sealed"));
  const receipt = await device({}, store).answer(server.url, id, "red");
  assert.deepEqual([receipt.state, receipt.problem], ["refused", "told: survey_sealed"]);
  assert.deepEqual(await device({}, store).flush(), []);
  assert.equal((await store.answers()).length, 1);
});

test("send: false only draws and records", async () => {
  const id = await publish();
  const mine = device();
  assert.equal((await mine.answer(server.url, id, "red", { send: false })).state, "unsent");
  assert.equal(server.sent.length, 0);
  assert.equal((await mine.flush())[0]!.state, "sent");
});

test("the report can be shown before it is sent, and it is the one that is sent", async () => {
  const id = await publish();
  const store = new MemoryStore();
  const mine = device({}, store);
  assert.equal(await mine.report(server.url, id), null);
  await mine.answer(server.url, id, "red", { send: false });
  const shown = (await mine.report(server.url, id))!;
  assert.equal(toHex(shown).slice(0, 8), id.slice(0, 8));
  const asSent = toHex(shown);
  shown.fill(0); // code that was shown it can change nothing
  await mine.answer(server.url, id, "blue");
  assert.ok(server.sent[0]!.endsWith(asSent));
  assert.equal(toHex((await mine.report(server.url, id))!), asSent);
  await assert.rejects(mine.report("http://127.0.0.1:1", id), MismatchError);
  await assert.rejects(mine.report(server.url, "no id"), SurveyError);
});

test("caps and budgets", async () => {
  const large = await publish(colours({ epsilon: 2.5 }));
  await assert.rejects(device().answer(server.url, large, "red"), BudgetError);
  assert.equal((await device({ cap: 3 }).answer(server.url, large, "red")).state, "sent");
  const mine = device({ budget: 0.3 });
  for (const title of ["a", "b", "c"]) {
    await mine.answer(server.url, await publish(colours({ epsilon: 0.1, title })), "red");
  }
  assert.deepEqual([(await mine.ledger()).spent, (await mine.ledger()).left], [0.3, 0]);
  const sent = server.sent.length;
  await assert.rejects(mine.answer(server.url, await publish(colours({ epsilon: 2 ** -20 })), "red"), BudgetError);
  assert.equal(server.sent.length, sent);
  for (const bad of [{ cap: Infinity }, { budget: NaN }, { budget: -1 }, { deltaCap: "1" as unknown as number }]) {
    assert.throws(() => device(bad), BudgetError);
  }
});

test("a device gives no more answers than its owner allows, whatever they cost", async () => {
  const ids = await Promise.all(["a", "b", "c"].map((title) => publish(colours({ title, epsilon: 0.01 }))));
  const mine = device({ maxAnswers: 2 });
  const results = await Promise.allSettled(ids.map((id) => mine.answer(server.url, id, "red")));
  const refused = results.filter((result) => result.status === "rejected").map(({ reason }) => reason);
  assert.equal(refused.length, 1);
  assert.ok(refused[0] instanceof BudgetError);
  assert.match(refused[0].message, /all 2 answers .* raise maxAnswers/);
  assert.equal(server.sent.length, 2);
  const { entries, maxAnswers } = await mine.ledger();
  assert.deepEqual([entries.length, maxAnswers], [2, 2]);
  assert.equal((await device().ledger()).maxAnswers, 1000);
  assert.throws(() => device({ maxAnswers: Infinity }), BudgetError);
});

test("flush sends in random order, and every request has a connection of its own", async () => {
  const titles = Array.from({ length: 8 }, (_, i) => `survey ${i}`);
  const ids = await Promise.all(titles.map((title) => publish(colours({ title, epsilon: 0.01 }))));
  for (const [path, answer] of server.answers) {
    server.answers.set(path, (request, response) => {
      response.setHeader("Connection", "keep-alive"); // it would like to have them all on one
      answer(request, response);
    });
  }
  const orders = new Set<string>();
  // That three orders of eight reports are the same has a chance of 6e-10.
  for (let run = 0; run < 3; run++) {
    const mine = device();
    for (const id of ids) await mine.answer(server.url, id, "red", { send: false });
    server.requests.length = 0;
    const receipts = await mine.flush();
    assert.deepEqual(
      receipts.map(({ survey, state }) => [survey, state]),
      ids.map((id) => [id, "sent"]),
    );
    const ports = server.requests.map(({ port }) => port);
    assert.equal(new Set(ports).size, 2 * ids.length); // the key is checked, and the report sent
    orders.add(server.requests.filter(({ method }) => method === "POST").map(({ path }) => path).join());
  }
  assert.ok(orders.size > 1);
});

test("two surveys at once cannot both have the last of the budget", async () => {
  const ids = await Promise.all(["a", "b", "c", "d"].map((title) => publish(colours({ title }))));
  const mine = device({ budget: 2 });
  const results = await Promise.allSettled(ids.map((id) => mine.answer(server.url, id, "red")));
  assert.equal(results.filter(({ status }) => status === "fulfilled").length, 2);
  assert.equal((await mine.ledger()).spent, 2);
  assert.equal(server.sent.length, 2);
});

test("a value outside the domain is refused without naming it, or replaced by a public one", async () => {
  const id = await publish();
  const mine = device();
  await assert.rejects(mine.answer(server.url, id, "xyzzy-secret"), (error: Error) => {
    assert.ok(error instanceof ValueOutsideDomainError);
    assert.ok(!`${error.message}${error.stack}`.includes("xyzzy"));
    return true;
  });
  assert.equal(server.sent.length, 0);
  assert.equal((await mine.ledger()).spent, 0);
  await assert.rejects(mine.answer(server.url, id, "red", { otherwise: "nothing" }), ValueOutsideDomainError);
  assert.equal((await mine.answer(server.url, id, "xyzzy-secret", { otherwise: "blue" })).state, "sent");
});

test("tampered, unsigned and unknown surveys are refused before anything is drawn", async () => {
  const good = await signer.envelope(COLOURS);
  const other = await new Signer().envelope(COLOURS);
  const larger = colours({ epsilon: 16 });
  const bad: [object, new (...args: never[]) => Error][] = [
    [{ ...good, signature: other.signature }, SignatureError],
    [other, SignatureError],
    [{ ...good, statement: larger }, SignatureError],
    [{ ...(await signer.envelope(larger)), id: good.id }, SignatureError],
    [await signer.envelope(colours({ title: "another" })), SignatureError],
    [{ ...(await signer.envelope(`${COLOURS} `)) }, SignatureError],
  ];
  for (const [envelope, error] of bad) {
    server.answers.set(`GET /v1/surveys/${good.id}`, json(200, envelope));
    await assert.rejects(device().answer(server.url, good.id, "red"), error);
  }
  const spaced = await publish(` ${COLOURS}`);
  await assert.rejects(device().answer(server.url, spaced, "red"), SignatureError);
  const unknown = await publish(colours({ design: { mechanism: { name: "plain" }, strategy: "histogram" } }));
  await assert.rejects(device({ cap: 16 }).answer(server.url, unknown, "red"), SurveyError);
  await assert.rejects(device().answer(server.url, "../../etc", "red"), SurveyError);
  assert.equal(server.sent.length, 0);
});

test("without a key the first one is pinned, and another is refused ever after", async () => {
  const id = await publish();
  const store = new MemoryStore();
  const naive = () => new Device(store, { patience: HASTY });
  await naive().answer(server.url, id, "red");
  const second = await publish(colours({ title: "second" }), "open", new Signer());
  await assert.rejects(naive().answer(server.url, second, "red"), SignatureError);
  assert.equal((await naive().answer(server.url, await publish(colours({ title: "third" })), "red")).state, "sent");
});

test("an answer is given to one address, and moves only where its owner says so and the key is the same", async () => {
  const id = await publish();
  const store = new MemoryStore();
  server.answers.set(`POST /v1/surveys/${id}/reports`, refuse(503, "busy"));
  await device({}, store).answer(server.url, id, "red");
  const elsewhere = new TestCollector();
  const address = await elsewhere.start();
  const naive = new Device(store, { patience: HASTY });
  try {
    elsewhere.publish(await new Signer().envelope(COLOURS));
    await assert.rejects(naive.answer(address, id, "red"), MismatchError);
    await assert.rejects(naive.move(id, address), MismatchError);
    elsewhere.publish(await signer.envelope(COLOURS));
    await assert.rejects(device({}, store).answer(address, id, "red"), MismatchError);
    assert.equal(elsewhere.sent.length, 0);
    assert.equal((await device({}, store).move(id, address)).collector, address);
    assert.equal((await device({}, store).answer(address, id, "red")).state, "sent");
    assert.equal(elsewhere.sent[0], server.sent[0]);
    await assert.rejects(device({}, store).move(id, server.url), MismatchError);
  } finally {
    await elsewhere.stop();
  }
});

test("a call ends in time, whatever the collector does", async () => {
  const id = await publish();
  server.answers.set(`GET /v1/surveys/${id}`, (_, response) => {
    response.writeHead(200);
    const drip = setInterval(() => response.write(" "), 20);
    response.on("close", () => clearInterval(drip));
  });
  await assert.rejects(device({ seconds: 1 }).answer(server.url, id, "red"), { code: "too_slow" });
  assert.equal(server.requests.length, 1);
  server.answers.set(`GET /v1/surveys/${id}`, refuse(503, "busy", { "Retry-After": "30" }));
  const patience = { ...HASTY, longest: 60 };
  await assert.rejects(device({ seconds: 10, patience }).answer(server.url, id, "red"), { code: "busy" });
  assert.equal(server.requests.length, 2);
});

test("work beyond what a device does is refused before the value is looked at", async () => {
  const domain = { size: 2 ** 20, start: 0, step: 1 };
  const bits = await publish(colours({ domain, mechanism: { name: "unary_optimized" } }));
  await assert.rejects(device().answer(server.url, bits, 5), SurveyError);
  const labels = Array.from({ length: 60_000 }, (_, i) => `a label of some length, number ${i}, and so on`);
  await assert.rejects(device().answer(server.url, await publish(colours({ domain: { labels } })), 5), SurveyError);
  assert.equal(server.sent.length, 0);
});

test("a sealed survey is not answered", async () => {
  await assert.rejects(device().answer(server.url, await publish(COLOURS, "sealed"), "red"), ServiceError);
  assert.equal(server.sent.length, 0);
});

test("no cookie, no referrer, no way to tell devices apart but their reports", async () => {
  await device().answer(server.url, await publish(), "red");
  for (const { headers } of server.requests) {
    assert.equal(headers.cookie ?? headers.referer ?? headers.authorization, undefined);
  }
});

test("a clock that is years off changes nothing but a date", async (t) => {
  const id = await publish();
  t.mock.timers.enable({ apis: ["Date"], now: 8.64e15 });
  const mine = device();
  assert.equal((await mine.answer(server.url, id, "red")).state, "sent");
  assert.equal((await mine.ledger()).entries[0]!.day, "unknown");
});

test("titles are shown without what moves a cursor", async () => {
  const store = new MemoryStore();
  const mine = device({}, store);
  await store.record("q", 1, () => ({
    question: "q",
    window: 1,
    survey: "q",
    collector: server.url,
    relay: "",
    key: signer.public,
    title: "a\u001b[2J\u202e b\n c",
    epsilon: 1,
    delta: 0,
    day: "",
    reportId: new Uint8Array(16),
    report: new Uint8Array(5),
    state: "sent",
    renews: false,
    period: "",
    closes: "",
  }));
  const [entry] = (await mine.ledger()).entries;
  assert.deepEqual([entry!.title, entry!.day], ["a[2J b c", "unknown"]);
});

/** Tracking surveys on a device: one period per window, by both clocks, once, and only as its owner wants. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { canonicalText, type Json } from "../src/core/json.js";
import { Device, type DeviceOptions } from "../src/device/device.js";
import {
  BudgetError,
  ClockError,
  LedgerError,
  MismatchError,
  ServiceError,
  SurveyError,
  ValueOutsideDomainError,
} from "../src/core/errors.js";
import { recent } from "../src/device/ledger.js";
import { seatIn } from "../src/device/turns.js";
import { MemoryStore } from "../src/device/store.js";
import { DAY, type Period } from "../src/surveys/calendar.js";
import { readSurvey } from "../src/surveys/read.js";
import type { Tracking } from "../src/surveys/tracking.js";
import { collectorOfTests, json, refuse, Signer } from "./server.js";
import { shares } from "./stated.js";

const server = collectorOfTests();
const signer = new Signer();
const WEEKS = { starts: "2027-01-04", every: "week", window: 4, windows: 3, grace: 7 };
const START = Date.parse("2027-01-04");

/** With it the device has the second week of the first window: some tests go through all of them. */
const SECRET = new Uint8Array(32).fill(11);

/** A world: a survey, a device with one store, and two clocks. */
class World {
  now = START - 30 * DAY;
  /** How far the collector's clock is ahead. */
  ahead = 0;
  store = new MemoryStore();

  constructor(readonly survey: Tracking) {
    server.answers.set("GET /v1/time", (_, response) => {
      json(200, { now: new Date(this.now + this.ahead).toISOString().slice(0, 19) + "Z" })(_, response);
    });
  }

  static async with(calendar: object = WEEKS, more: object = {}): Promise<World> {
    const mechanism = { name: "randomized_response" };
    const stated = shares({ labels: ["yes", "no"] }, mechanism, { calendar, title: "Sleep", ...more });
    const text = canonicalText(stated as Json);
    const survey = (await readSurvey(text)) as Tracking;
    server.publish(await signer.envelope(text));
    for (let number = 1; number <= (survey.calendar.periods ?? 8); number++) {
      const { id } = await survey.period(number);
      server.answers.set(`POST /v1/surveys/${id}/reports`, json(200, { accepted: 1, refused: [] }));
    }
    const world = new World(survey);
    await world.store.secret(SECRET);
    return world;
  }

  device(options: DeviceOptions = {}): Device {
    return new Device(this.store, { key: signer.public, patience: { attempts: 1 }, clock: () => this.now, ...options });
  }

  answer(value: unknown = "yes", options: DeviceOptions = {}) {
    return this.device(options).answer(server.url, this.survey.id, value);
  }

  /** The device's own period in a window. */
  async own(window: number): Promise<Period> {
    const { calendar, id, seats } = this.survey;
    return calendar.period(calendar.firstOf(window) + (await seatIn(this.store, id, window, seats)) - 1);
  }

  /** Goes to the middle of a period. */
  goto({ start }: Period): void {
    this.now = start + 3 * DAY;
  }
}

const unasked = () => assert.fail("nobody may be asked for a value here");

test("a device answers in its own period alone, with the value of then", async () => {
  const world = await World.with();
  const mine = await world.own(1);
  assert.equal(mine.number, 2);
  const before = await world.answer(unasked);
  assert.deepEqual([before.state, before.period, before.epsilon, before.title], ["waiting", mine, 0, "Sleep"]);
  assert.deepEqual(before.after, await world.own(2));
  const told: unknown[] = [];
  for (world.now = START; world.now < START + 28 * DAY; world.now += DAY) {
    const receipt = await world.answer((period: Period) => (told.push(period), "yes"));
    const expected = world.now < mine.start ? "waiting" : "sent";
    assert.equal(receipt.state, expected);
    assert.deepEqual(receipt.period, mine);
  }
  assert.deepEqual(told, [mine]);
  const { id } = await world.survey.period(mine.number);
  assert.equal(server.sent.length, 1);
  assert.ok(server.sent[0]!.startsWith(`53565231${id}`));
  const [kept] = await world.store.answers();
  assert.deepEqual([kept!.survey, kept!.window, kept!.period, kept!.renews], [id, 1, mine.label, true]);
  assert.ok(server.requests.every(({ path }) => !path.includes("/rounds/")));
});

test("one answer in every window, and the ledger tells both sums", async () => {
  const world = await World.with();
  for (const window of [1, 2, 3]) {
    world.goto(await world.own(window));
    const receipt = await world.answer();
    assert.deepEqual([receipt.state, receipt.period!.window, receipt.drawn], ["sent", window, true]);
    assert.equal((await world.answer("no")).drawn, false);
  }
  const ledger = await world.device().ledger();
  assert.deepEqual([ledger.spent, ledger.entries.length, ledger.windowSpent], [3, 3, 3]);
  const { id: survey } = world.survey;
  assert.deepEqual(ledger.surveys, [{ survey, title: "Sleep", windows: 3, perWindow: 1, spent: 3 }]);
  world.now += 200 * DAY;
  assert.equal((await world.device().ledger()).windowSpent, 0);
});

test("whatever the clocks do, a window is answered once", async () => {
  const world = await World.with();
  const mine = await world.own(1);
  for (const jump of [mine.start, START - 400 * DAY, mine.closes, mine.start + DAY, mine.closes + 900 * DAY, mine.start]) {
    world.now = jump;
    await world.answer();
  }
  const inFirst = (await world.store.answers()).filter(({ window }) => window === 1);
  assert.equal(inFirst.length, 1);
});

test("a period that has closed is missed, and the next window has another", async () => {
  const world = await World.with();
  const [mine, later] = [await world.own(1), await world.own(2)];
  world.now = mine.closes - 1;
  assert.equal((await world.device().join(server.url, world.survey.id)).state, "due");
  world.now = mine.closes;
  const receipt = await world.answer(unasked);
  assert.deepEqual([receipt.state, receipt.period, receipt.after], ["missed", mine, later]);
  world.goto(later);
  assert.equal((await world.answer()).state, "sent");
  world.now = START + 1000 * DAY;
  assert.equal((await world.answer(unasked)).period!.window, 3);
  assert.equal((await world.answer(unasked)).state, "missed");
});

test("clocks that disagree by more than a day refuse before anybody is asked", async () => {
  const world = await World.with();
  world.goto(await world.own(1));
  for (const ahead of [-1.5 * DAY, 1.5 * DAY, 3650 * DAY]) {
    world.ahead = ahead;
    await assert.rejects(world.answer(unasked), (error: Error) => error instanceof ClockError && /set it/.test(error.message));
  }
  world.ahead = -0.9 * DAY;
  assert.equal((await world.answer()).state, "sent");
  server.answers.set("GET /v1/time", json(200, { now: "soon" }));
  await assert.rejects(world.answer(unasked), ServiceError);
});

test("a report is drawn only when its period has begun by both clocks", async () => {
  const world = await World.with();
  const mine = await world.own(1);
  world.now = mine.start + DAY / 2;
  world.ahead = -0.9 * DAY;
  assert.equal((await world.answer(unasked)).state, "waiting");
  world.now = mine.closes - DAY / 2;
  world.ahead = 0.9 * DAY;
  assert.equal((await world.answer(unasked)).state, "missed");
  assert.equal(server.sent.length, 0);
});

test("an unknown period stays unsent until it closes; then the refusal is final", async () => {
  const world = await World.with();
  const mine = await world.own(1);
  world.goto(mine);
  server.answers.delete(`POST /v1/surveys/${(await world.survey.period(mine.number)).id}/reports`);
  assert.equal((await world.answer()).state, "unsent");
  assert.equal((await world.device().flush())[0]!.state, "unsent");
  world.now = mine.closes;
  assert.equal((await world.device().flush())[0]!.state, "refused");
});

test("joined surveys are due without a connection, and a queue answers them", async () => {
  const world = await World.with();
  const mine = await world.own(1);
  const joined = await world.device().join(server.url, world.survey.id);
  assert.deepEqual([joined.state, joined.period], ["waiting", mine]);
  server.requests.length = 0;
  assert.deepEqual(await world.device().due(), []);
  world.goto(mine);
  const [due, ...others] = await world.device().due();
  assert.deepEqual([due!.survey.id, due!.period, due!.collector, others.length], [world.survey.id, mine, server.url, 0]);
  assert.equal(server.requests.length, 0);
  server.answers.set("GET /v1/time", refuse(503, "busy"));
  const [failed] = await world.device().answerDue(unasked);
  assert.deepEqual([failed!.state, failed!.problem], ["due", "told: busy"]);
  server.answers.set("GET /v1/time", json(200, { now: new Date(world.now).toISOString() }));
  const asked: Period[] = [];
  const [sent] = await world.device().answerDue(({ period }) => (asked.push(period), "no"));
  assert.deepEqual([sent!.state, asked], ["sent", [mine]]);
  assert.deepEqual(await world.device().due(), []);
  await world.device().leave(world.survey.id);
  world.goto(await world.own(2));
  assert.deepEqual(await world.device().due(), []);
});

test("what a function throws is handed on, and nothing was drawn", async () => {
  const world = await World.with();
  world.goto(await world.own(1));
  const mine = await world.own(1);
  await assert.rejects(world.answer(() => Promise.reject(new RangeError("closed the app"))), RangeError);
  assert.equal((await world.store.answers()).length, 0);
  const slow = await world.answer(async () => ((world.now = mine.closes), "yes"));
  assert.deepEqual([slow.state, (await world.store.answers()).length], ["missed", 0]);
});

test("an owner who refuses renewals answers one window", async () => {
  const world = await World.with();
  await world.device().refuseRenewals(world.survey.id);
  world.goto(await world.own(1));
  const first = await world.answer();
  assert.deepEqual([first.state, first.after], ["sent", null]);
  world.goto(await world.own(2));
  assert.equal((await world.answer(unasked)).state, "declined");
  await world.device().join(server.url, world.survey.id);
  assert.deepEqual(await world.device().due(), []);
  await world.device().allowRenewals(world.survey.id);
  assert.equal((await world.answer()).state, "sent");
  assert.equal(server.sent.length, 2);
});

test("renewals that are refused while the person thinks are not answered", async () => {
  const world = await World.with();
  world.goto(await world.own(1));
  await world.answer();
  world.goto(await world.own(2));
  const value = async () => (await world.device().refuseRenewals(world.survey.id), "yes");
  await assert.rejects(world.answer(value), BudgetError);
  assert.equal((await world.store.answers()).length, 1);
});

test("a window that had ended when the device joined is not answered", async () => {
  const calendar = { ...WEEKS, grace: 28 };
  for (const joins of [true, false]) {
    const world = await World.with(calendar);
    const [first, second] = [await world.own(1), await world.own(2)];
    world.now = START + 29 * DAY; // in the days of grace of the first window
    assert.ok(world.now < first.closes);
    if (joins) await world.device().join(server.url, world.survey.id);
    assert.deepEqual(await world.device().due(), []);
    const told = await world.answer(unasked);
    assert.deepEqual([told.state, told.period], ["waiting", second]);
    const there = await World.with(calendar);
    await there.answer(unasked); // it joins before the first window
    there.now = START + 29 * DAY;
    assert.deepEqual((await there.answer()).period, first);
  }
});

test("a report that was never taken is not sent after its period has closed", async () => {
  const world = await World.with();
  const mine = await world.own(1);
  world.goto(mine);
  await world.device().answer(server.url, world.survey.id, "yes", { send: false });
  world.now = mine.closes;
  const [receipt] = await world.device().flush();
  assert.deepEqual([receipt!.state, server.sent.length], ["refused", 0]);
  assert.match(receipt!.problem, /its period has closed/);
  assert.deepEqual(await world.device().flush(), []);
});

test("a store that does not say when it joined joins now", async () => {
  const world = await World.with({ ...WEEKS, grace: 28 });
  await world.device().join(server.url, world.survey.id);
  const forgetful = { since: async () => null };
  world.store = new Proxy(world.store, { get: (store, name) => (forgetful as any)[name] ?? (store as any)[name].bind(store) });
  world.now = START + 29 * DAY;
  assert.deepEqual(await world.device().due(), []);
});

test("what stands is sent by its window, while another turn is due", async () => {
  const world = await World.with({ ...WEEKS, grace: 28 });
  await world.answer(unasked); // it joins
  world.now = (await world.own(2)).start;
  const drawn = await world.device().answer(server.url, world.survey.id, "yes", { send: false });
  assert.deepEqual([drawn.state, drawn.period!.window], ["unsent", 1]);
  const sent = await world.device().resend(world.survey.id, 1);
  assert.deepEqual([sent!.state, server.sent.length], ["sent", 1]);
  assert.equal(await world.device().resend(world.survey.id, 2), null);
  assert.equal((await world.store.answers()).length, 1);
});

test("budgets count per window and for life, also for what has not begun", async () => {
  const world = await World.with();
  const limits = { budget: 5, windowBudget: 1, windowDays: 60 };
  await assert.rejects(world.answer(unasked, { cap: 0.5, budget: 9 }), BudgetError);
  world.goto(await world.own(1));
  await world.answer("yes", limits);
  world.goto(await world.own(2));
  await assert.rejects(world.answer(unasked, limits), BudgetError);
  world.goto(await world.own(3));
  const apart = ((await world.own(3)).start - (await world.own(1)).start) / DAY;
  await assert.rejects(world.answer(unasked, { ...limits, windowDays: apart + 1 }), BudgetError);
  assert.equal((await world.answer("yes", { ...limits, windowDays: apart })).state, "sent");
});

test("dates in the future or unknown count as recent", async () => {
  const world = await World.with();
  await world.answer(unasked); // it joins
  world.goto(await world.own(3)); // both clocks were wrong then
  await world.answer();
  world.goto(await world.own(1));
  await assert.rejects(world.answer(unasked, { windowBudget: 1, windowDays: 1 }), BudgetError);
});

test("a clock that fell back makes no answer old", () => {
  const given = ["2027-01-03", "2027-01-04", "1970-01-01", "", "2031-01-01", "2027-01-02"].map((day) => ({ day }));
  const found = recent(given, 7, "2027-01-10").map(({ day }) => day);
  assert.deepEqual(found, ["2027-01-04", "1970-01-01", "", "2031-01-01", "2027-01-02"]);
  assert.equal(recent(given, 7, "").length, 6);
});

test("a window budget of no day at all is refused, and a bad replacement before anybody is asked", async () => {
  for (const windowDays of [0, 0.5]) assert.throws(() => new Device(new MemoryStore(), { windowDays }), BudgetError);
  const world = await World.with();
  world.goto(await world.own(1));
  const answered = world.device().answer(server.url, world.survey.id, unasked, { otherwise: "perhaps" });
  await assert.rejects(answered, ValueOutsideDomainError);
});

test("periods by themselves, other addresses and sealed surveys are refused", async () => {
  const world = await World.with();
  const alone = await signer.envelope(new TextDecoder().decode((await world.survey.period(1)).canonical));
  server.publish(alone);
  await assert.rejects(world.device().answer(server.url, alone.id, "yes"), SurveyError);
  await world.device().join(server.url, world.survey.id);
  await assert.rejects(world.device().answer("https://other.example", world.survey.id, unasked), MismatchError);
  const sealed = await signer.envelope(new TextDecoder().decode(world.survey.canonical), [], "sealed");
  server.answers.set(`GET /v1/surveys/${sealed.id}`, json(200, sealed));
  await assert.rejects(world.answer(unasked), ServiceError);
  const [kept] = await world.store.joined();
  const broken = new MemoryStore();
  await broken.join({ ...kept!, question: "ab".repeat(32) });
  await assert.rejects(new Device(broken, { clock: () => world.now }).due(), LedgerError);
});

test("a store that was restored from an old backup finds the same seat", async () => {
  const world = await World.with();
  const mine = await world.own(1);
  const restored = new MemoryStore();
  await restored.secret(SECRET.slice());
  world.store = restored;
  assert.deepEqual((await world.answer(unasked)).period, mine);
});

/** Following a survey: by events, by asking where there are none, and back again. */
import type { RoundStatus, Status } from "../src/parts/api_types.js";
import assert from "node:assert/strict";
import { beforeEach, mock, test } from "node:test";
import { Refusal, Unreachable } from "../src/parts/api.js";
import { ASK_EVERY, follow, PATIENCE, TRY_AGAIN } from "../src/parts/live.js";

const ID = "ab".repeat(32);
const STATUS: Status = {
  id: ID,
  title: "Colours",
  kind: "shares",
  epsilon: 1,
  delta: 0,
  mechanism: "hadamard",
  state: "open",
  n_reports: 7,
  waiting: 0,
  minimum_reports: 1,
  rounds: null,
  asked: null,
};

/** An event stream that does what a test says. */
class FakeSource extends EventTarget {
  static readonly CLOSED = 2;
  static readonly OPEN = 1;
  static made: FakeSource[] = [];
  readyState = 0;
  onerror: (() => void) | null = null;
  constructor(readonly url: string) {
    super();
    FakeSource.made.push(this);
  }
  close(): void {
    this.readyState = 2;
  }
  say(name: string, data: unknown = {}): void {
    const event = Object.assign(new Event(name), { data: JSON.stringify(data) });
    if (this.readyState === 2) return;
    this.readyState = 1;
    this.dispatchEvent(event);
  }
  fail(readyState: number): void {
    this.readyState = readyState;
    this.onerror?.();
  }
}

let asked: string[] = [];
type Answer = { status: number; body: unknown } | "away";
let answers: Record<string, Answer | Promise<Answer>> = {};
let page: EventTarget & { hidden: boolean };

beforeEach(() => {
  FakeSource.made = [];
  asked = [];
  answers = { status: { status: 200, body: STATUS } };
  page = Object.assign(new EventTarget(), { hidden: false });
  mock.timers.reset();
  mock.timers.enable({ apis: ["setTimeout"] });
  Object.assign(globalThis, {
    EventSource: FakeSource,
    document: page,
    fetch: async (path: string) => {
      asked.push(path);
      const answer = await answers[path.split("/").at(-1) ?? ""];
      if (answer === undefined || answer === "away") throw new TypeError("no connection");
      return new Response(JSON.stringify(answer.body), { status: answer.status });
    },
  });
});

/** Lets time pass, and whatever was asked be answered. */
async function pass(milliseconds: number): Promise<void> {
  mock.timers.tick(milliseconds);
  for (let turn = 0; turn < 20; turn++) await new Promise((resolve) => setImmediate(resolve));
}

function begin(): {
  told: [Status, RoundStatus[] | undefined][];
  troubles: (Error | null)[];
  stop: () => void;
  source: () => FakeSource;
} {
  const told: [Status, RoundStatus[] | undefined][] = [];
  const troubles: (Error | null)[] = [];
  const stop = follow(
    ID,
    (status, rounds) => told.push([status, rounds]),
    (error) => troubles.push(error),
  );
  return { told, troubles, stop, source: () => FakeSource.made.at(-1) as FakeSource };
}

test("events are told as they come, the same one once, and nothing is asked meanwhile", async () => {
  const { told, troubles, source } = begin();
  assert.equal(source().url, `/v1/surveys/${ID}/events`);
  source().say("status", STATUS);
  source().say("status", STATUS);
  source().say("status", { ...STATUS, n_reports: 8 });
  await pass(10 * ASK_EVERY);
  assert.deepEqual(
    told.map(([status]) => status.n_reports),
    [7, 8],
  );
  assert.deepEqual([asked, troubles], [[], []]);
});

test("the rounds of a panel come beside its status, from events and from asking alike", async () => {
  const panel = { ...STATUS, kind: "panel", rounds: 5, asked: 1 };
  const rounds = [
    { id: "cd".repeat(32), round: 1, state: "open", n_reports: 3, waiting: 0, query: "age < 30", labels: [] },
  ];
  answers = { status: { status: 200, body: { ...panel, n_reports: 9 } }, rounds: { status: 200, body: { rounds } } };
  const { told, source } = begin();
  source().say("status", { ...panel, rounds_info: rounds });
  assert.deepEqual(told, [[panel, rounds]]);
  source().fail(2);
  await pass(0);
  assert.deepEqual(told.at(-1), [{ ...panel, n_reports: 9 }, rounds]);
});

test("where events are refused the page asks every few seconds, and tries events again later", async () => {
  const { told, source, stop } = begin();
  source().fail(2);
  await pass(0);
  assert.equal(told.length, 1);
  answers = { status: { status: 200, body: { ...STATUS, n_reports: 8 } } };
  await pass(ASK_EVERY);
  assert.deepEqual(
    told.map(([status]) => status.n_reports),
    [7, 8],
  );
  await pass(TRY_AGAIN);
  assert.equal(FakeSource.made.length, 2);
  const before = asked.length;
  source().say("status", { ...STATUS, n_reports: 9 });
  await pass(10 * ASK_EVERY);
  assert.equal(told.at(-1)?.[0].n_reports, 9);
  assert.equal(asked.length, before, "events are back, so nothing is asked");
  stop();
});

test("a collector that goes away is trouble until it is back", async () => {
  const { told, troubles, source } = begin();
  source().say("status", STATUS);
  answers = { status: "away" };
  source().fail(0);
  await pass(PATIENCE - 1);
  assert.deepEqual(troubles, [], "a stream that ends and comes back at once is no trouble");
  source().fail(0);
  await pass(1);
  assert.ok((troubles as unknown[])[0] instanceof Unreachable);
  answers = { status: { status: 200, body: { ...STATUS, n_reports: 8 } } };
  await pass(ASK_EVERY - 1);
  source().fail(0);
  await pass(1);
  assert.equal(troubles.at(-1), null);
  assert.equal(told.at(-1)?.[0].n_reports, 8);
});

test("an answer that comes after the events are back is the last one asked for", async () => {
  const { source } = begin();
  let answer: (given: Answer) => void = () => undefined;
  answers = { status: new Promise((resolve) => (answer = resolve)) };
  source().fail(0);
  await pass(PATIENCE);
  source().say("status", STATUS);
  answer({ status: 200, body: STATUS });
  await pass(0);
  await pass(10 * ASK_EVERY);
  assert.equal(asked.length, 1);
});

for (const [event, status] of [
  ["revoked", 401],
  ["deleted", 410],
] as const) {
  test(`after "${event}" the collector's own words are told once, and nothing more is asked`, async () => {
    const { troubles, source } = begin();
    source().say("status", STATUS);
    answers = { status: { status, body: { error: { code: event, message: "no more", field: null } } } };
    source().say(event);
    await pass(0);
    assert.ok(troubles[0] instanceof Refusal && troubles[0].status === status);
    await pass(10 * TRY_AGAIN);
    assert.deepEqual([asked.length, troubles.length, FakeSource.made.length], [1, 1, 1]);
  });
}

test("a person who signed in anew meanwhile goes on after a revoked token", async () => {
  const { troubles, source } = begin();
  source().say("revoked");
  await pass(0);
  await pass(TRY_AGAIN);
  assert.deepEqual(troubles, []);
  assert.equal(FakeSource.made.length, 2);
});

test("a page that nobody sees keeps no connection, and asks instead", async () => {
  const { told, source } = begin();
  source().say("status", STATUS);
  page.hidden = true;
  page.dispatchEvent(new Event("visibilitychange"));
  assert.equal(source().readyState, 2);
  answers = { status: { status: 200, body: { ...STATUS, n_reports: 8 } } };
  await pass(ASK_EVERY);
  assert.equal(told.at(-1)?.[0].n_reports, 8);
  await pass(TRY_AGAIN);
  assert.equal(FakeSource.made.length, 1);
  page.hidden = false;
  page.dispatchEvent(new Event("visibilitychange"));
  assert.equal(FakeSource.made.length, 2);
});

test("nothing is told or asked once it has been stopped", async () => {
  const { told, troubles, source, stop } = begin();
  source().fail(2);
  stop();
  await pass(10 * TRY_AGAIN);
  source().say("status", STATUS);
  page.dispatchEvent(new Event("visibilitychange"));
  assert.deepEqual([told, troubles, asked, FakeSource.made.length], [[], [], [], 1]);
});

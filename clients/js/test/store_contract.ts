/** What every store must do, whatever it is made of. Uses nothing of Node, so that a browser can run it too. */
import { LedgerError } from "../src/core/errors.js";
import type { Answer, Store } from "../src/device/store.js";

/** Opens the same records again, as another tab or a later run would. */
export type Open = () => Promise<Store>;

function check(truth: unknown, what: string): asserts truth {
  if (!truth) throw new Error(`a store must ${what}`);
}

const answerOf = (question: string, more: Partial<Answer> = {}): Answer => ({
  question,
  survey: question,
  collector: "https://a.example",
  relay: "",
  key: new Uint8Array(32).fill(7),
  title: "Colours",
  epsilon: 1,
  delta: 0,
  day: "2026-01-01",
  reportId: crypto.getRandomValues(new Uint8Array(16)),
  report: Uint8Array.of(1, 2, 3, 4, 5),
  state: "unsent",
  window: 1,
  renews: false,
  period: "",
  closes: "",
  ...more,
});

async function refusal(promise: Promise<unknown>): Promise<unknown> {
  return promise.then(
    () => undefined,
    (error: unknown) => error,
  );
}

const same = (a: unknown, b: unknown): boolean => JSON.stringify(a) === JSON.stringify(b);

export const CONTRACT: Readonly<Record<string, (open: Open) => Promise<void>>> = {
  async "the first key stands"(open) {
    const [one, other] = [await open(), await open()];
    check((await one.pinned("c")) === null, "know no key at first");
    const keys = await Promise.all([
      one.pin("c", new Uint8Array(32).fill(1)),
      other.pin("c", new Uint8Array(32).fill(2)),
    ]);
    check(same(keys[0], keys[1]), "keep the first key");
    check(same(await (await open()).pinned("c"), keys[0]), "remember it");
  },

  async "only what follows the latest head of a log is remembered, by key"(open) {
    const [one, other] = [await open(), await open()];
    const [key, another] = [new Uint8Array(32).fill(1), new Uint8Array(32).fill(2)];
    check((await one.checkpoint(key)) === null, "know no head at first");
    check(!(await one.remember(key, "another", "one")), "follow nothing that is not there");
    const raced = await Promise.all([one.remember(key, null, "one"), other.remember(key, null, "one")]);
    check(raced.filter(Boolean).length === 1, "let one of two be the first");
    check(!(await one.remember(key, null, "two")), "not begin again");
    check((await other.remember(key, "one", "one")) && (await one.remember(key, "one", "two")), "go on from the latest");
    check(!(await other.remember(key, "one", "three")), "not go on from an earlier one");
    check((await (await open()).checkpoint(key)) === "two", "remember it");
    check((await one.checkpoint(another)) === null, "tell keys apart");
  },

  async "evidence is kept for ever, in order, and the same once"(open) {
    const [one, other] = [await open(), await open()];
    const conflict = (found: string) =>
      ({ collector: "https://a.example", key: new Uint8Array(32).fill(1), remembered: "x", found, day: "2026-01-02" });
    check((await one.conflicts()).length === 0, "have no evidence at first");
    for (const found of ["z", "a", "z", "m"]) {
      await Promise.all([one.keepConflict(conflict(found)), other.keepConflict(conflict(found))]);
    }
    const kept = await (await open()).conflicts();
    check(same(kept, ["z", "a", "m"].map(conflict)), "keep each once, oldest first");
    check(kept[0]!.key instanceof Uint8Array, "keep bytes as bytes");
  },

  async "the first secret stands"(open) {
    const stores = [await open(), await open()];
    const fresh = (i: number) => new Uint8Array(32).fill(i);
    const secrets = await Promise.all(Array.from({ length: 20 }, (_, i) => stores[i % 2]!.secret(fresh(i))));
    check(secrets.every((secret) => same(secret, secrets[0])), "keep one secret");
    check(same(await (await open()).secret(fresh(99)), secrets[0]), "remember it");
    check((await stores[0]!.seat("q")) === null, "know no round that was drawn");
    check((await refusal((await open()).secret(new Uint8Array(31)))) === undefined, "not look at what it does not need");
  },

  async "surveys are joined once, left, and joined again"(open) {
    const store = await open();
    const joined = (question: string, collector: string) =>
      ({ question, collector, key: new Uint8Array(32), statement: Uint8Array.of(1), attachments: { a: Uint8Array.of(2) } });
    check((await store.joined()).length === 0, "know no survey at first");
    await store.join(joined("q", "https://a.example"));
    check((await store.join(joined("q", "https://b.example"))).collector === "https://a.example", "keep the first");
    await store.move("q", "https://c.example");
    const [kept, ...others] = await (await open()).joined();
    check(same(kept, joined("q", "https://c.example")) && others.length === 0, "keep and move all of it");
    check(kept!.attachments.a instanceof Uint8Array, "keep bytes as bytes");
    await store.leave("q");
    check((await (await open()).joined()).length === 0, "forget it");
    await store.join(joined("q", "https://b.example"));
    check((await store.joined())[0]!.collector === "https://b.example", "take it again");
  },

  async "an owner's refusal of renewals stays until it is taken back"(open) {
    const store = await open();
    check(!(await store.refusesRenewals("q")), "refuse nothing at first");
    await store.refuseRenewals("q", true);
    await store.refuseRenewals("q", true);
    check(await (await open()).refusesRenewals("q"), "remember it");
    check(!(await store.refusesRenewals("other")), "refuse nothing else");
    await store.refuseRenewals("q", false);
    check(!(await (await open()).refusesRenewals("q")), "take it back");
  },

  async "every window has an answer of its own"(open) {
    const stores = [await open(), await open()];
    const draw = (window: number) => stores[window % 2]!.record("q", window, () => answerOf("q", { window }));
    const kept = await Promise.all([1, 2, 1, 2, 3].map(draw));
    check(kept.map(({ window }) => window).join("") === "12123", "tell windows apart");
    check((await stores[0]!.answers()).length === 3, "keep one answer for each");
    await stores[0]!.mark("q", 2, "sent");
    await stores[0]!.move("q", "https://b.example");
    const told = (await (await open()).answers()).map(({ window, state, collector }) => `${window} ${state} ${collector[8]}`);
    check(same(told, ["1 unsent b", "2 sent a", "3 unsent b"]), "mark one window, and move what is unsent");
  },

  async "an answer is drawn once, and the first one stands"(open) {
    const stores = [await open(), await open()];
    let draws = 0;
    const kept = await Promise.all(
      Array.from({ length: 20 }, (_, i) => stores[i % 2]!.record("q", 1, () => answerOf("q", { title: `${++draws}` }))),
    );
    check(draws === 1 && kept.every((answer) => answer.title === "1"), "draw an answer once");
    const read = await (await open()).answer("q", 1);
    check(same({ ...read, place: 0 }, { ...kept[0], place: 0 }), "keep all of it");
    check(read!.report instanceof Uint8Array && read!.report.length === 5, "keep bytes as bytes");
    check((await stores[0]!.answer("other", 1)) === null, "know no other answer");
  },

  async "drawing sees all answers before it, oldest first"(open) {
    const store = await open();
    const seen: string[] = [];
    const names = ["c", "a", "b", "d"];
    await Promise.all(
      names.map((name) =>
        store.record(name, 1, (answers) => {
          seen.push(answers.map(({ question }) => question).join(""));
          return answerOf(name);
        }),
      ),
    );
    check(same(seen, ["", "c", "ca", "cab"]), "show each draw what stands");
    check((await (await open()).answers()).map(({ question }) => question).join("") === "cabd", "keep their order");
  },

  async "a draw that fails changes nothing and is told as it is"(open) {
    const store = await open();
    const thrown = new LedgerError("no");
    const fail = () => {
      throw thrown;
    };
    check((await refusal(store.record("q", 1, fail))) === thrown, "hand on what a draw throws");
    check((await store.answers()).length === 0, "keep nothing of it");
    check((await store.record("q", 1, () => answerOf("q"))).question === "q", "go on afterwards");
  },

  async "states and addresses change, but what was sent stays sent"(open) {
    const store = await open();
    await store.record("q", 1, () => answerOf("q"));
    await store.mark("q", 1, "refused");
    check((await store.answer("q", 1))!.state === "refused", "change a state");
    await store.move("q", "https://c.example");
    check((await store.answer("q", 1))!.collector === "https://a.example", "move nothing that was refused");
    await store.mark("q", 1, "unsent");
    await store.move("q", "https://b.example");
    await store.mark("q", 1, "sent");
    await store.mark("q", 1, "unsent");
    await store.move("q", "https://c.example");
    const [kept, ...others] = await (await open()).answers();
    check(kept!.state === "sent" && kept!.collector === "https://b.example", "keep what was sent");
    check(others.length === 0, "keep one answer");
    await store.mark("unknown", 1, "sent");
    await store.move("unknown", "x");
    check((await store.answers()).length === 1, "make no answer by marking it");
  },
};

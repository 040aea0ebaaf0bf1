/** What every store must do, whatever it is made of. Uses nothing of Node, so that a browser can run it too. */
import { LedgerError } from "../src/errors.js";
import type { Answer, Store } from "../src/store.js";

/** Opens the same records again, as another tab or a later run would. */
export type Open = () => Promise<Store>;

function check(truth: unknown, what: string): asserts truth {
  if (!truth) throw new Error(`a store must ${what}`);
}

const answerOf = (question: string, more: Partial<Answer> = {}): Answer => ({
  question,
  survey: question,
  collector: "https://a.example",
  key: new Uint8Array(32).fill(7),
  title: "Colours",
  epsilon: 1,
  delta: 0,
  day: "2026-01-01",
  reportId: crypto.getRandomValues(new Uint8Array(16)),
  report: Uint8Array.of(1, 2, 3, 4, 5),
  state: "unsent",
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

  async "a seat is drawn once"(open) {
    const stores = [await open(), await open()];
    let draws = 0;
    const seats = await Promise.all(Array.from({ length: 20 }, (_, i) => stores[i % 2]!.seat("q", () => ++draws)));
    check(draws === 1 && seats.every((seat) => seat === 1), "draw a seat once");
    check((await (await open()).seat("q", () => 9)) === 1, "remember it");
  },

  async "an answer is drawn once, and the first one stands"(open) {
    const stores = [await open(), await open()];
    let draws = 0;
    const kept = await Promise.all(
      Array.from({ length: 20 }, (_, i) => stores[i % 2]!.record("q", () => answerOf("q", { title: `${++draws}` }))),
    );
    check(draws === 1 && kept.every((answer) => answer.title === "1"), "draw an answer once");
    const read = await (await open()).answer("q");
    check(same({ ...read, place: 0 }, { ...kept[0], place: 0 }), "keep all of it");
    check(read!.report instanceof Uint8Array && read!.report.length === 5, "keep bytes as bytes");
    check((await stores[0]!.answer("other")) === null, "know no other answer");
  },

  async "drawing sees all answers before it, oldest first"(open) {
    const store = await open();
    const seen: string[] = [];
    const names = ["c", "a", "b", "d"];
    await Promise.all(
      names.map((name) =>
        store.record(name, (answers) => {
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
    check((await refusal(store.record("q", fail))) === thrown, "hand on what a draw throws");
    check((await refusal(store.seat("q", fail))) === thrown, "hand on what a draw throws");
    check((await store.answers()).length === 0, "keep nothing of it");
    check((await store.seat("q", () => 3)) === 3, "keep nothing of it");
    check((await store.record("q", () => answerOf("q"))).question === "q", "go on afterwards");
  },

  async "states and addresses change, but what was sent stays sent"(open) {
    const store = await open();
    await store.record("q", () => answerOf("q"));
    await store.mark("q", "refused");
    check((await store.answer("q"))!.state === "refused", "change a state");
    await store.move("q", "https://c.example");
    check((await store.answer("q"))!.collector === "https://a.example", "move nothing that was refused");
    await store.mark("q", "unsent");
    await store.move("q", "https://b.example");
    await store.mark("q", "sent");
    await store.mark("q", "unsent");
    await store.move("q", "https://c.example");
    const [kept, ...others] = await (await open()).answers();
    check(kept!.state === "sent" && kept!.collector === "https://b.example", "keep what was sent");
    check(others.length === 0, "keep one answer");
    await store.mark("unknown", "sent");
    await store.move("unknown", "x");
    check((await store.answers()).length === 1, "make no answer by marking it");
  },
};

/**
 * A device's store in the browser: IndexedDB, one transaction a call, shared by all tabs of an origin.
 *
 * A read-write transaction is alone with its stores from its first request to its end, in all tabs; drawing happens
 * inside one, so that two tabs never draw twice. Nothing returns before its transaction is complete.
 */
import { toHex } from "../core/bytes.js";
import {
  type Answer,
  type AnswerState,
  checkAnswer,
  checkConflict,
  checkJoined,
  checkSecret,
  checkSince,
  damaged,
  type Draw,
  isSameConflict,
  type Joined,
  type LogConflict,
  type Store,
} from "./store.js";

const [KEYS, SEATS, ANSWERS] = ["keys", "seats", "answers"] as const;
const [SECRETS, JOINED, REFUSED] = ["secrets", "joined", "refused"] as const;
const [HEADS, CONFLICTS, SINCE] = ["heads", "conflicts", "since"] as const;
const VERSION = 5;

/** An answer as it is kept: with its place among all, since the database sorts by question. */
type Kept = Answer & { readonly place: number };

/** A store for a person's browser. Who clears the site's data has a new device: ask `navigator.storage.persist()`. */
export class IndexedDbStore implements Store {
  readonly #database: IDBDatabase;
  #gone = "";

  private constructor(database: IDBDatabase) {
    this.#database = database;
    database.onclose = () => (this.#gone = "cleared while open");
    database.onversionchange = () => {
      this.#gone = "changed by another tab";
      database.close();
    };
  }

  /** Open the store of that name; where there is none, this is a new device. */
  static open(name = "sottovoce"): Promise<IndexedDbStore> {
    return new Promise((resolve, reject) => {
      const refuse = (reason: string) => reject(damaged(reason));
      let request: IDBOpenDBRequest;
      try {
        request = globalThis.indexedDB.open(name, VERSION);
      } catch {
        return refuse("IndexedDB is blocked");
      }
      request.onupgradeneeded = () => upgrade(request.result, request.transaction!);
      request.onblocked = () => refuse("held by another tab");
      request.onerror = () => refuse(reasonOf(request.error));
      request.onsuccess = () => resolve(new IndexedDbStore(request.result));
    });
  }

  pinned(collector: string): Promise<Uint8Array | null> {
    return this.#run("readonly", KEYS, (steps, done) => {
      steps.get(collector, (kept) => done(kept === undefined ? null : checkKey(kept)));
    });
  }

  pin(collector: string, key: Uint8Array): Promise<Uint8Array> {
    return this.#first(KEYS, collector, key, checkKey);
  }

  checkpoint(key: Uint8Array): Promise<string | null> {
    return this.#run("readonly", HEADS, (steps, done) => steps.get(toHex(key), (kept) => done(checkHead(kept))));
  }

  remember(key: Uint8Array, before: string | null, after: string): Promise<boolean> {
    return this.#run("readwrite", HEADS, (steps, done) => {
      steps.get(toHex(key), (kept) => {
        const isLatest = checkHead(kept) === before;
        if (isLatest) steps.store.put(after, toHex(key));
        done(isLatest);
      });
    });
  }

  keepConflict(conflict: LogConflict): Promise<void> {
    return this.#run("readwrite", CONFLICTS, (steps, done) => {
      steps.all((kept) => {
        const isKept = kept.map(checkConflict).some((one) => isSameConflict(one, conflict));
        if (!isKept) steps.store.add(conflict, kept.length); // sorted by their numbers, which are their order
        done();
      });
    });
  }

  conflicts(): Promise<readonly LogConflict[]> {
    return this.#run("readonly", CONFLICTS, (steps, done) => steps.all((kept) => done(kept.map(checkConflict))));
  }

  secret(fresh: Uint8Array): Promise<Uint8Array> {
    return this.#first(SECRETS, "seats", fresh, checkSecret);
  }

  seat(question: string): Promise<number | null> {
    return this.#run("readonly", SEATS, (steps, done) => {
      steps.get(question, (kept) => {
        if (kept !== undefined && !(Number.isInteger(kept) && (kept as number) >= 1)) throw damaged("a round is not whole");
        done((kept as number | undefined) ?? null);
      });
    });
  }

  join(joined: Joined): Promise<Joined> {
    return this.#first(JOINED, joined.question, joined, checkJoined);
  }

  joined(): Promise<readonly Joined[]> {
    return this.#run("readonly", JOINED, (steps, done) => steps.all((kept) => done(kept.map(checkJoined))));
  }

  async leave(question: string): Promise<void> {
    // Two transactions: if only the first is done, the survey counts as joined now, and its owner leaves it again.
    for (const name of [SINCE, JOINED]) {
      await this.#run<void>("readwrite", name, (steps, done) => {
        steps.store.delete(question);
        done();
      });
    }
  }

  takePart(question: string, moment: number): Promise<number> {
    return this.#first(SINCE, question, moment, checkSince);
  }

  since(question: string): Promise<number | null> {
    return this.#run("readonly", SINCE, (steps, done) => {
      steps.get(question, (kept) => done(kept === undefined ? null : checkSince(kept)));
    });
  }

  refusesRenewals(question: string): Promise<boolean> {
    return this.#run("readonly", REFUSED, (steps, done) => steps.get(question, (kept) => done(kept !== undefined)));
  }

  refuseRenewals(question: string, refuses: boolean): Promise<void> {
    return this.#run("readwrite", REFUSED, (steps, done) => {
      if (refuses) steps.store.put(true, question);
      else steps.store.delete(question);
      done();
    });
  }

  answer(question: string, window: number): Promise<Answer | null> {
    return this.#run("readonly", ANSWERS, (steps, done) => {
      steps.get([question, window], (kept) => done(kept === undefined ? null : checkAnswer(kept)));
    });
  }

  answers(): Promise<readonly Answer[]> {
    return this.#run("readonly", ANSWERS, (steps, done) => steps.all((kept) => done(inOrder(kept))));
  }

  record(question: string, window: number, draw: Draw): Promise<Answer> {
    return this.#run("readwrite", ANSWERS, (steps, done) => {
      steps.all((kept) => {
        const answers = inOrder(kept);
        const standing = answers.find((answer) => answer.question === question && answer.window === window);
        if (standing) return done(standing);
        const drawn = draw(answers);
        steps.store.add({ ...drawn, place: answers.length } satisfies Kept, [question, window]);
        done(drawn);
      });
    });
  }

  mark(question: string, window: number, state: AnswerState): Promise<void> {
    return this.#change(question, (kept) => (kept.window === window && kept.state !== "sent" ? { ...kept, state } : null));
  }

  async move(question: string, collector: string): Promise<void> {
    // Two transactions: if only the first is done, the owner says it again, and nothing has gone anywhere.
    await this.#run<void>("readwrite", JOINED, (steps, done) => {
      steps.get(question, (kept) => {
        if (kept !== undefined) steps.store.put({ ...checkJoined(kept), collector }, question);
        done();
      });
    });
    await this.#change(question, (kept) => (kept.state === "unsent" ? { ...kept, collector } : null));
  }

  /** Put what is not null in the place of a question's answers. */
  #change(question: string, change: (kept: Answer) => Answer | null): Promise<void> {
    return this.#run("readwrite", ANSWERS, (steps, done) => {
      steps.all((kept) => {
        for (const answer of inOrder(kept)) {
          const changed = answer.question === question ? change(answer) : null;
          if (changed) steps.store.put(changed, [question, answer.window]);
        }
        done();
      });
    });
  }

  /** What is kept under a key; this, from now on, if there is nothing. */
  #first<Found>(name: string, key: string, fresh: Found, check: (kept: unknown) => Found): Promise<Found> {
    return this.#run("readwrite", name, (steps, done) => {
      steps.get(key, (kept) => {
        const stands = check(kept ?? fresh);
        if (kept === undefined) steps.store.put(stands, key);
        done(stands);
      });
    });
  }

  /** One transaction; what `work` hands to `done` is returned once all of it is durable, and any failure undoes it. */
  #run<Found>(
    mode: IDBTransactionMode,
    name: string,
    work: (steps: Steps, done: (found: Found) => void) => void,
  ): Promise<Found> {
    return new Promise((resolve, reject) => {
      let found: Found;
      try {
        if (this.#gone) throw damaged(this.#gone);
        const transaction = this.#database.transaction(name, mode, { durability: "strict" });
        const steps = new Steps(transaction.objectStore(name));
        transaction.oncomplete = () => resolve(found);
        transaction.onabort = () => reject(steps.thrown ?? damaged(reasonOf(transaction.error)));
        work(steps, (result) => (found = result));
      } catch (error) {
        reject(asLedgerError(error));
      }
    });
  }
}

/** Requests of one transaction, which is undone if what follows one of them throws. */
class Steps {
  thrown: unknown;

  constructor(readonly store: IDBObjectStore) {}

  get(key: IDBValidKey, then: (kept: unknown) => void): void {
    this.#after(this.store.get(key), then);
  }

  /** All that is kept. */
  all(then: (kept: readonly unknown[]) => void): void {
    this.#after(this.store.getAll(), then);
  }

  #after<Found>(request: IDBRequest<Found>, then: (found: Found) => void): void {
    request.onsuccess = () => {
      try {
        then(request.result);
      } catch (error) {
        this.thrown = asLedgerError(error);
        this.store.transaction.abort();
      }
    };
  }
}

/** Answers, oldest first. */
const inOrder = (kept: readonly unknown[]): Answer[] =>
  kept.map((answer) => checkAnswer(answer) as Kept).sort((a, b) => a.place - b.place);

/**
 * Makes the stores of this version; what an older one has kept stays. All of it is one transaction.
 *
 * Answers of version 1 lie under their question alone: they become answers in window 1. Those before version 3 know no
 * relay, those before version 4 no logs of collectors, those before version 5 do not know when they joined a survey. A tab
 * that runs an older version is shut out by the number: it would send directly what must go through a relay, answer
 * without looking into a log, and answer windows that ended before it joined.
 */
function upgrade(database: IDBDatabase, transaction: IDBTransaction): void {
  for (const store of [KEYS, SEATS, ANSWERS, SECRETS, JOINED, REFUSED, HEADS, CONFLICTS, SINCE]) {
    if (!database.objectStoreNames.contains(store)) database.createObjectStore(store);
  }
  const answers = transaction.objectStore(ANSWERS);
  const request = answers.openCursor();
  request.onsuccess = () => {
    const cursor = request.result;
    if (cursor === null) return;
    if (typeof cursor.key === "string") {
      const first = { window: 1, renews: false, period: "", closes: "" };
      answers.put({ ...cursor.value, ...first, relay: "" }, [cursor.key, 1]);
      cursor.delete();
    } else cursor.update({ relay: "", ...cursor.value });
    cursor.continue();
  };
}

function checkKey(kept: unknown): Uint8Array {
  if (kept instanceof Uint8Array) return kept;
  throw damaged("a key is not whole");
}

function checkHead(kept: unknown): string | null {
  if (kept === undefined || typeof kept === "string") return kept ?? null;
  throw damaged("a log's head is not whole");
}

/** The platform's own errors as ours; others, such as those of a draw, as they are. */
const asLedgerError = (error: unknown): unknown => (error instanceof DOMException ? damaged(reasonOf(error)) : error);

const reasonOf = (error: DOMException | null): string =>
  error?.name === "QuotaExceededError" ? "storage is full" : (error?.name ?? "");

/**
 * A device's store in the browser: IndexedDB, one transaction a call, shared by all tabs of an origin.
 *
 * A read-write transaction is alone with its stores from its first request to its end, in all tabs; drawing happens
 * inside one, so that two tabs never draw twice. Nothing returns before its transaction is complete.
 */
import { type Answer, type AnswerState, checkAnswer, damaged, type Draw, type Store } from "./store.js";

const [KEYS, SEATS, ANSWERS] = ["keys", "seats", "answers"];
const VERSION = 1;

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
      request.onupgradeneeded = () => {
        for (const store of [KEYS, SEATS, ANSWERS]) request.result.createObjectStore(store!);
      };
      request.onblocked = () => refuse("held by another tab");
      request.onerror = () => refuse(reasonOf(request.error));
      request.onsuccess = () => resolve(new IndexedDbStore(request.result));
    });
  }

  pinned(collector: string): Promise<Uint8Array | null> {
    return this.#run("readonly", KEYS!, (steps, done) => {
      steps.get(collector, (kept) => done(kept === undefined ? null : checkKey(kept)));
    });
  }

  pin(collector: string, key: Uint8Array): Promise<Uint8Array> {
    return this.#run("readwrite", KEYS!, (steps, done) => {
      steps.get(collector, (kept) => {
        if (kept === undefined) steps.store.put(key, collector);
        done(kept === undefined ? key : checkKey(kept));
      });
    });
  }

  seat(question: string, draw: () => number): Promise<number> {
    return this.#run("readwrite", SEATS!, (steps, done) => {
      steps.get(question, (kept) => {
        const round = kept === undefined ? draw() : kept;
        if (!Number.isInteger(round) || (round as number) < 1) throw damaged("a round is not whole");
        if (kept === undefined) steps.store.put(round, question);
        done(round as number);
      });
    });
  }

  answer(question: string): Promise<Answer | null> {
    return this.#run("readonly", ANSWERS!, (steps, done) => {
      steps.get(question, (kept) => done(kept === undefined ? null : checkAnswer(kept)));
    });
  }

  answers(): Promise<readonly Answer[]> {
    return this.#run("readonly", ANSWERS!, (steps, done) => steps.all(done));
  }

  record(question: string, draw: Draw): Promise<Answer> {
    return this.#run("readwrite", ANSWERS!, (steps, done) => {
      steps.all((answers) => {
        const standing = answers.find((answer) => answer.question === question);
        if (standing) return done(standing);
        const drawn = draw(answers);
        steps.store.add({ ...drawn, place: answers.length } satisfies Kept, question);
        done(drawn);
      });
    });
  }

  mark(question: string, state: AnswerState): Promise<void> {
    return this.#change(question, (kept) => (kept.state === "sent" ? kept : { ...kept, state }));
  }

  move(question: string, collector: string): Promise<void> {
    return this.#change(question, (kept) => (kept.state === "unsent" ? { ...kept, collector } : kept));
  }

  #change(question: string, change: (kept: Answer) => Answer): Promise<void> {
    return this.#run("readwrite", ANSWERS!, (steps, done) => {
      steps.get(question, (kept) => {
        if (kept !== undefined) steps.store.put(change(checkAnswer(kept)), question);
        done();
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

  get(key: string, then: (kept: unknown) => void): void {
    this.#after(this.store.get(key), then);
  }

  /** All answers, oldest first. */
  all(then: (answers: readonly Answer[]) => void): void {
    this.#after(this.store.getAll(), (kept) => {
      const answers = kept.map((answer: unknown) => checkAnswer(answer) as Kept);
      then(answers.sort((a: Kept, b: Kept) => a.place - b.place));
    });
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

function checkKey(kept: unknown): Uint8Array {
  if (kept instanceof Uint8Array) return kept;
  throw damaged("a key is not whole");
}

/** The platform's own errors as ours; others, such as those of a draw, as they are. */
const asLedgerError = (error: unknown): unknown => (error instanceof DOMException ? damaged(reasonOf(error)) : error);

const reasonOf = (error: DOMException | null): string =>
  error?.name === "QuotaExceededError" ? "storage is full" : (error?.name ?? "");

/**
 * What a device writes down for good: keys it trusts, rounds it has drawn, answers it has given.
 *
 * One promise matters: `record` draws at most once for a survey, however many calls, tabs and crashes there are, and
 * what it returns is durable.
 */
import { LedgerError } from "./errors.js";

export type AnswerState = "unsent" | "sent" | "refused";

/** A report that was drawn, for whom, and what it cost. Holds no value: nobody can tell one from it. */
export interface Answer {
  /** Id of what was asked once and for all: the survey, or the panel that a round belongs to. */
  readonly question: string;
  /** Id of the survey the report is of; for a round the round's. */
  readonly survey: string;
  readonly collector: string;
  /** Whose signature the survey bore. */
  readonly key: Uint8Array;
  readonly title: string;
  readonly epsilon: number;
  readonly delta: number;
  /** As the device's clock had it, for people to read; nothing depends on it. */
  readonly day: string;
  readonly reportId: Uint8Array;
  readonly report: Uint8Array;
  readonly state: AnswerState;
}

/** Draws an answer, given all that were given so far; at once, so that nothing comes between reading and writing. */
export type Draw = (answers: readonly Answer[]) => Answer;

/** Methods reject with `LedgerError`, or with what `draw` throws, and have then changed nothing. */
export interface Store {
  /** The key that this collector's surveys must be signed with. */
  pinned(collector: string): Promise<Uint8Array | null>;
  /** Trust a key from now on, unless one stands already; the one that stands. */
  pin(collector: string, key: Uint8Array): Promise<Uint8Array>;
  /** The round this device has in a panel; drawn if there is none, then kept for ever. */
  seat(question: string, draw: () => number): Promise<number>;
  /** What was answered. */
  answer(question: string): Promise<Answer | null>;
  /** All that was ever answered, oldest first. */
  answers(): Promise<readonly Answer[]>;
  /** The answer that stands; if there is none, what `draw` makes of all so far. Nothing is recorded meanwhile. */
  record(question: string, draw: Draw): Promise<Answer>;
  /** Change an answer's state; one that was sent stays so. */
  mark(question: string, state: AnswerState): Promise<void>;
  /** Send an answer to another address from now on; one that is not "unsent" stays as it is. */
  move(question: string, collector: string): Promise<void>;
}

const STATES: readonly unknown[] = ["unsent", "sent", "refused"];

/** What was kept, if it is whole; a device that misreads its records would answer twice. */
export function checkAnswer(kept: unknown): Answer {
  const found = (kept ?? {}) as Answer;
  const texts = [found.question, found.survey, found.collector, found.title, found.day];
  const bytes = [found.key, found.reportId, found.report];
  const whole =
    texts.every((text) => typeof text === "string") &&
    bytes.every((part) => part instanceof Uint8Array) &&
    found.epsilon > 0 &&
    found.delta >= 0 &&
    STATES.includes(found.state);
  if (!whole) throw damaged("a record is not whole");
  return found;
}

/** The error of a store that cannot be used. */
export function damaged(reason: string): LedgerError {
  return new LedgerError(
    `the device's records cannot be used (${reason}), so nothing is answered`,
  );
}

/** Forgets everything with the page or process: for simulated devices and tests, never for a person's. */
export class MemoryStore implements Store {
  readonly #keys = new Map<string, Uint8Array>();
  readonly #seats = new Map<string, number>();
  readonly #answers = new Map<string, Answer>();

  async pinned(collector: string): Promise<Uint8Array | null> {
    return this.#keys.get(collector) ?? null;
  }

  async pin(collector: string, key: Uint8Array): Promise<Uint8Array> {
    if (!this.#keys.has(collector)) this.#keys.set(collector, key);
    return this.#keys.get(collector)!;
  }

  async seat(question: string, draw: () => number): Promise<number> {
    if (!this.#seats.has(question)) this.#seats.set(question, draw());
    return this.#seats.get(question)!;
  }

  async answer(question: string): Promise<Answer | null> {
    return this.#answers.get(question) ?? null;
  }

  async answers(): Promise<readonly Answer[]> {
    return [...this.#answers.values()];
  }

  async record(question: string, draw: Draw): Promise<Answer> {
    if (!this.#answers.has(question)) this.#answers.set(question, draw([...this.#answers.values()]));
    return this.#answers.get(question)!;
  }

  async mark(question: string, state: AnswerState): Promise<void> {
    const kept = this.#answers.get(question);
    if (kept && kept.state !== "sent") this.#answers.set(question, { ...kept, state });
  }

  async move(question: string, collector: string): Promise<void> {
    const kept = this.#answers.get(question);
    if (kept?.state === "unsent") this.#answers.set(question, { ...kept, collector });
  }
}

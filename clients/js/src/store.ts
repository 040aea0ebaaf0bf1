/**
 * The durable state of a device: trusted keys, drawn rounds, recorded answers.
 *
 * `record` draws at most once per survey, whatever calls, tabs and crashes there are, and its result is durable.
 */
import { LedgerError } from "./errors.js";

export type AnswerState = "unsent" | "sent" | "refused";

/** A drawn report, its recipient and its cost. It does not contain the value. */
export interface Answer {
  /** Id of the survey, or of the panel that a round belongs to. */
  readonly question: string;
  /** Id of the survey that the report belongs to; for a panel the round's. */
  readonly survey: string;
  readonly collector: string;
  /** The key that signed the survey. */
  readonly key: Uint8Array;
  readonly title: string;
  readonly epsilon: number;
  readonly delta: number;
  /** The date by the device's clock, for information only. */
  readonly day: string;
  readonly reportId: Uint8Array;
  readonly report: Uint8Array;
  readonly state: AnswerState;
}

/** Draws an answer, given all that were given so far; at once, so that nothing comes between reading and writing. */
export type Draw = (answers: readonly Answer[]) => Answer;

/** Methods reject with `LedgerError`, or with what `draw` throws, and have then changed nothing. */
export interface Store {
  /** The pinned key of this collector. */
  pinned(collector: string): Promise<Uint8Array | null>;
  /** Pin a key unless there is one already; returns the pinned key. */
  pin(collector: string, key: Uint8Array): Promise<Uint8Array>;
  /** The device's round in a panel; drawn if there is none, then kept forever. */
  seat(question: string, draw: () => number): Promise<number>;
  /** The recorded answer to a question. */
  answer(question: string): Promise<Answer | null>;
  /** All recorded answers, oldest first. */
  answers(): Promise<readonly Answer[]>;
  /** The recorded answer; if there is none, the result of `draw` for all so far. Nothing is recorded meanwhile. */
  record(question: string, draw: Draw): Promise<Answer>;
  /** Change an answer's state, unless it is "sent". */
  mark(question: string, state: AnswerState): Promise<void>;
  /** Change the address of an answer that is "unsent". */
  move(question: string, collector: string): Promise<void>;
}

const STATES: readonly unknown[] = ["unsent", "sent", "refused"];

/** Check stored records; a device that misreads them would answer twice. */
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

/** A store in memory, for simulated devices and tests only. */
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

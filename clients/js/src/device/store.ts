/**
 * The durable state of a device: trusted keys, its secret, surveys it has joined, recorded answers, and the
 * logs it has seen.
 *
 * `record` draws at most once per survey and window, whatever calls, tabs and crashes there are, and its result is
 * durable.
 */
import { toHex } from "../core/bytes.js";
import { LedgerError } from "../core/errors.js";

/** Length of the secret from which seats follow. */
export const SECRET_BYTES = 32;

export type AnswerState = "unsent" | "sent" | "refused";

/** A drawn report, its recipient and its cost. It does not contain the value. */
export interface Answer {
  /** Id of the survey, or of the panel or tracking survey that it belongs to. */
  readonly question: string;
  /** Which window of a survey that renews; 1 for every other. */
  readonly window: number;
  /** Id of the survey that the report belongs to; for a panel the round's, for a tracking survey the period's. */
  readonly survey: string;
  readonly collector: string;
  /** The relay that the report must go through; empty: it is sent to the collector directly. */
  readonly relay: string;
  /** The key that signed the survey. */
  readonly key: Uint8Array;
  readonly title: string;
  readonly epsilon: number;
  readonly delta: number;
  /** The date by the device's clock; empty if that was out of range. */
  readonly day: string;
  readonly reportId: Uint8Array;
  readonly report: Uint8Array;
  readonly state: AnswerState;
  /** Whether the survey asks again in later windows. */
  readonly renews: boolean;
  /** The period in words, and when it closes (ISO 8601); both empty if the survey has none. */
  readonly period: string;
  readonly closes: string;
}

/** A tracking survey that was verified and is kept, so that its periods are known without a connection. */
export interface Joined {
  readonly question: string;
  readonly collector: string;
  /** The key that signed it. */
  readonly key: Uint8Array;
  /** Its canonical JSON, and what that names by its digest. */
  readonly statement: Uint8Array;
  readonly attachments: Readonly<Record<string, Uint8Array>>;
}

/** Two signed heads of one collector's log that contradict each other: evidence, for its owner to show to others. */
export interface LogConflict {
  readonly collector: string;
  /** The key that signed both. */
  readonly key: Uint8Array;
  readonly remembered: string;
  readonly found: string;
  /** The date by the device's clock when the second was shown. */
  readonly day: string;
}

/** Draws an answer, given all that were given so far; at once, so that nothing comes between reading and writing. */
export type Draw = (answers: readonly Answer[]) => Answer;

/** Methods reject with `LedgerError`, or with what `draw` throws, and have then changed nothing. */
export interface Store {
  /** The pinned key of this collector. */
  pinned(collector: string): Promise<Uint8Array | null>;
  /** Pin a key unless there is one already; returns the pinned key. */
  pin(collector: string, key: Uint8Array): Promise<Uint8Array>;
  /** The latest signed head of the log of the collector with this key. */
  checkpoint(key: Uint8Array): Promise<string | null>;
  /** Keep a head in place of the one before; false, and nothing changed, if that is no longer the latest. */
  remember(key: Uint8Array, before: string | null, after: string): Promise<boolean>;
  /** Keep evidence for ever; the same two heads once. */
  keepConflict(conflict: LogConflict): Promise<void>;
  /** All evidence, oldest first. */
  conflicts(): Promise<readonly LogConflict[]>;
  /** The device's secret: this one unless there is one already. */
  secret(fresh: Uint8Array): Promise<Uint8Array>;
  /** The round of a panel that an older version has drawn and kept; null: it follows from the secret. */
  seat(question: string): Promise<number | null>;
  /** Keep a survey unless it is kept already; returns what is kept. */
  join(joined: Joined): Promise<Joined>;
  joined(): Promise<readonly Joined[]>;
  /** Forget a survey that was joined, and since when; what was answered stays. */
  leave(question: string): Promise<void>;
  /** Note when this device first took part in a tracking survey, unless that is noted; returns what is noted. */
  takePart(question: string, moment: number): Promise<number>;
  /** When this device first took part in a tracking survey; null: that is not noted. */
  since(question: string): Promise<number | null>;
  /** Whether the owner refuses to answer a survey in more than one window. */
  refusesRenewals(question: string): Promise<boolean>;
  refuseRenewals(question: string, refuses: boolean): Promise<void>;
  /** The recorded answer to a question in a window. */
  answer(question: string, window: number): Promise<Answer | null>;
  /** All recorded answers, oldest first. */
  answers(): Promise<readonly Answer[]>;
  /** The recorded answer; if there is none, the result of `draw` for all so far. Nothing is recorded meanwhile. */
  record(question: string, window: number, draw: Draw): Promise<Answer>;
  /** Change an answer's state, unless it is "sent". */
  mark(question: string, window: number, state: AnswerState): Promise<void>;
  /** Change the address of a survey that was joined, and of its answers that are "unsent". */
  move(question: string, collector: string): Promise<void>;
}

const STATES: readonly unknown[] = ["unsent", "sent", "refused"];

/** Check stored records; a device that misreads them would answer twice. */
export function checkAnswer(kept: unknown): Answer {
  const found = (kept ?? {}) as Answer;
  const texts = [found.question, found.survey, found.collector, found.relay, found.title, found.day, found.period, found.closes];
  const bytes = [found.key, found.reportId, found.report];
  const whole =
    texts.every((text) => typeof text === "string") &&
    bytes.every((part) => part instanceof Uint8Array) &&
    Number.isInteger(found.window) &&
    found.window >= 1 &&
    typeof found.renews === "boolean" &&
    found.epsilon > 0 &&
    found.delta >= 0 &&
    STATES.includes(found.state);
  if (!whole) throw damaged("a record is not whole");
  return found;
}

/** A survey that was joined, as it was stored; throws where it is damaged. */
export function checkJoined(kept: unknown): Joined {
  const found = (kept ?? {}) as Joined;
  const texts = [found.question, found.collector];
  const bytes = [found.key, found.statement, ...Object.values(found.attachments ?? { missing: null })];
  const whole = texts.every((text) => typeof text === "string") && bytes.every((part) => part instanceof Uint8Array);
  if (!whole) throw damaged("a survey is not whole");
  return found;
}

/** Evidence about a log, as it was stored; throws where it is damaged. */
export function checkConflict(kept: unknown): LogConflict {
  const found = (kept ?? {}) as LogConflict;
  const texts = [found.collector, found.remembered, found.found, found.day];
  if (texts.every((text) => typeof text === "string") && found.key instanceof Uint8Array) return found;
  throw damaged("evidence is not whole");
}

/** Whether two pieces of evidence are the same two heads; a head names its key. */
export const isSameConflict = (one: LogConflict, other: LogConflict): boolean =>
  one.remembered === other.remembered && one.found === other.found;

/** When a device joined, as it was stored; throws where it is damaged. */
export function checkSince(kept: unknown): number {
  if (typeof kept === "number" && Number.isFinite(kept)) return kept;
  throw damaged("a moment is none");
}

/** The secret of a device, as it was stored; throws where it is damaged. */
export function checkSecret(kept: unknown): Uint8Array {
  if (kept instanceof Uint8Array && kept.length === SECRET_BYTES) return kept;
  throw damaged("its secret is not whole");
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
  readonly #answers = new Map<string, Answer>();
  readonly #joined = new Map<string, Joined>();
  readonly #since = new Map<string, number>();
  readonly #refused = new Set<string>();
  readonly #heads = new Map<string, string>();
  readonly #conflicts: LogConflict[] = [];
  #secret: Uint8Array | null = null;

  async pinned(collector: string): Promise<Uint8Array | null> {
    return this.#keys.get(collector) ?? null;
  }

  async pin(collector: string, key: Uint8Array): Promise<Uint8Array> {
    if (!this.#keys.has(collector)) this.#keys.set(collector, key);
    return this.#keys.get(collector)!;
  }

  async checkpoint(key: Uint8Array): Promise<string | null> {
    return this.#heads.get(toHex(key)) ?? null;
  }

  async remember(key: Uint8Array, before: string | null, after: string): Promise<boolean> {
    const isLatest = (this.#heads.get(toHex(key)) ?? null) === before;
    if (isLatest) this.#heads.set(toHex(key), after);
    return isLatest;
  }

  async keepConflict(conflict: LogConflict): Promise<void> {
    if (!this.#conflicts.some((kept) => isSameConflict(kept, conflict))) this.#conflicts.push(conflict);
  }

  async conflicts(): Promise<readonly LogConflict[]> {
    return [...this.#conflicts];
  }

  async secret(fresh: Uint8Array): Promise<Uint8Array> {
    return (this.#secret ??= checkSecret(fresh));
  }

  async seat(): Promise<number | null> {
    return null;
  }

  async join(joined: Joined): Promise<Joined> {
    if (!this.#joined.has(joined.question)) this.#joined.set(joined.question, joined);
    return this.#joined.get(joined.question)!;
  }

  async joined(): Promise<readonly Joined[]> {
    return [...this.#joined.values()];
  }

  async leave(question: string): Promise<void> {
    this.#joined.delete(question);
    this.#since.delete(question);
  }

  async takePart(question: string, moment: number): Promise<number> {
    if (!this.#since.has(question)) this.#since.set(question, moment);
    return this.#since.get(question)!;
  }

  async since(question: string): Promise<number | null> {
    return this.#since.get(question) ?? null;
  }

  async refusesRenewals(question: string): Promise<boolean> {
    return this.#refused.has(question);
  }

  async refuseRenewals(question: string, refuses: boolean): Promise<void> {
    if (refuses) this.#refused.add(question);
    else this.#refused.delete(question);
  }

  async answer(question: string, window: number): Promise<Answer | null> {
    return this.#answers.get(`${question} ${window}`) ?? null;
  }

  async answers(): Promise<readonly Answer[]> {
    return [...this.#answers.values()];
  }

  async record(question: string, window: number, draw: Draw): Promise<Answer> {
    const kept = this.#answers.get(`${question} ${window}`); // at once: nothing may come between
    return kept ?? this.#keep(draw([...this.#answers.values()]));
  }

  async mark(question: string, window: number, state: AnswerState): Promise<void> {
    const kept = await this.answer(question, window);
    if (kept && kept.state !== "sent") this.#keep({ ...kept, state });
  }

  async move(question: string, collector: string): Promise<void> {
    const joined = this.#joined.get(question);
    if (joined) this.#joined.set(question, { ...joined, collector });
    for (const kept of this.#answers.values()) {
      if (kept.question === question && kept.state === "unsent") this.#keep({ ...kept, collector });
    }
  }

  #keep(answer: Answer): Answer {
    this.#answers.set(`${answer.question} ${answer.window}`, answer);
    return answer;
  }
}

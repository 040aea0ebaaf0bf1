/**
 * Whose turn it is: the period of a tracking survey that a device answers, by the calendar and a clock alone.
 *
 * A device has one seat in every window, and therefore one period. Nothing here depends on a value, or on anything that
 * a collector says.
 */
import { concat, fromHex, viewOf } from "../core/bytes.js";
import { systemSource } from "../randomness/source.js";
import type { Calendar, Period } from "../surveys/calendar.js";
import type { Tracking } from "../surveys/tracking.js";
import { SECRET_BYTES, type Store } from "./store.js";

type Phase = "waiting" | "due" | "missed";

/** A device's own period in one window, and what is to be done about it. */
export interface Turn {
  readonly state: Phase | "answered" | "declined";
  readonly period: Period;
  /** Its own period in the next window that it will answer; null if there is none. */
  readonly after: Period | null;
}

/** Whether a period has not begun, can be answered, or has closed. */
export const phase = ({ start, closes }: Period, moment: number): Phase =>
  moment < start ? "waiting" : moment < closes ? "due" : "missed";

/** What decides about a device's turns in one survey. */
export class Turns {
  constructor(
    readonly store: Store,
    readonly tracking: Tracking,
    /** Windows that were answered. */
    readonly answered: ReadonlySet<number>,
    readonly refusesRenewals: boolean,
    /** When the device joined: of windows that had ended it owes nothing. */
    readonly since: number,
  ) {}

  static async of(store: Store, tracking: Tracking, since: number): Promise<Turns> {
    const answers = (await store.answers()).filter(({ question }) => question === tracking.id);
    const answered = new Set(answers.map(({ window }) => window));
    return new Turns(store, tracking, answered, await store.refusesRenewals(tracking.id), since);
  }

  /** Periods that can be answered now and are not, the one that closes first first. */
  async due(moment: number): Promise<Period[]> {
    const found: Period[] = [];
    for (const window of this.#calendar.windowsAt(moment)) {
      const mine = await this.#own(window);
      const isOpen = !this.answered.has(window) && !this.#isDeclined(window);
      if (isOpen && this.#phase(mine, moment) === "due") found.push(mine);
    }
    return found;
  }

  /** The turn at a moment: a period to answer now, if there is one; else that of the latest window. */
  async at(moment: number): Promise<Turn> {
    const [due] = await this.due(moment);
    const window = due?.window ?? this.#latest(moment);
    const period = await this.#own(window);
    const isAnswered = this.answered.has(window);
    const isDeclined = !isAnswered && this.#isDeclined(window);
    const isRenewed = !this.refusesRenewals || !(this.answered.size > 0 || due !== undefined);
    const after = isRenewed && this.#calendar.hasWindow(window + 1) ? await this.#own(window + 1) : null;
    const state = due ? "due" : isAnswered ? "answered" : isDeclined ? "declined" : this.#phase(period, moment);
    return { state, period, after };
  }

  /** The phase of a period; a window that had ended when the device joined is missed. */
  #phase(mine: Period, moment: number): Phase {
    return this.#calendar.end(mine.window * this.#calendar.window) <= this.since ? "missed" : phase(mine, moment);
  }

  get #calendar(): Calendar {
    return this.tracking.calendar;
  }

  /** Whether the owner refuses this window, because another one was answered. */
  #isDeclined(window: number): boolean {
    return this.refusesRenewals && [...this.answered].some((other) => other !== window);
  }

  async #own(window: number): Promise<Period> {
    const seat = await seatIn(this.store, this.tracking.id, window, this.tracking.seats);
    return this.#calendar.period(this.#calendar.firstOf(window) + seat - 1);
  }

  /** The latest window that has begun; the first before the start, the last after the end. */
  #latest(moment: number): number {
    const { windows } = this.#calendar;
    return this.#calendar.windowsAt(moment).at(-1) ?? (moment < this.#calendar.start(1) ? 1 : (windows ?? 1));
  }
}

// Which round of a panel, or which period of a window, a device answers: the same draw for both.
// It follows from a secret that a device draws once and keeps, so that a store restored from an old backup finds the
// same seat again. It does not depend on any value.

const CONTEXT = new TextEncoder().encode("sottovoce seat\0");

/** A seat from 1 to `seats`, uniform: blocks of HMAC-SHA256 until one is below the largest multiple of `seats`. */
export async function deriveSeat(secret: Uint8Array, id: string, window: bigint, seats: bigint): Promise<bigint> {
  const { subtle } = globalThis.crypto;
  const algorithm = { name: "HMAC", hash: "SHA-256" };
  const key = await subtle.importKey("raw", secret as Uint8Array<ArrayBuffer>, algorithm, false, ["sign"]);
  const accepted = 2n ** 64n - (2n ** 64n % seats);
  const place = new Uint8Array(12);
  viewOf(place).setBigUint64(0, window);
  for (let i = 0; ; i++) {
    viewOf(place).setUint32(8, i);
    const block = new Uint8Array(await subtle.sign("HMAC", key, concat(CONTEXT, fromHex(id), place)));
    const drawn = viewOf(block).getBigUint64(0);
    if (drawn < accepted) return 1n + (drawn % seats);
  }
}

/** This device's seat in a window; one that an older version has drawn stays. */
export async function seatIn(store: Store, id: string, window: number, seats: number): Promise<number> {
  const drawn = window === 1 ? await store.seat(id) : null;
  if (drawn !== null) return drawn;
  const secret = await store.secret(systemSource.bytes(SECRET_BYTES));
  return Number(await deriveSeat(secret, id, BigInt(window), BigInt(seats)));
}

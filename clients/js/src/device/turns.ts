/**
 * Whose turn it is: the period of a tracking survey that a device answers, by the calendar and a clock alone.
 *
 * A device has one seat in every window, and therefore one period. Nothing here depends on a value, or on anything that
 * a collector says.
 */
import { seatIn } from "./seating.js";
import type { Store } from "./store.js";
import type { Calendar, Period } from "../surveys/calendar.js";
import type { Tracking } from "../surveys/tracking.js";

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
  ) {}

  static async of(store: Store, tracking: Tracking): Promise<Turns> {
    const answers = (await store.answers()).filter(({ question }) => question === tracking.id);
    const answered = new Set(answers.map(({ window }) => window));
    return new Turns(store, tracking, answered, await store.refusesRenewals(tracking.id));
  }

  /** Periods that can be answered now and are not, the one that closes first first. */
  async due(moment: number): Promise<Period[]> {
    const found: Period[] = [];
    for (const window of this.#calendar.windowsAt(moment)) {
      const mine = await this.#own(window);
      const isOpen = !this.answered.has(window) && !this.#isDeclined(window);
      if (isOpen && phase(mine, moment) === "due") found.push(mine);
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
    const after = isRenewed && window < (this.#calendar.windows ?? Infinity) ? await this.#own(window + 1) : null;
    const state = due ? "due" : isAnswered ? "answered" : isDeclined ? "declined" : phase(period, moment);
    return { state, period, after };
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

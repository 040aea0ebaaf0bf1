/**
 * Calendars of tracking surveys: periods of one kind after each other, windows of so many periods, days of grace.
 *
 * Everything is in UTC and in milliseconds since 1970. Periods are half-open, so that they cannot overlap, and all of
 * them follow from the signed survey: nobody can move or reopen one.
 */
import { SurveyError } from "../core/errors.js";
import { checkFields, type Json } from "../core/json.js";
import { checkInteger } from "../core/limits.js";

export const DAY = 86_400_000;
/** Most days of a period, and most periods of a window. */
const MOST = 3660;
const MOST_WINDOWS = 10_000;
/** Whatever the window: no date leaves the calendar. */
const MOST_GRACE = 366;
/** No period lasts as long, and none contains a later moment. */
const LAST_DAY = Date.UTC(9000, 0, 1);

/** How long a period is: so many days, or so many months. */
const UNITS: Readonly<Record<string, { readonly days: number } | { readonly months: number }>> = {
  day: { days: 1 },
  week: { days: 7 },
  month: { months: 1 },
  quarter: { months: 3 },
  year: { months: 12 },
};

/** One period of a calendar, for applications. */
export interface Period {
  readonly number: number;
  readonly window: number;
  /** When it begins, when it ends, and when it is closed at last, in milliseconds since 1970. */
  readonly start: number;
  readonly end: number;
  readonly closes: number;
  /** "week of 4 January 2027". */
  readonly label: string;
}

/** When a tracking survey is asked. */
export class Calendar {
  readonly #first: Date;
  readonly #length: { readonly days: number } | { readonly months: number };

  private constructor(
    readonly starts: string,
    readonly every: string | number,
    /** Periods of a window; everybody answers in one of them. */
    readonly window: number,
    /** How many windows there are; null: without an end. */
    readonly windows: number | null,
    /**
     * Days after a period's end in which it may still be answered; at most the shortest window, so that no more than two
     * windows can be answered at a time.
     */
    readonly grace: number,
  ) {
    this.#first = new Date(`${starts}T00:00:00Z`);
    this.#length = typeof every === "number" ? { days: every } : UNITS[every]!;
  }

  /** The calendar in a survey's JSON. */
  static read(stated: Json | undefined): Calendar {
    const { starts, every, window, windows, grace } = checkFields(
      stated,
      "a calendar",
      "starts",
      "every",
      "window",
      "windows",
      "grace",
    );
    const isDate = typeof starts === "string" && /^\d{4}-\d\d-\d\d$/.test(starts) && isDay(starts);
    if (!isDate) throw new SurveyError("starts must be a date such as 2027-01-04");
    const isNamed = typeof every === "string" && Object.hasOwn(UNITS, every);
    if (!isNamed && typeof every !== "number") {
      throw new SurveyError(`every must be ${Object.keys(UNITS).join(", ")}, or a number of days`);
    }
    const read = new Calendar(
      starts,
      isNamed ? every : checkInteger("every", every, 1, MOST),
      checkInteger("window", window, 2, MOST),
      windows === null ? null : checkInteger("windows", windows, 1, MOST_WINDOWS),
      checkInteger("grace", grace, 0, MOST_GRACE),
    );
    const most = shortestDays(read.#length, read.window);
    if (read.grace > most) {
      throw new SurveyError(`grace must be an integer from 0 to ${most}, the days of the shortest window`);
    }
    if ("months" in read.#length && read.#first.getUTCDate() > 28) {
      throw new SurveyError(`the day of starts must be at most 28 where every is ${every}`);
    }
    if (!(read.end(read.periods ?? read.window) < LAST_DAY)) {
      throw new SurveyError("the last period must end before the year 9000");
    }
    return read;
  }

  /** How many periods there are; null: without an end. */
  get periods(): number | null {
    return this.windows === null ? null : this.window * this.windows;
  }

  /** Whether people are asked again in a later window. */
  get renews(): boolean {
    return this.windows !== 1;
  }

  start(number: number): number {
    const moved = new Date(this.#first);
    const passed = number - 1;
    if ("days" in this.#length) return moved.getTime() + DAY * this.#length.days * passed;
    return moved.setUTCMonth(moved.getUTCMonth() + this.#length.months * passed);
  }

  end(number: number): number {
    return this.start(number + 1);
  }

  closes(number: number): number {
    return this.end(number) + DAY * this.grace;
  }

  /** The period that contains a moment; null before the first and after the last, and in the year 9000. */
  at(moment: number): number | null {
    const number = moment < LAST_DAY ? this.#reached(moment) : 0;
    return number < 1 || number > this.#most ? null : number;
  }

  windowOf(number: number): number {
    return Math.ceil(number / this.window);
  }

  /** The first period of a window. */
  firstOf(window: number): number {
    return 1 + this.window * (window - 1);
  }

  /** Periods that have begun at a moment and are not closed. */
  answerable(moment: number): number[] {
    const found: number[] = [];
    for (let number = this.#latest(moment); number >= 1 && moment < this.closes(number); number--) found.unshift(number);
    return found;
  }

  /** Whether there is such a window: within the calendar, and before the year 9000. */
  hasWindow(window: number): boolean {
    return window >= 1 && window <= (this.windows ?? Infinity) && this.end(window * this.window) < LAST_DAY;
  }

  /** Windows that have begun, with a period that is not closed: those that a device must look at, two at most. */
  windowsAt(moment: number): number[] {
    const found: number[] = [];
    let window = this.windowOf(this.#latest(moment));
    if (!this.hasWindow(window)) window--;
    for (; window >= 1 && moment < this.closes(window * this.window); window--) found.unshift(window);
    return found;
  }

  /** The latest period that has begun; 0 before the first. */
  #latest(moment: number): number {
    return this.at(moment) ?? (moment < this.start(1) ? 0 : (this.periods ?? 0));
  }

  /** The largest number of a period. */
  get #most(): number {
    return this.periods ?? MOST * MOST_WINDOWS;
  }

  period(number: number): Period {
    return {
      number,
      window: this.windowOf(number),
      start: this.start(number),
      end: this.end(number),
      closes: this.closes(number),
      label: this.label(number),
    };
  }

  /** A period in words. */
  label(number: number): string {
    const start = new Date(this.start(number));
    const [day, month, year] = [start.getUTCDate(), MONTHS[start.getUTCMonth()]!, start.getUTCFullYear()];
    const date = `${day} ${month} ${year}`;
    if (this.every === "day") return date;
    if (this.every === "week") return `week of ${date}`;
    if (this.every === "month" && day === 1) return `${month} ${year}`;
    if (this.every === "year" && day === 1 && month === MONTHS[0]) return String(year);
    if (typeof this.every === "number") return `${plural(this.every, "day")} from ${date}`;
    return `${this.every} from ${date}`;
  }

  /** So many periods in words. */
  spans(periods: number): string {
    return typeof this.every === "number" ? plural(periods * this.every, "day") : plural(periods, this.every);
  }

  /**
   * The guarantee for a person's history: in each window, in any stretch as long as one, and in all windows.
   *
   * Such a stretch meets two windows at most, and a device sends one report in each.
   */
  promise(epsilon: number, delta = 0): string {
    const said = (times: number) => guarantee(times * epsilon, times * delta);
    const span = this.spans(this.window);
    if (this.windows === 1) return `${said(1)} for all ${span} together`;
    const each = `${said(1)} in each window of ${span}, ${said(2)} for any ${span}`;
    if (this.windows === null) return `${each}, which adds up without an end: ${said(4)} in 4 windows`;
    return `${each}, and ${said(this.windows)} over all ${this.spans(this.windows * this.window)}`;
  }

  /** The number of the period that a moment is in, were there periods without an end on both sides. */
  #reached(moment: number): number {
    if ("days" in this.#length) return 1 + Math.floor((moment - this.#first.getTime()) / (DAY * this.#length.days));
    const now = new Date(moment);
    const months =
      12 * (now.getUTCFullYear() - this.#first.getUTCFullYear()) + now.getUTCMonth() - this.#first.getUTCMonth();
    const number = 1 + Math.floor(months / this.#length.months);
    return moment < this.start(number) ? number - 1 : number;
  }
}

const MONTHS = [
  "January",
  "February",
  "March",
  "April",
  "May",
  "June",
  "July",
  "August",
  "September",
  "October",
  "November",
  "December",
];

/** Days that so many periods last at least: months are fewest in days from a February on. */
function shortestDays(length: { readonly days: number } | { readonly months: number }, periods: number): number {
  if ("days" in length) return periods * length.days;
  const months = periods * length.months;
  const rest = (Date.UTC(2001, 1 + (months % 12), 1) - Date.UTC(2001, 1, 1)) / DAY;
  return 365 * Math.floor(months / 12) + rest;
}

/** "epsilon 1", and delta unless it is 0; with at most six digits. */
const guarantee = (epsilon: number, delta: number): string =>
  `epsilon ${general(epsilon)}${delta === 0 ? "" : `, delta ${general(delta)}`}`;

/** A number with at most six digits, with an exponent where it is small or large: "0.3", "1e-06". */
function general(value: number): string {
  const [digits, power] = value.toExponential(5).split("e").map(Number) as [number, number];
  if (power >= -4 && power < 6) return String(Number(value.toPrecision(6)));
  return `${digits}e${power < 0 ? "-" : "+"}${String(Math.abs(power)).padStart(2, "0")}`;
}

/** "1 day", "1,098 days". */
const plural = (count: number, thing: string): string => `${count.toLocaleString("en")} ${thing}${count === 1 ? "" : "s"}`;

/** Whether there is such a day: the platform moves 30 February into March. */
function isDay(text: string): boolean {
  const found = new Date(`${text}T00:00:00Z`);
  return !Number.isNaN(found.getTime()) && found.toISOString().startsWith(text) && found.getUTCFullYear() >= 1;
}

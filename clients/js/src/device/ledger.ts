/** The ledger of a device, and its privacy budget. */
import { BudgetError } from "../core/errors.js";
import { oneLine } from "../core/text.js";
import { DAY } from "../surveys/calendar.js";
import type { Answer, LogConflict } from "./store.js";

/** Limits of one survey (caps) and of all together (budgets, number of answers); all are finite. */
export interface Allowance {
  /** Largest epsilon of one survey. */
  readonly cap: number;
  /** Largest sum of all epsilons. */
  readonly budget: number;
  readonly deltaCap: number;
  readonly deltaBudget: number;
  /** Most answers in all, whatever they cost. */
  readonly maxAnswers: number;
  /** Largest sum of epsilons within any `windowDays` days. */
  readonly windowBudget: number;
  readonly windowDays: number;
}

export const ALLOWANCE: Allowance = {
  cap: 2,
  budget: 8,
  deltaCap: 1e-6,
  deltaBudget: 1e-5,
  maxAnswers: 1000,
  windowBudget: 8,
  windowDays: 91,
};

/** The day in UTC of a moment; empty if the clock is out of range. */
export const dayOf = (moment: number): string => /^\d{4}-\d\d-\d\d/.exec(new Date(moment).toJSON())?.[0] ?? "";

/**
 * Answers that fall within so many days with today, of all in the order in which they were given.
 *
 * A clock may have been wrong. Unknown and future days fall within them, and a day before that of an earlier answer is
 * taken as that: a clock that fell back makes no answer old. Only one that runs ahead now, or was behind from the
 * first answer on, frees anything early.
 */
export function recent<Dated extends { readonly day: string }>(
  answers: readonly Dated[],
  days: number,
  today: string,
): Dated[] {
  const first = Date.parse(today) - DAY * (days - 1);
  let latest = -Infinity;
  return answers.filter(({ day }) => {
    const then = Date.parse(day);
    if (!(then <= Date.parse(today))) return true;
    latest = Math.max(latest, then);
    return latest >= first;
  });
}

/** Check an owner's limits. */
export function checkAllowance(allowance: Allowance): Allowance {
  for (const [name, amount] of Object.entries(allowance)) {
    if (typeof amount !== "number" || !(amount >= 0 && amount < Infinity)) {
      throw new BudgetError(`${name} must be a number from 0 on, and not infinite`);
    }
  }
  // Within no day at all nothing would count.
  if (!Number.isInteger(allowance.windowDays) || allowance.windowDays < 1) {
    throw new BudgetError("windowDays must be an integer from 1 on");
  }
  return allowance;
}

/**
 * Throw `BudgetError` unless the owner allows a survey of this cost after these answers.
 *
 * Depends on the survey and the ledger only, so a refusal reveals nothing about the person's value.
 */
export function checkBudget(
  allowance: Allowance,
  cost: { readonly epsilon: number; readonly delta: number },
  answers: readonly Answer[],
  today = dayOf(Date.now()),
): void {
  const { cap, budget, deltaCap, deltaBudget, maxAnswers, windowBudget, windowDays } = allowance;
  for (const [name, most, life] of [
    ["epsilon", cap, budget],
    ["delta", deltaCap, deltaBudget],
  ] as const) {
    const asked = `the survey asks for ${name} ${cost[name]}`;
    if (cost[name] > most) throw new BudgetError(`${asked}; this device allows ${most} a survey`);
    const before = answers.map((answer) => answer[name]);
    if (total([...before, cost[name]]) > units(life)) {
      throw new BudgetError(`${asked}; this device has ${left(life, before)} of ${life} left for its life`);
    }
  }
  const lately = recent(answers, windowDays, today).map(({ epsilon }) => epsilon);
  if (total([...lately, cost.epsilon]) > units(windowBudget)) {
    const rest = left(windowBudget, lately);
    throw new BudgetError(
      `the survey asks for epsilon ${cost.epsilon}; this device has ${rest} of ${windowBudget} left for ${windowDays} days`,
    );
  }
  if (answers.length >= maxAnswers) {
    throw new BudgetError(`this device has given all ${maxAnswers} answers that it may; raise maxAnswers to allow more`);
  }
}

/** One answer, without the report and its id. */
export interface Entry {
  readonly day: string;
  readonly collector: string;
  readonly title: string;
  readonly epsilon: number;
  readonly delta: number;
  readonly state: Answer["state"];
  readonly survey: string;
  readonly window: number;
}

/** What one survey has cost over all its windows. */
export interface Lifetime {
  readonly survey: string;
  readonly title: string;
  /** In how many windows it was answered. */
  readonly windows: number;
  /** The largest epsilon of one of them, and their sum. */
  readonly perWindow: number;
  readonly spent: number;
}

/**
 * All answers of a device, oldest first, and the budget left. Every drawn report counts, whether it arrived or not.
 *
 * Epsilons and deltas add up (basic composition), which also holds for adaptively chosen surveys.
 */
export class Ledger {
  readonly entries: readonly Entry[];

  readonly budget: number;
  readonly deltaBudget: number;
  readonly maxAnswers: number;
  readonly windowBudget: number;
  readonly windowDays: number;
  /** Sum of the epsilons within `windowDays` days with today. */
  readonly windowSpent: number;

  constructor(
    answers: readonly Answer[],
    allowance: Allowance,
    today = dayOf(Date.now()),
    /** Evidence that collectors have shown this device two logs of their surveys, oldest first. */
    readonly conflicts: readonly LogConflict[] = [],
  ) {
    const { budget, deltaBudget, maxAnswers, windowBudget, windowDays } = allowance;
    this.windowBudget = windowBudget;
    this.windowDays = windowDays;
    this.windowSpent = toNumber(total(recent(answers, windowDays, today).map(({ epsilon }) => epsilon)));
    this.budget = budget;
    this.deltaBudget = deltaBudget;
    this.maxAnswers = maxAnswers;
    this.entries = answers.map((answer) => ({
      day: answer.day || "unknown",
      collector: oneLine(answer.collector),
      title: oneLine(answer.title) || "(no title)",
      epsilon: answer.epsilon,
      delta: answer.delta,
      state: answer.state,
      survey: answer.question,
      window: answer.window,
    }));
  }

  #costs(name: "epsilon" | "delta"): number[] {
    return this.entries.map((entry) => entry[name]);
  }

  /** Sum of all epsilons. */
  get spent(): number {
    return toNumber(total(this.#costs("epsilon")));
  }

  /** The budget that is left. */
  get left(): number {
    return left(this.budget, this.#costs("epsilon"));
  }

  /** What is left within `windowDays` days, and of the budget for life. */
  get windowLeft(): number {
    return Math.min(this.left, left(this.windowBudget, [this.windowSpent]));
  }

  /** Each survey with what it has cost, in the order of their first answers. */
  get surveys(): readonly Lifetime[] {
    return [...new Set(this.entries.map(({ survey }) => survey))].map((survey) => {
      const own = this.entries.filter((entry) => entry.survey === survey);
      const costs = own.map(({ epsilon }) => epsilon);
      const { title } = own.at(-1)!;
      return { survey, title, windows: own.length, perWindow: Math.max(...costs), spent: toNumber(total(costs)) };
    });
  }

  /** Sum of all deltas. */
  get deltaSpent(): number {
    return toNumber(total(this.#costs("delta")));
  }

  /** The budget that is left. */
  get deltaLeft(): number {
    return left(this.deltaBudget, this.#costs("delta"));
  }
}

// Sums of epsilons as people write them, without rounding: three times 0.1 is 0.3.
// A number counts as the shortest decimal that means it, which is how a survey's JSON has it.

const PLACES = 345; // the smallest double has 324 places before its digits, and no double needs more than 17 of those

/** A number at or above 0, in units of 10^-345. */
export function units(amount: number): bigint {
  const [mantissa, exponent] = amount.toExponential().split("e") as [string, string];
  const digits = mantissa.replace(".", "");
  return BigInt(digits) * 10n ** BigInt(PLACES + Number(exponent) - (digits.length - 1));
}

/** The exact sum, in the same units. */
export const total = (amounts: Iterable<number>): bigint => {
  let sum = 0n;
  for (const amount of amounts) sum += units(amount);
  return sum;
};

/** The nearest double. */
export const toNumber = (sum: bigint): number => Number(`${sum}e-${PLACES}`);

/** What a budget still allows after these. */
export function left(budget: number, amounts: Iterable<number>): number {
  const rest = units(budget) - total(amounts);
  return rest > 0n ? toNumber(rest) : 0;
}

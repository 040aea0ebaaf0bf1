/** The ledger of a device, and its privacy budget. */
import { left, toNumber, total, units } from "./amounts.js";
import { BudgetError } from "./errors.js";
import type { Answer } from "./store.js";
import { oneLine } from "./text.js";

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
}

export const ALLOWANCE: Allowance = { cap: 2, budget: 8, deltaCap: 1e-6, deltaBudget: 1e-5, maxAnswers: 1000 };

/** Check an owner's limits. */
export function checkAllowance(allowance: Allowance): Allowance {
  for (const [name, amount] of Object.entries(allowance)) {
    if (typeof amount !== "number" || !(amount >= 0 && amount < Infinity)) {
      throw new BudgetError(`${name} must be a number from 0 on, and not infinite`);
    }
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
): void {
  const { cap, budget, deltaCap, deltaBudget, maxAnswers } = allowance;
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

  constructor(answers: readonly Answer[], { budget, deltaBudget, maxAnswers }: Allowance) {
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

  /** Sum of all deltas. */
  get deltaSpent(): number {
    return toNumber(total(this.#costs("delta")));
  }

  /** The budget that is left. */
  get deltaLeft(): number {
    return left(this.deltaBudget, this.#costs("delta"));
  }
}

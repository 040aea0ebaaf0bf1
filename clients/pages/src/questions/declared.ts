/** What can be asked, as the collector declares it: the form and the planner are made from this. */
import { ask } from "../parts/api.js";

export type ParameterKind = "integer" | "number" | "labels" | "range" | "attributes" | "workload";

/** One thing that a question is made with. */
export interface Parameter {
  name: string;
  kind: ParameterKind;
  help: string;
  /** A value as the command line writes it. */
  example: string;
  default: number | null;
  required: boolean;
  /** Parameters of one group are ways to say the same: exactly one of them is given. */
  group: string;
  /** Between what a number lies. */
  low?: number | null;
  high?: number | null;
}

export interface Question {
  kind: string;
  summary: string;
  parameters: Parameter[];
  strategies: string[];
  mechanisms: string[];
}

export interface Declared {
  questions: Question[];
  defaults: { users: number; max_report_bytes: number; max_counters: number; level: number };
}

/** Every question there is. */
export const askDeclared = (): Promise<Declared> => ask<Declared>("/v1/questions");

/** The question of that kind; the first one where there is none. */
export function questionOf({ questions }: Declared, kind: string | null): Question {
  const found = questions.find((one) => one.kind === kind) ?? questions[0];
  if (found === undefined) throw new Error("the collector declares no question");
  return found;
}

/** Whether it is a panel, which has no design of its own: every round of it gets one. */
export const isPanel = (question: Question): boolean => question.strategies.length === 0;

/** One parameter by itself, or a group of them of which one is given. */
export interface Slot {
  group: string;
  ways: Parameter[];
}

/** The parameters in their order, each group at the place of its first one. */
export function slotsOf(parameters: readonly Parameter[]): Slot[] {
  const slots: Slot[] = [];
  for (const parameter of parameters) {
    const known = slots.find(({ group }) => group !== "" && group === parameter.group);
    if (known === undefined) slots.push({ group: parameter.group, ways: [parameter] });
    else known.ways.push(parameter);
  }
  return slots;
}

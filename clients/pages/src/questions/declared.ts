/** What can be asked, as the collector declares it: the form and the planner are made from this. */
import type { ParameterEntry, QuestionEntry, Questions } from "../parts/api_types.js";
import { ask } from "../parts/api.js";

export type ParameterKind = ParameterEntry["kind"];

/** Every question there is. */
export const askDeclared = (): Promise<Questions> => ask<Questions>("/v1/questions");

/** The question of that kind; the first one where there is none. */
export function questionOf({ questions }: Questions, kind: string | null): QuestionEntry {
  const found = questions.find((one) => one.kind === kind) ?? questions[0];
  if (found === undefined) throw new Error("the collector declares no question");
  return found;
}

/** Whether it is a panel, which has no design of its own: every round of it gets one. */
export const isPanel = (question: QuestionEntry): boolean => question.strategies.length === 0;

/** One parameter by itself, or a group; one parameter of a group is given. */
export interface Slot {
  group: string;
  ways: ParameterEntry[];
}

/** The parameters in their order, each group at the place of its first one. */
export function slotsOf(parameters: readonly ParameterEntry[]): Slot[] {
  const slots: Slot[] = [];
  for (const parameter of parameters) {
    const known = slots.find(({ group }) => group !== "" && group === parameter.group);
    if (known === undefined) slots.push({ group: parameter.group, ways: [parameter] });
    else known.ways.push(parameter);
  }
  return slots;
}

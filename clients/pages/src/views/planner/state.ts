/** What the planner is set to: kept in the page's address, so that a plan can be shared, and told to the collector. */
import type { ParameterEntry, QuestionEntry, Questions } from "../../parts/api_types.js";
import { MAX_EPSILON, MIN_EPSILON } from "../../../../js/src/core/limits.js";
import { isPanel, questionOf, type ParameterKind } from "../../questions/declared.js";
import { factsOf, measureOf, type Measure } from "../../questions/kinds.js";
import { fromAddress, givenOf, readParameters, toAddress, type Faults, type Typed, type Value } from "../../questions/typed.js";

/** Rounds can be worked out for a panel only. */
export type Solved = "error" | "people" | "epsilon" | "rounds";
/** Changes are for periods only, shares for words; a difference is between two groups, of a survey that is asked once. */
export type Criterion = "margin" | "l2" | "change" | "share" | "difference";
/** What an error is called: a panel has one of its own, the largest of all rounds. */
export type ErrorName = Criterion | "error";

/** Whether it is asked once, in a number of periods, or in windows of so many without an end. */
export type Repeats = "once" | "periods" | "windows";

export interface PlanState {
  question: QuestionEntry;
  typed: Typed;
  people: number;
  epsilon: number;
  rounds: number;
  repeats: Repeats;
  /** The number of periods; everybody answers in one of them. */
  periods: number;
  errors: Record<ErrorName, number>;
  /** The probability with which a difference between two groups is seen. */
  power: number;
  /** People in the second group for each one in the first. */
  ratio: number;
  /** By which error designs are compared; a panel has no use for it. */
  criterion: Criterion;
  /** Which one is worked out. */
  solve: Solved;
}

/** Sizes move by slider here, so the planner begins with a number of values. */
export const PREFERRED: ParameterKind = "integer";

const ROUNDS = "rounds";
export const MAX_PEOPLE = 10 ** 10;
export const MAX_ROUNDS = 65_536;
export const MAX_PERIODS = 3660;
export const POWERS: [number, number] = [0.06, 0.9999];
export const RATIOS: [number, number] = [0.001, 1000];
/** As the collector has them where they are not given. */
const USUAL = { power: 0.8, ratio: 1 };
const FIRST_ERRORS: Record<ErrorName, number> = { margin: 0.01, l2: 0.05, error: 0.1, change: 0.02, share: 0.005, difference: 0.02 };

/** The parameters that a plan needs: of a panel whatever its domain; its rounds are one of the four that are solved for. */
export const plannedParameters = (question: QuestionEntry): ParameterEntry[] =>
  isPanel(question) ? question.parameters.filter(({ name, group }) => group === "" && name !== ROUNDS) : question.parameters;

export const errorName = ({ question, criterion }: PlanState): ErrorName => (isPanel(question) ? "error" : criterion);

/** Whether it is asked in every period; a panel never is. */
export const isTracking = ({ question, repeats }: PlanState): boolean => repeats !== "once" && !isPanel(question);

/** The errors that a plan can be made by. */
export const criteriaOf = (state: PlanState): Criterion[] => [
  "margin",
  factsOf(state.question.kind).isOpen ? "share" : "l2",
  isTracking(state) ? "change" : "difference",
];

/** Whether it is two groups that are planned, by their difference. */
export const isCompared = (state: PlanState): boolean => errorName(state) === "difference";

/** What only two groups have, as the collector takes it, where it is not as usual; that there are two is said where no difference says it. */
export function groupsOf(state: PlanState): Record<string, number> {
  if (!isCompared(state)) return {};
  const { power, ratio } = state;
  return {
    ...(state.solve === "error" ? { groups: 2 } : {}),
    ...(power === USUAL.power ? {} : { power }),
    ...(ratio === USUAL.ratio ? {} : { ratio }),
  };
}

/** The periods as the collector takes them. */
export const periodsOf = (state: PlanState): Record<string, number> =>
  !isTracking(state) ? {} : state.repeats === "periods" ? { periods: state.periods } : { renews: state.periods };

/** The state that an address tells; what it does not tell, or tells wrongly, is as at first. */
export function stateOf(search: string, declared: Questions): PlanState {
  const told = new URLSearchParams(search);
  const question = questionOf(declared, told.get("kind"));
  const number = (name: string, first: number, low: number, high: number, whole: boolean): number => {
    const found = Number(told.get(name) ?? NaN);
    return found >= low && found <= high && (!whole || Number.isInteger(found)) ? found : first;
  };
  const error = (name: ErrorName): number => number(name, FIRST_ERRORS[name], Number.MIN_VALUE, Number.MAX_VALUE, false);
  const solved: readonly string[] = isPanel(question) ? ["people", "epsilon", "rounds"] : ["people", "epsilon"];
  const solve = told.get("solve") ?? "";
  const state: PlanState = {
    question,
    typed: fromAddress(declared.questions.flatMap(plannedParameters), told),
    people: number("people", declared.defaults.people, 1, MAX_PEOPLE, true),
    epsilon: number("epsilon", 1, MIN_EPSILON, MAX_EPSILON, false),
    rounds: number(ROUNDS, 20, 1, MAX_ROUNDS, true),
    repeats: told.has("periods") ? "periods" : told.has("renews") ? "windows" : "once",
    periods: number(told.has("periods") ? "periods" : "renews", 52, 2, MAX_PERIODS, true),
    errors: { margin: error("margin"), l2: error("l2"), error: error("error"), change: error("change"), share: error("share"), difference: error("difference") },
    power: number("power", USUAL.power, ...POWERS, false),
    ratio: number("ratio", USUAL.ratio, ...RATIOS, false),
    criterion: "margin",
    solve: solved.includes(solve) ? (solve as Solved) : "error",
  };
  return { ...state, criterion: criteriaOf(state).find((one) => one === told.get("criterion")) ?? "margin" };
}

/** The parameters that are given, one of each group. */
export const given = ({ question, typed }: PlanState): ParameterEntry[] =>
  givenOf(plannedParameters(question), typed, PREFERRED);

/** What the question's answers are measured in. */
export const plannedMeasure = (state: PlanState): Measure =>
  measureOf(state.question.kind, readParameters(given(state), state.typed, new Map()));

/** How far a number's ends are apart, where its mean is asked for: margins are in its unit. Else 1, as for shares. */
export function marginScale(state: PlanState): number {
  const { low, high, wants } = readParameters(given(state), state.typed, new Map());
  const isMean = typeof low === "number" && typeof high === "number" && high > low && wants !== "distribution";
  return isMean ? high - low : 1;
}

/** All but what is worked out, by the collector's names for them. */
export function numbersOf(state: PlanState): Record<string, number> {
  const error = errorName(state);
  const all = { epsilon: state.epsilon, people: state.people, [error]: state.errors[error] };
  const left = state.solve === "error" ? error : state.solve;
  return Object.fromEntries(Object.entries(all).filter(([name]) => name !== left));
}

/** The rounds of a panel, where they are given. */
export const roundsOf = (state: PlanState): { rounds?: number } =>
  isPanel(state.question) && state.solve !== "rounds" ? { rounds: state.rounds } : {};

/** The criterion has to be said where no error is given that says it. */
export const criterionOf = (state: PlanState): { criterion?: Criterion } =>
  !isPanel(state.question) && !isCompared(state) && state.solve === "error" ? { criterion: designedBy(state) } : {};

/** By which error designs are compared: a change between two periods and a difference of two groups are multiples of the margin of one, and words are found by it. */
const designedBy = ({ criterion }: PlanState): Criterion => (criterion === "l2" ? "l2" : "margin");

/** What `POST /v1/plans` takes; what is wrong with the parameters goes to `faults`. */
export function requestOf(state: PlanState, faults: Faults): Record<string, unknown> {
  const parameters: Record<string, Value> = { ...readParameters(given(state), state.typed, faults), ...roundsOf(state) };
  return { kind: state.question.kind, parameters, ...numbersOf(state), ...periodsOf(state), ...groupsOf(state), ...criterionOf(state) };
}

/** The address's query of a state: what is given, and what is worked out from it. */
export const searchOf = (state: PlanState): string =>
  searchText({
    kind: state.question.kind,
    ...toAddress(given(state), state.typed),
    ...roundsOf(state),
    ...numbersOf(state),
    ...periodsOf(state),
    ...groupsOf(state),
    ...(isPanel(state.question) ? {} : { criterion: state.criterion }),
    solve: state.solve,
  });

/** The form for a new survey, filled in so that it makes the survey that was planned. */
export function newSurveyLink(state: PlanState, found: { epsilon: number; people: number; rounds?: number | null }): string {
  const design = { people: found.people, ...(designedBy(state) === "margin" ? { criterion: "margin" } : {}) };
  const own = isPanel(state.question) ? { rounds: found.rounds ?? state.rounds } : design;
  const asked = { kind: state.question.kind, ...toAddress(given(state), state.typed), epsilon: found.epsilon };
  const repeats = isTracking(state) ? { repeats: "yes", ...periodsOf(state) } : {};
  const groups = isCompared(state) ? { groups: "arm: A, B" } : {};
  return `/new${searchText({ ...asked, ...own, ...repeats, ...groups })}`;
}

const searchText = (told: Record<string, string | number>): string =>
  `?${new URLSearchParams(Object.entries(told).map(([name, value]) => [name, String(value)]))}`;

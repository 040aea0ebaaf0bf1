/** What the planner is set to: kept in the page's address, so that a plan can be shared, and told to the collector. */

export type Kind = "distribution" | "queries" | "mean" | "adaptive";
/** Rounds can be worked out for questions one after another only. */
export type Solved = "error" | "users" | "epsilon" | "rounds";

export interface PlanState {
  kind: Kind;
  /** Values of a distribution. */
  size: number;
  /** As the command line writes it. */
  workload: string;
  dimension: number;
  radius: number;
  rounds: number;
  users: number;
  epsilon: number;
  error: number;
  /** Which one is worked out. */
  solve: Solved;
}

export const KINDS: Record<Kind, string> = {
  distribution: "How values are distributed",
  queries: "Answers to a set of queries",
  mean: "The mean of people's vectors",
  adaptive: "Questions one after another",
};

/** What a planner begins with. */
export const FIRST: PlanState = {
  kind: "distribution",
  size: 300,
  workload: "prefix:1024",
  dimension: 200,
  radius: 1,
  rounds: 20,
  users: 1_000_000,
  epsilon: 1,
  error: 0.02,
  solve: "error",
};

type Names = "size" | "dimension" | "radius" | "rounds" | "users" | "epsilon";

const NUMBERS: Record<Names, { whole: boolean; least: number; most: number }> = {
  size: { whole: true, least: 2, most: 2 ** 40 },
  dimension: { whole: true, least: 1, most: 2 ** 20 },
  radius: { whole: false, least: 1e-100, most: 1e100 },
  rounds: { whole: true, least: 1, most: 65_536 },
  users: { whole: true, least: 1, most: 1e12 },
  epsilon: { whole: false, least: 2 ** -20, most: 16 },
};

/** The state that an address tells; what it does not tell, or tells wrongly, is as at first. */
export function stateOf(search: string): PlanState {
  const told = new URLSearchParams(search);
  const state = { ...FIRST };
  const kind = told.get("kind");
  if (kind !== null && Object.hasOwn(KINDS, kind)) state.kind = kind as Kind;
  const solve = told.get("solve");
  if (solve === "error" || solve === "users" || solve === "epsilon") state.solve = solve;
  if (solve === "rounds" && state.kind === "adaptive") state.solve = solve;
  state.workload = told.get("workload") ?? FIRST.workload;
  for (const name of Object.keys(NUMBERS) as Names[]) {
    const { whole, least, most } = NUMBERS[name];
    const found = Number(told.get(name) ?? NaN);
    if (found >= least && found <= most && (!whole || Number.isInteger(found))) state[name] = found;
  }
  const error = Number(told.get("target_error") ?? NaN);
  if (error > 0 && Number.isFinite(error)) state.error = error;
  return state;
}

/** What is asked, apart from people, epsilon and error, by the names that the addresses of the collector have. */
function asked(state: PlanState): Record<string, string | number> {
  if (state.kind === "distribution") return { size: state.size };
  if (state.kind === "queries") return { workload: state.workload };
  if (state.kind === "adaptive") return state.solve === "rounds" ? {} : { rounds: state.rounds };
  return { dimension: state.dimension, radius: state.radius };
}

/** Two of people, epsilon and error; all three where rounds are worked out. */
function given(state: PlanState): Record<string, number> {
  const all = { users: state.users, epsilon: state.epsilon, target_error: state.error };
  const left = { users: "users", epsilon: "epsilon", error: "target_error", rounds: "" }[state.solve];
  return Object.fromEntries(Object.entries(all).filter(([name]) => name !== left));
}

/** The address's query of a state: what is given, and what is worked out from it. */
export function searchOf(state: PlanState): string {
  const told = { kind: state.kind, ...asked(state), ...given(state), solve: state.solve };
  return `?${new URLSearchParams(Object.entries(told).map(([name, value]) => [name, String(value)]))}`;
}

/** What the collector is asked. */
export const requestOf = (state: PlanState): Record<string, string | number> => ({ kind: state.kind, ...asked(state), ...given(state) });

/** The form for a new survey, filled in. */
export function newSurveyLink(state: PlanState, epsilon: number): string {
  const told = { kind: state.kind, ...asked({ ...state, solve: "error" }), epsilon };
  return `/new?${new URLSearchParams(Object.entries(told).map(([name, value]) => [name, String(value)]))}`;
}

const FLAGS: Record<string, string> = { size: "domain-size", target_error: "target-error" };

/** The same plan on the command line. */
export function commandLine(state: PlanState): string {
  const told = Object.entries({ ...asked(state), ...given(state) }).filter(([name, value]) => name !== "radius" || value !== 1);
  const flags = told.map(([name, value]) => `--${FLAGS[name] ?? name} ${shellWord(String(value))}`);
  return `sottovoce plan ${state.kind} ${flags.join(" ")}`;
}

const shellWord = (text: string): string => (/^[\w:=,.+-]+$/u.test(text) ? text : `'${text.replaceAll("'", "'\\''")}'`);

/** The same plan in Python. */
export function pythonLines(state: PlanState): string {
  const two = Object.entries(given(state)).map(([name, value]) => `${name}=${pythonNumber(value)}`).join(", ");
  if (state.kind === "adaptive") {
    const rounds = state.solve === "rounds" ? "" : `rounds=${state.rounds}, `;
    return `from sottovoce.theory.adaptive_planner import plan_adaptive\nplan_adaptive(${rounds}${two})`;
  }
  if (state.kind === "queries") {
    const parse = "from sottovoce.workloads import parse_workload";
    return `import sottovoce as sv\n${parse}\nsv.plan(workload=parse_workload(${JSON.stringify(state.workload)}), ${two})`;
  }
  const radius = state.radius === 1 ? "" : `, radius=${state.radius}`;
  const about = state.kind === "mean" ? `dimension=${state.dimension}${radius}` : pythonNumber(state.size);
  return `import sottovoce as sv\nsv.plan(${about}, ${two})`;
}

/** Large whole numbers with an underscore for every three digits. */
const pythonNumber = (value: number): string =>
  Number.isInteger(value) && value >= 10_000 ? String(BigInt(value)).replace(/\B(?=(\d{3})+$)/gu, "_") : String(value);

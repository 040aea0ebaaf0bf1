/** The planner's sliders: what is asked, and people, epsilon and error, of which all but one are given. */
import { el, fill } from "../parts/dom.js";
import { count, figure } from "../parts/format.js";
import { aboutFields } from "./planner_about.js";
import { slider, type Slider } from "./planner_slider.js";
import { KINDS, type Kind, type PlanState, type Solved } from "./planner_state.js";
import { epsilonWords, errorWords, peopleWords, type PlanAnswer } from "./planner_words.js";

const NAMES: Record<Solved, string> = { error: "Error", users: "People", epsilon: "Epsilon", rounds: "Rounds" };

/** The error that is wished for at first: one that was wished for of another kind says nothing here. */
const WISHED: Record<Kind, number> = { distribution: 0.02, queries: 1, mean: 0.05, adaptive: 0.1 };

/** Between what the slider of the error runs. */
const REACH: Record<Kind, [number, number]> = {
  distribution: [0.001, 1],
  queries: [0.01, 100],
  mean: [0.001, 1],
  adaptive: [0.001, 1],
};

export interface Controls {
  host: HTMLElement;
  /** Shows what was worked out. */
  solved(found: PlanAnswer): void;
}

export function controls(state: PlanState, changed: () => void): Controls {
  const set = (name: Solved) => (value: number): void => {
    state[name] = value;
    changed();
  };
  const sliders: Record<Solved, Slider> = {
    rounds: slider({
      id: "plan-rounds", label: NAMES.rounds, ends: [1, 1_000], allowed: [1, 65_536], whole: true,
      text: count, words: (n) => (n === 1 ? "one question to everybody" : `one person in ${count(n)} answers each`), changed: set("rounds"),
    }),
    users: slider({
      id: "plan-users", label: NAMES.users, ends: [100, 1e9], allowed: [1, 1e12], whole: true,
      text: count, words: peopleWords, changed: set("users"),
    }),
    epsilon: slider({
      id: "plan-epsilon", label: NAMES.epsilon, ends: [0.05, 8], allowed: [2 ** -20, 16], whole: false,
      text: figure, words: epsilonWords, changed: set("epsilon"),
    }),
    error: slider({
      id: "plan-error", label: NAMES.error, ends: [0.001, 1], allowed: [1e-9, 1e9], whole: false,
      text: figure, words: () => errorWords(state.kind), changed: set("error"),
    }),
  };
  const about = el("div", { class: "about" });
  const solving = el("fieldset", { class: "either" });
  const kinds = (Object.keys(KINDS) as Kind[]).flatMap((kind) => [
    radio("kind", kind, kind === state.kind, () => choose(kind)),
    el("label", { for: `kind-${kind}` }, KINDS[kind]),
  ]);
  const host = el(
    "form",
    { class: "plan-controls card", "aria-label": "Plan", onsubmit: (event: Event) => event.preventDefault() },
    el("fieldset", { class: "kinds" }, el("legend", {}, "What is asked"), ...kinds),
    about,
    solving,
    ...Object.values(sliders).map((one) => one.host),
  );
  drawKind();
  show();

  function choose(kind: Kind): void {
    settle();
    state.kind = kind;
    if (state.solve === "rounds") state.solve = "error";
    state.error = WISHED[kind];
    drawKind();
    show();
    changed();
  }

  /** What was worked out so far is given from now on, as a round number. */
  function settle(): void {
    if (state.solve !== "rounds") state[state.solve] = Number(state[state.solve].toPrecision(3));
  }

  function solveFor(solve: Solved): void {
    settle();
    state.solve = solve;
    show();
    changed();
  }

  function drawKind(): void {
    fill(about, ...aboutFields(state, changed, drawKind));
    const offered = (Object.keys(NAMES) as Solved[]).filter((solve) => solve !== "rounds" || state.kind === "adaptive");
    const fields = offered.flatMap((solve) => [
      radio("solve", solve, solve === state.solve, () => solveFor(solve)),
      el("label", { for: `solve-${solve}` }, NAMES[solve]),
    ]);
    fill(solving, el("legend", {}, "What to work out"), ...fields);
    sliders.rounds.host.hidden = state.kind !== "adaptive";
    sliders.error.reach(...REACH[state.kind]);
  }

  function show(): void {
    for (const name of Object.keys(sliders) as Solved[]) {
      sliders[name].set(state[name]);
      sliders[name].lock(name === state.solve);
    }
  }

  return {
    host,
    solved(found) {
      const all = { users: found.users, epsilon: found.epsilon, error: found.target_error, rounds: found.rounds ?? state.rounds };
      state[state.solve] = all[state.solve];
      sliders[state.solve].set(state[state.solve]);
    },
  };
}

const radio = (name: string, value: string, checked: boolean, onchange: () => void): HTMLInputElement =>
  el("input", { type: "radio", name, id: `${name}-${value}`, value, checked, onchange });

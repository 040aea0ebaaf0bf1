/** The planner's controls: what is asked, and all but one of epsilon, people and error. */
import { MAX_EPSILON, MIN_EPSILON } from "../../../../js/src/core/limits.js";
import type { ParameterEntry, Planned, Questions } from "../../parts/api_types.js";
import { el, fill } from "../../parts/dom.js";
import { count, figure, setting } from "../../parts/format.js";
import { sentence } from "../../parts/trouble.js";
import { isPanel, questionOf } from "../../questions/declared.js";
import { Fields } from "../../questions/fields.js";
import { kindName } from "../../questions/kinds.js";
import { labelOf, parameterFields } from "../../questions/parameter_fields.js";
import type { Faults } from "../../questions/typed.js";
import { slider, type Slider } from "./slider.js";
import {
  criteriaOf,
  type Criterion,
  errorName,
  type ErrorName,
  isCompared,
  isTracking,
  marginScale,
  MAX_PERIODS,
  MAX_ROUNDS,
  MAX_PEOPLE,
  plannedMeasure,
  plannedParameters,
  type PlanState,
  POWERS,
  PREFERRED,
  RATIOS,
  type Repeats,
  type Solved,
} from "./state.js";
import { epsilonWords, ERRORS, errorWords, peopleWords, ratioWords } from "./words.js";

const SOLVED: Record<Solved, string> = { error: "Error", people: "People", epsilon: "Epsilon", rounds: "Rounds" };
/** Margins of answers between 0 and 1, from the finest to the coarsest that a slider reaches. */
const MARGINS: [number, number] = [0.0001, 1];
/** Shares of words that a slider reaches. */
const SHARES: [number, number] = [0.0001, 0.5];
const CRITERIA: Criterion[] = ["margin", "l2", "change", "share", "difference"];
const REPEATS: Record<Repeats, string> = { once: "Once", periods: "In every period", windows: "In windows, without an end" };

interface Controls {
  host: HTMLElement;
  /** Shows what was worked out. */
  solved(found: Planned): void;
  /** Says what is wrong, each at its field; gives back what has no field here. */
  say(faults: Faults): string[];
}

export function controls(state: PlanState, declared: Questions, changed: () => void): Controls {
  const fields = new Fields();
  const about = el("div", { class: "about questions" });
  const solving = el("fieldset", { class: "either" });
  const repeated = el(
    "fieldset",
    { class: "either" },
    el("legend", {}, "Asked"),
    ...(Object.keys(REPEATS) as Repeats[]).flatMap((name) => choice("repeats", name, REPEATS[name], name === state.repeats, () => repeat(name))),
  );
  const measured = el(
    "fieldset",
    { class: "either" },
    el("legend", {}, "What is wanted"),
    ...CRITERIA.flatMap((name) => choice("criterion", name, ERRORS[name], name === state.criterion, () => measure(name))),
  );
  const sliders = {
    rounds: slider({
      id: "plan-rounds", label: SOLVED.rounds, ends: [1, 1_000], allowed: [1, MAX_ROUNDS], whole: true, text: count,
      words: (n) => (n === 1 ? "one question for everybody" : `one person in ${count(n)} answers each`),
      changed: (n) => set(() => (state.rounds = n)),
    }),
    periods: slider({
      id: "plan-periods-number", label: "Periods", ends: [2, 366], allowed: [2, MAX_PERIODS], whole: true, text: count,
      words: (n) => `everybody answers in one of ${count(n)}`, changed: (n) => set(() => (state.periods = n)),
    }),
    people: slider({
      id: "plan-people", label: SOLVED.people, ends: [100, 1e9], allowed: [1, MAX_PEOPLE], whole: true, text: count,
      words: peopleWords, changed: (n) => set(() => (state.people = n)),
    }),
    epsilon: slider({
      id: "plan-epsilon", label: SOLVED.epsilon, ends: [0.05, 8], allowed: [MIN_EPSILON, MAX_EPSILON], whole: false, text: setting,
      words: epsilonWords, changed: (n) => set(() => (state.epsilon = n)),
    }),
    margin: errorSlider("margin", MARGINS),
    l2: errorSlider("l2", [0.001, 100]),
    change: errorSlider("change", MARGINS),
    share: errorSlider("share", SHARES, [1e-9, 1]),
    error: errorSlider("error", [0.001, 1]),
    difference: errorSlider("difference", MARGINS),
    power: slider({
      id: "plan-power", label: "Power", ends: [0.5, 0.99], allowed: POWERS, whole: false, text: figure,
      words: (n) => `a difference of that size is seen ${figure(100 * n)} times in 100`, changed: (n) => set(() => (state.power = n)),
    }),
    ratio: slider({
      id: "plan-ratio", label: "People in the second group for each in the first", ends: [0.1, 10], allowed: RATIOS, whole: false, text: figure,
      words: ratioWords, changed: (n) => set(() => (state.ratio = n)),
    }),
  };
  for (const [name, made] of Object.entries(sliders)) made.host.append(fields.placeFor(name, made.field));
  const kinds = declared.questions.flatMap(({ kind }) =>
    choice("kind", kind, kindName(kind), kind === state.question.kind, () => choose(kind)),
  );
  const host = el(
    "form",
    { class: "plan-controls card", "aria-label": "Plan", onsubmit: (event: Event) => event.preventDefault() },
    el("fieldset", { class: "kinds" }, el("legend", {}, "What is asked"), ...kinds),
    about,
    repeated,
    solving,
    measured,
    ...Object.values(sliders).map((one) => one.host),
  );
  drawQuestion();
  show();

  function errorSlider(name: ErrorName, ends: [number, number], allowed: [number, number] = [1e-9, 1e9]): Slider {
    const words = (n: number): string => errorWords(name, plannedMeasure(state), n);
    return slider({
      id: `plan-${name}`, label: ERRORS[name], ends, allowed, whole: false, text: figure, words,
      changed: (n) => set(() => (state.errors[name] = n)),
    });
  }

  function set(change: () => void): void {
    change();
    changed();
  }

  function choose(kind: string): void {
    settle();
    state.question = questionOf(declared, kind);
    if (state.solve === "rounds") state.solve = "error";
    keepCriterion();
    drawQuestion();
    show();
    changed();
  }

  function solveFor(solve: Solved): void {
    settle();
    state.solve = solve;
    show();
    changed();
  }

  function measure(criterion: Criterion): void {
    settle();
    state.criterion = criterion;
    show();
    changed();
  }

  function repeat(repeats: Repeats): void {
    settle();
    state.repeats = repeats;
    keepCriterion();
    show();
    changed();
  }

  /** An error that means nothing here gives way to the margin. */
  function keepCriterion(): void {
    if (!criteriaOf(state).includes(state.criterion)) state.criterion = "margin";
  }

  /** What was worked out so far is given from now on, as round numbers. */
  function settle(): void {
    const round = (value: number): number => Number(value.toPrecision(3));
    if (state.solve === "people") state.people = round(state.people);
    if (state.solve === "epsilon") state.epsilon = round(state.epsilon);
    for (const name of Object.keys(state.errors) as ErrorName[]) state.errors[name] = round(state.errors[name]);
  }

  function drawQuestion(): void {
    const setting = { fields, typed: state.typed, changed: asked, preferred: PREFERRED, number: parameterSlider(fields) };
    fill(about, ...parameterFields(plannedParameters(state.question), setting));
    const offered = (Object.keys(SOLVED) as Solved[]).filter((solve) => solve !== "rounds" || isPanel(state.question));
    const choices = offered.flatMap((solve) => choice("solve", solve, SOLVED[solve], solve === state.solve, () => solveFor(solve)));
    fill(solving, el("legend", {}, "What to work out"), ...choices);
    measured.hidden = repeated.hidden = isPanel(state.question);
    stretch();
  }

  /** A parameter has changed, and with it maybe the unit and size of the answers. */
  function asked(): void {
    stretch();
    changed();
  }

  function stretch(): void {
    const scale = marginScale(state);
    for (const one of [sliders.margin, sliders.change, sliders.difference]) one.stretch([MARGINS[0] * scale, MARGINS[1] * scale]);
  }

  /** Every slider that plays a part, at its value; the one that is worked out is not for setting. */
  function show(): void {
    const error = errorName(state);
    const compared = isCompared(state);
    const own = { rounds: isPanel(state.question), periods: isTracking(state), power: compared, ratio: compared };
    const values = valuesOf(state);
    for (const name of Object.keys(values) as (keyof typeof values)[]) {
      sliders[name].set(values[name]);
      sliders[name].lock(name === workedOut());
      sliders[name].host.hidden = name in own ? !own[name as keyof typeof own] : name in state.errors && name !== error;
    }
    for (const radio of measured.querySelectorAll("input")) {
      radio.checked = radio.value === state.criterion;
      hide(radio, !criteriaOf(state).includes(radio.value as Criterion));
    }
  }

  function workedOut(): keyof typeof sliders {
    return state.solve === "error" ? errorName(state) : state.solve;
  }

  return {
    host,
    say: (faults) => fields.say(faults, { focus: false }),
    solved(found) {
      const { solve, errors } = state;
      if (solve === "people") state.people = found.people;
      if (solve === "epsilon") state.epsilon = found.epsilon;
      if (solve === "rounds") state.rounds = found.rounds ?? state.rounds;
      // The error that was asked for stays as it was written; every other is what the plan comes to.
      const asked = solve === "error" ? null : errorName(state);
      const made = { margin: found.margin, l2: found.l2, error: found.error, change: found.tracking?.change, share: found.recall?.share, difference: found.comparison?.difference };
      for (const name of Object.keys(made) as ErrorName[]) if (name !== asked) errors[name] = made[name] ?? errors[name];
      sliders[workedOut()].set(valuesOf(state)[workedOut()]);
    },
  };
}

/** What the sliders stand at. */
const valuesOf = ({ rounds, periods, people, epsilon, errors, power, ratio }: PlanState) => ({ rounds, periods, people, epsilon, ...errors, power, ratio });

/** A radio button with the label behind it. */
function hide(radio: HTMLElement, hidden: boolean): void {
  radio.hidden = hidden;
  (radio.nextElementSibling as HTMLElement).hidden = hidden;
}

/** A radio button with its label. */
function choice(name: string, value: string, label: string, checked: boolean, onchange: () => void): HTMLElement[] {
  const id = `${name}-${value}`;
  return [el("input", { type: "radio", name, id, value, checked, onchange }), el("label", { for: id }, label)];
}

// A question's number by slider: as far as its declared range goes, and not beyond what is usual.

/** Where sliders of whole numbers and of others begin and end; what is typed may go beyond. */
const USUAL = { integer: [1, 1e6], number: [0.1, 100] } as const;

/** Makes the control of a number, with the place where it is said what is wrong with it. */
const parameterSlider =
  (fields: Fields) =>
  (parameter: ParameterEntry, text: string, changed: (text: string) => void): HTMLElement => {
    const { name, help } = parameter;
    const whole = parameter.kind === "integer";
    const [least, most] = whole ? USUAL.integer : USUAL.number;
    const allowed: [number, number] = [parameter.low ?? least, parameter.high ?? most];
    const made = slider({
      id: `plan-${name}`,
      label: labelOf(name),
      ends: [Math.max(least, allowed[0]), Math.min(most, allowed[1])],
      allowed,
      whole,
      text: whole ? count : figure,
      words: () => sentence(help),
      changed: (value) => changed(String(value)),
    });
    made.set(Number(text) || allowed[0]);
    made.host.append(fields.placeFor(name, made.field));
    return made.host;
  };

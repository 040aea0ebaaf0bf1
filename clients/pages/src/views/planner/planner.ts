/** The planner: move people, epsilon or error, and see at once what the others must be and why. */
import type { Planned } from "../../parts/api_types.js";
import { allows, type ViewContext } from "../../parts/session.js";
import { ask, Refusal, Unreachable } from "../../parts/api.js";
import { el, fill } from "../../parts/dom.js";
import { inWords } from "../../parts/trouble.js";
import { askDeclared } from "../../questions/declared.js";
import type { Faults } from "../../questions/typed.js";
import { controls } from "./controls.js";
import { result } from "./result.js";
import { requestOf, searchOf, stateOf, type PlanState } from "./state.js";

/** Milliseconds between a change and the question to the collector: those that follow at once go with it. */
const SOON = 150;
/** Milliseconds after which what stands there is shown to be out of date. */
const SLOW = 400;
/** Milliseconds after which a collector that gave no answer is asked again. */
const TRY_AGAIN = 3_000;

const MARKED = "Nothing can be worked out before what is marked has been put right.";

/** Shows the planner, set as the page's address says. */
export async function showPlanner(page: HTMLElement, { session }: ViewContext): Promise<void> {
  const declared = await askDeclared();
  const state = stateOf(location.search, declared);
  const shown = result(allows(session, "publish"));
  const set = controls(state, declared, () => askIn(SOON));
  let timer: ReturnType<typeof setTimeout> | undefined;
  let asked = 0;
  let drawn = 0;
  let quick = 0;
  let again = false;

  const root = el(
    "div",
    { class: "planner" },
    el(
      "header",
      {},
      el("h1", {}, "Plan a survey"),
      el(
        "p",
        { class: "quiet" },
        "Two of people, epsilon and error give the third. ",
        "Nobody is asked anything: errors follow from the variance of each design, for the population for which it is largest.",
      ),
    ),
    shown.head,
    set.host,
    shown.host,
  );
  fill(page, root);
  set.host.addEventListener("change", () => wrong() && shown.stale(true, false));
  void look();

  /** Whether a field is invalid, so that the plan on the page does not belong to the fields. */
  function wrong(): boolean {
    return set.host.querySelector('[aria-invalid="true"]') !== null;
  }

  function askIn(delay: number): void {
    timer ??= setTimeout(() => void look(), delay);
  }

  /** What is wrong is said at its field, or else in the answer's place. */
  function refuse(faults: Faults): void {
    const homeless = set.say(faults);
    shown.refuse(homeless.length > 0 ? homeless.join(" ") : MARKED);
    shown.stale(true, false);
  }

  /**
   * One question at a time, unless an answer is slow: while a slider moves, the answers in between are drawn too, and
   * none that is older than what stands there.
   */
  async function look(): Promise<void> {
    timer = undefined;
    if (!root.isConnected) return;
    if (quick > 0) {
      again = true;
      return;
    }
    again = false;
    const mine = ++asked;
    const told: PlanState = { ...state, errors: { ...state.errors }, typed: structuredClone(state.typed) };
    const faults: Faults = new Map();
    const request = requestOf(told, faults);
    if (faults.size > 0) {
      drawn = mine;
      return refuse(faults);
    }
    quick += 1;
    const slow = setTimeout(() => (shown.stale(true, true), free()), SLOW);
    let isSlow = false;
    function free(): void {
      if (isSlow) return;
      isSlow = true;
      quick -= 1;
      if (again) void look();
    }
    try {
      const found = await ask<Planned>("/v1/plans", request);
      const same = told.question === state.question && told.solve === state.solve && told.criterion === state.criterion;
      if (mine > drawn && same) {
        drawn = mine;
        set.say(new Map());
        set.solved(found);
        shown.show(told, found);
        shown.stale(mine < asked || wrong(), mine < asked);
        history.replaceState(history.state, "", `/plan${searchOf(told)}`);
      }
    } catch (error) {
      if (mine < asked) return;
      drawn = mine;
      refuse(new Map([[(error instanceof Refusal && error.field) || "", inWords(error)]]));
      if (error instanceof Unreachable) askIn(TRY_AGAIN);
    } finally {
      clearTimeout(slow);
      free();
    }
  }
}

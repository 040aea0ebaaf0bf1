/** The error to expect with so many people, asked of the planner. */
import { ask } from "../../parts/api.js";
import { el, fill } from "../../parts/dom.js";
import { count, figure } from "../../parts/format.js";
import { onceInWords } from "../../parts/trouble.js";
import { wholeNumber } from "./answers.js";
import { planOf, type Draft } from "./draft.js";

/** What is read of the planner's answer. */
export interface Plan {
  target_error: number | null;
  candidates: { name: string; l2: number | null; margin: number | null }[];
}

/** What a plan says of the mechanism that the survey has, in a sentence. */
export function foretell(kind: string, mechanism: string | null, plan: Plan, users: number): string {
  const people = `With ${users === 1 ? "one person" : `${count(users)} people`}`;
  const own = plan.candidates.find(({ name }) => name === mechanism);
  const margin = own?.margin ?? null;
  const error = own?.l2 ?? plan.target_error;
  if (kind === "distribution" && margin !== null && margin < 0.5)
    return `${people}, a rare answer's share is known to within ${figure(100 * margin)} percentage points, 95 times in 100.`;
  if (error === null || !Number.isFinite(error)) return `${people}, nothing can be promised yet.`;
  if (kind === "adaptive")
    return `${people}, the largest error over all questions is expected to stay below ${figure(error)}.`;
  return `${people}, all answers together are off by about ${figure(error)}: the root of their squared errors' sum.`;
}

/** A number of people, and the sentence for it. */
export function foretold(draft: Draft, mechanism: string | null): HTMLElement {
  const said = el("p", { "aria-live": "polite" });
  const users = el("input", {
    id: "people",
    type: "text",
    inputmode: "numeric",
    class: "figures",
    value: "10000",
    oninput: () => later(),
  });
  let timer: ReturnType<typeof setTimeout> | undefined;
  let latest = 0;

  function later(): void {
    clearTimeout(timer);
    timer = setTimeout(() => void tell(), 250);
  }

  async function tell(): Promise<void> {
    const people = wholeNumber(users.value);
    const mine = ++latest;
    if (people === null || people < 1) return fill(said, "How many people will answer? A whole number.");
    let words: string;
    try {
      words = foretell(draft.kind, mechanism, await ask<Plan>("/v1/plan", planOf(draft, people)), people);
    } catch (error) {
      words = onceInWords(error);
    }
    if (mine === latest) fill(said, words);
  }

  void tell();
  return el("div", { class: "foretold" }, el("label", { for: "people" }, "If so many people answer"), users, said);
}

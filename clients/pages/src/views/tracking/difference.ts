/** How much an answer changed between two periods that are chosen. */
import type { DifferenceBody, PeriodStatus } from "../../parts/api_types.js";
import { ask } from "../../parts/api.js";
import { el, fill } from "../../parts/dom.js";
import { capital, inWords } from "../../parts/trouble.js";
import { differenceWords } from "./words.js";

export interface DifferenceView {
  element: HTMLElement;
  /** Numbers of the two periods, the earlier first; null as long as there are no two. */
  compared(): [number, number] | null;
  /** Periods that have an estimate, and the answers that are looked at. */
  update(periods: readonly PeriodStatus[], answers: readonly string[], level: number): void;
}

/** `onChoose` is called when other periods are compared. */
export function differenceView(id: string, onChoose: () => void): DifferenceView {
  const chosen = (): void => {
    touched = true;
    onChoose();
    void look();
  };
  const earlier = el("select", { id: "earlier-period", onchange: chosen });
  const later = el("select", { id: "later-period", onchange: chosen });
  const said = el("div", { role: "status" });
  const element = el(
    "section",
    { class: "card difference", "aria-labelledby": "difference", hidden: true },
    el("h2", { id: "difference" }, "Compare two periods"),
    el("div", { class: "compared" }, el("label", { for: earlier.id }, "From"), earlier, el("label", { for: later.id }, "to"), later),
    said,
  );
  let periods: readonly PeriodStatus[] = [];
  let answers: readonly string[] = [];
  let level = 0.95;
  let touched = false;
  let asked = 0;

  function offer(select: HTMLSelectElement, first: number | undefined): void {
    const before = touched && periods.some(({ number }) => number === Number(select.value)) ? Number(select.value) : first;
    fill(select, ...periods.map(({ number, label }) => el("option", { value: number, selected: number === before }, capital(label))));
  }

  function compared(): [number, number] | null {
    const [from, to] = [Number(earlier.value), Number(later.value)];
    return periods.length < 2 || from === to ? null : [Math.min(from, to), Math.max(from, to)];
  }

  async function look(): Promise<void> {
    const pair = compared();
    if (pair === null) return fill(said, el("p", { class: "quiet" }, "Choose two different periods."));
    const mine = (asked += 1);
    try {
      const found = await Promise.all(answers.map((answer) => difference(answer, pair)));
      if (mine !== asked) return;
      fill(said, ...found.map((one) => el("p", {}, differenceWords(nameOf(pair[0]), nameOf(pair[1]), one))));
    } catch (error) {
      if (mine === asked) fill(said, el("p", { class: "trouble" }, inWords(error)));
    }
  }

  const difference = (answer: string, pair: [number, number]): Promise<DifferenceBody> =>
    ask(`/v1/surveys/${id}/difference?${new URLSearchParams({ earlier: String(pair[0]), later: String(pair[1]), answer, level: String(level) })}`);

  const nameOf = (number: number): string => periods.find((period) => period.number === number)?.label ?? "";

  return {
    element,
    compared,
    update(now, which, sure) {
      [periods, answers, level] = [now, which, sure];
      element.hidden = periods.length < 2;
      offer(earlier, periods[0]?.number);
      offer(later, periods.at(-1)?.number);
      if (!element.hidden) void look();
    },
  };
}

/** Differences of two groups as a table: of answers, or of periods. */
import type { DifferenceRow } from "../../parts/api_types.js";
import { el, fill } from "../../parts/dom.js";
import { percent, plain } from "../../parts/format.js";
import { type AnswerUnit, pWords, signed, unitOf, writer } from "./words.js";

/** Most rows; the file holds all. */
const MOST = 30;

type TestedRow = Omit<DifferenceRow, "raw">;

interface DifferenceTable {
  element: HTMLElement;
  show(what: string, names: readonly string[], rows: readonly TestedRow[], level: number, measured: AnswerUnit): void;
}

export function differenceTable(): DifferenceTable {
  const body = el("tbody");
  const head = el("tr");
  const element = el(
    "div",
    { class: "scroll", tabindex: "0", role: "region", "aria-label": "Differences", hidden: true },
    el("table", { class: "compared-table figures" }, el("caption", { class: "visually-hidden" }, "Differences of two groups"), el("thead", {}, head), body),
  );
  return {
    element,
    show(what, names, rows, level, measured) {
      const write = writer(measured, rows.flatMap((one) => [one.first, one.second]));
      const apart = signed(measured, rows.flatMap(({ value, low, high }) => [value, low, high]));
      element.hidden = false;
      fill(head, ...[what, ...names, `difference${unitOf(measured)} (${percent(level)} interval)`, "p", "adjusted (Holm)"].map((text) => el("th", { scope: "col" }, plain(text))));
      fill(
        body,
        ...rows.slice(0, MOST).map((one) =>
          el(
            "tr",
            { class: isReal(one) ? "real" : null },
            el("th", { scope: "row", dir: "auto" }, plain(one.label)),
            ...[write(one.first), write(one.second), `${apart(one.value)} (${apart(one.low)} to ${apart(one.high)})`, pWords(one.p_value), one.adjusted_p_value === null ? "–" : pWords(one.adjusted_p_value)].map((text) => el("td", {}, text)),
          ),
        ),
      );
    },
  };
}

/** Whether it is called real at 5 %, beside all the others. */
export const isReal = ({ adjusted_p_value: p }: Pick<TestedRow, "adjusted_p_value">): boolean => p !== null && p <= 0.05;

/** One number between two ends. */
import type { NumberQuestion } from "../../../../js/src/questions/number.js";
import { count, figure } from "../../parts/format.js";
import { numberField, numberText, quantity } from "../fields/number_field.js";
import { type Kind, MOST_STRIPES } from "./kind.js";

type NumberAsked = Pick<NumberQuestion, "grid" | "wants">;

/** Bars of a picture: so many that no gaps are drawn between them. */
const BARS = 128;

const LEARNT: Readonly<Record<string, string>> = {
  mean: "the average over everybody",
  distribution: "what share of everybody lies at or below each of some marks",
  spread: "the average over everybody, and how far people lie from it",
};

export function numberKind({ grid, wants }: NumberAsked): Kind<number> {
  const { low, high, unit, points } = grid;
  const inside = (value: number) => Math.min(Math.max(value, low), high);
  return {
    size: null,
    words: ["Say one number.", `The collector learns roughly ${LEARNT[wants] ?? "an average"}, and not who gave what.`],
    unfitting: "If you do not know it exactly, say about how much it is.",
    field: (legend, id) => numberField(grid, legend, id),
    text: (value) => numberText(value, grid),
    drawn: () => (wants === "distribution" ? binned(points) : rounded(grid)),
    examples(_found, mine) {
      // Between two marks the probability changes evenly; in a bin it does not change.
      const size = wants === "distribution" && points <= MOST_STRIPES ? points : BARS;
      const own = mine === null ? -1 : Math.round(((size - 1) * (inside(mine) - low)) / (high - low));
      const value = (i: number) => (i === own ? inside(mine!) : low + (i / (size - 1)) * (high - low));
      const label = (i: number) => quantity(i === own ? value(i) : Number(value(i).toPrecision(3)), unit);
      return [{ view: "stripes", about: "", size, own, label, value }];
    },
  };
}

/** How a number becomes one of few. */
function rounded({ low, high, unit, points }: NumberAsked["grid"]): string {
  const apart = `${figure((high - low) / (points - 1))}${unit && `\u00a0${unit}`}`;
  return (
    `Before anything leaves, your number is rounded at random to one of the two nearest of ${count(points)} marks, ` +
    `which are ${apart} apart, and then the report is drawn by a public table of probabilities: ` +
    "every report is possible from every number."
  );
}

const binned = (points: number): string =>
  `Your number counts as one of ${count(points)} bins of equal width, and the report is drawn for that bin.`;


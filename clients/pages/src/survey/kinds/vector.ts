/** One vector of some numbers, of bounded length. */
import type { Vector } from "../../../../js/src/questions/vector.js";
import { el } from "../../parts/dom.js";
import { count, figure } from "../../parts/format.js";
import { numbersFault, numbersIn } from "../fields/faults.js";
import { type Field, together, typedField } from "../fields/field.js";
import { type Kind, NEAREST } from "./kind.js";

/** Up to so many numbers have a field each. */
const FEW_COORDINATES = 8;
/** Numbers of a vector that are shown. */
const MOST_NUMBERS = 12;

export function vectorKind(question: Pick<Vector, "dimension" | "radius">): Kind<number[]> {
  const numbers = question.dimension === 1 ? "one number" : `${count(question.dimension)} numbers`;
  return {
    size: null,
    words: [`Say ${numbers}.`, "The collector learns roughly the average over everybody, and not who gave what."],
    unfitting: NEAREST,
    field: (_legend, id) => vectorField(question, id),
    text: vectorText,
    drawn: () => "",
    examples: () => [],
  };
}

export function vectorText(numbers: readonly number[]): string {
  const shown = numbers.slice(0, MOST_NUMBERS).map(figure).join(", ");
  return numbers.length > MOST_NUMBERS ? `${shown}, … (${numbers.length} in all)` : shown;
}

/** A longer vector is shortened. */
function vectorField({ dimension, radius }: Pick<Vector, "dimension" | "radius">, id: string): Field<number[]> {
  const length = dimension === 1 ? `from ${-radius} to ${radius}` : `of length at most ${radius}`;
  if (dimension > FEW_COORDINATES) {
    const hint = `${dimension} numbers, with spaces or commas between them, ${length}; longer ones are scaled to that.`;
    const fault = (text: string) => numbersFault(text, dimension);
    return typedField({ label: "Your numbers", id, hint, parse: (text) => numbersIn(text, dimension), fault, isLong: true });
  }
  const label = (i: number) => (dimension === 1 ? "Your number" : `Number ${i + 1}`);
  const parse = (text: string) => numbersIn(text, 1)?.[0] ?? null;
  const fault = (text: string) => numbersFault(text, 1);
  const fields = Array.from({ length: dimension }, (_, i) =>
    typedField({ label: label(i), id: `${id}-${i}`, given: { class: "number" }, parse, fault }),
  );
  const said =
    dimension === 1
      ? `A number ${length}; what lies outside is moved to the nearer end.`
      : `Numbers ${length} together; longer ones are scaled to that.`;
  return together(fields, el("p", { class: "quiet small" }, said), "coordinates");
}

/** A field for one number between two ends, in its unit. What lies outside is clipped, which is said at once. */
import { el, fill } from "../../parts/dom.js";
import { numbersFault, numbersIn } from "./faults.js";
import { type Field, orMissing, typedField } from "./field.js";
import { plain } from "./values.js";

/** What is needed of the numbers that can be given. */
export interface NumberSpan {
  readonly low: number;
  readonly high: number;
  readonly unit: string;
  /** What no answer counts as, if it counts. */
  readonly missing?: number | null;
}

/** A number with its unit, as people write it. */
export const quantity = (value: number, unit: string): string =>
  `${exact(value)}${unit && `\u00a0${plain(unit)}`}`;

const exact = (value: number): string => String(Number(value.toPrecision(12))).replace(/^-|(?<=e)-/g, "−");

/** A person's number as it is shown to them: one outside with what it counts as. */
export function numberText(value: number, { low, high, unit }: NumberSpan): string {
  const inside = Math.min(Math.max(value, low), high);
  return quantity(value, unit) + (inside === value ? "" : `, which counts as ${quantity(inside, unit)}`);
}

/** What a number outside counts as; empty for one inside. */
export function clippedWords(value: number, { low, high, unit }: NumberSpan): string {
  if (value > high) return `That is above ${quantity(high, unit)}, and will count as ${quantity(high, unit)}.`;
  return value < low ? `That is below ${quantity(low, unit)}, and will count as ${quantity(low, unit)}.` : "";
}

export function numberField(span: NumberSpan, label: string, id: string): Field<number> {
  const { low, high, unit } = span;
  const field = typedField({
    label,
    id,
    hint: `From ${exact(low)} to ${quantity(high, unit)}; a number outside counts as the nearer end.`,
    unit: plain(unit),
    given: { inputmode: low >= 0 ? "decimal" : "text", class: "number" },
    parse: (text) => numbersIn(text, 1)?.[0] ?? null,
    fault: (text) => numbersFault(text, 1),
  });
  const told = el("p", { class: "small clipped", role: "status" });
  field.element.append(told);
  field.element.addEventListener("input", () => {
    const value = field.read();
    fill(told, value !== null && clippedWords(value, span));
  });
  const { missing = null } = span;
  return orMissing(field, missing, missing === null ? "" : quantity(missing, unit));
}

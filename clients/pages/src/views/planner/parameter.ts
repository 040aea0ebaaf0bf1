/** A question's number by slider: as far as its declared range goes, and not beyond what is usual. */
import type { ParameterEntry } from "../../parts/api_types.js";
import { count, figure } from "../../parts/format.js";
import { sentence } from "../../parts/trouble.js";
import type { Fields } from "../../questions/fields.js";
import { labelOf } from "../../questions/parameter_fields.js";
import { slider } from "./slider.js";

/** Where sliders of whole numbers and of others begin and end; what is typed may go beyond. */
const USUAL = { integer: [1, 1e6], number: [0.1, 100] } as const;

/** Makes the control of a number, with the place where it is said what is wrong with it. */
export const parameterSlider =
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

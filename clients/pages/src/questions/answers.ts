/** Numbers, labels and ranges, read from what was typed. */
import { count } from "../parts/format.js";

/** Whole numbers from start to stop, both included. */
export interface Range {
  start: number;
  stop: number;
}

export type Values = string[] | Range;

/** What was read, or what is wrong with it. */
export type Read<Found> = { found: Found } | { wrong: string };

const WHOLE = /^[-−]?\d{1,16}$/;
const BOTH_ENDS = /^([-−]?\d{1,16})\s*(?:\.\.|…|–|to)\s*([-−]?\d{1,16})$/;

/** One label per line; blank lines and spaces around are of no account. */
export function readLabels(text: string): Read<string[]> {
  return distinct(text.split(/\r\n|\r|\n/), "on lines");
}

/** Whole numbers from one to another, both included. */
export function readRange(from: string, to: string): Read<Range> {
  const start = wholeNumber(from);
  const stop = wholeNumber(to);
  if (start === null || stop === null) return { wrong: "Write two whole numbers, such as 0 and 99." };
  if (stop <= start) return { wrong: `The last number must be larger than the first, ${start}.` };
  return { found: { start, stop } };
}

/** Values of one attribute: "0 to 99", labels one per line, or on one line with commas between. */
export function readValues(text: string): Read<Values> {
  const ends = BOTH_ENDS.exec(text.trim());
  if (ends !== null) return readRange(ends[1] ?? "", ends[2] ?? "");
  const lines = text.trim().split(/\r\n|\r|\n/);
  return lines.length > 1 ? distinct(lines, "on lines") : distinct(text.split(","), "at places");
}

/** How many values these are. */
export const sizeOf = (values: Values): number =>
  Array.isArray(values) ? values.length : values.stop - values.start + 1;

/** What was understood, in a few words. */
export function understood(values: Values): string {
  if (!Array.isArray(values)) return `${count(sizeOf(values))} whole numbers, ${values.start} to ${values.stop}`;
  const some = values.slice(0, 4).join(", ");
  return `${count(values.length)} values: ${some}${values.length > 4 ? ", …" : ""}`;
}

/** The whole number that was typed, or null. */
export function wholeNumber(text: string): number | null {
  const plain = text.trim().replaceAll(/[\s,_](?=\d{3}\b)/g, "");
  const number = WHOLE.test(plain) ? Number(plain.replace("−", "-")) : NaN;
  return Number.isSafeInteger(number) ? number : null;
}

/** The number that was typed, with a point or a comma, or null. */
export function numberFrom(text: string): number | null {
  const plain = text.trim().replace(",", ".");
  const number = plain === "" ? NaN : Number(plain);
  return Number.isFinite(number) ? number : null;
}

function distinct(parts: string[], places: string): Read<string[]> {
  const first = new Map<string, number>();
  for (const [position, part] of parts.entries()) {
    const label = part.trim();
    if (label === "") continue;
    const before = first.get(label);
    if (before !== undefined)
      return {
        wrong:
          `“${shortened(label)}” is there twice, ${places} ${count(before)} and ${count(position + 1)}. ` +
          "Every value must be different.",
      };
    first.set(label, position + 1);
  }
  if (first.size === 0) return { wrong: "Write the values that people can have." };
  if (first.size === 1) return { wrong: "One value alone tells nothing: write two or more." };
  return { found: [...first.keys()] };
}

const shortened = (label: string): string => (label.length > 40 ? `${label.slice(0, 40)}…` : label);

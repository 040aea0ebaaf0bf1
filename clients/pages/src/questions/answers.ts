/** Numbers, labels and ranges, read from what was typed. */
import { count, counted, figure } from "../parts/format.js";

/** Whole numbers from start to stop, both included. */
export interface Range {
  start: number;
  stop: number;
}

/** Any number between two ends, in a unit. */
export interface Span {
  low: number;
  high: number;
  unit?: string;
  points?: number;
}

/** Labels, where more is said of them. */
export interface Labels {
  labels: string[];
}

export type AttributeValues = string[] | ((Labels | Range | Span) & { missing?: string });

/** Values as they are typed. */
export type ReadValues = string[] | Range | Span;

/** What was read, or what is wrong with it. */
export type Read<Found> = { found: Found } | { wrong: string };

const WHOLE = /^[-−]?\d{1,16}$/;
/** Two numbers, what they are of, and into how many points it is divided: "0 to 600 minutes, 5 points". */
const BOTH_ENDS =
  /^([-−]?\d+(?:\.\d+)?)\s*(?:\.\.|…|–|to)\s*([-−]?\d+(?:\.\d+)?)(?:\s*([^\s\d,][^,\n]{0,39}))?(?:,\s*(\d{1,5})\s*points)?$/u;

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

/**
 * Values of one attribute: "0 to 99", labels one per line, or on one line with commas between.
 *
 * In a form, two numbers with decimals, a unit or points are the ends of any number, as in "0 to 600 minutes".
 */
export function readValues(text: string, inForm = false): Read<ReadValues> {
  const [, from = "", to = "", unit, points] = BOTH_ENDS.exec(text.trim()) ?? [];
  const isSpanned = unit !== undefined || points !== undefined || /\./.test(from + to);
  if (isSpanned && inForm) return readSpan(from, to, unit, points);
  if (from !== "" && !isSpanned) return readRange(from, to);
  const lines = text.trim().split(/\r\n|\r|\n/);
  return lines.length > 1 ? distinct(lines, "on lines") : distinct(text.split(","), "at places");
}

function readSpan(from: string, to: string, unit?: string, points?: string): Read<Span> {
  const [low, high] = [from, to].map((end) => numberFrom(end.replace("−", "-"))) as [number, number];
  if (high <= low) return { wrong: `The last number must be larger than the first, ${figure(low)}.` };
  return { found: { low, high, ...(unit ? { unit: unit.trim() } : {}), ...(points ? { points: Number(points) } : {}) } };
}

export const isSpan = (values: object): values is Span => "low" in values && typeof values.low === "number";

/** The values, with what no answer counts as. */
export const withMissing = (values: ReadValues, missing: string): AttributeValues =>
  Array.isArray(values) ? { labels: values, missing } : { ...values, missing };

/** How many values these are. */
export const sizeOf = (values: string[] | Range): number =>
  Array.isArray(values) ? values.length : values.stop - values.start + 1;

/** What was understood, in a few words. */
export function understood(values: ReadValues): string {
  if (isSpan(values)) return `any number from ${figure(values.low)} to ${figure(values.high)} ${values.unit ?? ""}`.trimEnd();
  if (!Array.isArray(values)) return `${count(sizeOf(values))} whole numbers, ${values.start} to ${values.stop}`;
  const some = values.slice(0, 4).join(", ");
  return `${counted(values.length, "value")}: ${some}${values.length > 4 ? ", …" : ""}`;
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

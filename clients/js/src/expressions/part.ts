/**
 * Checked parts of an expression: each with its kind, bounds that hold for every record, and how it is computed.
 *
 * Every part is computed for every record, both sides of an `if` included, and nothing is cut short: what runs
 * depends on the expression and the domain alone.
 */
import { QueryError } from "../core/errors.js";
import type { Domain } from "../domain/domain.js";

// What an expression is, once it has been read.

/** An integer is a bigint, a real a number; an operation is its name and its arguments. */
export type Tree = boolean | bigint | number | string | Operation;
export type Operation = readonly [string, ...(Tree | readonly Tree[])[]];

// What is wrong with a query, and the integers that one may reach.

export const SMALLEST = -(2n ** 63n);
export const LARGEST = 2n ** 63n - 1n;

/** The error of a query that cannot be asked; says what is allowed. */
export const fault = (message: string): QueryError => new QueryError(`the survey's query cannot be asked: ${message}`);

type ValueKind = "integer" | "real" | "truth" | "text";
/** An integer is a bigint, a real a number. */
export type Scalar = bigint | number;
/** The numbers of a record's attributes, in the domain's order. */
export type Record = readonly bigint[];
/** What a part gives for a record: a scalar, a truth, or the number of a text. */
type Of = (record: Record) => any;

/** One operation with its arguments; `low` and `high` bound what it can ever give, rounding included. */
export interface Part {
  readonly kind: ValueKind;
  readonly low: Scalar;
  readonly high: Scalar;
  readonly of: Of;
  /** The domain of a text, which is known by its number there. */
  readonly domain?: Domain;
}

export const integer = (low: bigint, high: bigint, of: Of): Part => ({ kind: "integer", low, high, of });
export const truth = (of: Of): Part => ({ kind: "truth", low: 0n, high: 1n, of });
export const text = (of: Of, domain: Domain): Part => ({ kind: "text", low: 0n, high: 0n, of, domain });
/** A number that stands in the expression. */
export const constant = (value: Scalar): Part => gathered([value], () => 0);

/** A function of parts, all of them computed. */
export const computed =
  (apply: (...values: any[]) => any, ...parts: readonly Part[]): Of =>
  (record) =>
    apply(...parts.map((part) => part.of(record)));

/** One of two values, chosen by look-up: no branch tells which. */
export const pick = <T>(condition: boolean, yes: T, no: T): T => [no, yes][Number(condition)]!;

/** The first of the least, and of the greatest: so even the sign of a zero is settled. */
export const least = (...values: any[]): any => values.reduce((a, b) => pick(b < a, b, a));
export const greatest = (...values: any[]): any => values.reduce((a, b) => pick(b > a, b, a));

/** A part that gives nothing outside its corners; refused where that would leave 64 bits or the finite reals. */
export function bounded(kind: ValueKind, corners: readonly Scalar[], of: Of): Part {
  const [low, high] = [least(...corners), greatest(...corners)];
  if (kind === "integer" ? low < SMALLEST || high > LARGEST : !Number.isFinite(low) || !Number.isFinite(high)) {
    throw fault("a result may leave the integers of 64 bits, or the finite reals; clip it");
  }
  return { kind, low, high, of };
}

/** One of some numbers, all of one kind, by its place. */
export function gathered(listed: readonly Scalar[], place: (record: Record) => number): Part {
  const kind = typeof listed[0] === "bigint" ? "integer" : "real";
  let [low, high] = [listed[0]!, listed[0]!];
  for (const number of listed) [low, high] = [least(low, number), greatest(high, number)];
  return { kind, low, high, of: (record) => listed[place(record)]! };
}

/** The part as an integer or a real: a truth counts as 0 or 1, a text is refused. */
export function asNumber(part: Part): Part {
  if (part.kind === "text") throw fault("a text stands where a number is due; compare it with ==, != or in");
  return part.kind === "truth" ? integer(0n, 1n, computed(BigInt, part)) : part;
}

/** The number as a double, rounded to the nearest. */
export function asReal(part: Part): Part {
  return { kind: "real", low: Number(part.low), high: Number(part.high), of: computed(Number, part) };
}

/** Numbers of one kind: where one is real, the integers become reals first. */
export function alike(parts: readonly Part[]): readonly Part[] {
  return parts.every((part) => part.kind === "integer") ? parts : parts.map(asReal);
}

/** Constants of one kind likewise. */
export function alikeConstants(listed: readonly Scalar[]): readonly Scalar[] {
  return listed.every((value) => typeof value === "bigint") ? listed : listed.map(Number);
}

/**
 * The place of a value among constants; their number where it is not among them. Where a constant stands twice, some
 * number below that. All are compared, one after the other: the grammar allows 2^16.
 */
export function placeOf(listed: readonly Scalar[], value: Scalar): number {
  let place = listed.length;
  for (let i = 0; i < listed.length; i++) place += Number(listed[i] === value) * (i - listed.length);
  return place;
}

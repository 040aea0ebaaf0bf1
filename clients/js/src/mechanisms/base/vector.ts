/**
 * Mechanisms whose value is a vector in a ball: what they are made from, and how a vector is brought into the ball.
 *
 * Nothing here branches on an entry: what is chosen between is computed in any case, then taken by look-up.
 */
import { ValueOutsideDomainError } from "../../core/errors.js";
import type { JsonObject } from "../../core/json.js";
import type { Mechanism, Terms } from "./mechanism.js";

/** The ball, and the terms under which a vector of it is randomized. */
export interface Ball extends Terms {
  readonly dimension: number;
  readonly radius: number;
}

/** A mechanism for a vector of `dimension` numbers; longer ones than the radius are clipped. */
export type VectorMechanism = Mechanism<ArrayLike<number>>;

/** Makes a mechanism from what a survey states; `own` are the mechanism's own parameters, exactly those it names. */
export interface VectorKind {
  readonly parameters: readonly string[];
  make(ball: Ball, own: JsonObject): VectorMechanism;
}

/** What a length is taken to be at least, where it is divided by. */
const TINY = 1e-300;

/** Types of an entry; null is one, too. What is missing is not finite, and counts as zero. */
const ENTRIES = new Set(["number", "bigint", "boolean", "undefined"]);

/** The entries of a vector of so many numbers, a list or a typed array, or one number where it has one; else null. */
export function asVector(given: unknown, dimension: number): number[] | null {
  const listed = Array.isArray(given) || (ArrayBuffer.isView(given) && !(given instanceof DataView));
  const single = dimension === 1 && typeof given !== "boolean" ? [given] : [];
  const entries = Array.from(listed ? (given as ArrayLike<unknown>) : single);
  const isVector = entries.length === dimension && entries.every((entry) => entry === null || ENTRIES.has(typeof entry));
  return isVector ? entries.map((entry) => Number(entry ?? NaN)) : null;
}

/** The vector, or an error that does not name the value. */
export function checkVector(given: unknown, dimension: number): number[] {
  const found = asVector(given, dimension);
  if (!found) throw new ValueOutsideDomainError(`the value must be a vector of ${dimension} number${dimension === 1 ? "" : "s"}`);
  return found;
}

/**
 * The vector as a device randomizes it: entries that are not finite count as zero, and a vector outside the ball moves
 * to the nearest point of it. Only a wrong shape, which says nothing about the value, is refused.
 */
export function clipped(given: unknown, ball: Ball): Float64Array {
  const vector = checkVector(given, ball.dimension);
  const finite = new Float64Array(ball.dimension);
  const choice = new Float64Array(2);
  for (let i = 0; i < finite.length; i++) {
    choice[1] = vector[i]!;
    finite[i] = choice[Number(Number.isFinite(choice[1]))]!;
  }
  return clipToBall(finite, ball.radius);
}

/** The nearest point of the ball; scaled before squaring, so that nothing overflows. */
export function clipToBall(vector: Float64Array, radius: number): Float64Array {
  let largest = TINY;
  for (let i = 0; i < vector.length; i++) largest = Math.max(largest, Math.abs(vector[i]!));
  const moved = vector.map((entry) => entry / largest);
  const limit = radius / Math.max(Math.sqrt(squaredNorm(moved)), TINY);
  for (let i = 0; i < moved.length; i++) moved[i]! *= limit;
  return [moved, vector][Number(largest <= limit)]!;
}

/** The sum of the squares, from the first entry to the last. */
export function squaredNorm(vector: Float64Array): number {
  let sum = 0;
  for (let i = 0; i < vector.length; i++) sum += vector[i]! * vector[i]!;
  return sum;
}

/** The point (a, sqrt(r^2 - |a|^2), 0, ..)/r of the unit sphere, with `size` entries. */
export function lift(vector: Float64Array, radius: number, size: number): Float64Array {
  const lifted = new Float64Array(size);
  for (let i = 0; i < vector.length; i++) lifted[i] = vector[i]! / radius;
  lifted[vector.length] = Math.sqrt(Math.max(0, 1 - squaredNorm(lifted)));
  return lifted;
}

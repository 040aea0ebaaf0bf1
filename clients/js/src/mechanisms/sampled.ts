/** Mechanisms that first draw, in public, what they report on: here, how often each level or group is drawn. */
import { checkInteger } from "../core/limits.js";
import type { Json } from "../core/json.js";

const HEAVIEST = 1024;

const gcd = (a: number, b: number): number => (b === 0 ? a : gcd(b, a % b));

/** A tilt in its range. */
export const checkTilt = (tilt: Json | undefined): number => checkInteger("tilt", tilt, -15, 15);

/**
 * Integer weights of levels, the last the heaviest: going up, each is (16 - tilt)/16 of the one below it.
 *
 * A negative tilt mirrors them. Integers and floors only, so that every device and collector finds the same; no weight
 * is below 1; common factors are divided out.
 */
export function tiltedWeights(levels: number, tilt: number): number[] {
  const falling = [HEAVIEST];
  while (falling.length < levels) falling.push(Math.max(1, Math.floor((falling.at(-1)! * (16 - Math.abs(tilt))) / 16)));
  const common = falling.reduce(gcd);
  const weights = falling.map((weight) => weight / common);
  return tilt < 0 ? weights : weights.reverse();
}

/** The running sums of some numbers, beginning with 0. */
export function runningSums(numbers: readonly number[]): number[] {
  const sums = [0];
  for (const number of numbers) sums.push(sums.at(-1)! + number);
  return sums;
}

/** How many of the running sums, the first 0 left out, a draw below the last has reached. */
export const reached = (sums: readonly number[], drawn: number): number =>
  sums.slice(1).filter((sum) => sum <= drawn).length;

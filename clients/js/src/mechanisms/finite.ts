/** Mechanisms whose value is one of finitely many, numbered from 0. */
import { ValueOutsideDomainError } from "../errors.js";
import type { JsonObject } from "../json.js";
import type { Mechanism } from "../mechanism.js";

/** A mechanism for a value 0 .. domainSize-1. */
export type FiniteMechanism = Mechanism<number>;

/** Makes a mechanism from what a survey states; `own` are the mechanism's own parameters, exactly those it names. */
export interface FiniteKind {
  readonly parameters: readonly string[];
  make(domainSize: number, epsilon: number, own: JsonObject): FiniteMechanism;
}

/** The value, if it is one of the domain's numbers; the error never names it. */
export function checkValue(value: unknown, domainSize: number): number {
  if (!Number.isInteger(value) || (value as number) < 0 || (value as number) >= domainSize) {
    throw new ValueOutsideDomainError(`the value is not in the domain; allowed: integers from 0 to ${domainSize - 1}`);
  }
  return value as number;
}

/** Whether two integers below 2^53 have an odd number of ones in common. */
export function oddOverlap(a: number, b: number): boolean {
  const high = Math.floor(a / 2 ** 32) & Math.floor(b / 2 ** 32);
  let common = (a & b) ^ high;
  common ^= common >>> 16;
  common ^= common >>> 8;
  common ^= common >>> 4;
  return ((0x6996 >>> (common & 15)) & 1) === 1; // bit i of 0x6996 is the parity of i
}

/** The lowest one bit of a positive integer below 2^53. */
export function lowBit(a: number): number {
  const low = a % 2 ** 32;
  return low === 0 ? 2 ** 32 * lowBit(a / 2 ** 32) : (low & -low) >>> 0;
}

/** `a` with one bit of it flipped. */
export const flip = (a: number, bit: number): number => (Math.floor(a / bit) % 2 === 1 ? a - bit : a + bit);

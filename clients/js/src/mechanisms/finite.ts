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

/** Whether an integer below 2^64 has an odd number of ones. */
export function odd(code: bigint): boolean {
  let folded = Number(code & 0xffffffffn) ^ Number(code >> 32n);
  for (const shift of [16, 8, 4, 2, 1]) folded ^= folded >>> shift;
  return (folded & 1) === 1;
}

/** Whether two integers have an odd number of ones in common. */
export const oddOverlap = (a: number, b: number): boolean => odd(BigInt(a) & BigInt(b));

/** The lowest one bit of a positive integer. */
export const lowBit = (a: number): number => Number(BigInt(a) & -BigInt(a));

/** `a` with one bit of it flipped. */
export const flip = (a: number, bit: number): number => Number(BigInt(a) ^ BigInt(bit));

/** The first if the condition holds, else the second: both are there, so that no branch tells which was taken. */
export const choose = <T>(condition: boolean, yes: T, no: T): T => [no, yes][Number(condition)]!;

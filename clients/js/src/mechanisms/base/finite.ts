/** Mechanisms whose value is one of finitely many, numbered from 0. */
import { ValueOutsideDomainError } from "../../core/errors.js";
import type { JsonObject } from "../../core/json.js";
import type { Mechanism } from "./mechanism.js";

/** A mechanism for a value 0 .. domainSize-1. */
export type FiniteMechanism = Mechanism<number>;

/** Makes a mechanism from what a survey states; `own` are the mechanism's own parameters, exactly those it names. */
export interface FiniteKind {
  readonly parameters: readonly string[];
  make(domainSize: number, epsilon: number, own: JsonObject): FiniteMechanism;
}

/** Mechanisms of other packages by their names, as the application brings them. */
export type BroughtMechanisms = Readonly<Record<string, FiniteKind>>;

/** The value, if it is one of the domain's numbers; the error never names it. */
export function checkValue(value: unknown, domainSize: number): number {
  if (!Number.isInteger(value) || (value as number) < 0 || (value as number) >= domainSize) {
    throw new ValueOutsideDomainError(`the value is not in the domain; allowed: integers from 0 to ${domainSize - 1}`);
  }
  return value as number;
}

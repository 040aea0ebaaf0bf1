/** Mechanisms whose value is a set of options: a row of numbers, its options and then dummies, all in increasing order. */
import type { Domain } from "../../domain/domain.js";
import { ValueOutsideDomainError } from "../../core/errors.js";
import type { JsonObject } from "../../core/json.js";
import type { Mechanism, Terms } from "./mechanism.js";

/** What is asked: which of these options, at most so many. */
export interface AskedSets {
  readonly options: Domain;
  readonly most: number;
}

export type Row = readonly number[];

export interface SetMechanism extends Mechanism<Row> {
  readonly asked: AskedSets;
}

/** Makes a mechanism from what a survey states; `own` are the mechanism's own parameters, exactly those it names. */
export interface SetKind {
  readonly parameters: readonly string[];
  make(asked: AskedSets, terms: Terms, own: JsonObject): SetMechanism;
}

export const increasing = (a: number, b: number): number => a - b;

/** The row of these options: dummies are the numbers from that of the options on, as many as are missing. */
export function rowOf(members: readonly number[], { options, most }: AskedSets): Row {
  const dummies = Array.from({ length: most - members.length }, (_, i) => Number(options.size) + i);
  return [...members, ...dummies].sort(increasing);
}

/** The row, if it is one; the error never names it. */
export function checkRow(row: Row, asked: AskedSets): Row {
  const members = [...new Set(row)].filter((member) => Number.isInteger(member) && member >= 0 && member < asked.options.size);
  if (members.length > asked.most || String(rowOf(members, asked)) !== String(row)) {
    throw new ValueOutsideDomainError(`a set must be ${asked.most} different numbers: its options, and then dummies`);
  }
  return row;
}

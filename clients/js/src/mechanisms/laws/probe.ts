/**
 * Asks the very randomizer that draws reports, with a source whose draws come out as told and which notes what was
 * asked: so likelihoods stand at the thresholds that are really used.
 */
import type { Mechanism } from "../base/mechanism.js";
import type { Source } from "../../randomness/source.js";

/** What a randomizer returns where its draws come out like this, one after the other, and what it asked for. */
export interface Probed {
  readonly payload: Uint8Array;
  /** For every draw the number of outcomes, or as a bigint the threshold of a private bit. */
  readonly asked: readonly (number | bigint)[];
}

/** Run a randomizer with these outcomes; draws beyond them give 0 and false. */
export function probe<Input>(mechanism: Mechanism<Input>, input: Input, ...outcomes: (number | boolean)[]): Probed {
  const asked: (number | bigint)[] = [];
  const next = (bound: number | bigint) => outcomes[asked.push(bound) - 1];
  const source = { below: (n: number) => next(n) ?? 0, bernoulli: (threshold: bigint) => next(threshold) ?? false };
  return { payload: mechanism.randomize(input, source as unknown as Source), asked };
}

/** The threshold of the first private bit that is decided for this input, out of 2^64. */
export function thresholdFor<Input>(mechanism: Mechanism<Input>, input: Input): bigint {
  return probe(mechanism, input).asked.find((bound) => typeof bound === "bigint")!;
}

/** What every mechanism is on the device's side: one randomizer with a report of fixed width. */
import type { Key } from "../../randomness/philox.js";
import type { Source } from "../../randomness/source.js";

/** What a survey promises, and the key of its public randomness. */
export interface Terms {
  readonly epsilon: number;
  /** Probability that the promise leaves out; 0 but for Gaussian noise. */
  readonly delta: number;
  readonly key: Key;
}

/**
 * One local randomizer. `Input` is what it is given: a value's number, a vector, an attribute of a round.
 *
 * `randomize` checks its input first (the error never names it) and returns the payload: the report's canonical
 * bytes without the survey's tag. The draws asked of `source` depend neither on the input nor on each other.
 */
export interface Mechanism<Input = any> {
  /** Name in the registry and in a survey's JSON. */
  readonly name: string;
  /** Width of every payload, whatever the value and the draws. */
  readonly reportBytes: number;
  randomize(input: Input, source: Source): Uint8Array;
}

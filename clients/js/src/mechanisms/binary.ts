/**
 * Binary response: one number, one bit: 1 with probability (1 + x/(c r))/2, c = (e^eps + 1)/(e^eps - 1).
 *
 * Whatever x is, the chance of a 1 lies between 1/(1 + e^eps) and e^eps/(1 + e^eps), both rounded toward 1/2 in
 * integers.
 */
import { MechanismError, SurveyError } from "../core/errors.js";
import { decodeIndex, type Law, type Reported, thresholdFor } from "./laws/law.js";
import { ratio } from "./laws/ratios.js";
import { ONE } from "../randomness/source.js";
import { favouring } from "../randomness/thresholds.js";
import { clipped, type VectorKind } from "./base/vector.js";

const HALF = 2n ** 63n;
/** A number's share of the radius is read in steps of 2^-53, toward 0: operations that IEEE 754 fixes to the bit. */
const STEPS = 2 ** 53;

/** How far the chance of a 1 moves from 1/2 at x = r, out of 2^64. */
export const amplitude = (epsilon: number): bigint => favouring(1n, 1n, epsilon) - HALF;

/** The chance of a 1 for a number in [-r, r], out of 2^64. */
export function chance(number: number, radius: number, most: bigint): bigint {
  const steps = BigInt(Math.min(Math.trunc((Math.abs(number) / radius) * STEPS), STEPS));
  const moved = (most * steps) >> 53n;
  return [HALF - moved, HALF + moved][Number(number > 0)]!;
}

export const binary: VectorKind = {
  parameters: [],
  make(ball) {
    if (ball.delta !== 0) throw new SurveyError("delta must be 0 for binary: its guarantee is pure epsilon-LDP");
    if (ball.dimension !== 1) throw new MechanismError(`binary answers one number, not ${ball.dimension}`);
    const most = amplitude(ball.epsilon);
    return {
      name: "binary",
      reportBytes: 1,
      randomize(value, source) {
        const number = clipped(value, ball)[0]!;
        return Uint8Array.of(Number(source.bernoulli(chance(number, ball.radius, most))));
      },
    };
  },
};

export function binaryLaw({ mechanism, payload }: Reported): Law {
  const isOne = decodeIndex(payload, 2) === 1n;
  const chance = (number: unknown) => {
    const threshold = thresholdFor(mechanism, number);
    return ratio(isOne ? threshold : ONE - threshold, ONE);
  };
  // The nearest numbers of the interval to these are its ends.
  const ends = [[Number.MAX_VALUE], [-Number.MAX_VALUE]];
  const groups = ends.map((end) => ({ chance: chance(end), count: null }));
  return { chance, common: 0, groups, says: `One bit: ${Number(isOne)}.` };
}

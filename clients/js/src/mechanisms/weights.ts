/** Weights of values, which attachments hold for the collector; a device only checks that they are some. */
import { MechanismError } from "../core/errors.js";

/** How far rounding may carry a sum or a length of 1. */
export const SLACK = 1e-6;

/** Refuse weights that are negative, not finite or do not sum to one. */
export function checkWeights(weights: Float64Array): void {
  const sum = weights.reduce((total, weight) => total + weight, 0);
  if (!weights.every((weight) => weight >= 0) || !(Math.abs(sum - 1) <= SLACK)) {
    throw new MechanismError("the attachment's weights must be numbers from 0 on that sum to one");
  }
}

/**
 * What a survey may ask for: the one home of every allowed range, and the checks at the edge.
 *
 * Sizes are what a person's device goes to, about a second of work, for any signer: less than a survey may ask at all.
 */
import { DomainError, SurveyError } from "./errors.js";

export const MIN_EPSILON = 2 ** -20;
export const MAX_EPSILON = 16;
/** Largest domain whose shares may be asked for. */
export const MAX_DOMAIN_SIZE = 2n ** 40n;
/** Largest number of records or texts a domain may describe; they are never listed. */
export const MAX_PRODUCT_SIZE = 2n ** 63n;
/** Longest statement, and longest attachment. */
export const MAX_SURVEY_BYTES = 2 ** 21;
export const MAX_ATTACHMENT_BYTES = 2 ** 24;
/** Largest report: a bit for every value, or sets of values, take as much work. */
export const MAX_REPORT_BYTES = 2 ** 16;
/** Most queries or coordinates of a vector. */
export const MAX_DIMENSION = 2 ** 18;
/** Most rounds of a panel, and most choices of one round. */
export const MAX_ROUNDS = 2 ** 16;
export const MAX_CHOICES = 2 ** 20;
/** Largest delta: below 1. */
export const MAX_DELTA = 1 - 2 ** -53;

/** A number parameter if it may take that value. */
export function checkNumber(name: string, found: unknown, smallest: number, largest: number): number {
  if (typeof found !== "number" || !(found >= smallest && found <= largest)) {
    throw new SurveyError(`${name} must be a number from ${smallest} to ${largest}`);
  }
  return found;
}

/** `epsilon` if a survey may use it. */
export const checkEpsilon = (found: unknown): number => checkNumber("epsilon", found, MIN_EPSILON, MAX_EPSILON);

/** `radius` if a ball may have it. */
export const checkRadius = (found: unknown): number => checkNumber("radius", found, 1e-100, 1e100);

/** `delta` if a survey may leave out that much probability. */
export const checkDelta = (found: unknown): number => checkNumber("delta", found, 0, MAX_DELTA);

/** An integer parameter if it may take that value. */
export function checkInteger(name: string, found: unknown, smallest: number, largest: number): number {
  if (!Number.isInteger(found) || (found as number) < smallest || (found as number) > largest) {
    throw new SurveyError(`${name} must be an integer from ${smallest} to ${largest}`);
  }
  return found as number;
}

/** The number of coordinates if a vector survey may have as many. */
export const checkDimension = (found: unknown): number => checkInteger("dimension", found, 1, MAX_DIMENSION);

/** The number of values if a domain may have as many. */
export function checkDomainSize(size: bigint, largest: bigint): bigint {
  if (size < 2n || size > largest) {
    throw new DomainError(`the number of possible values must be an integer from 2 to ${largest}`);
  }
  return size;
}

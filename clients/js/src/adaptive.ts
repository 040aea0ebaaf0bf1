/** Adaptive surveys: so many rounds, everybody in one of them, drawn once and for life. */
import { type Domain, readDomain } from "./domain.js";
import type { JsonObject } from "./json.js";
import { checkFields, checkTitle } from "./kind.js";
import { checkEpsilon, checkInteger, checkRadius, MAX_ROUNDS } from "./limits.js";
import type { Source } from "./source.js";

/** The kind in a survey's JSON. */
export const ADAPTIVE = "adaptive";

/** What an adaptive survey states besides what every survey does. */
export interface Adaptive {
  readonly domain: Domain;
  readonly rounds: number;
  readonly epsilon: number;
  /** Every question's values must stay within this of zero. */
  readonly radius: number;
}

/** What stands behind an adaptive survey's statement; every field is checked. */
export function readAdaptive(statement: JsonObject): Adaptive {
  checkFields(statement, "domain", "rounds", "radius");
  checkTitle(statement.title);
  return {
    domain: readDomain(statement.domain),
    rounds: checkInteger("rounds", statement.rounds, 1, MAX_ROUNDS),
    epsilon: checkEpsilon(statement.epsilon),
    radius: checkRadius(statement.radius),
  };
}

/** A device's round: drawn once for a survey, whatever the record, and never again. */
export const drawSeat = (rounds: number, source: Source): number => 1 + source.below(rounds);

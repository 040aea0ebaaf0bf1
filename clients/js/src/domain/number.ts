/** A number between two ends: grid points, and the finer positions that devices compute with. */
import { DomainError, ValueOutsideDomainError } from "../core/errors.js";
import { checkFields, isObject, type Json } from "../core/json.js";
import { checkInteger } from "../core/limits.js";
import { isMissing, MISSING_IS_NONE } from "./base.js";

/** Positions from one grid point to the next. */
export const STEPS = 2 ** 16;
const MAX_POINTS = 2 ** 16;
const LARGEST = 1e50;

/** The numbers from `low` to `high`, with `points` grid points; those outside are moved to the nearest end. */
export class NumberGrid {
  readonly low: number;
  readonly high: number;
  readonly unit: string;
  readonly points: number;
  /** The number that null, undefined, NaN and absent fields count as; without one they are refused. */
  readonly missing: number | null;

  constructor(stated: Json | undefined) {
    const gaps = isObject(stated) && "missing" in stated ? ["missing"] : [];
    const fields = checkFields(stated, "a number", "low", "high", "unit", "points", ...gaps);
    const { low, high, unit, points, missing = low } = fields;
    if (!(isNumber(low) && isNumber(high) && Math.max(Math.abs(low), Math.abs(high)) <= LARGEST && low < high)) {
      throw new DomainError(`low and high must be numbers within ${LARGEST} of zero, and low below high`);
    }
    if (high - low < Math.max(2 ** -10 * Math.max(Math.abs(low), Math.abs(high)), 1 / LARGEST)) {
      throw new DomainError("the range of the number is too small for floating point");
    }
    if (typeof unit !== "string" || [...unit].length > 40 || !/^(?:[^\p{C}\p{Z}]| )*$/u.test(unit)) {
      throw new DomainError("unit must be printable text of at most 40 characters");
    }
    if (!(isNumber(missing) && missing >= low && missing <= high)) throw new DomainError(MISSING_IS_NONE);
    [this.low, this.high, this.unit, this.missing] = [low, high, unit, gaps.length > 0 ? missing : null];
    this.points = checkInteger("points", points, 2, MAX_POINTS);
  }

  /** How many positions there are. */
  get positions(): number {
    return (this.points - 1) * STEPS + 1;
  }

  get allowed(): string {
    return `a number; those outside ${this.low} to ${this.high} are clipped`;
  }

  /** Whether this can be given, by the same work for every number: no error is made. */
  has(value: unknown): boolean {
    return isNumber(this.numberOf(value));
  }

  /** What a value counts as: a missing one may stand for a number, and an integer of any size is one. */
  numberOf(value: unknown): unknown {
    const given = [value, this.missing][Number(isMissing(value))];
    return typeof given === "bigint" ? Number(given) : given;
  }

  /** The position nearest to a number, by the same operations on doubles as in Python; throws without naming it. */
  position(given: unknown): number {
    const value = this.numberOf(given);
    const inside = Math.min(Math.max(isNumber(value) ? value : 0, this.low), this.high);
    const scaled = ((inside - this.low) / (this.high - this.low)) * ((this.points - 1) * STEPS);
    const found = Math.floor(scaled + 0.5);
    if (!isNumber(value)) throw new ValueOutsideDomainError(`the value is not ${this.allowed}`);
    return found;
  }
}

/** Whether it is a number; infinities are, and are clipped. */
const isNumber = (found: unknown): found is number => typeof found === "number" && !Number.isNaN(found);

/** What every domain is: values numbered 0 .. size-1, found by value, named by number, and stated in JSON. */
import { ValueOutsideDomainError } from "../core/errors.js";
import { isObject, type JsonObject } from "../core/json.js";

/** What every domain does. */
export abstract class Domain {
  /** How many values there are. */
  abstract readonly size: bigint;
  /** What may be given as a value, for error messages. */
  abstract readonly allowed: string;
  /** The number of a value, -1 when it is not in the domain. */
  abstract find(value: unknown): bigint;
  /** The value that null, undefined, NaN and absent fields count as; without one they are refused. */
  readonly missing: string | number | bigint | null = null;
  protected abstract labelOf(index: bigint): string;

  constructor(
    /** The domain as it stands in a survey's JSON: every domain is stated in one way only. */
    readonly statement: JsonObject,
  ) {}

  /** Names and domains of a product's attributes; any other domain is its own one attribute, "value". */
  get attributes(): readonly (readonly [string, Domain])[] {
    return [["value", this]];
  }

  /** Whether a value is one of the domain's, by the same work for every one: no error is made. */
  has(value: unknown): boolean {
    return this.find(value) >= 0n;
  }

  /** The number of a value; throws without naming it. */
  index(value: unknown): bigint {
    const found = this.find(value);
    if (found < 0n) throw new ValueOutsideDomainError(`the value is not in the domain; allowed: ${this.allowed}`);
    return found;
  }

  /** The value with that number, as people read it. */
  label(index: bigint | number): string {
    const number = asInteger(index);
    if (number === null || number < 0n || number >= this.size) {
      throw new ValueOutsideDomainError(`numbers of values go from 0 to ${this.size - 1n}`);
    }
    return this.labelOf(number);
  }

  /** The numbers of a value's attributes, in the order of `attributes`. */
  split(index: bigint): bigint[] {
    const parts: bigint[] = [];
    let rest = index;
    for (const [, domain] of [...this.attributes].reverse()) {
      parts.push(rest % domain.size);
      rest /= domain.size;
    }
    return parts.reverse();
  }
}

/** Said where missing values count as something that is not a value. */
export const MISSING_IS_NONE = "missing must be one of the values";

/** Whether a value says that there is none. */
export const isMissing = (value: unknown): boolean => value === null || value === undefined || Number.isNaN(value);

/** A bigint for integers, null for everything else; truth values are no integers. */
export function asInteger(value: unknown): bigint | null {
  if (typeof value === "bigint") return value;
  return Number.isSafeInteger(value) ? BigInt(value as number) : null;
}

/**
 * What a record, an object `{name: value}` or a Map, or a list holds for each name; null if it is none of these, or holds
 * something else.
 *
 * An absent field is undefined, which its domain may have a label for.
 */
export function partsOf(value: unknown, names: readonly string[]): unknown[] | null {
  if (Array.isArray(value)) return value.length === names.length ? value : null;
  const fields = fieldsOf(value);
  if (fields === null || ![...fields.keys()].every((name) => names.includes(name as string))) return null;
  return names.map((name) => fields.get(name));
}

/** The fields of a Map, a plain object or an instance of a class; null for dates, sets and whatever else has no fields. */
function fieldsOf(value: unknown): ReadonlyMap<unknown, unknown> | null {
  if (value instanceof Map) return value;
  const hasFields = isObject(value) && Object.prototype.toString.call(value) === "[object Object]";
  return hasFields ? new Map(Object.entries(value)) : null;
}

/** The index, if there is such a value, else -1. */
export const within = (index: bigint, size: bigint): bigint => (index >= 0n && index < size ? index : -1n);

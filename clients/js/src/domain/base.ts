/** What every domain is: values numbered 0 .. size-1, found by value, named by number, and stated in JSON. */
import { ValueOutsideDomainError } from "../core/errors.js";
import type { JsonObject } from "../core/json.js";

/** What every domain does. */
export abstract class Domain {
  /** How many values there are. */
  abstract readonly size: bigint;
  /** What may be given as a value, for error messages. */
  abstract readonly allowed: string;
  /** The number of a value, -1 when it is not in the domain. */
  abstract find(value: unknown): bigint;
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

/** A bigint for integers, null for everything else; truth values are no integers. */
export function asInteger(value: unknown): bigint | null {
  if (typeof value === "bigint") return value;
  return Number.isSafeInteger(value) ? BigInt(value as number) : null;
}

/** The index, if there is such a value, else -1. */
export const within = (index: bigint, size: bigint): bigint => (index >= 0n && index < size ? index : -1n);

/** Integers at equal steps, anywhere in 64 bits; never listed. */
import { DomainError } from "../errors.js";
import type { Json, JsonObject } from "../json.js";
import { checkDomainSize, MAX_PRODUCT_SIZE } from "../limits.js";
import { asInteger, Domain, within } from "./base.js";

const EXACT = BigInt(Number.MAX_SAFE_INTEGER);
const SMALLEST = -(2n ** 63n);
const LARGEST = 2n ** 63n - 1n;

/** The integers start, start + step, .., `size` of them. */
export class RangeDomain extends Domain {
  constructor(
    readonly start: bigint,
    readonly step: bigint,
    readonly size: bigint,
  ) {
    super();
    if (step === 0n) throw new DomainError("a range's step must not be 0");
    checkDomainSize(size, MAX_PRODUCT_SIZE - 1n);
    if (![start, this.last].every((end) => end >= SMALLEST && end <= LARGEST)) {
      throw new DomainError("a range must lie within 64-bit integers");
    }
  }

  get last(): bigint {
    return this.start + this.step * (this.size - 1n);
  }

  find(value: unknown): bigint {
    const integer = asInteger(value);
    if (integer === null || (integer - this.start) % this.step !== 0n) return -1n;
    return within((integer - this.start) / this.step, this.size);
  }

  protected labelOf(index: bigint): string {
    return String(this.start + this.step * index);
  }

  get allowed(): string {
    return `integers from ${this.start} to ${this.last}` + (this.step === 1n ? "" : ` in steps of ${this.step}`);
  }

  toStatement(): JsonObject {
    return { start: toJson(this.start), step: toJson(this.step), size: toJson(this.size) };
  }
}

/** The one way an integer is stated: as a number where every reader keeps it exact, as decimal digits beyond. */
const toJson = (integer: bigint): Json => (integer >= -EXACT && integer <= EXACT ? Number(integer) : String(integer));

/** What `toJson` wrote; any other spelling is refused. */
export function fromJson(stated: Json | undefined): bigint {
  if (Number.isSafeInteger(stated)) return BigInt(stated as number);
  const found = typeof stated === "string" && /^-?[1-9][0-9]{15,19}$/.test(stated) ? BigInt(stated) : null;
  if (found === null || toJson(found) !== stated) {
    throw new DomainError("integers must be numbers within 2^53 - 1 of zero, and decimal texts beyond");
  }
  return found;
}

/** Integers at equal steps, anywhere in 64 bits; never listed. */
import { DomainError } from "../core/errors.js";
import type { Json, JsonObject } from "../core/json.js";
import { checkDomainSize, MAX_PRODUCT_SIZE } from "../core/limits.js";
import { asInteger, Domain, isMissing, MISSING_IS_NONE, within } from "./base.js";

const EXACT = BigInt(Number.MAX_SAFE_INTEGER);
const SMALLEST = -(2n ** 63n);
const LARGEST = 2n ** 63n - 1n;

/** The integers start, start + step, .., `size` of them. */
export class RangeDomain extends Domain {
  constructor(
    statement: JsonObject,
    readonly start: bigint,
    readonly step: bigint,
    readonly size: bigint,
    override readonly missing: bigint | null = null,
  ) {
    super(statement);
    if (step === 0n) throw new DomainError("a range's step must not be 0");
    checkDomainSize(size, MAX_PRODUCT_SIZE - 1n);
    if (![start, this.last].every((end) => end >= SMALLEST && end <= LARGEST)) {
      throw new DomainError("a range must lie within 64-bit integers");
    }
    if (missing !== null && !this.has(missing)) throw new DomainError(MISSING_IS_NONE);
  }

  get last(): bigint {
    return this.start + this.step * (this.size - 1n);
  }

  find(value: unknown): bigint {
    const integer = asInteger([value, this.missing][Number(isMissing(value))]);
    const offset = (integer ?? 0n) - this.start;
    const index = within(offset / this.step, this.size);
    return integer !== null && offset % this.step === 0n ? index : -1n;
  }

  protected labelOf(index: bigint): string {
    return String(this.start + this.step * index);
  }

  get allowed(): string {
    return `integers from ${this.start} to ${this.last}` + (this.step === 1n ? "" : ` in steps of ${this.step}`);
  }}

/** An integer as it is stated: a number where every reader keeps it exact, decimal digits beyond; nothing else. */
export function fromJson(stated: Json | undefined): bigint {
  if (Number.isSafeInteger(stated)) return BigInt(stated as number);
  const found = typeof stated === "string" && /^-?[1-9][0-9]{15,19}$/.test(stated) ? BigInt(stated) : 0n;
  if (found >= -EXACT && found <= EXACT) {
    throw new DomainError("integers must be numbers within 2^53 - 1 of zero, and decimal texts beyond");
  }
  return found;
}

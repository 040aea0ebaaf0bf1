/** Codes of byte strings and of integers. */
import { fromHex, toHex } from "../core/bytes.js";
import { asInteger, within } from "./base.js";
import { DomainError } from "../core/errors.js";
import { choose } from "../core/bits.js";
import { type Spelling, WordCode } from "./word_code.js";

/** Byte strings of at most `longest` bytes; a unit is a byte plus one. */
export class ByteCode extends WordCode {
  override readonly kind = "bytes";
  override readonly unitBits = 9;

  constructor(readonly longest: number) {
    super();
  }

  override get units(): number {
    return this.longest;
  }

  override get allowed(): string {
    return `byte strings of 1 to ${this.longest} bytes, typed as 0x and two hexadecimal digits for every byte`;
  }

  protected override find(value: unknown): readonly [number[], boolean] {
    const bytes = value instanceof Uint8Array ? value : new Uint8Array();
    const units = Array.from({ length: this.longest }, (_, i) => choose(i < bytes.length, (bytes[i] ?? 0) + 1, 0));
    return [units, bytes.length > 0 && bytes.length <= this.longest];
  }

  /** Hexadecimal digits, two a byte, after 0x. */
  override spelling(typed: string): Spelling {
    const digits = /^\s*0x((?:[0-9a-f]{2})*)\s*$/i.exec(typed)?.[1]?.toLowerCase();
    if (digits === undefined) {
      return { value: typed, word: null, reason: "it is not 0x and hexadecimal digits, two for every byte" };
    }
    const value = fromHex(digits);
    if (this.has(value)) return { value, word: `0x${toHex(value)}`, reason: null };
    return { value, word: null, reason: value.length === 0 ? "it is empty" : `it is longer than ${this.longest} bytes` };
  }
}

const MOST_BELOW = 2n ** 64n;

/** Integers from 0 to below a limit; the code is the integer plus one, a unit is a bit. */
export class IntegerCode extends WordCode {
  override readonly kind = "integers";
  override readonly unitBits = 1;

  constructor(readonly below: bigint) {
    super();
    if (below < 2n || below > MOST_BELOW) throw new DomainError(`below must be an integer from 2 to ${MOST_BELOW}`);
  }

  override get units(): number {
    return this.below.toString(2).length;
  }

  override get allowed(): string {
    return `integers from 0 to ${this.below - 1n}`;
  }

  protected override find(value: unknown): readonly [number[], boolean] {
    const code = within(asInteger(value) ?? -1n, this.below) + 1n;
    const units = Array.from({ length: this.units }, (_, i) => Number((code >> BigInt(this.units - 1 - i)) & 1n));
    return [units, code > 0n];
  }

  /** Decimal digits. */
  override spelling(typed: string): Spelling {
    const value = /^\s*\d+\s*$/.test(typed) ? BigInt(typed) : typed;
    const isWord = this.has(value);
    return { value, word: isWord ? String(value) : null, reason: isWord ? null : `it is none of the ${this.allowed}` };
  }
}

/**
 * The code of a value that nobody listed: a chain of units of equally many bits, zeros after its end.
 *
 * The code of nothing but zeros is that of "other": everything that is not a word of this code.
 */
import { choose } from "../core/bits.js";

/** What can be counted as a word: a text, a byte string, or an integer. */
export type WordValue = string | Uint8Array | bigint;

/** How a typed text will be counted. */
export interface Spelling {
  /** What to answer with. */
  readonly value: WordValue;
  /** The word as people read it; null if it will be counted as "other". */
  readonly word: string | null;
  /** Why it will be counted as "other", as in "it is longer than 16 characters"; null for a word. */
  readonly reason: string | null;
}

export abstract class WordCode {
  /** Name in a survey's JSON. */
  abstract readonly kind: string;
  /** Bits of one unit. */
  abstract readonly unitBits: number;
  /** Units of a whole code. */
  abstract readonly units: number;
  /** What a word is, for people. */
  abstract readonly allowed: string;
  /** How a text that a person types will be counted. */
  abstract spelling(typed: string): Spelling;
  /** The units of a value with the zeros after its end, and whether it is a word; by as many steps for every value. */
  protected abstract find(value: unknown): readonly [units: readonly number[], isWord: boolean];

  /** Bits of a whole code. */
  get bits(): number {
    return this.units * this.unitBits;
  }

  /** Whether a value is a word of this code; all others are counted as "other". */
  has(value: unknown): boolean {
    return this.find(value)[1];
  }

  /** The code of a value: eight bits to a byte, the first bit the highest, zeros after the last. */
  row(value: unknown): Uint8Array {
    const [units, isWord] = this.find(value);
    const row = new Uint8Array(Math.ceil(this.bits / 8));
    for (let i = 0; i < this.bits; i++) {
      const unit = choose(isWord, units[Math.floor(i / this.unitBits)]!, 0);
      row[i >> 3]! |= ((unit >> (this.unitBits - 1 - (i % this.unitBits))) & 1) << (7 - (i & 7));
    }
    return row;
  }
}

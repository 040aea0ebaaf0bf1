/** Codes of texts: of the letters of an alphabet, and of any. */
import { Lookup } from "./lookup.js";
import { DomainError } from "../core/errors.js";
import { choose } from "../core/bits.js";
import { type Spelling, WordCode } from "./word_code.js";
import { type LetterCase, spelt, whyNoWord } from "./spelling.js";

abstract class TextCode extends WordCode {
  constructor(
    readonly longest: number,
    readonly letters: LetterCase,
  ) {
    super();
  }

  /** Why a text in canonical spelling is not a word. */
  protected abstract whyOther(text: string): string;

  /** The one spelling of a value; empty where it has none. */
  protected spelt(value: unknown): string {
    return (typeof value === "string" ? spelt(value, this.letters) : null) ?? "";
  }

  override spelling(typed: string): Spelling {
    const word = this.spelt(typed);
    if (this.has(typed)) return { value: typed, word, reason: null };
    return { value: typed, word: null, reason: word === "" ? whyNoWord(typed) : this.whyOther(word) };
  }
}

/** Words of at most `longest` letters of an alphabet: a letter is a unit, its place in the alphabet from 1 on. */
export class LetterCode extends TextCode {
  override readonly kind = "letters";
  readonly #places: Lookup;

  constructor(
    readonly alphabet: string,
    longest: number,
    letters: LetterCase,
  ) {
    super(longest, letters);
    const known = [...alphabet];
    this.#places = new Lookup(known);
    if (known.length < 2 || known.length > 1024 || !this.#places.isDistinct) {
      throw new DomainError("alphabet must be 2 to 1024 distinct characters");
    }
    if (!known.every((letter) => letter === " " || spelt(letter, letters) === letter)) {
      throw new DomainError(`alphabet must be written as words are normalised: NFC, case ${letters}`);
    }
  }

  override get unitBits(): number {
    return this.#places.texts.length.toString(2).length;
  }

  override get units(): number {
    return this.longest;
  }

  override get allowed(): string {
    return `words of 1 to ${this.longest} characters of the alphabet ${JSON.stringify(this.alphabet)}`;
  }

  protected override find(value: unknown): readonly [number[], boolean] {
    const word = [...this.spelt(value)];
    const units = Array.from({ length: this.longest }, (_, i) => this.#places.find(word[i] ?? "") + 1);
    // A text that is longer, or has an unlisted letter, has more letters than were found.
    const found = units.reduce((sum, unit) => sum + Number(unit > 0), 0);
    return [units, found > 0 && found === word.length];
  }

  protected override whyOther(text: string): string {
    return [...text].every((letter) => this.#places.find(letter) >= 0)
      ? `it is longer than ${this.longest} characters`
      : "it contains a character that is not in the survey's alphabet";
  }
}

/** The characters of two units, after the small letters of one. */
const NEAR = "0123456789 -'.,/@_&+:#!?()*%=;$~";
/** For each of the first 128 code units, the place in it from 1 on. */
const NEAR_PLACES = Array.from({ length: 128 }, (_, code) => NEAR.indexOf(String.fromCharCode(code)) + 1);

/**
 * Any text of at most `longest` UTF-16 code units, in units of five bits: the more usual a character, the shorter.
 *
 * The letters a to z take one unit, digits and usual punctuation two, code units below 2,048 three, all others four.
 */
export class UnicodeCode extends TextCode {
  override readonly kind = "unicode";
  override readonly unitBits = 5;

  override get units(): number {
    return 4 * this.longest;
  }

  override get allowed(): string {
    return `words of 1 to ${this.longest} characters; one beyond the basic plane, such as an emoji, counts twice`;
  }

  protected override find(value: unknown): readonly [number[], boolean] {
    const text = this.spelt(value);
    const units = new Array<number>(this.units + 4).fill(0);
    // As many code units for every text; those after its end take no room.
    for (let i = 0, at = 0; i < this.longest; i++) {
      const [width, ...own] = unitsOf(text.charCodeAt(i) || 0) as [number, ...number[]];
      for (const [k, unit] of own.entries()) units[at + k] = unit;
      at += width;
    }
    return [units, text.length > 0 && text.length <= this.longest];
  }

  protected override whyOther(): string {
    return `it is longer than ${this.longest} characters; one beyond the basic plane, such as an emoji, counts twice`;
  }
}

/** How many units a code unit takes, and these, filled up to four with zeros; 0 takes none. All kinds are worked out. */
function unitsOf(code: number): readonly number[] {
  const [a, b, c] = [(code >> 10) & 31, (code >> 5) & 31, code & 31];
  const near = NEAR_PLACES[code & 127]!;
  const kinds = [
    [0, 0, 0, 0, 0],
    [1, code - 0x60, 0, 0, 0],
    [2, 27, near - 1, 0, 0],
    [3, 28 + (code >> 10), b, c, 0],
    [4, 30 + (code >> 15), a, b, c],
  ];
  const isLetter = Number(code >= 0x61) & Number(code <= 0x7a);
  const isNear = Number(code < 128) & Number(near > 0);
  const wide = choose(code < 0x800, 3, 4);
  return kinds[choose(code === 0, 0, choose(isLetter === 1, 1, choose(isNear === 1, 2, wide)))]!;
}

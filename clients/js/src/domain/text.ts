/** Short texts over an alphabet, numbered so that those with a common beginning stand together. */
import { isText, type JsonObject } from "../core/json.js";
import { DomainError } from "../core/errors.js";
import { checkDomainSize, MAX_PRODUCT_SIZE } from "../core/limits.js";
import { Domain } from "./base.js";
import { Lookup } from "./lookup.js";

/** All texts of at most `maxLength` characters (code points) of an alphabet; a text before its extensions. */
export class TextDomain extends Domain {
  readonly letters: readonly string[];
  /** How many texts of at most l characters there are, for l from 0 to `maxLength`. */
  readonly textsWithin: readonly bigint[];
  /** 0 for the end of a text, 1 and so on for the letters. */
  readonly #codes: Lookup;

  constructor(
    statement: JsonObject,
    readonly alphabet: string,
    readonly maxLength: number,
  ) {
    super(statement);
    this.letters = [...alphabet];
    this.#codes = new Lookup(["\0", ...this.letters]);
    const count = this.letters.length;
    if (count < 2 || count > 64 || !this.#codes.isDistinct || !isText(alphabet)) {
      throw new DomainError("an alphabet must be 2 to 64 distinct characters, none of them U+0000");
    }
    const counts = [1n];
    for (let l = 0; l < maxLength; l++) counts.push(1n + BigInt(count) * counts[l]!);
    this.textsWithin = counts;
    checkDomainSize(this.size, MAX_PRODUCT_SIZE);
  }

  get size(): bigint {
    return this.textsWithin[this.maxLength]!;
  }

  find(value: unknown): bigint {
    // The same steps for every value, texts or not, short or long, so that timing reveals none of it.
    const text = typeof value === "string" ? value : "";
    const signs = [...text.slice(0, 2 * this.maxLength + 2)];
    let [number, isInside] = [0n, signs.length <= this.maxLength && !text.includes("\0")];
    for (let i = 0; i < this.maxLength; i++) {
      const code = this.#codes.find(signs[i] ?? "\0");
      const step = 1n + BigInt(code - 1) * this.textsWithin[this.maxLength - i - 1]!;
      number += [0n, step][Number(code > 0)]!;
      isInside &&= code >= 0;
    }
    isInside &&= text === value;
    return [-1n, number][Number(isInside)]!;
  }

  protected labelOf(index: bigint): string {
    let text = "";
    for (let i = 0, rest = index; rest > 0n; i++) {
      const each = this.textsWithin[this.maxLength - i - 1]!;
      text += this.letters[Number((rest - 1n) / each)];
      rest = (rest - 1n) % each;
    }
    return text;
  }

  get allowed(): string {
    return `texts of at most ${this.maxLength} characters out of ${JSON.stringify(this.alphabet)}`;
  }}

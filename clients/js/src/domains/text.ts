/** Short texts over an alphabet, numbered so that those with a common beginning stand together. */
import { isText } from "../canonical.js";
import { DomainError } from "../errors.js";
import type { JsonObject } from "../json.js";
import { checkDomainSize, MAX_PRODUCT_SIZE } from "../limits.js";
import { asInteger, Domain, within } from "./base.js";

/** All texts of at most `maxLength` characters (code points) of an alphabet; a text before its extensions. */
export class TextDomain extends Domain {
  readonly letters: readonly string[];
  /** How many texts of at most l characters there are, for l from 0 to `maxLength`. */
  readonly textsWithin: readonly bigint[];
  readonly #place: Map<string, number>;
  readonly #byIndex: boolean;

  constructor(
    readonly alphabet: string,
    readonly maxLength: number,
  ) {
    super();
    this.letters = [...alphabet];
    this.#place = new Map(this.letters.map((letter, i) => [letter, i]));
    const count = this.letters.length;
    if (count < 2 || count > 64 || this.#place.size < count || this.#place.has("\0") || !isText(alphabet)) {
      throw new DomainError("an alphabet must be 2 to 64 distinct characters, none of them U+0000");
    }
    const counts = [1n];
    for (let l = 0; l < maxLength; l++) counts.push(1n + BigInt(count) * counts[l]!);
    this.textsWithin = counts;
    checkDomainSize(this.size, MAX_PRODUCT_SIZE);
    this.#byIndex = !/\p{Nd}/u.test(alphabet);
  }

  get size(): bigint {
    return this.textsWithin[this.maxLength]!;
  }

  find(value: unknown): bigint {
    if (typeof value !== "string") {
      const integer = asInteger(value);
      return this.#byIndex && integer !== null ? within(integer, this.size) : -1n;
    }
    const signs = [...value];
    const places = signs.map((sign) => this.#place.get(sign) ?? -1);
    if (places.length > this.maxLength || places.includes(-1)) return -1n;
    let index = 0n;
    // As many steps for a short text as for a long one, so that their time does not tell them apart.
    for (let i = 0; i < this.maxLength; i++) {
      const step = 1n + BigInt(places[i] ?? 0) * this.textsWithin[this.maxLength - i - 1]!;
      index += i < places.length ? step : 0n;
    }
    return index;
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
    const most = `texts of at most ${this.maxLength} characters out of ${JSON.stringify(this.alphabet)}`;
    return most + (this.#byIndex ? `, or a number from 0 to ${this.size - 1n}` : "");
  }

  toStatement(): JsonObject {
    return { alphabet: this.alphabet, length: this.maxLength };
  }
}

/**
 * Looking a value up by the same work for every value, whatever labels a survey lists.
 *
 * In a hash table some values take more steps than others, and the author of the survey chooses which.
 */

/** Character i of a text as a number from 1 on; 0 after the end. */
const code = (text: string, i: number): number => text.charCodeAt(i) + 1 || 0;

/** The positions of texts, found by as many comparisons of as many characters for every text, listed or not. */
export class Lookup {
  /** Positions of the texts in increasing order. */
  readonly #sorted: readonly number[];
  readonly #longest: number;

  constructor(readonly texts: readonly string[]) {
    this.#sorted = [...texts.keys()].sort((a, b) => Number(texts[a]! > texts[b]!) - Number(texts[a]! < texts[b]!));
    this.#longest = texts.reduce((most, text) => Math.max(most, text.length), 0);
  }

  get isDistinct(): boolean {
    return this.#sorted.every((position, i) => this.texts[position] !== this.texts[this.#sorted[i - 1]!]);
  }

  /** The position of a text, -1 if it is not listed. */
  find(given: string): number {
    /** Below 0, 0 or above as the text at this place comes before, is, or comes after the one given. */
    const order = (place: number): number => {
      const text = this.texts[this.#sorted[place]!]!;
      let found = 0;
      // All characters are compared, and one after the last: a longer text is not listed.
      for (let i = 0; i <= this.#longest; i++) {
        const difference = code(text, i) - code(given, i);
        found ||= difference;
      }
      return found;
    };
    let first = 0;
    for (let rest = this.#sorted.length; rest > 1; rest -= rest >> 1) {
      first += (rest >> 1) * Number(order(first + (rest >> 1)) <= 0);
    }
    return [-1, this.#sorted[first]!][Number(order(first) === 0)]!;
  }
}

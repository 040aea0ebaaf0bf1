/** The shared vectors, and random bytes read from their tapes. */
import { readFileSync } from "node:fs";
import { fromHex } from "../src/core/bytes.js";
import { Source } from "../src/randomness/source.js";

/** A file of the repository's `vectors` folder. Tests run from `build/test`. */
export function vectors(name: string): any {
  return JSON.parse(readFileSync(new URL(`../../../../vectors/${name}.json`, import.meta.url), "utf8"));
}

/** A statement with its numbers in their shortest form: where they are not, it would be refused for that alone. */
export const shortest = (text: string): string => JSON.stringify(JSON.parse(text));

/** Replays a tape of bytes in hexadecimal, and knows how much of it is left. */
export class Tape {
  readonly #bytes: Uint8Array;
  #at = 0;
  readonly source = new Source((into) => {
    if (this.#at + into.length > this.#bytes.length) throw new Error("the tape of random bytes is used up");
    into.set(this.#bytes.subarray(this.#at, this.#at + into.length));
    this.#at += into.length;
  });

  constructor(hex: string) {
    this.#bytes = fromHex(hex);
  }

  get left(): number {
    return this.#bytes.length - this.#at;
  }
}

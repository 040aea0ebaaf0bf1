/**
 * Where a device's randomness comes from: bytes in, exact integers out, no floating point.
 *
 * The order in which bytes become integers is part of the wire contract, because test vectors replay it.
 */
import { bitLength } from "../core/codecs.js";

/** The integer that stands for probability one. */
export const ONE = 1n << 64n;

/** Fills the whole of `into` with fresh random bytes. */
export type Fill = (into: Uint8Array) => void;

const POOL_BYTES = 4096;

/**
 * Exact draws over random bytes. All words are little-endian; `bernoulli` reads 8 bytes; `below` reads the fewest
 * bytes that hold n-1, clears the unused high bits, and starts again while the result is n or more.
 *
 * Without a `fill`, bytes come from the platform's WebCrypto, in blocks because each call to it takes microseconds.
 * A byte is wiped as soon as it is read: none is used twice, and none that decided a report stays in memory. With a
 * `fill` (tests), exactly the bytes needed are asked for, one draw at a time.
 */
export class Source {
  readonly #fill: Fill;
  /** How many bytes are fetched at a time; 0 for as many as one draw reads. */
  readonly #block: number;
  #pool = new Uint8Array(0);
  #at = 0;

  constructor(fill?: Fill) {
    this.#fill = fill ?? ((into) => globalThis.crypto.getRandomValues(into as Uint8Array<ArrayBuffer>));
    this.#block = fill ? 0 : POOL_BYTES;
  }

  /** `n` fresh bytes, at most 65,536, the caller's own. */
  bytes(n: number): Uint8Array {
    const taken = new Uint8Array(n);
    this.#fill(taken);
    return taken;
  }

  /** An integer uniform over 0 .. n-1, by rejection, for n below 2^53; n = 1 reads nothing. */
  below(n: number): number {
    if (!(Number.isSafeInteger(n) && n > 0)) throw new RangeError("below needs an integer from 1 to 2^53 - 1");
    const bits = bitLength(BigInt(n - 1));
    for (;;) {
      const drawn = this.#integer(bits);
      if (drawn < n) return drawn;
    }
  }

  /** True with probability exactly threshold / 2^64. */
  bernoulli(threshold: bigint): boolean {
    if (threshold < 0n || threshold > ONE) throw new RangeError("a threshold must lie in 0 .. 2^64");
    this.#ready(8);
    const low = this.#integer(32);
    const high = this.#integer(32);
    return ((BigInt(high) << 32n) | BigInt(low)) < threshold;
  }

  /** The lowest `bits` bits, at most 53, of the fewest bytes that hold as many. */
  #integer(bits: number): number {
    const last = ((bits + 7) >> 3) - 1;
    this.#ready(last + 1);
    let found = 0; // stays below 2^53, and so exact
    for (let i = 0, place = 1; i <= last; i++, place *= 256) {
      found += (this.#pool[this.#at]! & (i < last ? 255 : 255 >> (8 * last + 8 - bits))) * place;
      this.#pool[this.#at++] = 0;
    }
    return found;
  }

  /** Have at least `n` unread bytes in the pool; a source with a `fill` of its own holds exactly what one draw reads. */
  #ready(n: number): void {
    if (this.#pool.length - this.#at >= n) return;
    if (this.#pool.length === 0 || this.#block === 0) this.#pool = new Uint8Array(this.#block || n);
    this.#fill(this.#pool.fill(0));
    this.#at = 0;
  }
}

/** The only source a device draws from: the platform's WebCrypto. */
export const systemSource = new Source();

/**
 * Where a device's randomness comes from: bytes in, exact integers out, no floating point.
 *
 * The order in which bytes become integers is part of the wire contract, because test vectors replay it.
 */

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
  readonly #fill: Fill | undefined;
  #pool = new Uint8Array(0);
  #at = 0;

  constructor(fill?: Fill) {
    this.#fill = fill;
  }

  /** `n` fresh bytes, the caller's own. */
  bytes(n: number): Uint8Array {
    const taken = new Uint8Array(n);
    if (this.#fill) {
      this.#fill(taken);
      return taken;
    }
    for (let done = 0; done < n;) {
      this.#ready(1);
      const part = Math.min(n - done, this.#pool.length - this.#at);
      taken.set(this.#pool.subarray(this.#at, this.#at + part), done);
      this.#pool.fill(0, this.#at, this.#at + part);
      this.#at += part;
      done += part;
    }
    return taken;
  }

  /** An integer uniform over 0 .. n-1, by rejection, of the type of `n`; n = 1 reads nothing. */
  below(n: number): number;
  below(n: bigint): bigint;
  below(n: number | bigint): number | bigint {
    if (typeof n === "bigint") return this.#belowWide(n);
    if (!Number.isSafeInteger(n) || n < 1) throw new RangeError("below needs an integer of at least 1");
    if (n > 0x1_0000_0000) return Number(this.#belowWide(BigInt(n)));
    const bits = 32 - Math.clz32(n - 1);
    if (bits === 0) return 0;
    const width = (bits + 7) >> 3;
    const mask = bits === 32 ? 0xffffffff : (1 << bits) - 1;
    for (;;) {
      const drawn = (this.#word(width) & mask) >>> 0;
      if (drawn < n) return drawn;
    }
  }

  /** True with probability exactly threshold / 2^64. */
  bernoulli(threshold: bigint): boolean {
    if (threshold < 0n || threshold > ONE) throw new RangeError("a threshold must lie in 0 .. 2^64");
    this.#ready(8);
    const low = this.#word(4);
    const high = this.#word(4);
    return ((BigInt(high) << 32n) | BigInt(low)) < threshold;
  }

  #belowWide(n: bigint): bigint {
    if (n < 1n) throw new RangeError("below needs an integer of at least 1");
    if (n === 1n) return 0n;
    const bits = (n - 1n).toString(2).length;
    const width = (bits + 7) >> 3;
    const mask = (1n << BigInt(bits)) - 1n;
    for (;;) {
      const bytes = this.bytes(width);
      let drawn = 0n;
      for (let i = width - 1; i >= 0; i--) drawn = (drawn << 8n) | BigInt(bytes[i]!);
      bytes.fill(0);
      drawn &= mask;
      if (drawn < n) return drawn;
    }
  }

  /** The next `width` bytes (at most 4) as an integer. */
  #word(width: number): number {
    this.#ready(width);
    let word = 0;
    for (let i = 0; i < width; i++) {
      word |= this.#pool[this.#at]! << (8 * i);
      this.#pool[this.#at++] = 0;
    }
    return word >>> 0;
  }

  /** Have at least `n` unread bytes in the pool; a source with a `fill` holds exactly what one draw reads. */
  #ready(n: number): void {
    const left = this.#pool.length - this.#at;
    if (left >= n) return;
    if (this.#fill) {
      this.#pool = new Uint8Array(n);
      this.#fill(this.#pool);
    } else {
      if (this.#pool.length === 0) this.#pool = new Uint8Array(POOL_BYTES);
      this.#pool.fill(0);
      globalThis.crypto.getRandomValues(this.#pool);
    }
    this.#at = 0;
  }
}

/** The only source a device draws from: the platform's WebCrypto. */
export const systemSource = new Source();

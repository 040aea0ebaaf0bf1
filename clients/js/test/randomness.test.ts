/** How random bytes become integers and truth values, and probabilities integers out of 2^64. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { ONE, Source } from "../src/randomness/source.js";
import { exactly, expBounds, favouring, withinEpsilon } from "../src/randomness/thresholds.js";
import { replay } from "./replay.js";
import { Tape, vectors } from "./vectors.js";

test("integers below n use up exactly their tape", () => {
  for (const { n, tape, result } of vectors("source").below) {
    assert.equal(
      replay(tape, (source) => source.below(Number(n))),
      Number(result),
    );
  }
});

test("numbers up to 2^53 are drawn by rejection of whole words, their unused bits cleared", () => {
  let state = 1;
  const next = () => (state = (Math.imul(state, 1103515245) + 12345) >>> 0) >>> 24;
  const bytes = Array.from({ length: 1000 }, next);
  const tape = bytes.map((byte) => byte.toString(16).padStart(2, "0")).join("");
  for (let bits = 1; bits <= 53; bits++) {
    for (const n of [2 ** bits - 1, 2 ** (bits - 1) + 1].filter((n) => n > 1)) {
      const read = new Tape(tape);
      const [length, width] = [(n - 1).toString(2).length, Math.ceil((n - 1).toString(2).length / 8)];
      let at = 0;
      for (let i = 0; i < 20; i++) {
        let word: bigint;
        do {
          word = bytes.slice(at, at + width).reduceRight((sum, byte) => (sum << 8n) | BigInt(byte), 0n);
          word &= (1n << BigInt(length)) - 1n;
          at += width;
        } while (word >= BigInt(n));
        assert.equal(BigInt(read.source.below(n)), word);
      }
      assert.equal(read.left, bytes.length - at);
    }
  }
});

test("truth values", () => {
  for (const { threshold, tape, result } of vectors("source").bernoulli) {
    assert.equal(
      replay(tape, (source) => source.bernoulli(BigInt(threshold))),
      result,
    );
  }
});

test("thresholds, to the last unit", () => {
  for (const { epsilon, inside, outside, threshold } of vectors("thresholds")) {
    assert.equal(String(favouring(BigInt(inside), BigInt(outside), epsilon)), threshold);
  }
});

test("e^x lies between its bounds, which are close", () => {
  for (const x of [2 ** -20, 0.1, 1, 16]) {
    const [low, high] = expBounds(exactly(x));
    const width = high!.n * low!.d - low!.n * high!.d;
    assert.ok(width > 0n && width << 200n < high!.d * low!.d);
    assert.ok(Math.abs(Number((low!.n << 60n) / low!.d) / 2 ** 60 / Math.exp(x) - 1) < 1e-12);
  }
});

test("a ratio is compared with e^epsilon exactly", () => {
  // e = 2.718281828459045235360287471352662497757...
  assert.ok(withinEpsilon({ n: 271828182845904523536028747135266n, d: 10n ** 32n }, 1));
  assert.ok(!withinEpsilon({ n: 271828182845904523536028747135267n, d: 10n ** 32n }, 1));
});

test("impossible draws are refused", () => {
  const source = new Source();
  for (const n of [0, -1, 1.5, NaN, 2 ** 53]) assert.throws(() => source.below(n), RangeError);
  for (const threshold of [-1n, ONE + 1n]) assert.throws(() => source.bernoulli(threshold), RangeError);
  assert.equal(source.bernoulli(0n), false);
  assert.equal(source.bernoulli(ONE), true);
});

test("the platform's bytes are read in blocks, each byte once, and wiped when read", (t) => {
  const given: Uint8Array[] = [];
  const held: Uint8Array[] = [];
  let next = 0;
  t.mock.method(globalThis.crypto, "getRandomValues", (into: Uint8Array) => {
    for (let i = 0; i < into.length; i++) into[i] = 1 + (next++ % 255); // never zero, so that wiping shows
    given.push(into.slice());
    held.push(into);
    return into;
  });
  const source = new Source();
  const read: number[] = [];
  for (let i = 0; i < 9000; i++) read.push(source.below(256));
  const expected = given.flatMap((block) => [...block]).slice(0, read.length);
  assert.deepEqual(read, expected);
  const used = read.length - (given.length - 1) * given[0]!.length;
  assert.ok(
    held
      .at(-1)!
      .subarray(0, used)
      .every((byte) => byte === 0),
  );
  assert.deepEqual(held.at(-1)!.slice(used), given.at(-1)!.slice(used));
});

/**
 * Public randomness: Philox4x32-10 (Salmon, Moraes, Dror, Shaw 2011), the same words in every language.
 * Both sides of a survey derive its rotations from its id, so these integers are part of the wire contract.
 */
import { viewOf } from "../core/bytes.js";

/** Two 32-bit words. */
export type Key = readonly [number, number];

/** Purpose of the signs of a rotation's Hadamard layers; the other purposes are those of mechanisms not run here. */
export const ROTATION_SIGNS = 0;
/** Purpose of the bins of options under a seed of the wheel. */
export const WHEEL_BINS = 3;
/** Purpose of the words of a code's bits under a row of hashed prefixes: word i is bit i's, the rotation is the row. */
export const PREFIX_HASHES = 4;

const ROUNDS = 10;

/** The key that a survey's id gives: its first eight bytes as two little-endian words. */
export function keyOf(id: Uint8Array): Key {
  const view = viewOf(id);
  return [view.getUint32(0, true), view.getUint32(4, true)];
}

/** The high half of the 64-bit product of two words; no step leaves 32 bits, so nothing is rounded. */
function high(a: number, b: number): number {
  const aLow = a & 0xffff;
  const aHigh = a >>> 16;
  const bLow = b & 0xffff;
  const bHigh = b >>> 16;
  const middle = aHigh * bLow + ((aLow * bLow) >>> 16);
  const cross = aLow * bHigh + (middle & 0xffff);
  return (aHigh * bHigh + (middle >>> 16) + (cross >>> 16)) >>> 0;
}

/** Philox4x32-10 of one counter (block, layer, rotation, purpose). */
export function philox(key: Key, counter: readonly [number, number, number, number]): Uint32Array {
  let [c0, c1, c2, c3] = counter;
  let [k0, k1] = key;
  for (let round = 0; round < ROUNDS; round++) {
    const next0 = high(0xcd9e8d57, c2) ^ c1 ^ k0;
    const next2 = high(0xd2511f53, c0) ^ c3 ^ k1;
    c1 = Math.imul(0xcd9e8d57, c2);
    c3 = Math.imul(0xd2511f53, c0);
    c0 = next0;
    c2 = next2;
    k0 = (k0 + 0x9e3779b9) | 0;
    k1 = (k1 + 0xbb67ae85) | 0;
  }
  return Uint32Array.of(c0, c1, c2, c3);
}

/** The first n words of the stream (layer, rotation, purpose): word 4 b + w is output word w of block b. */
export function words(key: Key, n: number, layer: number, rotation: number, purpose: number): Uint32Array {
  const found = new Uint32Array(Math.ceil(n / 4) * 4);
  for (let block = 0; 4 * block < n; block++) found.set(philox(key, [block, layer, rotation, purpose]), 4 * block);
  return found.subarray(0, n);
}

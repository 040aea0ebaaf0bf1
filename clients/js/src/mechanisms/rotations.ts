/**
 * Public rotations: layers of random signs and the Walsh-Hadamard transform, derived from a survey's id.
 * The order of additions is the Python library's, so that both round alike.
 */
import { type Key, ROTATION_SIGNS, words } from "../randomness/philox.js";

/** Flips signs in place: bit b of word j belongs to position 32 j + b, and a set bit is -1. */
function applySigns(x: Float64Array, bits: Uint32Array): void {
  // x.length is a multiple of 32; the factor is computed, so that no branch depends on a sign.
  for (let i = 0; i < x.length; i++) x[i]! *= 1 - 2 * ((bits[i >>> 5]! >>> (i & 31)) & 1);
}

/** The Walsh-Hadamard transform in place, not normalised; the length is a power of two. */
export function walshHadamard(x: Float64Array): void {
  for (let stride = 1; stride < x.length; stride *= 2) {
    for (let start = 0; start < x.length; start += 2 * stride) {
      for (let i = start; i < start + stride; i++) {
        const a = x[i]!;
        const b = x[i + stride]!;
        x[i] = a + b;
        x[i + stride] = a - b;
      }
    }
  }
}

/** size^(-layers/2) for a power of two, rounded to the nearest double without `Math.pow`, which need not be. */
function scale(size: number, layers: number): number {
  const halvings = (31 - Math.clz32(size)) * layers;
  return (halvings % 2 === 0 ? 1 : Math.SQRT1_2) / 2 ** Math.floor(halvings / 2);
}

/** Turns a vector by a public rotation, in place. Its length is a power of two from 32 on. */
export function rotate(x: Float64Array, key: Key, rotation: number, layers: number): void {
  for (let layer = 0; layer < layers; layer++) {
    applySigns(x, words(key, x.length / 32, layer, rotation, ROTATION_SIGNS));
    walshHadamard(x);
  }
  const factor = scale(x.length, layers);
  for (let i = 0; i < x.length; i++) x[i]! *= factor;
}

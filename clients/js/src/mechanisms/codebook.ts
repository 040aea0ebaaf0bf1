/**
 * The codebook: one row of a public random rotation, or its opposite. A few bytes, whatever the dimension.
 *
 * Of M candidates, rows of a random block of a random rotation and their opposites, the m nearest to the person's
 * vector have weight e^epsilon, the others weight 1. Whatever the floats do, exactly m of M are marked: so epsilon
 * holds exactly.
 */
import { choose, lowBit } from "../core/bits.js";
import { encodeIndex, indexWidth } from "../core/codecs.js";
import { SurveyError } from "../core/errors.js";
import { checkInteger } from "../core/limits.js";
import { type Key, ROTATION_SIGNS, words } from "../randomness/philox.js";
import { favouring } from "../randomness/thresholds.js";
import { clipped, lift, type VectorKind } from "./base/vector.js";
import { decodeIndex, type Law, probe, type Reported, shares, twoChances } from "./laws/law.js";
import { ratio, times } from "./laws/ratios.js";
import { counted } from "./laws/words.js";

/** Layers that make a rotation's bias against a uniformly random one negligible; short vectors need more. */
const layersFor = (size: number): number => ({ 64: 6, 128: 5, 256: 4, 512: 4 })[size] ?? 3;

export const codebook: VectorKind = {
  parameters: ["size", "candidates", "marked", "rotations", "layers"],
  make(ball, own) {
    if (ball.delta !== 0) throw new SurveyError("delta must be 0 for codebook: its guarantee is pure epsilon-LDP");
    const size = checkInteger("size", own.size, 64, 2 ** 19);
    const candidates = checkInteger("candidates", own.candidates, 2, 2 * size);
    const marked = checkInteger("marked", own.marked, 1, candidates / 2);
    const rotations = checkInteger("rotations", own.rotations, 1, 2 ** 32);
    const layers = checkInteger("layers", own.layers, layersFor(size), 8);
    if (lowBit(size) !== size || lowBit(candidates) !== candidates) {
      throw new SurveyError("size and candidates must be powers of two");
    }
    if (size <= ball.dimension) throw new SurveyError(`size must be above the dimension, ${ball.dimension}`);
    const threshold = favouring(BigInt(marked), BigInt(candidates - marked), ball.epsilon);
    const reportBytes = indexWidth(2n * BigInt(rotations) * BigInt(size));
    const rows = candidates / 2;
    return {
      name: "codebook",
      reportBytes,
      randomize(value, source) {
        const vector = clipped(value, ball);
        const rotation = source.below(rotations);
        const first = source.below(size / rows) * rows;
        const inside = source.bernoulli(threshold);
        const amongMarked = source.below(marked);
        const amongOthers = source.below(candidates - marked);
        const point = lift(vector, ball.radius, size);
        rotate(point, ball.key, rotation, layers);
        const top = mark(point.subarray(first, first + rows), marked);
        const candidate = ranked(top, Number(inside), choose(inside, amongMarked, amongOthers));
        // Up to 2^54: the only product here that a double need not hold.
        return encodeIndex(2n * (BigInt(rotation) * BigInt(size) + BigInt(first)) + BigInt(candidate), reportBytes);
      },
    };
  },
};

/**
 * Which of the candidates are the `marked` highest, as 1 and 0; candidate 2 i is row i, 2 i + 1 its opposite.
 *
 * Exactly `marked` are, whatever the scores: one that is not a number counts as zero, ties go to the lower row, and of
 * a row and its opposite at most one is marked.
 */
export function mark(scores: Float64Array, marked: number): Uint8Array {
  const sizes = scores.map((score) => Math.abs(score) || 0); // NaN is falsy
  const order = Uint32Array.from(scores.keys()).sort((a, b) => sizes[b]! - sizes[a]! || a - b);
  const top = new Uint8Array(2 * scores.length);
  for (const row of order.subarray(0, marked)) top[2 * row + Number(scores[row]! < 0)] = 1;
  return top;
}

/** The place of the entry equal to `wanted` that has this rank among them; all entries are looked at. */
function ranked(entries: Uint8Array, wanted: number, rank: number): number {
  let found = 0;
  let before = 0;
  for (let i = 0; i < entries.length; i++) {
    const hit = Number(entries[i] === wanted);
    found += i * (hit & Number(before === rank));
    before += hit;
  }
  return found;
}

export function codebookLaw({ mechanism, own, epsilon, payload }: Reported): Law {
  const { size, candidates, marked, rotations } = own as Record<Parameter, number>;
  const outputs = 2n * BigInt(rotations) * BigInt(size);
  const index = decodeIndex(payload, outputs);
  const rotation = Number(index / BigInt(2 * size));
  const block = Math.floor(Number(index % BigInt(2 * size)) / candidates);

  /** Whether the candidate is one of those marked for a vector: they are drawn by rank, the lowest index first. */
  function favours(vector: unknown): boolean {
    const drawn = (rank: number) => probe(mechanism, vector, rotation, block, true, rank).payload;
    const ofRank = (rank: number) => decodeIndex(drawn(rank), outputs);
    let [low, high] = [0, marked - 1];
    while (low < high) {
      const middle = (low + high) >> 1;
      if (ofRank(middle) < index) low = middle + 1;
      else high = middle;
    }
    return ofRank(low) === index;
  }

  const threshold = favouring(BigInt(marked), BigInt(candidates - marked), epsilon);
  const drawn = ratio(1, (BigInt(rotations) * BigInt(2 * size)) / BigInt(candidates)); // a rotation and a block of it
  const [more, less] = shares(threshold, marked, candidates - marked);
  const says = `One of ${counted(outputs)} public directions: number ${counted(index)}.`;
  return twoChances(favours, times(drawn, more), times(drawn, less), null, says);
}

type Parameter = "size" | "candidates" | "marked" | "rotations";

// Public rotations: layers of random signs and the Walsh-Hadamard transform, derived from a survey's id.
// The order of additions is the Python library's, so that both round alike.

/** Flips signs in place: bit b of word j belongs to position 32 j + b, and a set bit is -1. */
function applySigns(x: Float64Array, bits: Uint32Array): void {
  // x.length is a multiple of 32; the factor is computed, so that no branch depends on a sign.
  for (let i = 0; i < x.length; i++) x[i]! *= 1 - 2 * ((bits[i >>> 5]! >>> (i & 31)) & 1);
}

/** The Walsh-Hadamard transform in place, not normalised; the length is a power of two. */
function walshHadamard(x: Float64Array): void {
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

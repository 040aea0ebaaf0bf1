/**
 * The codebook: one row of a public random rotation, or its opposite. A few bytes, whatever the dimension.
 *
 * Of M candidates, rows of a random block of a random rotation and their opposites, the m nearest to the person's
 * vector have weight e^epsilon, the others weight 1. Whatever the floats do, exactly m of M are marked: so epsilon
 * holds exactly.
 */
import { encodeIndex, indexWidth } from "../core/codecs.js";
import { SurveyError } from "../core/errors.js";
import { decodeIndex, type Law, type Reported, shares, twoChances } from "./laws/law.js";
import { probe } from "./laws/probe.js";
import { ratio, times } from "./laws/ratios.js";
import { counted } from "./laws/words.js";
import { checkInteger } from "../core/limits.js";
import { rotate } from "./rotations.js";
import { favouring } from "../randomness/thresholds.js";
import { choose, lowBit } from "../core/bits.js";
import { clipped, lift, type VectorKind } from "./base/vector.js";

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

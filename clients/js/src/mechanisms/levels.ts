/**
 * Trees over a line of values: a level, drawn alike for all, a random column of its Hadamard matrix, and a bit.
 *
 * The bit is the sign of entry (node, column), for haar times the sign of the value's half of its node, through binary
 * randomized response: given level and column, two probabilities in the ratio e^epsilon.
 */
import { bitLength, encodeIndex, indexWidth } from "../core/codecs.js";
import { decodeIndex, type Law, type Reported } from "./laws/law.js";
import { answered, sign, signSum } from "./laws/parities.js";
import { checkInteger } from "../core/limits.js";
import { favouring } from "../randomness/thresholds.js";
import { oddOverlap } from "../core/bits.js";
import { checkValue, type FiniteKind, type FiniteMechanism } from "./base/finite.js";
import { checkTilt, reached, runningSums, tiltedWeights } from "./sampled.js";

/** What a tree's reports are made from: widest nodes first. */
interface Levels {
  /** How many values a node holds. */
  readonly spans: readonly number[];
  readonly nodes: readonly number[];
  /** The size of each level's Hadamard matrix. */
  readonly columns: readonly number[];
  readonly weights: readonly number[];
  /** The first report of each level, and the number of reports. */
  readonly offsets: readonly number[];
}

export function levelsOf(domainSize: number, spans: readonly number[], tilt: number): Levels {
  const nodes = spans.map((span) => Math.ceil(domainSize / span));
  const columns = nodes.map((count) => 2 ** bitLength(BigInt(count - 1)));
  const offsets = runningSums(columns.map((size) => 2 * size));
  return { spans, nodes, columns, weights: tiltedWeights(spans.length, tilt), offsets };
}

/** B^(L-1), .., B, 1, with the fewest levels for which B^L reaches the number of values. */
export function hierarchicalSpans(domainSize: number, branching: number): number[] {
  const spans = [1];
  while (spans[0]! * branching < domainSize) spans.unshift(spans[0]! * branching);
  return spans;
}

/** 2^L, .., 4, 2, with 2^L the least power of two that reaches the number of values. */
export function haarSpans(domainSize: number): number[] {
  const count = bitLength(BigInt(domainSize - 1));
  return Array.from({ length: count }, (_, i) => 2 ** (count - i));
}

function response(name: string, domainSize: number, epsilon: number, levels: Levels, signed: boolean): FiniteMechanism {
  const { spans, columns, offsets } = levels;
  const drawn = runningSums(levels.weights);
  const most = Math.max(...columns);
  const threshold = favouring(1n, 1n, epsilon);
  const reportBytes = indexWidth(BigInt(offsets.at(-1)!));
  return {
    name,
    reportBytes,
    randomize(given, source) {
      const value = checkValue(given, domainSize);
      const level = reached(drawn, source.below(drawn.at(-1)!));
      const kept = source.bernoulli(threshold);
      const [span, size] = [spans[level]!, columns[level]!];
      // Drawn for the largest matrix whichever level it is: sizes are powers of two, so the remainder is uniform.
      const column = source.below(most) % size;
      let odd = Number(oddOverlap(Math.floor(value / span), column));
      odd ^= Number(signed) & Math.floor(value / (span / 2)) % 2;
      return encodeIndex(offsets[level]! + column + size * Number(odd === Number(kept)), reportBytes);
    },
  };
}

export const hierarchical: FiniteKind = {
  parameters: ["branching", "tilt"],
  make(domainSize, epsilon, own) {
    const spans = hierarchicalSpans(domainSize, checkInteger("branching", own.branching, 2, domainSize));
    return response("hierarchical", domainSize, epsilon, levelsOf(domainSize, spans, checkTilt(own.tilt)), false);
  },
};

export const haar: FiniteKind = {
  parameters: ["tilt"],
  make(domainSize, epsilon, own) {
    const levels = levelsOf(domainSize, haarSpans(domainSize), checkTilt(own.tilt));
    return response("haar", domainSize, epsilon, levels, true);
  },
};

function treeLaw(reported: Reported, isSigned: boolean): Law {
  const { own, size, payload } = reported;
  const spans = isSigned ? haarSpans(size) : hierarchicalSpans(size, own.branching as number);
  const { columns, weights, offsets } = levelsOf(size, spans, own.tilt as number);
  const index = Number(decodeIndex(payload, offsets.at(-1)!));
  const level = reached(offsets, index);
  const [span, matrix] = [spans[level]!, columns[level]!];
  const [column, saysOdd] = [(index - offsets[level]!) % matrix, index - offsets[level]! >= matrix];
  const upperHalf = (value: number) => isSigned && Math.floor(value / (span / 2)) % 2 === 1;
  const isOdd = (value: number) => oddOverlap(Math.floor(value / span), column) !== upperHalf(value);
  const whole = Math.floor(size / span);
  const rest = size - whole * span;
  // The halves of a whole node cancel.
  const inner = isSigned ? 0n : BigInt(span) * signSum(BigInt(whole), BigInt(column));
  const last = isSigned ? Math.min(rest, span - rest) : rest;
  const signs = inner + BigInt(last) * sign(BigInt(whole), BigInt(column));
  const drawn = [weights[level]!, BigInt(runningSums(weights).at(-1)!) * BigInt(matrix)] as const;
  return answered(reported, drawn, isOdd, signs, saysOdd, offsets.at(-1)! / 2);
}

export const hierarchicalLaw = (reported: Reported): Law => treeLaw(reported, false);
export const haarLaw = (reported: Reported): Law => treeLaw(reported, true);

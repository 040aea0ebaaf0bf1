/** Reports on one public question drawn at random, with a noisy yes or no: trees and parities. */
import { oddOverlap } from "../mechanisms/finite.js";
import { Codes, type Layout, odd } from "../mechanisms/fourier.js";
import { haarSpans, hierarchicalSpans, levelsOf } from "../mechanisms/levels.js";
import { reached, runningSums, tiltedWeights } from "../mechanisms/sampled.js";
import { ONE } from "../source.js";
import { decodeIndex, type Law, type Reported, twoChances } from "./law.js";
import { thresholdFor } from "./probe.js";
import { ratio, times } from "./ratios.js";
import { positives, sign, signSum } from "./walsh.js";
import { counted } from "./words.js";

/** A law where a question has a sign for every value, and the report says which question, and "odd" or not. */
function answered(
  { mechanism, size }: Reported,
  drawn: readonly [weight: number | bigint, of: number | bigint],
  isOdd: (value: number) => boolean,
  signs: bigint,
  saysOdd: boolean,
  questions: number,
): Law {
  const threshold = thresholdFor(mechanism, 0);
  const often = ratio(...drawn);
  const [more, less] = [times(often, ratio(threshold, ONE)), times(often, ratio(ONE - threshold, ONE))];
  const even = positives(BigInt(size), signs);
  const favoured = saysOdd ? BigInt(size) - even : even;
  const says =
    `One of ${counted(questions)} public yes-or-no questions about answers, drawn at random. The report says ` +
    `“${saysOdd ? "no" : "yes"}” to it, which may be false.`;
  return twoChances((value: number) => isOdd(value) === saysOdd, more, less, [favoured, BigInt(size)], says);
}

const tree =
  (isSigned: boolean) =>
  (reported: Reported): Law => {
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
  };

export const hierarchical = tree(false);
export const haar = tree(true);

export function fourier(reported: Reported): Law {
  const layout = reported.own as unknown as Layout;
  const codes = new Codes(layout);
  const firsts = runningSums(codes.counts);
  const index = Number(decodeIndex(reported.payload, 2 * firsts.at(-1)!));
  const [coefficient, saysOdd] = [Math.floor(index / 2), index % 2 === 1];
  const group = reached(firsts, coefficient);
  const mask = codes.mask(group + 1, coefficient - firsts[group]!);
  const weights = tiltedWeights(layout.order, reported.own.tilt as number);
  const total = codes.counts.reduce((sum, count, i) => sum + count * weights[i]!, 0);
  // Attributes are independent: the signs of all records add up to the product of the attributes' sums.
  let [signs, rest] = [1n, mask];
  for (let place = layout.sizes.length - 1; place >= 0; place--) {
    const bits = BigInt(codes.bits[place]!);
    signs *= signSum(BigInt(layout.sizes[place]!), rest & ((1n << bits) - 1n));
    rest >>= bits;
  }
  const isOdd = (value: number) => odd(mask & codes.code(value));
  return answered(reported, [weights[group]!, total], isOdd, signs, saysOdd, firsts.at(-1)!);
}

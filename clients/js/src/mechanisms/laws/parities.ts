/** Parities: signs of integers by the ones they have in common with a mask, summed without listing them; and laws of such reports. */
import { ONE } from "../../randomness/source.js";
import { type Law, type Reported, thresholdFor, twoChances } from "./law.js";
import { ratio, times } from "./ratios.js";
import { counted } from "./words.js";

const hasOddOnes = (n: bigint): boolean => n.toString(2).replaceAll("0", "").length % 2 === 1;

/** 1 for an even number of common ones, -1 for an odd one. */
export const sign = (a: bigint, b: bigint): bigint => (hasOddOnes(a & b) ? -1n : 1n);

/**
 * The sum of `sign(x, mask)` over the integers x from 0 to below `count`.
 *
 * They fall into runs, one for every one bit of `count`, in which all lower bits are free: if the mask has one of
 * those, the signs cancel; if not, all are the same.
 */
export function signSum(count: bigint, mask: bigint): bigint {
  let sum = 0n;
  for (let run = 1n; run <= count; run *= 2n) {
    if ((count & run) !== 0n && (mask & (run - 1n)) === 0n) sum += run * sign(count - (count % (2n * run)), mask);
  }
  return sum;
}

/** How many of `count` values have sign 1, where the signs have this sum. */
export const positives = (count: bigint, sum: bigint): bigint => (count + sum) / 2n;

// Reports on one public question drawn at random, with a noisy yes or no: trees and parities.

/** A law where a question has a sign for every value, and the report says which question, and "odd" or not. */
export function answered(
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

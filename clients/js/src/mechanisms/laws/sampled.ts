/** Reports on one public question drawn at random, with a noisy yes or no: trees and parities. */
import { ONE } from "../../randomness/source.js";
import { type Law, type Reported, twoChances } from "./law.js";
import { thresholdFor } from "./probe.js";
import { ratio, times } from "./ratios.js";
import { positives } from "./walsh.js";
import { counted } from "./words.js";

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

/** Hadamard Response: a position below K, more often one whose row of the Hadamard matrix is +1 for the value. */
import { encodeIndex, indexWidth } from "../core/codecs.js";
import { decodeIndex, type Law, numbered, type Reported, shares, thresholdFor, twoChances } from "./laws/law.js";
import { positives, signSum } from "./laws/parities.js";
import { favouring } from "../randomness/thresholds.js";
import { choose, flip, lowBit, oddOverlap } from "../core/bits.js";
import { checkValue, type FiniteKind } from "./base/finite.js";

export const hadamard: FiniteKind = {
  parameters: [],
  make(domainSize, epsilon) {
    const outputs = 2 ** BigInt(domainSize).toString(2).length;
    const threshold = favouring(1n, 1n, epsilon);
    const reportBytes = indexWidth(BigInt(outputs));
    return {
      name: "hadamard",
      reportBytes,
      randomize(value, source) {
        const row = checkValue(value, domainSize) + 1;
        const sign = source.bernoulli(threshold);
        const position = source.below(outputs);
        const other = flip(position, lowBit(row));
        return encodeIndex(choose(oddOverlap(row, position) === sign, other, position), reportBytes);
      },
    };
  },
};

export function hadamardLaw({ mechanism, size, payload }: Reported): Law {
  const outputs = 2 ** size.toString(2).length;
  const position = decodeIndex(payload, outputs);
  const [more, less] = shares(thresholdFor(mechanism, 0), outputs / 2, outputs / 2);
  const favours = (value: number) => !oddOverlap(value + 1, Number(position));
  // Values are rows 1, 2, ..: row 0 agrees with every position, and is nobody's.
  const favoured = positives(BigInt(size) + 1n, signSum(BigInt(size) + 1n, position)) - 1n;
  return twoChances(favours, more, less, [favoured, BigInt(size)], numbered(outputs, Number(position)));
}

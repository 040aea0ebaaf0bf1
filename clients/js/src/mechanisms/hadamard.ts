/** Hadamard Response: a position below K, more often one whose row of the Hadamard matrix is +1 for the value. */
import { encodeIndex, indexWidth } from "../codecs.js";
import { favouring } from "../thresholds.js";
import { checkValue, flip, lowBit, oddOverlap, type FiniteKind } from "./finite.js";

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
        return encodeIndex(oddOverlap(row, position) === sign ? other : position, reportBytes);
      },
    };
  },
};

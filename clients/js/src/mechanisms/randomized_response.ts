/** Randomized response: the value itself, or any other with equal chances. */
import { encodeIndex, indexWidth } from "../codecs.js";
import { favouring } from "../thresholds.js";
import { checkValue, type FiniteKind } from "./finite.js";

export const randomizedResponse: FiniteKind = {
  parameters: [],
  make(domainSize, epsilon) {
    const threshold = favouring(1n, BigInt(domainSize - 1), epsilon);
    const reportBytes = indexWidth(BigInt(domainSize));
    return {
      name: "randomized_response",
      reportBytes,
      randomize(value, source) {
        checkValue(value, domainSize);
        const truthful = source.bernoulli(threshold);
        const other = source.below(domainSize - 1);
        return encodeIndex(truthful ? value : other + (other >= value ? 1 : 0), reportBytes);
      },
    };
  },
};

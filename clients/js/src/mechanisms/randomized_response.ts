/** Randomized response: the value itself, or any other with equal chances. */
import { encodeIndex, indexWidth } from "../core/codecs.js";
import { decodeIndex, type Law, type Reported, shares, thresholdFor, twoChances } from "./laws/law.js";
import { favouring } from "../randomness/thresholds.js";
import { choose } from "../core/bits.js";
import { checkValue, type FiniteKind } from "./base/finite.js";

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
        return encodeIndex(choose(truthful, value, other + Number(other >= value)), reportBytes);
      },
    };
  },
};

export function randomizedResponseLaw({ mechanism, size, payload, label }: Reported): Law {
  const reported = Number(decodeIndex(payload, size));
  const [more, less] = shares(thresholdFor(mechanism, 0), 1, size - 1);
  const says = `One answer, which may be yours or any other: “${label(reported)}”.`;
  return twoChances((value: number) => value === reported, more, less, [1n, BigInt(size)], says);
}

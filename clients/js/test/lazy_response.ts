/** Lazy response, a mechanism of another package: it uses what the package exports, and nothing else. */
import { checkValue, encodeIndex, exactly, type FiniteKind, floorOf, indexWidth } from "../src/index.js";
import { decodeIndex, type Law, ONE, ratio, type Reported, thresholdFor, twoChances } from "../src/explain.js";

export const lazyResponse: FiniteKind = {
  parameters: [],
  make(domainSize, epsilon) {
    const others = BigInt(domainSize - 1);
    const threshold = floorOf((e) => ({ n: e.n - e.d, d: e.n + others * e.d }), exactly(epsilon));
    const reportBytes = indexWidth(BigInt(domainSize));
    return {
      name: "lazy_response",
      reportBytes,
      randomize(value, source) {
        checkValue(value, domainSize);
        const truthful = source.bernoulli(threshold);
        const blind = source.below(domainSize);
        return encodeIndex(truthful ? value : blind, reportBytes);
      },
    };
  },
};

export function lazyResponseLaw({ mechanism, size, payload, label }: Reported): Law {
  const reported = Number(decodeIndex(payload, size));
  const threshold = thresholdFor(mechanism, 0);
  const [all, blind] = [ONE * BigInt(size), ONE - threshold];
  const [own, other] = [ratio(threshold * BigInt(size) + blind, all), ratio(blind, all)];
  const says = `One answer, which may be yours or drawn blindly: “${label(reported)}”.`;
  return twoChances((value: number) => value === reported, own, other, [1n, BigInt(size)], says);
}

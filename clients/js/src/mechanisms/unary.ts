/** Unary encodings: one bit per value, each set independently, the own value's more often. */
import { bitmapWidth, checkReportBytes } from "../codecs.js";
import { ONE } from "../source.js";
import { ceilOf, exactly, floorOf } from "../thresholds.js";
import { checkValue, type FiniteKind } from "./finite.js";

function unary(name: string, thresholds: (epsilon: number) => readonly [own: bigint, other: bigint]): FiniteKind {
  return {
    parameters: [],
    make(domainSize, epsilon) {
      const reportBytes = checkReportBytes(name, bitmapWidth(domainSize));
      const [own, other] = thresholds(epsilon);
      return {
        name,
        reportBytes,
        randomize(value, source) {
          checkValue(value, domainSize);
          const payload = new Uint8Array(reportBytes);
          for (let v = 0; v < domainSize; v++) {
            payload[v >> 3]! |= Number(source.bernoulli(v === value ? own : other)) << (v & 7);
          }
          return payload;
        },
      };
    },
  };
}

/** A fair coin for the own bit, rare ones elsewhere; the rare ones rounded up, toward the fair coin. */
export const unaryOptimized = unary("unary_optimized", (epsilon) => [
  ONE / 2n,
  ceilOf((e) => ({ n: e.d, d: e.n + e.d }), exactly(epsilon)),
]);

/** RAPPOR's one-time form: every bit of the one-hot vector kept with the same chance. */
export const unarySymmetric = unary("unary_symmetric", (epsilon) => {
  const { n, d } = exactly(epsilon);
  const own = floorOf((e) => ({ n: e.n, d: e.n + e.d }), { n, d: 2n * d });
  return [own, ONE - own];
});

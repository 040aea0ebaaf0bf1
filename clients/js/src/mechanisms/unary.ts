/** Unary encodings: one bit per value, each set independently, the own value's more often. */
import { bitmapWidth, checkReportBytes } from "../core/codecs.js";
import { bitmapMembers, type Law, probe, type Reported, twoChances } from "./laws/law.js";
import { logOf, over, ratio } from "./laws/ratios.js";
import { counted, naming } from "./laws/words.js";
import { ONE } from "../randomness/source.js";
import { ceilOf, exactly, floorOf } from "../randomness/thresholds.js";
import { checkValue, type FiniteKind } from "./base/finite.js";

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
export const unaryOptimized = /* @__PURE__ */ unary("unary_optimized", (epsilon) => [
  ONE / 2n,
  ceilOf((e) => ({ n: e.d, d: e.n + e.d }), exactly(epsilon)),
]);

/** RAPPOR's one-time form: every bit of the one-hot vector kept with the same chance. */
export const unarySymmetric = /* @__PURE__ */ unary("unary_symmetric", (epsilon) => {
  const { n, d } = exactly(epsilon);
  const own = floorOf((e) => ({ n: e.n, d: e.n + e.d }), { n, d: 2n * d });
  return [own, ONE - own];
});

/** Every bit is drawn by itself, so that only the own one tells the values apart. */
export function unaryLaw({ mechanism, size, payload, label }: Reported): Law {
  const found = bitmapMembers(payload, size);
  const members = new Set(found);
  const [own, other] = probe(mechanism, 0).asked as [bigint, bigint];
  const [set, clear] = [ratio(other, ONE), ratio(ONE - other, ONE)];
  const common = members.size * logOf(set) + (size - members.size) * logOf(clear);
  const yes = `${members.size === 0 ? "none" : counted(members.size)} of them yes${naming(found, label)}`;
  const says = `A yes or no for each of the ${counted(size)} answers, ${yes}.`;
  const favours = (value: number) => members.has(value);
  const [more, less] = [over(ratio(own, ONE), set), over(ratio(ONE - own, ONE), clear)];
  return twoChances(favours, more, less, [BigInt(members.size), BigInt(size)], says, common);
}

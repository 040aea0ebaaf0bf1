/** Subset selection: a random set of values, more often than not with the true one among them. */
import { equalBytes } from "../core/bytes.js";
import { bitLength, bitmapWidth, checkReportBytes, encodeSubset, subsetWidth } from "../core/codecs.js";
import { bit, bitmapMembers, impossible, type Law, type Reported, thresholdFor, twoChances } from "./laws/law.js";
import { ratio } from "./laws/ratios.js";
import { counted, naming } from "./laws/words.js";
import { checkInteger } from "../core/limits.js";
import { ONE } from "../randomness/source.js";
import { favouring } from "../randomness/thresholds.js";
import { choose } from "../core/bits.js";
import { checkValue, type FiniteKind } from "./base/finite.js";

export const subsetSelection: FiniteKind = {
  parameters: ["subset_size"],
  make(domainSize, epsilon, own) {
    const size = checkInteger("subset_size", own.subset_size, 1, domainSize - 1);
    const reportBytes = checkReportBytes("subset_selection", subsetWidth(domainSize, size));
    const threshold = favouring(BigInt(size), BigInt(domainSize - size), epsilon);
    return {
      name: "subset_selection",
      reportBytes,
      randomize(value, source) {
        checkValue(value, domainSize);
        const contains = source.bernoulli(threshold);
        // A uniform set of the other values (Floyd 1987); if the value belongs, it takes a uniform member's place.
        // Every draw is made either way.
        const members = new Set<number>();
        for (let bound = domainSize - 1 - size; bound < domainSize - 1; bound++) {
          const drawn = source.below(bound + 1);
          members.add(members.has(drawn) ? bound : drawn);
        }
        const replaced = source.below(size);
        const increasing = (a: number, b: number) => a - b;
        const others = Array.from(members, (other) => other + Number(other >= value)).sort(increasing);
        // One member is taken out and one put in between its neighbours, whether or not they are the same.
        const [member] = others.splice(replaced, 1);
        const put = choose(contains, value, member!);
        const place = (_: unknown, i: number) => Math.max(others[i - 1] ?? 0, Math.min(put, others[i] ?? put));
        return encodeSubset(Array.from({ length: size }, place), domainSize);
      },
    };
  },
};

/** The values of a set of known size, in increasing order; refused unless in canonical form. */
export function subsetMembers(payload: Uint8Array, size: number, count: number): number[] {
  let members: number[];
  if (payload.length === bitmapWidth(size)) {
    members = bitmapMembers(payload, size);
  } else {
    const each = bitLength(BigInt(size - 1));
    const place = (i: number) => {
      let member = 0;
      for (let b = each - 1; b >= 0; b--) member = 2 * member + bit(payload, i * each + b);
      return member;
    };
    members = Array.from({ length: count }, (_, i) => place(i));
  }
  const increasing = members.every((member, i) => member < size && (i === 0 || member > members[i - 1]!));
  const whole = members.length === count && increasing && equalBytes(encodeSubset(members, size), payload);
  return whole ? members : impossible();
}

/** The logarithm of the number of sets of k out of n. */
export function logChoose(n: number, k: number): number {
  let sum = 0;
  for (let i = 1; i <= Math.min(k, n - k); i++) sum += Math.log((n + 1 - i) / i);
  return sum;
}

export function subsetSelectionLaw({ mechanism, own, size, payload, label }: Reported): Law {
  const count = own.subset_size as number;
  const found = subsetMembers(payload, size, count);
  const members = new Set(found);
  const threshold = thresholdFor(mechanism, 0);
  // A share of count/size of all sets of this size holds a given value.
  const more = ratio(threshold * BigInt(size), ONE * BigInt(count));
  const less = ratio((ONE - threshold) * BigInt(size), ONE * BigInt(size - count));
  const which = naming(found, label);
  const says = `A set of ${counted(count)} of the ${counted(size)} answers, which may hold yours or not${which}.`;
  const favours = (value: number) => members.has(value);
  return twoChances(favours, more, less, [BigInt(count), BigInt(size)], says, -logChoose(size, count));
}

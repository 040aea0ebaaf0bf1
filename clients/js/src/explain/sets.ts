/** Reports that are sets of values: subset selection, and the unary encodings. */
import { equalBytes } from "../bytes.js";
import { bitLength, bitmapWidth, encodeBitmap, encodeSubset } from "../codecs.js";
import { ONE } from "../source.js";
import { impossible, type Law, type Reported, twoChances } from "./law.js";
import { probe, thresholdFor } from "./probe.js";
import { logOf, over, ratio } from "./ratios.js";
import { counted, naming } from "./words.js";

const bit = (payload: Uint8Array, at: number): number => (payload[at >> 3]! >> (at & 7)) & 1;

/** The values of a bitmap, in increasing order. */
function bitmapMembers(payload: Uint8Array, size: number): number[] {
  const members: number[] = [];
  for (let v = 0; v < size; v++) if (bit(payload, v)) members.push(v);
  return equalBytes(encodeBitmap(members, size), payload) ? members : impossible();
}

/** The values of a set of known size, in increasing order; refused unless coded the one way that it can be. */
function subsetMembers(payload: Uint8Array, size: number, count: number): number[] {
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
function logChoose(n: number, k: number): number {
  let sum = 0;
  for (let i = 1; i <= Math.min(k, n - k); i++) sum += Math.log((n + 1 - i) / i);
  return sum;
}

export function subsetSelection({ mechanism, own, size, payload, label }: Reported): Law {
  const count = own.subset_size as number;
  const found = subsetMembers(payload, size, count);
  const members = new Set(found);
  const threshold = thresholdFor(mechanism, 0);
  // Of all sets of this size, a share of count/size holds a given value.
  const more = ratio(threshold * BigInt(size), ONE * BigInt(count));
  const less = ratio((ONE - threshold) * BigInt(size), ONE * BigInt(size - count));
  const which = naming(found, label);
  const says = `A set of ${counted(count)} of the ${counted(size)} answers, which may hold yours or not${which}.`;
  const favours = (value: number) => members.has(value);
  return twoChances(favours, more, less, [BigInt(count), BigInt(size)], says, -logChoose(size, count));
}

/** Every bit is drawn by itself, so that only the own one tells the values apart. */
export function unary({ mechanism, size, payload, label }: Reported): Law {
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

/** How many integers of a range have an odd number of ones in common with a mask, without listing them. */

const hasOddOnes = (n: bigint): boolean => n.toString(2).replaceAll("0", "").length % 2 === 1;

/** 1 for an even number of common ones, -1 for an odd one. */
export const sign = (a: bigint, b: bigint): bigint => (hasOddOnes(a & b) ? -1n : 1n);

/**
 * The sum of `sign(x, mask)` over the integers x from 0 to below `count`.
 *
 * They fall into runs, one for every one bit of `count`, in which all lower bits are free: if the mask has one of
 * those, the signs cancel; if not, all are the same.
 */
export function signSum(count: bigint, mask: bigint): bigint {
  let sum = 0n;
  for (let run = 1n; run <= count; run *= 2n) {
    if ((count & run) !== 0n && (mask & (run - 1n)) === 0n) sum += run * sign(count - (count % (2n * run)), mask);
  }
  return sum;
}

/** How many of `count` values have sign 1, where the signs have this sum. */
export const positives = (count: bigint, sum: bigint): bigint => (count + sum) / 2n;

/** Fractions of integers as doubles: right to the last place or two, however large the integers are. */
import { bitLength } from "../../core/codecs.js";
import type { Ratio } from "../../randomness/thresholds.js";

export const ratio = (n: bigint | number, d: bigint | number): Ratio => ({ n: BigInt(n), d: BigInt(d) });

export const times = (a: Ratio, b: Ratio): Ratio => ({ n: a.n * b.n, d: a.d * b.d });

export const over = (a: Ratio, b: Ratio): Ratio => ({ n: a.n * b.d, d: a.d * b.n });

export const isLess = (a: Ratio, b: Ratio): boolean => a.n * b.d < b.n * a.d;

/** m 2^e with m of 64 bits, for a fraction above 0. */
function scaled({ n, d }: Ratio): [mantissa: number, exponent: number] {
  const shift = 64 + bitLength(d) - bitLength(n);
  const quotient = shift < 0 ? n / (d << BigInt(-shift)) : (n << BigInt(shift)) / d;
  return [Number(quotient), -shift];
}

/** The natural logarithm of a fraction above 0. */
export function logOf(fraction: Ratio): number {
  const [mantissa, exponent] = scaled(fraction);
  // Near 1 the two terms would cancel.
  const near = numberOf({ n: fraction.n - fraction.d, d: fraction.d });
  return Math.abs(near) < 0.5 ? Math.log1p(near) : Math.log(mantissa) + exponent * Math.LN2;
}

/** A fraction as a double. */
export function numberOf({ n, d }: Ratio): number {
  if (n === 0n) return 0;
  if (n < 0n) return -numberOf({ n: -n, d });
  const [mantissa, exponent] = scaled({ n, d });
  // In two steps: a power of two may leave the doubles where the product does not.
  const half = Math.trunc(exponent / 2);
  return mantissa * 2 ** half * 2 ** (exponent - half);
}

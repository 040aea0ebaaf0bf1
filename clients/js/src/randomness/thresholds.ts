/**
 * Probabilities as integers out of 2^64, rounded so that privacy can only gain.
 *
 * e^x is enclosed between two rationals by interval arithmetic on integers, and the enclosure is refined until the
 * rounding is certain. It becomes certain: e^x is transcendental for every rational x other than 0.
 */
import { ONE } from "./source.js";

/** A fraction n/d of integers, d above 0; not necessarily in lowest terms. */
export interface Ratio {
  readonly n: bigint;
  readonly d: bigint;
}

/** The exact value of a finite double. */
export function exactly(x: number): Ratio {
  let n = x;
  let d = 1n;
  while (!Number.isInteger(n)) {
    n *= 2; // exact: only the exponent changes
    d *= 2n;
  }
  return { n: BigInt(n), d };
}

/** floor(n / d) for d above 0. */
export function floorDivide(n: bigint, d: bigint): bigint {
  const q = n / d;
  return n < 0n && q * d !== n ? q - 1n : q;
}

const ceilDivide = (n: bigint, d: bigint): bigint => -floorDivide(-n, d);

const HALVINGS = 12; // exponents are at most a few dozen, so that the series runs at arguments below 1/100

/** Rationals below and above e^x, about 2^-bits apart, for x from 0 on. */
export function expBounds(x: Ratio, bits = 256): [Ratio, Ratio] {
  const shift = BigInt(bits);
  const one = 1n << shift;
  const d = x.d << BigInt(HALVINGS);
  let [lowTerm, highTerm, low, high] = [one, one, one, one];
  for (let k = 1n; highTerm > 1n; k++) {
    lowTerm = (lowTerm * x.n) / (d * k);
    highTerm = ceilDivide(highTerm * x.n, d * k);
    low += lowTerm;
    high += highTerm;
  }
  high += 1n; // what follows the last term is less than that term, which is at most one unit
  for (let i = 0; i < HALVINGS; i++) {
    low = (low * low) >> shift;
    high = ceilDivide(high * high, one);
  }
  return [
    { n: low, d: one },
    { n: high, d: one },
  ];
}

/** floor(2^64 * ofExp(e^x)), certain, for a monotone rational function `ofExp`. */
export function floorOf(ofExp: (e: Ratio) => Ratio, x: Ratio): bigint {
  for (let bits = 256; ; bits *= 2) {
    const [a, b] = expBounds(x, bits).map((e) => {
      const of = ofExp(e);
      return floorDivide(ONE * of.n, of.d);
    });
    if (a === b) return a!;
  }
}

/** ceil(2^64 * ofExp(e^x)), certain, for a monotone rational function `ofExp`. */
export function ceilOf(ofExp: (e: Ratio) => Ratio, x: Ratio): bigint {
  return -floorOf((e) => {
    const of = ofExp(e);
    return { n: -of.n, d: of.d };
  }, x);
}

/** The threshold of a mechanism that favours `inside` outputs over `outside` others by e^epsilon. */
export function favouring(inside: bigint, outside: bigint, epsilon: number): bigint {
  return floorOf((e) => ({ n: inside * e.n, d: inside * e.n + outside * e.d }), exactly(epsilon));
}

/** Whether ratio <= e^epsilon, decided exactly. */
export function withinEpsilon(ratio: Ratio, epsilon: number): boolean {
  for (let bits = 256; ; bits *= 2) {
    const [low, high] = expBounds(exactly(epsilon), bits);
    if (ratio.n * low!.d <= low!.n * ratio.d) return true;
    if (ratio.n * high!.d >= high!.n * ratio.d) return false;
  }
}

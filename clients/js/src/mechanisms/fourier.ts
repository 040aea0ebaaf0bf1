/**
 * Fourier response: the sign of one random parity of the value's binary code, through binary randomized response.
 *
 * Coefficients are masks of the code that touch 1 to `order` attributes, by how many they touch, then by which, then by
 * the mask. They may be 2^24, so they are never listed: a mask is found from its number.
 */
import { encodeIndex, indexWidth } from "../core/codecs.js";
import { MechanismError } from "../core/errors.js";
import { decodeIndex, type Law, type Reported } from "./laws/law.js";
import { answered, signSum } from "./laws/parities.js";
import { favouring } from "../randomness/thresholds.js";
import { odd } from "../core/bits.js";
import { checkValue, type FiniteMechanism } from "./base/finite.js";
import type { Layout } from "../workloads/workload.js";
import { reached, runningSums, tiltedWeights } from "./sampled.js";

const MAX_BITS = 62;
const MAX_OUTPUTS = 2 ** 25;

/** Codes of values and masks of coefficients, for attributes of these sizes. */
export class Codes {
  readonly bits: readonly number[];
  /** How many coefficients touch 1, 2, .., `order` attributes. */
  readonly counts: readonly number[];
  /** For every place on, how many masks of the attributes from there touch exactly so many of them. */
  readonly #after: readonly (readonly number[])[];

  constructor(readonly layout: Layout) {
    const { sizes, order } = layout;
    this.bits = sizes.map((size) => (size - 1).toString(2).length);
    const after = [[1, ...Array<number>(order).fill(0)]];
    for (let place = sizes.length - 1; place >= 0; place--) {
      const [last, own] = [after[0]!, this.#own(place)];
      after.unshift(last.map((count, touched) => count + (touched > 0 ? own * last[touched - 1]! : 0)));
    }
    this.#after = after;
    this.counts = after[0]!.slice(1);
  }

  /** How many masks touch this attribute alone. */
  #own(place: number): number {
    return [0, place + 1].includes(this.layout.only) ? 2 ** this.bits[place]! - 1 : 0;
  }

  /** The coefficient of this rank among those that touch so many attributes. */
  mask(touched: number, rank: number): bigint {
    const chosen: number[] = [];
    let [rest, ways] = [rank, 1];
    for (let place = 0; chosen.length < touched; place++) {
      const here = ways * this.#own(place) * this.#after[place + 1]![touched - chosen.length - 1]!;
      if (rest < here) {
        chosen.push(place);
        ways *= this.#own(place);
      } else rest -= here;
    }
    const digits = new Map<number, number>();
    for (const place of chosen.reverse()) {
      digits.set(place, 1 + (rest % this.#own(place)));
      rest = Math.floor(rest / this.#own(place));
    }
    return this.#joined((place) => digits.get(place) ?? 0);
  }

  /** The binary code of a value: its attributes' numbers side by side, the last in the lowest bits. */
  code(value: number): bigint {
    const digits: number[] = [];
    let rest = value;
    for (const size of [...this.layout.sizes].reverse()) {
      digits.unshift(rest % size);
      rest = Math.floor(rest / size);
    }
    return this.#joined((place) => digits[place]!);
  }

  #joined(digit: (place: number) => number): bigint {
    return this.bits.reduce((code, bits, place) => (code << BigInt(bits)) | BigInt(digit(place)), 0n);
  }
}

/** The mechanism with these coefficients, which the workload decides; only the tilt is the survey's choice. */
export function fourier(domainSize: number, epsilon: number, layout: Layout, tilt: number): FiniteMechanism {
  const codes = new Codes(layout);
  const firsts = runningSums(codes.counts);
  const outputs = 2 * firsts.at(-1)!;
  if (codes.bits.reduce((sum, bits) => sum + bits) > MAX_BITS || outputs > MAX_OUTPUTS) {
    throw new MechanismError(`fourier serves attributes of at most ${MAX_BITS} bits and ${MAX_OUTPUTS / 2} parities`);
  }
  const weights = tiltedWeights(layout.order, tilt);
  const drawn = runningSums(codes.counts.map((count, i) => count * weights[i]!));
  const threshold = favouring(1n, 1n, epsilon);
  const reportBytes = indexWidth(BigInt(outputs));
  return {
    name: "fourier",
    reportBytes,
    randomize(given, source) {
      const value = checkValue(given, domainSize);
      const draw = source.below(drawn.at(-1)!);
      const kept = source.bernoulli(threshold);
      const group = reached(drawn, draw);
      const rank = Math.floor((draw - drawn[group]!) / weights[group]!);
      const negative = odd(codes.mask(group + 1, rank) & codes.code(value)) === kept;
      return encodeIndex(2 * (firsts[group]! + rank) + Number(negative), reportBytes);
    },
  };
}

export function fourierLaw(reported: Reported): Law {
  const layout = reported.own as unknown as Layout;
  const codes = new Codes(layout);
  const firsts = runningSums(codes.counts);
  const index = Number(decodeIndex(reported.payload, 2 * firsts.at(-1)!));
  const [coefficient, saysOdd] = [Math.floor(index / 2), index % 2 === 1];
  const group = reached(firsts, coefficient);
  const mask = codes.mask(group + 1, coefficient - firsts[group]!);
  const weights = tiltedWeights(layout.order, reported.own.tilt as number);
  const total = codes.counts.reduce((sum, count, i) => sum + count * weights[i]!, 0);
  // Attributes are independent: the signs of all records add up to the product of the attributes' sums.
  let [signs, rest] = [1n, mask];
  for (let place = layout.sizes.length - 1; place >= 0; place--) {
    const bits = BigInt(codes.bits[place]!);
    signs *= signSum(BigInt(layout.sizes[place]!), rest & ((1n << bits) - 1n));
    rest >>= bits;
  }
  const isOdd = (value: number) => odd(mask & codes.code(value));
  return answered(reported, [weights[group]!, total], isOdd, signs, saysOdd, firsts.at(-1)!);
}

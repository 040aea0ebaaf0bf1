/**
 * Projective geometry response: a point of a projective space, more often one orthogonal to the value's point.
 *
 * A point is the vector of `dimension` elements whose first non-zero entry is 1. With m entries after that 1, its
 * number is (q^m - 1)/(q - 1) plus those entries read as an integer in base q, most significant first.
 */
import { encodeIndex, indexWidth } from "../codecs.js";
import { SurveyError } from "../errors.js";
import { checkInteger } from "../limits.js";
import { favouring } from "../thresholds.js";
import { checkValue, type FiniteKind } from "./finite.js";
import { fieldOfOrder } from "./finite_field.js";

const MAX_ORDER = 2 ** 31 - 1;
/** How many times more points than values the space may have. */
const MAX_OVERSHOOT = 64n;

const points = (q: number, m: number): bigint => (BigInt(q) ** BigInt(m) - 1n) / BigInt(q - 1);

/** The points of a space of at most 2^46 of them: how many there are in fewer dimensions, and their coordinates. */
export function projectiveSpace(q: number, t: number) {
  const counts = Array.from({ length: t + 1 }, (_, m) => Number(points(q, m)));

  function digits(number: number, length: number): number[] {
    const found = new Array<number>(length);
    for (let i = length - 1, rest = number; i >= 0; i--, rest = Math.floor(rest / q)) found[i] = rest % q;
    return found;
  }

  function vector(number: number, length: number): number[] {
    let free = 0;
    while (number >= counts[free + 1]!) free++;
    return [...new Array<number>(length - 1 - free).fill(0), 1, ...digits(number - counts[free]!, free)];
  }

  return { counts, digits, vector };
}

export const projectiveGeometry: FiniteKind = {
  parameters: ["order", "dimension"],
  make(domainSize, epsilon, own) {
    const q = checkInteger("order", own.order, 2, MAX_ORDER);
    const t = checkInteger("dimension", own.dimension, 2, 64);
    const field = fieldOfOrder(q);
    if (field === undefined) throw new SurveyError("order must be a prime, or a power of one up to 256");
    const total = points(q, t);
    if (total < BigInt(domainSize) || total > MAX_OVERSHOOT * BigInt(domainSize)) {
      throw new SurveyError("order and dimension must give 1 to 64 times as many points as there are values");
    }
    const { counts, digits, vector } = projectiveSpace(q, t);
    const [all, orthogonal] = [counts[t]!, counts[t - 1]!];
    const threshold = favouring(BigInt(orthogonal), BigInt(all - orthogonal), epsilon);
    const reportBytes = indexWidth(total);

    function numberOf(entries: readonly number[]): number {
      const lead = entries.findIndex((entry) => entry !== 0);
      const inverse = field!.inverse(entries[lead]!);
      const tail = entries.slice(lead + 1).reduce((sum, entry) => sum * q + field!.multiply(entry, inverse), 0);
      return counts[t - 1 - lead]! + tail;
    }

    /** The point with these coordinates off the pivot of the value's and this inner product with it. */
    function solve(value: number, others: readonly number[], product: number): number {
      const direction = vector(value, t);
      const pivot = direction.indexOf(1);
      direction.splice(pivot, 1);
      const atPivot = direction.reduce((left, a, i) => field!.subtract(left, field!.multiply(a, others[i]!)), product);
      return numberOf([...others.slice(0, pivot), atPivot, ...others.slice(pivot)]);
    }

    return {
      name: "projective_geometry",
      reportBytes,
      randomize(value, source) {
        checkValue(value, domainSize);
        const inside = source.bernoulli(threshold);
        const within = source.below(orthogonal);
        const off = source.below(all - orthogonal);
        const point = inside ? solve(value, vector(within, t - 1), 0) : solve(value, digits(off, t - 1), 1);
        return encodeIndex(point, reportBytes);
      },
    };
  },
};

/**
 * Projective geometry response: a point of a projective space, more often one orthogonal to the value's point.
 *
 * A point is the vector of `dimension` elements whose first non-zero entry is 1. With m entries after that 1, its
 * number is (q^m - 1)/(q - 1) plus those entries read as an integer in base q, most significant first.
 */
import { choose } from "../core/bits.js";
import { encodeIndex, indexWidth } from "../core/codecs.js";
import { SurveyError } from "../core/errors.js";
import { checkInteger } from "../core/limits.js";
import { favouring } from "../randomness/thresholds.js";
import { checkValue, type FiniteKind } from "./base/finite.js";
import { decodeIndex, type Law, type Reported, shares, thresholdFor, twoChances } from "./laws/law.js";
import { counted } from "./laws/words.js";
import { reached } from "./sampled.js";

// The field of q = p^k elements, which are the integers 0 .. q-1.
// If q is a prime they are taken modulo q. Otherwise the digits of an element in base p are the coefficients of a
// polynomial over the integers modulo p, and products are reduced modulo the first primitive polynomial.

/** The arithmetic of one field; arguments are trusted to be its elements. */
interface FiniteField {
  subtract(a: number, b: number): number;
  multiply(a: number, b: number): number;
  /** 1/a, for a other than 0. */
  inverse(a: number): number;
}

const MAX_EXTENSION_ORDER = 256;

/** The least prime factor of n, by trial division: orders stay below 2^31. */
function leastFactor(n: number): number {
  for (let d = 2; d * d <= n; d++) if (n % d === 0) return d;
  return n;
}

/** The field with so many elements; undefined unless q is a prime, or a power of one up to 256. */
function fieldOfOrder(q: number): FiniteField | undefined {
  const p = leastFactor(q);
  if (p === q) return primeField(q);
  let power = p;
  while (power < q) power *= p;
  return power === q && q <= MAX_EXTENSION_ORDER ? extensionField(p, q) : undefined;
}

function primeField(q: number): FiniteField {
  const multiply = (a: number, b: number) => Number((BigInt(a) * BigInt(b)) % BigInt(q));
  return {
    subtract: (a, b) => (a - b + q) % q,
    multiply,
    inverse(a) {
      let [result, square] = [1, a]; // a^(q-2), by Fermat
      for (let rest = q - 2; rest > 0; rest = Math.floor(rest / 2)) {
        if (rest % 2 === 1) result = multiply(result, square);
        square = multiply(square, square);
      }
      return result;
    },
  };
}

function extensionField(p: number, q: number): FiniteField {
  /** a - scale b, digit by digit modulo p. */
  function minus(a: number, b: number, scale = 1): number {
    let total = 0;
    for (let place = 1; place < q; place *= p) {
      const digit = (Math.floor(a / place) % p) - scale * (Math.floor(b / place) % p);
      total += (((digit % p) + p) % p) * place;
    }
    return total;
  }

  /** x^0, x^1, .. modulo x^k + low; fewer than q - 1 of them unless that polynomial is primitive. */
  function powersOfX(low: number): number[] {
    const top = q / p;
    const powers = new Set<number>();
    for (let power = 1; power !== 0 && !powers.has(power);) {
      powers.add(power);
      power = minus((power % top) * p, low, Math.floor(power / top));
    }
    return [...powers];
  }

  let powers: number[] = [];
  for (let low = 0; powers.length < q - 1; low++) powers = powersOfX(low);
  const logarithms = new Uint8Array(q); // that of 0 is any: the sign of the product is 0 there
  powers.forEach((element, i) => (logarithms[element] = i));
  return {
    subtract: minus,
    multiply: (a, b) => Math.sign(a * b) * powers[(logarithms[a]! + logarithms[b]!) % (q - 1)]!,
    inverse: (a) => powers[(q - 1 - logarithms[a]!) % (q - 1)]!,
  };
}

const MAX_ORDER = 2 ** 31 - 1;
/** How many times more points than values the space may have. */
const MAX_OVERSHOOT = 64n;

/** How many points a space has. */
export const points = (q: number, m: number): bigint => (BigInt(q) ** BigInt(m) - 1n) / BigInt(q - 1);

/** The place of the first entry other than 0; all are looked at. */
const firstNonZero = (entries: readonly number[]): number =>
  entries.reduceRight((first, entry, i) => choose(entry !== 0, i, first), 0);

/** The points of a space of at most 2^46 of them: how many there are in fewer dimensions, and their coordinates. */
function projectiveSpace(q: number, t: number) {
  const counts = Array.from({ length: t + 1 }, (_, m) => Number(points(q, m)));

  function digits(number: number, length: number): number[] {
    const found = new Array<number>(length);
    for (let i = length - 1, rest = number; i >= 0; i--, rest = Math.floor(rest / q)) found[i] = rest % q;
    return found;
  }

  /** With a 1 before its free entries a point's vector is one number in base q: as many digits for every point. */
  function vector(number: number, length: number): number[] {
    const free = reached(counts, number);
    return digits(q ** free + number - counts[free]!, length);
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
      const lead = firstNonZero(entries);
      const inverse = field!.inverse(entries[lead]!);
      const free = t - 1 - lead;
      const number = entries.reduce((sum, entry) => sum * q + field!.multiply(entry, inverse), 0);
      return number - q ** free + counts[free]!;
    }

    /** The point with these coordinates off the pivot of the value's and this inner product with it. */
    function solve(value: number, others: readonly number[], product: number): number {
      const direction = vector(value, t);
      const pivot = firstNonZero(direction);
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
        const point = choose(inside, solve(value, vector(within, t - 1), 0), solve(value, digits(off, t - 1), 1));
        return encodeIndex(point, reportBytes);
      },
    };
  },
};

export function projectiveGeometryLaw({ mechanism, own, size, payload }: Reported): Law {
  const [q, t] = [own.order as number, own.dimension as number];
  const field = fieldOfOrder(q)!;
  const { counts, vector } = projectiveSpace(q, t);
  const [all, orthogonal] = [counts[t]!, counts[t - 1]!];
  const index = Number(decodeIndex(payload, all));
  const point = vector(index, t);
  const [more, less] = shares(thresholdFor(mechanism, 0), orthogonal, all - orthogonal);
  const minus = (left: number, a: number, b: number) => field.subtract(left, field.multiply(a, b));
  const favours = (value: number) => vector(value, t).reduce((left, a, i) => minus(left, a, point[i]!), 0) === 0;

  /** Of the first `number` ways to fill the places with elements, how many make the sum of products `left`. */
  function solutions(left: number, places: readonly number[], number: number): bigint {
    if (places.length === 0) return left === 0 && number > 0 ? 1n : 0n;
    const [place, ...rest] = places as [number, ...number[]];
    const each = q ** rest.length;
    const whole = Math.floor(number / each); // so many values of this place come with all ways to fill the rest
    let found: bigint;
    if (rest.some((entry) => entry !== 0)) found = BigInt(whole) * BigInt(each / q);
    else if (place === 0) found = left === 0 ? BigInt(whole) * BigInt(each) : 0n;
    else found = field.multiply(left, field.inverse(place)) < whole ? BigInt(each) : 0n;
    return whole === q ? found : found + solutions(minus(left, whole, place), rest, number % each);
  }

  // Values come by how many places follow their leading 1, then by those places as one number.
  let favoured = 0n;
  for (let free = 0; free < t && counts[free]! < size; free++) {
    const tail = point.slice(t - free);
    const leading = field.subtract(0, point[t - 1 - free]!);
    favoured += solutions(leading, tail, Math.min(size, counts[free + 1]!) - counts[free]!);
  }
  const says = `One of ${counted(all)} points of a finite geometry: number ${counted(index)}.`;
  return twoChances(favours, more, less, [favoured, BigInt(size)], says);
}

/**
 * The field of q = p^k elements, which are the integers 0 .. q-1.
 *
 * If q is a prime they are taken modulo q. Otherwise the digits of an element in base p are the coefficients of a
 * polynomial over the integers modulo p, and products are reduced modulo the first primitive polynomial.
 */

/** The arithmetic of one field; arguments are trusted to be its elements. */
export interface FiniteField {
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
export function fieldOfOrder(q: number): FiniteField | undefined {
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

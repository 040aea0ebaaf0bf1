/** Queries about records: every cross table of k attributes, and the parities of sets of bits. */
import { type Domain, ProductDomain, RangeDomain } from "../domain/domain.js";
import { WorkloadError } from "../core/errors.js";
import { checkInteger } from "../core/limits.js";
import { checkQueries, type Family, parameters } from "./workload.js";

/** For k = 0 .. order, the sum over all sets of k of the numbers of their product. */
export function symmetric(numbers: readonly bigint[], order: number): bigint[] {
  const sums = [1n, ...Array<bigint>(order).fill(0n)];
  for (const number of numbers) for (let k = order; k > 0; k--) sums[k]! += number * sums[k - 1]!;
  return sums;
}

/** Calls `each` with every increasing list of k places below n, in lexicographic order. */
function combinations(n: number, k: number, each: (places: readonly number[]) => void): void {
  const places: number[] = [];
  const descend = (from: number): void => {
    if (places.length === k) return each(places);
    for (let place = from; place <= n - (k - places.length); place++) {
      places.push(place);
      descend(place + 1);
      places.pop();
    }
  };
  descend(0);
}

/** All tables of k attributes in lexicographic order, the cells of one with its last attribute fastest. */
export const marginals: Family = (domain, own) => {
  parameters(own, "k");
  if (!(domain instanceof ProductDomain)) throw new WorkloadError("tables need named attributes");
  const sizes = domain.attributes.map(([, inner]) => inner.size);
  const k = checkInteger("k", own.k, 1, sizes.length);
  const queries = checkQueries(symmetric(sizes, k)[k]!);
  const tables = Number(symmetric(sizes.map(() => 1n), k)[k]!);
  const fill = (value: bigint, answers: Float64Array) => {
    const digits = domain.split(value).map(Number);
    let start = 0;
    answers.fill(0);
    combinations(sizes.length, k, (places) => {
      let [cell, cells] = [0, 1];
      for (const place of places) {
        cell = cell * Number(sizes[place]) + digits[place]!;
        cells *= Number(sizes[place]);
      }
      answers[start + cell] = 1;
      start += cells;
    });
  };
  const layout = { sizes: sizes.map(Number), order: k, only: 0 };
  return { domain, queries, radius: Math.sqrt(tables), fill, layout, tables: k };
};

/** For sets of 1 .. order bits, by size, then in lexicographic order: 1 where the value has evenly many, else -1. */
export const parities: Family = (domain, own) => {
  parameters(own, "order");
  const bits = bitsOf(domain);
  const count = bits(0n).length;
  const order = checkInteger("order", own.order, 1, count);
  const numbers = symmetric(Array<bigint>(count).fill(1n), order);
  const queries = checkQueries(numbers.slice(1).reduce((sum, number) => sum + number));
  const fill = (value: bigint, answers: Float64Array) => {
    const own = bits(value);
    let row = 0;
    for (let size = 1; size <= order; size++) {
      combinations(count, size, (places) => {
        let odd = 0;
        for (const place of places) odd ^= own[place]!;
        answers[row++] = 1 - 2 * odd;
      });
    }
  };
  const layout = { sizes: Array<number>(count).fill(2), order, only: 0 };
  return { domain, queries, radius: Math.sqrt(queries), fill, layout };
};

/** How a value is read as bits: the lowest of an integer first, or the attributes of a record in order. */
function bitsOf(domain: Domain): (value: bigint) => number[] {
  if (domain instanceof ProductDomain && domain.attributes.every(([, inner]) => inner.size === 2n)) {
    return (value) => domain.split(value).map(Number);
  }
  const power = (domain.size & (domain.size - 1n)) === 0n;
  if (domain instanceof RangeDomain && domain.start === 0n && domain.step === 1n && power) {
    const count = domain.size.toString(2).length - 1;
    return (value) => Array.from({ length: count }, (_, place) => Number((value >> BigInt(place)) & 1n));
  }
  throw new WorkloadError("parities need integers from 0 to below a power of two, or attributes of two values each");
}

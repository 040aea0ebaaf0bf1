/** Queries of a line: single values, all values up to one, all intervals, and bins of one integer attribute. */
import { type Domain, LabelDomain, ProductDomain, RangeDomain } from "../domain/domain.js";
import { WorkloadError } from "../core/errors.js";
import { floorDivide } from "../randomness/thresholds.js";
import { checkQueries, type Family, filled, parameters } from "./workload.js";

/** One query a value: 1 for one's own. */
export const identity: Family = (domain, own) => {
  parameters(own);
  const queries = checkQueries(domain.size);
  const fill = filled((v, i) => Number(i === v));
  return { domain, queries, radius: 1, fill, intervals: true, layout: { sizes: [queries], order: 1, only: 0 } };
};

/** Row i is 1 for the values numbered 0 to i. */
export const prefix: Family = (domain, own) => {
  parameters(own);
  const queries = checkQueries(line(domain).size);
  const fill = filled((v, i) => Number(v <= i));
  const squaredNorm = (value: bigint) => queries - Number(value);
  return { domain, queries, radius: Math.sqrt(queries), fill, squaredNorm, intervals: true };
};

/** All intervals [i, j], i <= j, by left end, then by right end. */
export const ranges: Family = (domain, own) => {
  parameters(own);
  const size = line(domain).size;
  const queries = checkQueries((size * (size + 1n)) / 2n);
  const fill = (value: bigint, answers: Float64Array) => {
    const v = Number(value);
    for (let first = 0, row = 0; first < Number(size); first++) {
      for (let last = first; last < Number(size); last++) answers[row++] = Number(first <= v) & Number(v <= last);
    }
  };
  const squaredNorm = (value: bigint) => Number((value + 1n) * (size - value));
  const radius = Math.sqrt(Number((size + 1n) ** 2n / 4n));
  return { domain, queries, radius, fill, squaredNorm, intervals: true };
};

/** Row i is 1 where edges[i] <= x < edges[i + 1], x the value or its attribute. */
export const bins: Family = (domain, own) => {
  const product = domain instanceof ProductDomain;
  const { edges, attribute } = product ? parameters(own, "edges", "attribute") : parameters(own, "edges");
  const place = product ? domain.attributes.findIndex(([name]) => name === attribute) : 0;
  const axis = domain.attributes[place]?.[1];
  if (!axis || direction(axis) <= 0) throw new WorkloadError("bins need integers that rise");
  const listed = Array.isArray(edges) && edges.every(Number.isSafeInteger) ? (edges as number[]) : [];
  const bounds = listed.map((edge) => firstFrom(axis, BigInt(edge)));
  if (bounds.length < 2 || bounds.some((bound, i) => i > 0 && bound <= bounds[i - 1]!)) {
    throw new WorkloadError("edges must be two or more integers that rise and leave no bin empty");
  }
  const queries = checkQueries(bounds.length - 1);
  const position = (value: bigint) => domain.split(value)[place]!;
  const inside = (x: bigint, from: number, to: number) => Number(bounds[from]! <= x) & Number(x < bounds[to]!);
  const fill = (value: bigint, answers: Float64Array) => {
    for (let i = 0, x = position(value); i < queries; i++) answers[i] = inside(x, i, i + 1);
  };
  const squaredNorm = (value: bigint) => inside(position(value), 0, queries);
  const covering = bounds[0] === 0n && bounds[queries] === axis.size;
  const layout = { sizes: domain.attributes.map(([, inner]) => Number(inner.size)), order: 1, only: place + 1 };
  return { domain, queries, radius: 1, fill, ...(covering ? {} : { squaredNorm }), intervals: !product, layout };
};

/** 1 for integers that rise, -1 for integers that fall, 0 for everything else. */
function direction(domain: Domain): number {
  if (domain instanceof RangeDomain) return domain.step > 0n ? 1 : -1;
  if (!(domain instanceof LabelDomain) || typeof domain.names[0] !== "number") return 0;
  const names = domain.names as readonly number[];
  const steps = new Set(names.slice(1).map((name, i) => Math.sign(name - names[i]!)));
  return steps.size === 1 ? [...steps][0]! : 0;
}

/** The domain, if its values stand in a line: integers in order, or texts in the order given. */
export function line(domain: Domain): Domain {
  const jumbled = domain instanceof LabelDomain && typeof domain.names[0] === "number" && direction(domain) === 0;
  if (domain instanceof ProductDomain || jumbled) {
    throw new WorkloadError("prefix and ranges need integers in order, or texts");
  }
  return domain;
}

/** The number of the first value that is not below an edge; the size where all are. */
function firstFrom(axis: Domain, edge: bigint): bigint {
  if (axis instanceof RangeDomain) {
    const steps = -floorDivide(axis.start - edge, axis.step);
    return steps < 0n ? 0n : steps > axis.size ? axis.size : steps;
  }
  const names = (axis as LabelDomain).names as readonly number[];
  let [low, high] = [0, names.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if (names[middle]! < edge) low = middle + 1;
    else high = middle;
  }
  return BigInt(low);
}

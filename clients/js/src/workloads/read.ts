/** A workload from its statement: strict, so that a device rebuilds the very queries that were stated. */
import { type Domain, readDomain } from "../domain/domain.js";
import { WorkloadError } from "../core/errors.js";
import { isObject, type Json, type JsonObject } from "../core/json.js";
import { checkRadius } from "../core/limits.js";
import { marginals, parities } from "./attributes.js";
import { bins, identity, prefix, ranges } from "./lines.js";
import { dense, features, sparse } from "./matrices.js";
import { checkQueries, type Family, parameters, type Workload } from "./workload.js";

const FAMILIES = new Map<string, Family>(
  Object.entries({ identity, prefix, ranges, bins, marginals, parities, dense, features, sparse }),
);
const MAX_PARTS = 1000;
/** Up to so many values a device looks for the longest column of a stack by trying them all. */
const MAX_VALUES = 2 ** 20;

/** The workload of a survey of queries. */
export function readWorkload(stated: Json | undefined): Workload {
  if (!isObject(stated) || !("domain" in stated)) throw new WorkloadError("a workload must hold a type and a domain");
  const { domain: over, ...rest } = stated;
  const domain = readDomain(over);
  return rest.type === "stack" ? stack(domain, rest) : part(rest, domain);
}

/** A workload that is not a stack, from what its statement holds besides the domain. */
function part(stated: Json, domain: Domain): Workload {
  const { type, ...own } = isObject(stated) ? stated : ({} as JsonObject);
  const family = typeof type === "string" ? FAMILIES.get(type) : undefined;
  if (!family) {
    throw new WorkloadError(`a workload must be of type ${[...FAMILIES.keys()].join(", ")} or, outermost only, stack`);
  }
  return family(domain, own);
}

/** Several workloads over one domain, one below the other, each times its weight. */
function stack(domain: Domain, { type: _, ...own }: JsonObject): Workload {
  const { parts: listed, weights } = parameters(own, "parts", "weights");
  const good = (weight: Json) => typeof weight === "number" && weight >= 1e-100 && weight <= 1e100;
  const count = Array.isArray(listed) && Array.isArray(weights) && weights.every(good) ? listed.length : 0;
  if (count < 1 || count > MAX_PARTS || count !== (weights as Json[]).length) {
    throw new WorkloadError(`a stack must have 1 to ${MAX_PARTS} parts, and as many weights from 1e-100 to 1e100`);
  }
  const parts = (weights as number[]).map((weight, i) => ({ weight, of: part((listed as Json[])[i]!, domain) }));
  const queries = checkQueries(parts.reduce((sum, { of }) => sum + of.queries, 0));
  // Where all columns have one norm, its square is an integer.
  const norm = (of: Workload, value: bigint) => of.squaredNorm?.(value) ?? Math.round(of.radius ** 2);
  const squaredNorm = (value: bigint) => parts.reduce((sum, { of, weight }) => sum + weight ** 2 * norm(of, value), 0);
  const varying = parts.filter(({ of }) => of.squaredNorm).length;
  // Not Math.hypot, which engines round differently; where this overflows, the radius is too large in any case.
  let radius = Math.sqrt(parts.reduce((sum, { of, weight }) => sum + (weight * of.radius) ** 2, 0));
  if (varying > 1) {
    if (domain.size > MAX_VALUES) {
      throw new WorkloadError(`this client answers such a stack over ${MAX_VALUES} values at most`);
    }
    let largest = 0;
    for (let value = 0n; value < domain.size; value++) largest = Math.max(largest, squaredNorm(value));
    radius = Math.sqrt(largest);
  }
  const fill = (value: bigint, answers: Float64Array) => {
    let start = 0;
    for (const { of, weight } of parts) {
      const own = answers.subarray(start, (start += of.queries));
      of.fill(value, own);
      for (let i = 0; i < own.length; i++) own[i]! *= weight;
    }
  };
  return { domain, queries, radius: checkRadius(radius), fill, ...(varying ? { squaredNorm } : {}) };
}

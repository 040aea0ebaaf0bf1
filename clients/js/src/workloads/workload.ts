/** What a device needs of a workload: one person's column of the query matrix, and the largest norm of any column. */
import type { Domain } from "../domain/domain.js";
import { WorkloadError } from "../core/errors.js";
import { isText, type Json, type JsonObject } from "../core/json.js";

/** Most queries of a workload, and most numbers of a matrix that is stored. */
export const MAX_ENTRIES = 2 ** 26;

/** Linear queries of one person's value, which is a number of a domain or a vector of a ball. */
export interface Linear<Value> {
  /** How many queries are asked. */
  readonly queries: number;
  /** The largest L2 norm of the answers to all of them. */
  readonly radius: number;
  /** Write the answers for a value, which is known to exist, into `answers`, as long as `queries`. */
  fill(value: Value, answers: Float64Array): void;
}

/** Parities of the values' codes, as coefficients: attributes' sizes, how many a mask may touch, and the only one it may if not 0. */
export interface Layout {
  readonly sizes: readonly number[];
  readonly order: number;
  readonly only: number;
}

/** A query matrix with one row a query and one column a value, known by what it does. */
export interface Workload extends Linear<bigint> {
  readonly domain: Domain;
  /** The squared norm of a column, where norms differ; otherwise all have the radius'. */
  readonly squaredNorm?: (value: bigint) => number;
  /** Whether all queries are intervals of a line. */
  readonly intervals?: boolean;
  /** The coefficients that answer it, where parities of the values' codes can. */
  readonly layout?: Layout;
  /** How many attributes its tables have, where it is tables of attributes. */
  readonly tables?: number;
}

/** Makes a workload from its domain and its own parameters; refuses any that are missing, extra or out of range. */
export type Family = (domain: Domain, own: JsonObject) => Workload;

/** The own parameters, if they are exactly these; those that end with "?" may be left out. */
export function parameters(own: JsonObject, ...names: string[]): JsonObject {
  const needed = names.filter((name) => !name.endsWith("?"));
  const known = names.map((name) => name.replace("?", ""));
  if (!needed.every((name) => name in own) || !Object.keys(own).every((name) => known.includes(name))) {
    throw new WorkloadError(`such a workload must hold exactly type, domain, ${names.join(", ")}`);
  }
  return own;
}

/** The number of queries, if a workload may have as many. */
export function checkQueries(count: number | bigint): number {
  if (count > MAX_ENTRIES) throw new WorkloadError(`a workload may have at most ${MAX_ENTRIES} queries`);
  return Number(count);
}

/** How a column is written whose entry in row i is `entry(v, i)`. */
export const filled =
  (entry: (value: number, row: number) => number) =>
  (value: bigint, answers: Float64Array): void => {
    for (let i = 0; i < answers.length; i++) answers[i] = entry(Number(value), i);
  };

/** Refuse names of queries that are not one distinct text each. */
export function checkNames(names: Json | undefined, count: number): void {
  const good = (name: Json) => typeof name === "string" && isText(name);
  if (!Array.isArray(names) || names.length !== count || !names.every(good) || new Set(names).size < count) {
    throw new WorkloadError(`names must be a list of ${count} distinct texts, one a query`);
  }
}

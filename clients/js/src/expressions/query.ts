/** A query: an expression over one person's record. Read from its tree, checked against a domain, then evaluated. */
import { canonicalText } from "../canonical.js";
import type { Domain } from "../domain.js";
import { QueryError } from "../errors.js";
import { type Json, parseJson } from "../json.js";
import { check, type Plan } from "./check.js";
import type { Record } from "./part.js";
import { type Reading, readTree } from "./tree.js";

const MAX_QUERY_BYTES = 2 ** 20;

/** One expression; equal trees have equal `canonical` texts. */
export class Query {
  readonly canonical: string;
  readonly #reading: Reading;

  /** From a JSON tree, read strictly; throws `QueryError` for everything that the grammar does not hold. */
  constructor(tree: unknown) {
    this.#reading = readTree(tree);
    this.canonical = canonicalText(tree as Json);
    if (new TextEncoder().encode(this.canonical).length > MAX_QUERY_BYTES) {
      throw new QueryError(`a query's JSON may have at most ${MAX_QUERY_BYTES} bytes`);
    }
  }

  /** From the JSON text of its tree. */
  static fromJson(text: string): Query {
    if (text.length > MAX_QUERY_BYTES) throw new QueryError(`a query's JSON may have at most ${MAX_QUERY_BYTES} bytes`);
    return new Query(parseJson(text));
  }

  /** What the query gives over a domain; throws `QueryError` where it could go wrong for some record. */
  check(domain: Domain): Plan {
    return check(this.#reading, domain);
  }
}

/** An answer as a double, whatever its kind. */
export const numberOf = (plan: Plan, record: Record): number => Number(plan.of(record));

/** An integer answer as a position below `size`: what lies outside counts as the nearest one. */
export function positionOf(plan: Plan, record: Record, size: number): number {
  const answer = Number(BigInt(plan.of(record)));
  return Math.min(Math.max(answer, 0), size - 1);
}

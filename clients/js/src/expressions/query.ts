/** A query: an expression over one person's record. Read from its tree and checked, then evaluated. */
import { canonicalBytes } from "../core/canonical.js";
import type { Domain } from "../domain/domain.js";
import type { Json } from "../core/json.js";
import { check } from "./check.js";
import { fault } from "./fault.js";
import type { Part, Record } from "./part.js";
import { readTree } from "./tree.js";

const MAX_QUERY_BYTES = 2 ** 20;

/** What a query gives over a domain; throws `QueryError` unless it is in the grammar, and safe for every record. */
export function readQuery(stated: unknown, domain: Domain): Part {
  const { tree } = readTree(stated);
  if (canonicalBytes(stated as Json).length > MAX_QUERY_BYTES) {
    throw fault(`its JSON may have at most ${MAX_QUERY_BYTES} bytes`);
  }
  return check(tree, domain);
}

/** An answer as a double, whatever its kind. */
export const numberOf = (query: Part, record: Record): number => Number(query.of(record));

/** An integer answer as a position below `size`: what lies outside counts as the nearest one. */
export function positionOf(query: Part, record: Record, size: number): number {
  return Math.min(Math.max(Number(query.of(record)), 0), size - 1);
}

/** Shares: how are people distributed over the values of a domain? The identity query. */
import { type Domain, RangeDomain, readDomain } from "../domain/domain.js";
import { QueryError } from "../core/errors.js";
import { checkFields, type JsonObject } from "../core/json.js";
import { MAX_CHOICES } from "../core/limits.js";
import type { Part, Record } from "../expressions/part.js";
import { positionOf } from "../expressions/query.js";
import { histogram } from "../strategies/histogram.js";
import { OverDomain, type Question } from "./question.js";

const STRATEGIES = new Map([["histogram", histogram]]);

export class Shares extends OverDomain implements Question<{ readonly domain: Domain }, bigint> {
  readonly kind = "shares";
  readonly strategies = STRATEGIES;

  constructor(stated: JsonObject) {
    super(readDomain(checkFields(stated, "shares", "kind", "domain").domain));
  }

  /** The answer is the number of a choice, where the domain lists a few by their numbers from 0 on. */
  ofQuery(query: Part): ((record: Record) => unknown) | null {
    const { domain } = this;
    const isListed = domain instanceof RangeDomain && domain.start === 0n && domain.step === 1n && domain.missing === null;
    if (!isListed || domain.size > MAX_CHOICES) return null;
    if (query.kind === "real") throw new QueryError("the query gives a real; a choice needs an integer, its number");
    return (record) => positionOf(query, record, Number(domain.size));
  }

  get workload(): { readonly domain: Domain } {
    return this;
  }
}

/** Shares: how are people distributed over the values of a domain? The identity query. */
import { type Domain, readDomain } from "../domain/domain.js";
import { checkFields, type JsonObject } from "../core/json.js";
import { histogram } from "../strategies/histogram.js";
import { OverDomain, type Question } from "./question.js";

const STRATEGIES = new Map([["histogram", histogram]]);

export class Shares extends OverDomain implements Question<{ readonly domain: Domain }, bigint> {
  readonly kind = "shares";
  readonly strategies = STRATEGIES;

  constructor(stated: JsonObject) {
    super(readDomain(checkFields(stated, "shares", "kind", "domain").domain));
  }

  get workload(): { readonly domain: Domain } {
    return this;
  }
}

/** What every question is: what a person's value can be, the linear queries of it, and the strategies that ask them. */
import type { Domain } from "../domain/domain.js";
import type { Part, Record } from "../expressions/part.js";
import type { Strategies } from "../strategies/strategy.js";

/** What can be given as a value: a domain's values, or vectors. */
export interface Values {
  /** In words, for error messages. */
  readonly allowed: string;
  /** Whether this is one, by the same work for every value: no error is made. */
  has(value: unknown): boolean;
}

/** What a person is asked for, by which a page chooses the field that an answer is typed into. */
export type AskedFor = "value" | "number" | "set" | "record" | "vector" | "word";

/** What a round of a panel asks its question with. */
export interface RoundTerms {
  /** Numbers that a round asks for are clipped to within this of zero. */
  readonly radius: number;
  /** The mechanism's name. */
  readonly mechanism: string;
}

/** `Asked` is what a strategy needs to know of the queries; `Value` is what it is given of a person. */
export interface Question<Asked = any, Value = any> {
  /** Name in a survey's JSON. */
  readonly kind: string;
  readonly asks: AskedFor;
  readonly values: Values;
  /** The values as a domain; null where they are vectors. */
  readonly domain: Domain | null;
  readonly workload: Asked;
  readonly strategies: Strategies<Asked, Value>;
  /** A person's value as strategies take it; throws `ValueOutsideDomainError` without naming it. */
  read(value: unknown): Value;
  /** A query's answer as a round of a panel asks this question of it; null, or no such method, where none can. */
  ofQuery?(query: Part, terms: RoundTerms): ((record: Record) => unknown) | null;
}

/** What questions over a domain share: strategies are given the value's number. */
export abstract class OverDomain {
  readonly asks = "value";

  constructor(readonly domain: Domain) {}

  get values(): Values {
    return this.domain;
  }

  read(value: unknown): bigint {
    return this.domain.index(value);
  }
}

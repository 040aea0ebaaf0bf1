/** What every strategy is: the queries are answered from something else about a value, and that is randomized. */
import type { Domain } from "../domain/domain.js";
import { SurveyError } from "../core/errors.js";
import type { Json } from "../core/json.js";
import { MAX_DOMAIN_SIZE } from "../core/limits.js";
import type { BroughtMechanisms } from "../mechanisms/base/finite.js";
import type { Mechanism, Terms } from "../mechanisms/base/mechanism.js";

/** A mechanism, what it is given for a person's value, and the digest of the attachment that was read. */
export interface Strategy<Value> {
  readonly mechanism: Mechanism;
  readonly input: (value: Value) => unknown;
  readonly digest?: string;
}

/** Makes a strategy for queries; refuses those that it cannot answer, and mechanisms that it does not use. */
export interface StrategyKind<Asked, Value> {
  /** Whether it needs an attachment, which the survey names by its digest. */
  readonly isAttached: boolean;
  make(
    asked: Asked,
    terms: Terms,
    mechanism: Json | undefined,
    attachment: Uint8Array,
    brought?: BroughtMechanisms,
  ): Strategy<Value> | Promise<Strategy<Value>>;
}

/** Strategies by their names in a survey's JSON. */
export type Strategies<Asked, Value> = ReadonlyMap<string, StrategyKind<Asked, Value>>;

/** The number of values, if the value itself can be randomized with pure privacy. */
export function valuesOf({ size }: Domain, { delta }: Terms): number {
  if (delta !== 0 || size > MAX_DOMAIN_SIZE) {
    throw new SurveyError(`this strategy needs delta 0, and at most ${MAX_DOMAIN_SIZE} values`);
  }
  return Number(size);
}

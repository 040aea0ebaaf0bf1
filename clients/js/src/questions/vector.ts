/** Vector: what is the mean of everybody's vector? The identity query on a ball. */
import { checkFields, type JsonObject } from "../core/json.js";
import { checkDimension, checkRadius } from "../core/limits.js";
import { asVector, checkVector } from "../mechanisms/base/vector.js";
import { direct } from "../strategies/direct.js";
import type { Linear } from "../workloads/workload.js";
import type { Part, Record } from "../expressions/part.js";
import { numberOf } from "../expressions/query.js";
import type { Question, RoundTerms, Values } from "./question.js";

type Entries = readonly number[];

const STRATEGIES = new Map([["direct", direct]]);

export class Vector implements Question<Linear<Entries>, Entries>, Values {
  readonly kind = "vector";
  readonly asks = "vector";
  readonly domain = null;
  readonly strategies = STRATEGIES;
  readonly dimension: number;
  readonly radius: number;

  constructor(stated: JsonObject) {
    const { dimension, radius } = checkFields(stated, "vector", "kind", "dimension", "radius");
    this.dimension = checkDimension(dimension);
    this.radius = checkRadius(radius);
  }

  get values(): Values {
    return this;
  }

  get allowed(): string {
    return `vectors of ${this.dimension} numbers`;
  }

  get workload(): Linear<Entries> {
    return { queries: this.dimension, radius: this.radius, fill: (vector, answers) => answers.set(vector) };
  }

  has(value: unknown): boolean {
    return asVector(value, this.dimension) !== null;
  }

  ofQuery(query: Part, { radius, mechanism }: RoundTerms): ((record: Record) => unknown) | null {
    if (this.dimension !== 1 || this.radius !== radius || mechanism !== "binary") return null;
    return (record) => [Math.min(Math.max(numberOf(query, record), -radius), radius)];
  }

  /** Any vector of the right length: the mechanism clips it, for a refusal would be an answer too. */
  read(value: unknown): Entries {
    return checkVector(value, this.dimension);
  }
}

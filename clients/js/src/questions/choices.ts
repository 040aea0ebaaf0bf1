/** Choices: which options do people tick, each up to a few of them? */
import { type Domain, isMissing, LabelDomain, RangeDomain, readDomain } from "../domain/domain.js";
import { SurveyError, ValueOutsideDomainError } from "../core/errors.js";
import { checkFields, type JsonObject } from "../core/json.js";
import { checkInteger, MAX_DIMENSION } from "../core/limits.js";
import { type AskedSets, type Row, rowOf } from "../mechanisms/base/sets.js";
import { sets } from "../strategies/sets.js";
import type { Question, Values } from "./question.js";

const STRATEGIES = new Map([["sets", sets]]);

export class Choices implements Question<AskedSets, Row>, Values {
  readonly kind = "choices";
  readonly asks = "set";
  readonly domain = null;
  readonly strategies = STRATEGIES;
  readonly options: Domain;
  readonly most: number;

  constructor(stated: JsonObject) {
    const { domain, most } = checkFields(stated, "choices", "kind", "domain", "most");
    this.options = readDomain(domain);
    if (!(this.options instanceof LabelDomain || this.options instanceof RangeDomain) || this.options.size > MAX_DIMENSION) {
      throw new SurveyError(`options must be labels or a range of integers, at most ${MAX_DIMENSION}`);
    }
    this.most = checkInteger("most", most, 1, Number(this.options.size));
  }

  get values(): Values {
    return this;
  }

  get workload(): AskedSets {
    return this;
  }

  get allowed(): string {
    return `a list of at most ${this.most} different ones out of ${this.options.size} options, or an empty one`;
  }

  has(value: unknown): boolean {
    return this.#find(value) !== null;
  }

  /** The numbers of the options, and dummies. */
  read(value: unknown): Row {
    const found = this.#find(value);
    if (found === null) throw new ValueOutsideDomainError(`the value is not a set of options; allowed: ${this.allowed}`);
    return found;
  }

  #find(value: unknown): Row | null {
    const given = isMissing(value) ? [this.options.missing] : value;
    const members = membersOf(given);
    if (members === null || members.length > this.most) return null;
    // As many options are looked up for every set.
    const filled = Array.from({ length: this.most }, (_, i) => Number(this.options.find(i in members ? members[i] : 0)));
    const found = filled.slice(0, members.length);
    return found.some((index) => index < 0) || new Set(found).size < found.length ? null : rowOf(found, this);
  }
}

/** The members of a list, a Set or an array of numbers; null for anything else. */
function membersOf(given: unknown): unknown[] | null {
  const isNumbers = ArrayBuffer.isView(given) && !(given instanceof DataView);
  return Array.isArray(given) || given instanceof Set || isNumbers ? Array.from(given as Iterable<unknown>) : null;
}

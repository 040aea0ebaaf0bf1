/** Domains listed by their labels. */
import { isText } from "../canonical.js";
import { DomainError } from "../errors.js";
import type { JsonObject } from "../json.js";
import { checkDomainSize, MAX_DOMAIN_SIZE } from "../limits.js";
import { asInteger, Domain, within } from "./base.js";

/** All texts, or all integers. Texts may also be given by their index, unless one of them reads like a number. */
export class LabelDomain extends Domain {
  readonly size: bigint;
  readonly #number: Map<string | number, number>;
  readonly #byIndex: boolean;

  constructor(readonly names: readonly string[] | readonly number[]) {
    super();
    const kind = typeof names[0];
    const good = (name: unknown) =>
      typeof name === kind && (typeof name === "string" ? isText(name) : Number.isSafeInteger(name));
    if (!(names as unknown[]).every(good)) {
      throw new DomainError("labels must be all valid texts, or all integers within 2^53 - 1 of zero");
    }
    this.size = checkDomainSize(BigInt(names.length), MAX_DOMAIN_SIZE);
    this.#number = new Map((names as (string | number)[]).map((name, i) => [name, i]));
    if (this.#number.size < names.length) throw new DomainError("labels must be distinct");
    this.#byIndex = kind === "string" && !(names as string[]).some((name) => READS_AS_NUMBER.test(name));
  }

  find(value: unknown): bigint {
    if (typeof value === "string") return BigInt(this.#number.get(value) ?? -1);
    const integer = asInteger(value);
    if (integer === null) return -1n;
    if (this.#byIndex) return within(integer, this.size);
    return BigInt(this.#number.get(Number(integer)) ?? -1); // beyond 2^53 no label stands, so nothing is mistaken
  }

  protected labelOf(index: bigint): string {
    return String(this.names[Number(index)]);
  }

  get allowed(): string {
    return (
      `one of the survey's ${this.size} labels` + (this.#byIndex ? `, or an index from 0 to ${this.size - 1n}` : "")
    );
  }

  toStatement(): JsonObject {
    return { labels: [...this.names] };
  }
}

// Among labels such as "1", "2" the integer 1 could be meant either way, so it is refused.
const READS_AS_NUMBER = /^(?:[^\S\ufeff]|[\x1c-\x1f\x85])*[+-]*\p{Nd}+(?:[^\S\ufeff]|[\x1c-\x1f\x85])*$/u;

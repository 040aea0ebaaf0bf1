/** Domains listed by their labels. */
import { isText, type JsonObject } from "../core/json.js";
import { DomainError } from "../core/errors.js";
import { checkDomainSize, MAX_DOMAIN_SIZE } from "../core/limits.js";
import { asInteger, Domain, within } from "./base.js";
import { Lookup } from "./lookup.js";

/** All texts, or all integers. Texts may also be given by their index, unless one of them reads like a number. */
export class LabelDomain extends Domain {
  readonly size: bigint;
  readonly #positions: Lookup;
  readonly #byIndex: boolean;

  constructor(
    statement: JsonObject,
    readonly names: readonly string[] | readonly number[],
  ) {
    super(statement);
    const kind = typeof names[0];
    const good = (name: unknown) =>
      typeof name === kind && (typeof name === "string" ? isText(name) : Number.isSafeInteger(name));
    if (!(names as unknown[]).every(good)) {
      throw new DomainError("labels must be all valid texts, or all integers within 2^53 - 1 of zero");
    }
    this.size = checkDomainSize(BigInt(names.length), MAX_DOMAIN_SIZE);
    this.#positions = new Lookup(names.map(String));
    if (!this.#positions.isDistinct) throw new DomainError("labels must be distinct");
    this.#byIndex = kind === "string" && !(names as string[]).some((name) => READS_AS_NUMBER.test(name));
  }

  find(value: unknown): bigint {
    // One search for every value, also for those that it cannot find.
    const integer = asInteger(value);
    const found = BigInt(this.#positions.find(typeof value === "string" ? value : String(integer)));
    const index = within(integer ?? -1n, this.size);
    const isLabel = typeof this.names[0] === "string" ? typeof value === "string" : integer !== null;
    return isLabel ? found : this.#byIndex ? index : -1n;
  }

  protected labelOf(index: bigint): string {
    return String(this.names[Number(index)]);
  }

  get allowed(): string {
    return (
      `one of the survey's ${this.size} labels` + (this.#byIndex ? `, or an index from 0 to ${this.size - 1n}` : "")
    );
  }}

// Among labels such as "1", "2" the integer 1 could be meant either way, so it is refused.
const READS_AS_NUMBER = /^(?:[^\S\ufeff]|[\x1c-\x1f\x85])*[+-]*\p{Nd}+(?:[^\S\ufeff]|[\x1c-\x1f\x85])*$/u;

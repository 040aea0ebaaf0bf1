/** Domains listed by their labels. */
import { isText, type JsonObject } from "../core/json.js";
import { DomainError } from "../core/errors.js";
import { checkDomainSize, MAX_DOMAIN_SIZE } from "../core/limits.js";
import { asInteger, Domain, isMissing, MISSING_IS_NONE } from "./base.js";
import { Lookup } from "./lookup.js";

/**
 * All texts, or all integers.
 *
 * A label is given by itself only: its position is refused. true and false are the labels "true" and "false" where both
 * are listed.
 */
export class LabelDomain extends Domain {
  readonly size: bigint;
  readonly #positions: Lookup;
  /** Whether truth values are labels of this domain. */
  readonly #hasTruths: boolean;

  constructor(
    statement: JsonObject,
    readonly names: readonly string[] | readonly number[],
    override readonly missing: string | number | null = null,
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
    if (missing !== null && !(names as unknown[]).includes(missing)) throw new DomainError(MISSING_IS_NONE);
    this.#hasTruths = ["true", "false"].every((name) => (names as unknown[]).includes(name));
  }

  find(given: unknown): bigint {
    const value = [given, this.missing][Number(isMissing(given))];
    // One search for every value, also for those that it cannot find.
    const integer = asInteger(value);
    const isText = typeof value === "string" || (typeof value === "boolean" && this.#hasTruths);
    const found = BigInt(this.#positions.find(isText ? String(value) : String(integer)));
    const isLabel = typeof this.names[0] === "string" ? isText : integer !== null;
    return [-1n, found][Number(isLabel)]!;
  }

  protected labelOf(index: bigint): string {
    return String(this.names[Number(index)]);
  }

  get allowed(): string {
    const labels = `one of the survey's ${this.size} labels`;
    return typeof this.names[0] === "string" ? `${labels}, as text` : labels;
  }
}

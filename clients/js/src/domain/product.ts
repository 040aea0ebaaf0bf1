/** Records of named attributes; a record's number is computed from its attributes', so none is ever listed. */
import { DomainError } from "../core/errors.js";
import type { JsonObject } from "../core/json.js";
import { checkDomainSize, MAX_PRODUCT_SIZE } from "../core/limits.js";
import { Domain, partsOf } from "./base.js";

/** Records: one value for each named attribute. The last attribute varies fastest in the numbering. */
export class ProductDomain extends Domain {
  readonly size: bigint;

  constructor(
    statement: JsonObject,
    readonly parts: readonly (readonly [string, Domain])[],
  ) {
    super(statement);
    if (parts.length === 0) throw new DomainError("a product needs an attribute");
    if (!parts.every(([name]) => typeof name === "string" && /^[\p{XIDS}_]\p{XIDC}*$/u.test(name))) {
      throw new DomainError("attributes must be named by identifiers such as age");
    }
    if (new Set(parts.map(([name]) => name)).size < parts.length) {
      throw new DomainError("attributes must have different names");
    }
    this.size = checkDomainSize(
      parts.reduce((product, [, domain]) => product * domain.size, 1n),
      MAX_PRODUCT_SIZE,
    );
  }

  override get attributes(): readonly (readonly [string, Domain])[] {
    return this.parts;
  }

  /** A record is `{name: value}`, or a list of values in the attributes' order. */
  find(value: unknown): bigint {
    const given = partsOf(
      value,
      this.parts.map(([name]) => name),
    );
    if (given === null) return -1n;
    // All attributes are looked up, also after one that is not found: timing must not reveal which it was.
    let [index, isInside] = [0n, true];
    for (const [i, [, domain]] of this.parts.entries()) {
      const found = domain.find(given[i]);
      index = index * domain.size + found;
      isInside &&= found >= 0n;
    }
    return isInside ? index : -1n;
  }

  protected labelOf(index: bigint): string {
    const numbers = this.split(index);
    return this.parts
      .map(([name, domain], i) => {
        const text = domain.label(numbers[i]!);
        // Quoted where it could be read as another attribute, so that no two records share a label.
        return `${name}=${/[,="]/.test(text) ? JSON.stringify(text) : text}`;
      })
      .join(", ");
  }

  get allowed(): string {
    const inner = this.parts.map(([name, domain]) => `${name}: ${domain.allowed}`).join("; ");
    return `records of exactly ${inner}`;
  }}

/**
 * What one person's value can be: labels, an integer range, a short text, or a record of named attributes.
 *
 * A domain numbers its values 0 .. size-1. Numbers are bigints: a domain may have 2^63 values, and none is listed.
 */
import type { Domain } from "./base.js";
import { LabelDomain } from "./labels.js";
import { ProductDomain } from "./product.js";
import { fromJson, RangeDomain } from "./ranges.js";
import { TextDomain } from "./text.js";
import { DomainError } from "../core/errors.js";
import { checkFields, isObject, type Json, type JsonObject } from "../core/json.js";
import { checkInteger } from "../core/limits.js";

export { asInteger, Domain, isMissing, partsOf } from "./base.js";
export { LabelDomain, ProductDomain, RangeDomain, TextDomain };

/** The domain behind its statement; strict, so that a domain is stated in one way only. */
export function readDomain(stated: unknown, inner = false): Domain {
  const keys = isObject(stated) ? Object.keys(stated).sort().join() : "";
  const fields = stated as JsonObject;
  if (/^labels(,missing)?$/.test(keys) && Array.isArray(fields.labels) && fields.missing !== null) {
    return new LabelDomain(fields, fields.labels as string[], fields.missing as string | undefined);
  }
  if (/^(missing,)?size,start,step$/.test(keys)) {
    const missing = "missing" in fields ? fromJson(fields.missing) : null;
    return new RangeDomain(fields, fromJson(fields.start), fromJson(fields.step), fromJson(fields.size), missing);
  }
  if (keys === "alphabet,length" && typeof fields.alphabet === "string") {
    return new TextDomain(fields, fields.alphabet, checkInteger("length", fields.length, 1, 62));
  }
  if (keys === "attributes" && Array.isArray(fields.attributes) && !inner) {
    return new ProductDomain(fields, fields.attributes.map(readAttribute));
  }
  throw new DomainError(
    "a domain must hold labels, or start, step and size, or alphabet and length, or, outermost only, attributes",
  );
}

function readAttribute(stated: Json): readonly [string, Domain] {
  const { name, domain } = checkFields(stated, "an attribute", "name", "domain");
  return [name as string, readDomain(domain, true)];
}

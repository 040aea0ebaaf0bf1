/** What every question about records shares: fields with their values, and one record per person. */
import { type Domain, partsOf, ProductDomain, readDomain } from "../domain/domain.js";
import { NumberGrid } from "../domain/number.js";
import { SurveyError, ValueOutsideDomainError } from "../core/errors.js";
import { checkFields, isObject, type Json } from "../core/json.js";
import type { Values } from "./question.js";

/** A field of a form: one of the values of a domain, or a number. */
export type RecordField = Domain | NumberGrid;
export type NamedField = readonly [name: string, field: RecordField];

const MAX_FIELDS = 256;

/** Records of several fields. They are never listed: there may be any number of them. */
export abstract class FormQuestion implements Values {
  readonly asks = "record";
  readonly domain = null;

  constructor(readonly fields: readonly NamedField[]) {
    const names = fields.map(([name]) => name);
    if (fields.length === 0 || fields.length > MAX_FIELDS || new Set(names).size < names.length) {
      throw new SurveyError(`a record must have from 1 to ${MAX_FIELDS} fields with different names`);
    }
  }

  /** What is learned from everybody's reports together, in words. */
  abstract readonly learned: string;

  get values(): Values {
    return this;
  }

  get allowed(): string {
    return `records of exactly ${this.fields.map(([name, field]) => `${name}: ${field.allowed}`).join("; ")}`;
  }

  has(value: unknown): boolean {
    return this.#find(value) !== null;
  }

  /** From a record `{name: value}`, or a list of values in the fields' order. */
  read(value: unknown): readonly number[] {
    const found = this.#find(value);
    if (found === null) throw new ValueOutsideDomainError(`the record is not one of this survey's; allowed: ${this.allowed}`);
    return found;
  }

  #find(value: unknown): readonly number[] | null {
    const given = partsOf(
      value,
      this.fields.map(([name]) => name),
    );
    if (given === null) return null;
    // All fields are looked up, also after one that is not found: timing must not reveal which it was.
    const found = this.fields.map(([, field], i) => {
      if (!(field instanceof NumberGrid)) return Number(field.find(given[i]));
      return field.has(given[i]) ? field.position(given[i]) : -1;
    });
    return Math.min(...found) < 0 ? null : found;
  }
}

/** The fields of a list in a survey's JSON; none where it is no list. */
export const readFields = (stated: Json | undefined): NamedField[] => (Array.isArray(stated) ? stated.map(readField) : []);

/** One field in a survey's JSON. */
export function readField(stated: Json | undefined): NamedField {
  const kind = isObject(stated) && "number" in stated ? "number" : "domain";
  const { name, ...fields } = checkFields(stated, "a field", "name", kind);
  if (typeof name !== "string" || !/^[\p{XIDS}_]\p{XIDC}*$/u.test(name)) {
    throw new SurveyError("fields must be named by identifiers such as age");
  }
  if (kind === "number") return [name, new NumberGrid(fields.number)];
  const domain = readDomain(fields.domain, true);
  if (domain instanceof ProductDomain || domain.size < 2n) throw new SurveyError(`field ${name} needs two values or more`);
  return [name, domain];
}

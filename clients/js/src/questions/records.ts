/** Records: the tables of a form with several fields, from one report per person. */
import { type Domain, partsOf, ProductDomain, readDomain } from "../domain/domain.js";
import { NumberGrid, STEPS } from "../domain/number.js";
import { SurveyError, ValueOutsideDomainError } from "../core/errors.js";
import { checkFields, isObject, type Json, type JsonObject } from "../core/json.js";
import { checkInteger } from "../core/limits.js";
import { type AskedTables, recordTables } from "../strategies/tables.js";
import { symmetric } from "../workloads/attributes.js";
import { checkQueries } from "../workloads/workload.js";
import type { Question, Values } from "./question.js";

/** A field of a form: one of the values of a domain, or a number. */
export type RecordField = Domain | NumberGrid;

const MAX_ORDER = 4;
const STRATEGIES = new Map([["tables", recordTables]]);

export class Records implements Question<AskedTables, readonly number[]>, Values {
  readonly kind = "records";
  readonly asks = "record";
  readonly domain = null;
  readonly strategies = STRATEGIES;
  readonly fields: readonly (readonly [string, RecordField])[];
  readonly workload: AskedTables;

  constructor(stated: JsonObject) {
    const { attributes, tables } = checkFields(stated, "records", "kind", "attributes", "tables");
    const fields = Array.isArray(attributes) ? attributes.map(readField) : [];
    const names = fields.map(([name]) => name);
    if (fields.length === 0 || fields.length > 256 || new Set(names).size < names.length) {
      throw new SurveyError("a record must have from 1 to 256 fields with different names");
    }
    const order = checkInteger("tables", tables, 1, Math.min(MAX_ORDER, fields.length));
    const sizes = fields.map(([, field]) => BigInt(field instanceof NumberGrid ? field.points : field.size));
    checkQueries(symmetric(sizes, order).reduce((sum, count) => sum + count) - 1n);
    this.fields = fields;
    this.workload = {
      order,
      attributes: fields.map(([name, field], i) => ({
        name,
        size: Number(sizes[i]),
        steps: field instanceof NumberGrid ? STEPS : 1,
        label: (cell) => (field instanceof NumberGrid ? pointOf(field, cell) : field.label(cell)),
      })),
    };
  }

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

const pointOf = ({ low, high, points, unit }: NumberGrid, point: number): string =>
  `${Number((low + ((high - low) * point) / (points - 1)).toPrecision(10))} ${unit}`.trim();

function readField(stated: Json): readonly [string, RecordField] {
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

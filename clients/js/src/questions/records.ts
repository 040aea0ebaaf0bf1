/** Records: the tables of a form with several fields, from one report per person. */
import { NumberGrid, STEPS } from "../domain/number.js";
import { checkFields, type JsonObject } from "../core/json.js";
import { checkInteger } from "../core/limits.js";
import { type AskedTables, recordTables } from "../strategies/tables.js";
import { symmetric } from "../workloads/attributes.js";
import { checkQueries } from "../workloads/workload.js";
import { FormQuestion, readFields } from "./form.js";
import type { Question } from "./question.js";

const MAX_ORDER = 4;
const STRATEGIES = new Map([["tables", recordTables]]);

export class Records extends FormQuestion implements Question<AskedTables, readonly number[]> {
  readonly kind = "records";
  readonly strategies = STRATEGIES;
  readonly workload: AskedTables;

  constructor(stated: JsonObject) {
    const { attributes, tables } = checkFields(stated, "records", "kind", "attributes", "tables");
    super(readFields(attributes));
    const { fields } = this;
    const order = checkInteger("tables", tables, 1, Math.min(MAX_ORDER, fields.length));
    const sizes = fields.map(([, field]) => BigInt(field instanceof NumberGrid ? field.points : field.size));
    checkQueries(symmetric(sizes, order).reduce((sum, count) => sum + count) - 1n);
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

  get learned(): string {
    const { order } = this.workload;
    const together = order === 1 ? "" : `, and how any ${order === 2 ? "two" : order} fields go together`;
    return `how the answers to each field are distributed${together}`;
  }
}

const pointOf = ({ low, high, points, unit }: NumberGrid, point: number): string =>
  `${Number((low + ((high - low) * point) / (points - 1)).toPrecision(10))} ${unit}`.trim();

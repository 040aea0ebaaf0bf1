/** Tables: a device answers one table of its record's attributes, drawn in public. */
import { SurveyError } from "../core/errors.js";
import type { Json } from "../core/json.js";
import type { Terms } from "../mechanisms/base/mechanism.js";
import { type TableAttribute, makeTables, type TablesMechanism } from "../mechanisms/tables.js";
import { parametersOf } from "../mechanisms/base/stated.js";
import type { Workload } from "../workloads/workload.js";
import type { StrategyKind } from "./strategy.js";

/** All tables of up to `order` attributes. */
export interface AskedTables {
  readonly attributes: readonly TableAttribute[];
  readonly order: number;
}

function read({ attributes, order }: AskedTables, { epsilon, delta }: Terms, stated: Json | undefined): TablesMechanism {
  const mechanism = makeTables(attributes, epsilon, parametersOf(stated, "tables", ["tables"]).tables);
  // Every set of so many attributes is needed, and none of more.
  let sets = 1;
  for (let i = 0; i < order; i++) sets = (sets * (attributes.length - i)) / (i + 1);
  const largest = mechanism.tables.filter(({ places }) => places.length === order).length;
  if (delta !== 0 || largest !== sets || mechanism.tables.some(({ places }) => places.length > order)) {
    throw new SurveyError("the mechanism's tables are not those of the question, or delta is not 0");
  }
  return mechanism;
}

/** For records, which bring one input per attribute. */
export const recordTables: StrategyKind<AskedTables, readonly number[]> = {
  isAttached: false,
  make: (asked, terms, mechanism) => ({ mechanism: read(asked, terms, mechanism), input: (record) => record }),
};

/** For tables of the attributes of a domain. */
export const tables: StrategyKind<Workload, bigint> = {
  isAttached: false,
  make({ domain, tables: order }, terms, mechanism) {
    if (order === undefined) throw new SurveyError("the tables strategy answers tables of attributes only");
    const attributes = domain.attributes.map(([name, inner]) => ({
      name,
      size: Number(inner.size),
      steps: 1,
      label: (cell: number) => inner.label(cell),
    }));
    const input = (value: bigint) => domain.split(value).map(Number);
    return { mechanism: read({ attributes, order }, terms, mechanism), input };
  },
};

/** Tables: one table of a record's attributes, drawn in public, answered by a mechanism for its cells. */
import { concat } from "../core/bytes.js";
import { checkReportBytes, encodeIndex, indexWidth } from "../core/codecs.js";
import { SurveyError, ValueOutsideDomainError } from "../core/errors.js";
import { decodeIndex, impossible, type Law, type Reported } from "./laws/law.js";
import { ratio, times } from "./laws/ratios.js";
import { counted } from "./laws/words.js";
import { checkFields, type Json, type JsonObject } from "../core/json.js";
import { checkInteger } from "../core/limits.js";
import type { Mechanism } from "./base/mechanism.js";
import type { Ratio } from "../randomness/thresholds.js";
import type { FiniteMechanism } from "./base/finite.js";
import { projectiveGeometry, projectiveGeometryLaw } from "./projective_geometry.js";
import { randomizedResponse, randomizedResponseLaw } from "./randomized_response.js";
import { reached, runningSums } from "./sampled.js";
import { findMechanism } from "./base/stated.js";
import { subsetSelection, subsetSelectionLaw } from "./subset_selection.js";

const MAX_ATTRIBUTES = 256;
const MAX_TABLES = 2 ** 14;
const MAX_WEIGHT = 2 ** 20;
const MAX_CELLS = 2 ** 20;

const CELL_MECHANISMS = new Map([
  ["randomized_response", randomizedResponse],
  ["projective_geometry", projectiveGeometry],
  ["subset_selection", subsetSelection],
]);

/** An attribute of a record. */
export interface TableAttribute {
  readonly name: string;
  /** How many cells it has in a table. */
  readonly size: number;
  /** Inputs from one cell to the next: 1, or the positions of a number between two grid points. */
  readonly steps: number;
  /** How people read a cell. */
  label(cell: number): string;
}

interface WeightedTable {
  readonly places: readonly number[];
  readonly weight: number;
  readonly cells: number;
  readonly inner: FiniteMechanism;
  readonly own: JsonObject;
}

/** A mechanism for a record: one integer per attribute, from 0 to (size - 1) steps. */
export interface TablesMechanism extends Mechanism<readonly number[]> {
  readonly attributes: readonly TableAttribute[];
  readonly tables: readonly WeightedTable[];
}

const joined = (sizes: readonly number[], digits: readonly number[]): number =>
  sizes.reduce((cell, size, i) => cell * size + digits[i]!, 0);

/** The mechanism with the tables that a survey states. */
export function makeTables(attributes: readonly TableAttribute[], epsilon: number, stated: Json | undefined): TablesMechanism {
  if (attributes.length > MAX_ATTRIBUTES) throw new SurveyError(`records have at most ${MAX_ATTRIBUTES} attributes`);
  if (!Array.isArray(stated) || stated.length < 1 || stated.length > MAX_TABLES) {
    throw new SurveyError(`tables must be a list of 1 to ${MAX_TABLES} tables`);
  }
  const tables = stated.map((one) => readTable(one, attributes, epsilon));
  if (new Set(tables.map(({ places }) => places.join())).size < tables.length) {
    throw new SurveyError("two tables have the same attributes");
  }
  const drawn = runningSums(tables.map(({ weight }) => weight));
  const numberBytes = indexWidth(BigInt(tables.length));
  const width = numberBytes + Math.max(...tables.map(({ inner }) => inner.reportBytes));
  return {
    name: "tables",
    reportBytes: checkReportBytes("tables", width),
    attributes,
    tables,
    randomize(record, source) {
      const inside = attributes.map(
        ({ size, steps }, i) => Number.isInteger(record[i]) && record[i]! >= 0 && record[i]! <= (size - 1) * steps,
      );
      if (record.length !== attributes.length || inside.includes(false)) {
        throw new ValueOutsideDomainError("the record is not one integer within the range of each attribute");
      }
      const number = reached(drawn, source.below(drawn.at(-1)!));
      // Every number is rounded, also those that are not in the table.
      const cells = attributes.map(({ steps }, i) =>
        steps > 1 ? Math.floor((record[i]! + source.below(steps)) / steps) : record[i]!,
      );
      const { places, inner } = tables[number]!;
      const sizes = places.map((place) => attributes[place]!.size);
      const payload = inner.randomize(joined(sizes, places.map((place) => cells[place]!)), source);
      const padding = new Uint8Array(width - numberBytes - payload.length);
      return concat(encodeIndex(number, numberBytes), payload, padding);
    },
  };
}

function readTable(stated: Json, attributes: readonly TableAttribute[], epsilon: number): WeightedTable {
  const { attributes: listed, weight, mechanism } = checkFields(stated, "a table", "attributes", "weight", "mechanism");
  const last = attributes.length - 1;
  const places = Array.isArray(listed) ? listed.map((one) => checkInteger("a table's attribute", one, 0, last)) : [];
  if (places.length === 0 || places.some((place, i) => i > 0 && place <= places[i - 1]!)) {
    throw new SurveyError("a table's attributes must be different places in increasing order");
  }
  const cells = places.reduce((product, place) => product * attributes[place]!.size, 1);
  if (!(cells >= 2 && cells <= MAX_CELLS)) throw new SurveyError(`a table must have from 2 to ${MAX_CELLS} cells`);
  const [kind, own] = findMechanism(CELL_MECHANISMS, mechanism);
  const inner = kind.make(cells, epsilon, own);
  return { places, weight: checkInteger("a table's weight", weight, 1, MAX_WEIGHT), cells, inner, own };
}

/** The cells that a record can be rounded to, each attribute with the chance of its cell. */
function roundings(attributes: readonly TableAttribute[], record: readonly number[]): [number[], Ratio][] {
  let found: [number[], Ratio][] = [[[], ratio(1, 1)]];
  attributes.forEach(({ steps }, i) => {
    const [low, up] = [Math.floor(record[i]! / steps), record[i]! % steps];
    const ways: [number, Ratio][] = [[low, ratio(steps - up, steps)]];
    if (up > 0) ways.push([low + 1, ratio(up, steps)]);
    found = found.flatMap(([cells, chance]) =>
      ways.map(([cell, part]): [number[], Ratio] => [[...cells, cell], times(chance, part)]),
    );
  });
  return found;
}

export function tablesLaw(reported: Reported): Law {
  const { attributes, tables } = reported.mechanism as TablesMechanism;
  const numberBytes = indexWidth(BigInt(tables.length));
  const { places, weight, cells, inner, own } =
    tables[Number(decodeIndex(reported.payload.subarray(0, numberBytes), tables.length))]!;
  const end = numberBytes + inner.reportBytes;
  if (reported.payload.subarray(end).some((byte) => byte !== 0)) impossible();
  const asked = places.map((place) => attributes[place]!);
  const sizes = asked.map(({ size }) => size);
  const label = (cell: number) => {
    let rest = cell;
    const parts = [...asked].reverse().map(({ size, label }) => {
      const own = label(rest % size);
      rest = Math.floor(rest / size);
      return own;
    });
    return parts.reverse().join(", ");
  };
  const laws = new Map([
    ["randomized_response", randomizedResponseLaw],
    ["projective_geometry", projectiveGeometryLaw],
    ["subset_selection", subsetSelectionLaw],
  ]);
  const law = laws.get(inner.name)!({
    ...reported,
    mechanism: inner,
    own,
    size: cells,
    payload: reported.payload.subarray(numberBytes, end),
    label,
  });
  const often = ratio(weight, tables.reduce((sum, table) => sum + table.weight, 0));
  const isCounted = attributes.every(({ steps }) => steps === 1);
  const others = attributes.reduce((product, { size }, i) => (places.includes(i) ? product : product * BigInt(size)), 1n);
  const chance = (record: readonly number[]) =>
    roundings(asked, places.map((place) => record[place]!))
      .map(([digits, share]) => times(share, law.chance(joined(sizes, digits))))
      .reduce((sum, { n, d }) => ({ n: sum.n * d + n * sum.d, d: sum.d * d }), ratio(0, 1));
  const which = asked.map(({ name }) => name).join(" and ");
  const only =
    tables.length === 1 ? `It is about ${which} only.` : `Of ${counted(tables.length)} tables one was drawn at random, in public: ${which}.`;
  return {
    chance: (record) => times(often, chance(record)),
    common: law.common,
    groups: law.groups.map((group) => ({
      chance: times(often, group.chance),
      count: isCounted && group.count !== null ? group.count * others : null,
    })),
    says: `${only} ${law.says}`,
    fields: places,
  };
}

/** Factorized: a vector of fewer or better coordinates is randomized, from which the answers follow. */
import { sha256, toHex } from "../core/bytes.js";
import { MechanismError, WorkloadError } from "../core/errors.js";
import { checkDimension } from "../core/limits.js";
import { checkWeights, SLACK } from "../mechanisms/matrix_channel.js";
import { readVectorMechanism } from "../mechanisms/registry.js";
import type { Workload } from "../workloads/workload.js";
import type { StrategyKind } from "./strategy.js";

export const factorized: StrategyKind<Workload, bigint> = {
  isAttached: true,
  async make({ domain }, terms, mechanism, attachment) {
    const { rows, columns, column } = readCoordinates(attachment);
    if (BigInt(columns) !== domain.size) throw new WorkloadError("the coordinates are over other values");
    const ball = { ...terms, dimension: checkDimension(rows), radius: 1 };
    const digest = toHex(await sha256(attachment));
    return { mechanism: readVectorMechanism(mechanism, ball), input: (value) => column(Number(value)), digest };
  },
};

// The attachment of the factorized strategy: the matrix V whose columns are randomized instead of the queries' own.

const MOST_ENTRIES = 2 ** 24;

/** V of `rows` rows and `columns` columns; its singles become doubles without rounding. */
interface Coordinates {
  readonly rows: number;
  readonly columns: number;
  column(value: number): Float64Array;
}

/** The coordinates behind an attachment's bytes; every number is checked before one is used. */
function readCoordinates(attachment: Uint8Array): Coordinates {
  const view = new DataView(attachment.buffer, attachment.byteOffset, attachment.byteLength);
  const [rows, columns] = view.byteLength < 8 ? [0, 0] : [view.getUint32(0, true), view.getUint32(4, true)];
  const entries = rows * columns;
  if (rows < 1 || columns < 2 || entries > MOST_ENTRIES || view.byteLength !== 8 + 8 * columns + 4 * entries) {
    throw new MechanismError("the attachment holds no coordinates: its length is not what its shape says");
  }
  checkWeights(Float64Array.from({ length: columns }, (_, i) => view.getFloat64(8 + 8 * i, true)));
  const start = 8 + 8 * columns;
  const matrix = new Float32Array(entries);
  const norms = new Float64Array(columns);
  for (let i = 0; i < entries; i++) {
    const entry = (matrix[i] = view.getFloat32(start + 4 * i, true));
    norms[i % columns]! += entry * entry;
  }
  // A comparison with what is not a number is false.
  if (!norms.every((norm) => norm <= 1 + SLACK)) {
    throw new MechanismError("coordinates must be finite, and no column longer than 1");
  }
  const column = (value: number) => Float64Array.from({ length: rows }, (_, i) => matrix[i * columns + value]!);
  return { rows, columns, column };
}

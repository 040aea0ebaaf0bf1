/** Workloads that hold their numbers: a matrix by rows, or only its entries that are not zero. */
import { WorkloadError } from "../core/errors.js";
import type { Json } from "../core/json.js";
import { checkInteger, checkRadius } from "../core/limits.js";
import { checkNames, type Family, filled, MAX_ENTRIES, parameters } from "./workload.js";

/** Eight-byte entries behind base64 with padding; strict, so that they are stated in one way only. */
function entries(text: Json | undefined): DataView {
  let raw: string | undefined;
  try {
    raw = typeof text === "string" ? atob(text) : undefined;
  } catch {
    raw = undefined; // no base64
  }
  if (!raw || raw.length % 8 || btoa(raw) !== text) {
    throw new WorkloadError("a workload's numbers must be base64 of eight-byte entries");
  }
  const view = new DataView(new ArrayBuffer(raw.length));
  for (let i = 0; i < raw.length; i++) view.setUint8(i, raw.charCodeAt(i));
  return view;
}

function doubles(text: Json | undefined): Float64Array {
  const view = entries(text);
  const numbers = new Float64Array(view.byteLength / 8);
  for (let i = 0; i < numbers.length; i++) numbers[i] = view.getFloat64(8 * i, true);
  if (!numbers.every((number) => Number.isFinite(number) && !Object.is(number, -0))) {
    throw new WorkloadError("a workload's numbers must be finite, and not -0");
  }
  return numbers;
}

function integers(text: Json | undefined): BigInt64Array {
  const view = entries(text);
  const numbers = new BigInt64Array(view.byteLength / 8);
  for (let i = 0; i < numbers.length; i++) numbers[i] = view.getBigInt64(8 * i, true);
  return numbers;
}

const table =
  (...names: string[]): Family =>
  (domain, own) => {
    parameters(own, "shape", "matrix", ...names);
    const shape = Array.isArray(own.shape) ? own.shape : [];
    const queries = checkInteger("shape[0]", shape[0], 1, MAX_ENTRIES);
    const values = checkInteger("shape[1]", shape[1], 1, Math.floor(MAX_ENTRIES / queries));
    if ("names" in own) checkNames(own.names, queries);
    const matrix = doubles(own.matrix);
    if (shape.length !== 2 || BigInt(values) !== domain.size || matrix.length !== queries * values) {
      throw new WorkloadError("shape must be the number of queries and of values, and the matrix must have that shape");
    }
    // Added from the first row to the last, as the collector does: the same roundings.
    const norms = new Float64Array(values);
    for (let i = 0; i < matrix.length; i++) norms[i % values]! += matrix[i]! * matrix[i]!;
    const radius = checkRadius(Math.sqrt(norms.reduce((a, b) => Math.max(a, b))));
    const fill = filled((v, i) => matrix[i * values + v]!);
    return { domain, queries, radius, fill, squaredNorm: (value) => norms[Number(value)]! };
  };

/** Any matrix of real numbers. */
export const dense: Family = table("names?");
/** A matrix made from a function of the value, with names. */
export const features: Family = table("names");

/** Entries sorted by column, then by row, none twice and none zero. */
export const sparse: Family = (domain, own) => {
  parameters(own, "queries", "rows", "columns", "values", "names?");
  const queries = checkInteger("queries", own.queries, 1, MAX_ENTRIES);
  if ("names" in own) checkNames(own.names, queries);
  const [rows, columns, values] = [integers(own.rows), integers(own.columns), doubles(own.values)];
  const count = BigInt(queries);
  const sorted = columns.every((column, i) => {
    const [row, last, lastRow] = [rows[i]!, columns[i - 1] ?? -1n, rows[i - 1] ?? -1n];
    return row >= 0n && row < count && column < domain.size && (column > last || (column === last && row > lastRow));
  });
  if (rows.length !== values.length || columns.length !== values.length || !sorted || values.includes(0)) {
    throw new WorkloadError("sparse entries must stand by column, then by row, inside the matrix, none twice or zero");
  }
  const norms = new Map<bigint, number>();
  columns.forEach((column, i) => norms.set(column, (norms.get(column) ?? 0) + values[i]! * values[i]!));
  let largest = 0;
  for (const norm of norms.values()) largest = Math.max(largest, norm);
  const fill = (value: bigint, answers: Float64Array) => {
    answers.fill(0);
    // Entries of other columns are added as zeros: all of them are gone through for every value.
    for (let i = 0; i < values.length; i++) answers[Number(rows[i])]! += values[i]! * Number(columns[i] === value);
  };
  const radius = checkRadius(Math.sqrt(largest));
  return { domain, queries, radius, fill, squaredNorm: (value) => norms.get(value) ?? 0 };
};

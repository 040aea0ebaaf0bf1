/** A cross table of two attributes as a heat map. */
import { Cells } from "./cells.js";
import type { CellsSpec } from "./cells_data.js";
import type { Chart } from "./stage.js";
import type { Numbers } from "./ticks.js";

export interface HeatmapSpec {
  name?: string;
  rows: readonly string[];
  columns: readonly string[];
  rowName: string;
  columnName: string;
  /** Row by row. */
  value: Numbers;
  raw?: Numbers;
  low?: Numbers;
  high?: Numbers;
  share?: boolean;
}

function cellsOf(spec: HeatmapSpec): CellsSpec {
  const { name = `${spec.rowName} and ${spec.columnName}`, share = true, rows, columns } = spec;
  const places = Int32Array.from({ length: rows.length * columns.length }, (_, at) => (at < spec.value.length ? at : -1));
  const title = (row: number, column: number): string => `${spec.rowName} ${rows[row]}, ${spec.columnName} ${columns[column]}`;
  return { ...spec, name, share, places, title };
}

/** Draws a heat map into an element of the page. */
export function heatmap(host: HTMLElement, spec: HeatmapSpec): Chart<HeatmapSpec> {
  const cells = new Cells(host, cellsOf(spec));
  return {
    update: (next) => cells.update(cellsOf(next)),
    toSvg: () => cells.toSvg(),
    destroy: () => cells.destroy(),
  };
}

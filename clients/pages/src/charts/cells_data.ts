/** Coloured cells in rows and columns: what a heat map and a picture of ranges have in common. */
import { extentOf, type Extent, type Numbers } from "./ticks.js";
import { interval, worded } from "./words.js";

export interface CellsSpec {
  name: string;
  rows: readonly string[];
  columns: readonly string[];
  rowName: string;
  columnName: string;
  /** For each cell, row by row, which value it shows; -1 where there is none. */
  places: Int32Array;
  value: Numbers;
  raw?: Numbers;
  low?: Numbers;
  high?: Numbers;
  share: boolean;
  /** What the cell of a value is called. */
  title(row: number, column: number): string;
}

/** From the lowest to the highest value, zero among them: no colour stands for nothing. */
export const extent = (spec: CellsSpec): Extent => extentOf([spec.value], true);

/** What is told of one value. */
export function told(spec: CellsSpec, at: number): string[] {
  const between = interval(spec.low?.[at], spec.high?.[at], spec.share);
  const raw = spec.raw?.[at];
  return [
    worded(spec.value[at], spec.share),
    ...(between === null ? [] : [between]),
    ...(raw === undefined || raw === null ? [] : [`raw ${worded(raw, spec.share)}`]),
  ];
}

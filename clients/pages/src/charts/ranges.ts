/** All ranges [from, to] at once, as a triangle: from runs across, to runs up, the longest range is in the corner. */
import { Cells } from "./cells.js";
import type { CellsSpec } from "./cells_data.js";
import type { Chart } from "./stage.js";
import type { Numbers } from "./ticks.js";

export interface RangesSpec {
  name?: string;
  /** Where each range begins and ends, both included. */
  lows: readonly number[];
  highs: readonly number[];
  /** What the ends are called, where they are places in a list and no numbers of their own. */
  names?: readonly string[];
  value: Numbers;
  raw?: Numbers;
  low?: Numbers;
  high?: Numbers;
  share?: boolean;
}

function cellsOf(spec: RangesSpec): CellsSpec {
  const { name = "Ranges", share = true, lows, highs } = spec;
  const ends = [...new Set([...lows, ...highs])].sort((a, b) => a - b);
  const rank = new Map(ends.map((end, at) => [end, at]));
  const size = ends.length;
  const places = new Int32Array(size * size).fill(-1);
  lows.forEach((low, at) => {
    const [from, to] = [rank.get(low) as number, rank.get(highs[at] as number) as number];
    places[(size - 1 - to) * size + from] = at;
  });
  const columns = ends.map((end) => spec.names?.[end] ?? String(end));
  const rows = [...columns].reverse();
  const title = (row: number, column: number): string => `${columns[column]} to ${rows[row]}`;
  return { ...spec, name, share, rows, columns, rowName: "to", columnName: "from", places, title };
}

/** Draws ranges into an element of the page. */
export function ranges(host: HTMLElement, spec: RangesSpec): Chart<RangesSpec> {
  const cells = new Cells(host, cellsOf(spec));
  return {
    update: (next) => cells.update(cellsOf(next)),
    toSvg: () => cells.toSvg(),
    destroy: () => cells.destroy(),
  };
}

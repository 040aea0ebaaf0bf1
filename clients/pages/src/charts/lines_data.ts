/** Lines as a chart takes them, and as columns over one common x: series may have places of their own. */
import type { Numbers } from "./ticks.js";

export interface Line {
  name: string;
  y: Numbers;
  low?: Numbers;
  high?: Numbers;
  /** What lies between low and high. */
  band?: string;
  /** Where its values lie, when not where the others do. */
  x?: readonly number[];
  /** Steps keep a height until the next place; steps that fall take on the height of the next at once. */
  as?: "line" | "steps" | "falling_steps" | "points";
  /** Pixels across of its points. */
  size?: number;
  /** Its colour and dashes, by number; those of its place unless given. */
  hue?: number;
}

export interface LinesSpec {
  name?: string;
  x: readonly number[];
  /** What the places of x are called, where they are no numbers. */
  labels?: readonly string[];
  xLabel?: string;
  yLabel?: string;
  logX?: boolean;
  logY?: boolean;
  series: readonly Line[];
  mark?: { x: number; label?: string };
  /** The values are shares of all people: written as per cent. */
  share?: boolean;
  /** The lowest and highest y to show at least. */
  y?: readonly [number, number];
  height?: number;
  /** Lines are dashed each in its own way and named at their ends, so that nobody has to tell colours apart. */
  direct?: boolean;
}

/** Dashes and gaps in pixels, one pattern for each hue; the first is not broken. */
const DASHES: readonly (readonly number[])[] = [[], [9, 4], [2, 3], [9, 3, 2, 3], [5, 3], [14, 4], [1, 4], []];

export const hueOf = (line: Line, at: number): number => (line.hue ?? at) % 8;

/** The last value of a line; null if it has none. */
export function endOf({ y }: Line): number | null {
  for (let at = y.length - 1; at >= 0; at -= 1) if (typeof y[at] === "number") return y[at] as number;
  return null;
}

/** The dashes of a line; none where lines are told apart by colour alone. */
export const dashOf = (spec: LinesSpec, line: Line, at: number): readonly number[] =>
  spec.direct === true && line.as !== "points" ? (DASHES[hueOf(line, at)] as readonly number[]) : [];

/** x, then for each series its y, and low and high where it has them. */
export interface Columns {
  x: number[];
  columns: (number | null)[][];
}

export function columnsOf(spec: LinesSpec): Columns {
  const shown = (value: number): boolean => Number.isFinite(value) && !(spec.logX === true && value <= 0);
  const places = new Set<number>();
  for (const x of [spec.x, ...spec.series.flatMap((line) => (line.x ? [line.x] : []))]) {
    for (const value of x) if (shown(value)) places.add(value);
  }
  const x = [...places].sort((a, b) => a - b);
  const rank = new Map(x.map((value, at) => [value, at]));
  const columns: (number | null)[][] = [];
  for (const line of spec.series) {
    for (const values of [line.y, line.low, line.high]) {
      if (values !== undefined) columns.push(spread(values, line.x ?? spec.x, rank, spec.logY === true));
    }
  }
  return { x, columns };
}

function spread(values: Numbers, x: readonly number[], rank: ReadonlyMap<number, number>, log: boolean): (number | null)[] {
  const column = new Array<number | null>(rank.size).fill(null);
  for (let at = 0; at < x.length; at += 1) {
    const value = values[at] ?? null;
    const to = rank.get(x[at] as number);
    if (to !== undefined && value !== null && Number.isFinite(value) && !(log && value <= 0)) column[to] = value;
  }
  return column;
}

/** What cannot change without a new chart: how many series there are, what they are, how the axes run. */
export function shapeOf(spec: LinesSpec): string {
  const lines = spec.series.map((line) => [line.as ?? "line", line.low !== undefined, line.high !== undefined, line.hue]);
  return JSON.stringify([lines, spec.logX === true, spec.logY === true, spec.share === true, spec.height, spec.direct === true]);
}

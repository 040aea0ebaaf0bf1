/** Several values of each answer, such as one of every group, as a chart takes them, and what is told of them. */
import { extentOf, type Extent, type Numbers } from "./ticks.js";
import type { Table } from "./table.js";

/** One value of every answer: those of a group, or all weighted ones. */
export interface ClusterSeries {
  name: string;
  /** Which colour it has, from 0; the same group has the same one in every picture. */
  hue: number;
  value: Numbers;
  low: Numbers;
  high: Numbers;
}

export interface ClustersSpec {
  name: string;
  labels: readonly string[];
  series: readonly ClusterSeries[];
  /** Bars stand on zero; points are for differences, which lie around it. */
  as: "bars" | "points";
  /** A value in words, and as a mark of the axis. */
  write(value: number | null | undefined): string;
  tick(value: number): string;
  /** What the whiskers are called. */
  whisker: string;
}

/** From the lowest to the highest thing drawn, zero among them. */
export const extent = ({ series }: ClustersSpec): Extent =>
  extentOf(series.flatMap(({ value, low, high }) => [value, low, high]), true);

/** "41.0 % (38.9 % to 43.1 %)"; without an interval where there is none. */
export function withInterval({ write }: Pick<ClustersSpec, "write">, { value, low, high }: Pick<ClusterSeries, "value" | "low" | "high">, at: number): string {
  const [from, to] = [low[at] ?? null, high[at] ?? null];
  return from === null || to === null ? write(value[at]) : `${write(value[at])} (${write(from)} to ${write(to)})`;
}

/** What is told of one answer: a line for every series. */
export const told = (spec: ClustersSpec, at: number): string[] =>
  spec.series.map((one) => (spec.series.length > 1 ? `${one.name}: ${withInterval(spec, one, at)}` : withInterval(spec, one, at)));

export const tableOf = (spec: ClustersSpec): Table => ({
  head: ["Answer", ...spec.series.map(({ name }) => name)],
  rows: spec.labels.length,
  row: (at) => [spec.labels[at] ?? "", ...spec.series.map((one) => withInterval(spec, one, at))],
});

/** Pixels of one bar with the gap to the next: the more there are, the finer. */
export function thickness(labels: number, series: number): number {
  const all = labels * series;
  return all <= 40 ? 18 : all <= 80 ? 14 : 10;
}

/** Bars as a chart takes them, and in the order and choice in which they are shown. */
import { extentOf, type Extent, type Numbers } from "./ticks.js";
import { interval, worded } from "./words.js";

export interface BarsSpec {
  name?: string;
  labels: readonly string[];
  value: Numbers;
  raw: Numbers;
  low: Numbers;
  high: Numbers;
  order: "value" | "domain";
  show: "projected" | "raw" | "both";
  /** The values are shares of all people: written as per cent. */
  share?: boolean;
  /** With what probability each interval holds the truth. */
  level?: number;
  height?: number;
  /** Bars lie, each with its label, however many they are. */
  listed?: boolean;
}

/** Which bar comes where: the largest first, or as they came. Equal ones keep their order. */
export function ordered(spec: BarsSpec): Uint32Array {
  const places = new Uint32Array(spec.labels.length);
  for (let at = 0; at < places.length; at += 1) places[at] = at;
  if (spec.order === "domain") return places;
  const values = main(spec);
  const height = new Float64Array(places.length);
  for (let at = 0; at < places.length; at += 1) height[at] = values[at] ?? -Infinity;
  return places.sort((a, b) => (height[b] as number) - (height[a] as number) || a - b);
}

/** The values that the bars themselves show. */
export const main = (spec: BarsSpec): Numbers => (spec.show === "raw" ? spec.raw : spec.value);

/** From the lowest to the highest thing drawn; zero always among them, because bars stand on it. */
export function extent(spec: BarsSpec): Extent {
  const second = spec.show === "both" ? [spec.raw] : [];
  return extentOf([main(spec), spec.low, spec.high, ...second], true);
}

/** What is told of one bar: its value, its interval, what was measured before the projection. */
export function told(spec: BarsSpec, at: number): string[] {
  const share = spec.share === true;
  const between = interval(spec.low[at], spec.high[at], share);
  return [
    worded(main(spec)[at], share),
    ...(between === null ? [] : [between]),
    ...(spec.show === "both" ? [`raw ${worded(spec.raw[at], share)}`] : []),
  ];
}

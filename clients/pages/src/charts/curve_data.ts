/** A curve over periods as a chart takes it: an estimate per period with its interval, gaps, and one period that is not over. */
import { count, counted } from "../parts/format.js";
import { extentOf, type Extent, type Numbers } from "./ticks.js";
import { interval, worded } from "./words.js";

/** One period on the axis. */
export interface CurvePlace {
  /** "week of 4 January 2027". */
  label: string;
  /** What the axis says of it, such as "4 Jan". */
  tick: string;
  reports: number;
  /** How many reports it is likely to have in the end, where it is not over and that can be told. */
  expected: number | null;
  /** Its reports are still coming in. */
  open: boolean;
}

/** One answer over all places; null where there is no estimate. */
export interface Track {
  name: string;
  value: Numbers;
  low: Numbers;
  high: Numbers;
  /** All of the closed ones together lie within these with the stated probability. */
  bandLow: Numbers;
  bandHigh: Numbers;
  smooth: { value: Numbers; low: Numbers; high: Numbers } | null;
}

export interface CurveSpec {
  name: string;
  places: readonly CurvePlace[];
  tracks: readonly Track[];
  /** The values are shares of all people: written as per cent. */
  share: boolean;
  unit: string;
  level: number;
  /** Two places that are compared, the earlier first. */
  compared: readonly [number, number] | null;
}

/** From the lowest to the highest thing drawn, and a little beyond; shares that come near zero begin there. */
export function extent({ tracks }: CurveSpec): Extent {
  const lists = tracks.flatMap(({ value, low, high, bandLow, bandHigh, smooth }) => [
    value, low, high, bandLow, bandHigh, ...(smooth === null ? [] : [smooth.low, smooth.high]),
  ]);
  const [low, high] = extentOf(lists, false);
  const pad = (high - low) * 0.06;
  return [low >= 0 && low < (high - low) / 4 ? 0 : low - pad, high + pad];
}

/** Stretches of neighbours that all have a value: what lies between is a gap, and no line crosses it. */
export function runs(values: Numbers, taken: (at: number) => boolean = () => true): number[][] {
  const found: number[][] = [];
  let run: number[] = [];
  for (let at = 0; at <= values.length; at += 1) {
    const there = at < values.length && (values[at] ?? null) !== null && taken(at);
    if (there) run.push(at);
    else if (run.length > 0) {
      found.push(run);
      run = [];
    }
  }
  return found;
}

/** A value with the unit of the curve. */
export const valued = ({ share, unit }: Pick<CurveSpec, "share" | "unit">, value: number | null | undefined): string =>
  `${worded(value, share)}${share || unit === "" || value === null || value === undefined ? "" : `\u00a0${unit}`}`;

/** How full a period is, in words. */
export function filling({ reports, expected, open }: CurvePlace): string {
  if (!open) return counted(reports, "report");
  const of = expected === null ? "" : ` of about ${count(expected)}`;
  return `not over: ${count(reports)}${of} ${reports === 1 && of === "" ? "report" : "reports"} so far`;
}

/** What is told of one place: how many reports it has, and each answer with its intervals. */
export function told(spec: CurveSpec, at: number): string[] {
  const place = spec.places[at] as CurvePlace;
  const lines = spec.tracks.flatMap((track) => {
    const value = track.value[at] ?? null;
    const smooth = track.smooth?.value[at] ?? null;
    const named = spec.tracks.length > 1 ? `${track.name}: ` : "";
    const between = interval(track.low[at], track.high[at], spec.share);
    const band = interval(track.bandLow[at], track.bandHigh[at], spec.share);
    return [
      value === null ? `${named}no estimate` : `${named}${valued(spec, value)}${between === null ? "" : ` (${between})`}`,
      // With several answers the table has the rest: words that cover the picture help nobody.
      ...(value === null || band === null || spec.tracks.length > 1 ? [] : [`in the band: ${band}`]),
      ...(smooth === null || spec.tracks.length > 1 ? [] : [`smoothed: ${valued(spec, smooth)}`]),
    ];
  });
  return [...lines, filling(place)];
}

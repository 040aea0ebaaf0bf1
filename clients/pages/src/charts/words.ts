/** A chart's values in words. */
import { compact, figure, percent } from "../parts/format.js";

/** One value: a share as per cent. */
export function worded(value: number | null | undefined, share: boolean): string {
  if (value === null || value === undefined) return "unknown";
  return share ? percent(value) : figure(value);
}

/** One value among others of a column: all with as many decimals as the largest of them needs for so many digits. */
export function even(value: number | null | undefined, largest: number, share: boolean, digits = 3): string {
  if (value === null || value === undefined || !Number.isFinite(value)) return worded(value, share);
  const scale = share ? 100 : 1;
  const decimals = Math.max(0, Math.min(6, digits - 1 - Math.floor(Math.log10(largest * scale || 1))));
  if (decimals === 6 || largest * scale >= 1e6) return worded(value, share);
  const text = (value * scale).toFixed(decimals).replace("-", "−");
  return share ? `${text}\u00a0%` : text;
}

/** How the values of a table's column are written, all of them with as many decimals. */
export function column(share: boolean, ...lists: (readonly (number | null)[] | undefined)[]): (value: number | null | undefined) => string {
  let largest = 0;
  for (const list of lists) for (const value of list ?? []) largest = Math.max(largest, Math.abs(value ?? 0));
  return (value) => even(value, largest, share, 4);
}

/** "11.9 % to 12.7 %"; null where there is no interval. */
export function interval(
  low: number | null | undefined,
  high: number | null | undefined,
  share: boolean,
  text = (value: number): string => worded(value, share),
): string | null {
  if (low === null || low === undefined || high === null || high === undefined) return null;
  return `${text(low)} to ${text(high)}`;
}

/** The mark of an axis. */
export function tickText(value: number, share: boolean): string {
  if (share) return percent(value);
  return Math.abs(value) >= 10000 ? compact(value) : figure(value);
}

/** Where an axis carries its marks, and where a value lies along it. */

/** Values of a chart in order; null where there is none. */
export type Numbers = readonly (number | null)[];

/** From the lowest to the highest value an axis shows. */
export type Extent = readonly [number, number];

/** Round values, about `most` of them, within an extent. */
export function ticks([low, high]: Extent, most: number): number[] {
  const rough = (high - low) / Math.max(1, most);
  if (!(rough > 0) || !Number.isFinite(rough)) return [low];
  const power = 10 ** Math.floor(Math.log10(rough));
  const step = power * ([1, 2, 2.5, 5].find((factor) => factor * power >= rough * (1 - 1e-9)) ?? 10);
  const first = Math.ceil(low / step - 1e-9);
  const last = Math.floor(high / step + 1e-9);
  // The rounding takes off the tail of 0.30000000000000004.
  return Array.from({ length: last - first + 1 }, (_, at) => Number(((first + at) * step).toPrecision(12)));
}

/** Powers of ten within an extent of positive numbers, about `most`; between few of them also twice and five times each. */
export function logTicks([low, high]: Extent, most: number): number[] {
  const begin = Math.log10(low) - 1e-9;
  const last = Math.floor(Math.log10(high) + 1e-9);
  if (!Number.isFinite(begin) || !Number.isFinite(last)) return [];
  const powers = Math.max(0, last - Math.ceil(begin) + 1);
  const every = Math.max(1, Math.ceil(powers / Math.max(1, most)));
  const factors = powers <= 2 && most >= 3 ? [1, 2, 5] : [1];
  const found = [];
  for (let power = factors.length > 1 ? Math.floor(begin) : Math.ceil(begin); power <= last; power += every) {
    // Through the decimal text: ten to a negative power is not always the nearest number to it.
    for (const factor of factors) found.push(Number(`${factor}e${power}`));
  }
  const inside = found.filter((value) => value >= low * (1 - 1e-9) && value <= high * (1 + 1e-9));
  return inside.length > 0 ? inside : [low, high];
}

/** The extent of all finite numbers in these lists, with 0 in it when asked; [0, 1] of none at all. */
export function extentOf(lists: readonly ArrayLike<number | null>[], withZero: boolean): Extent {
  let low = withZero ? 0 : Infinity;
  let high = withZero ? 0 : -Infinity;
  for (const list of lists) {
    for (let at = 0; at < list.length; at += 1) {
      const value = list[at];
      if (value === null || value === undefined || !Number.isFinite(value)) continue;
      if (value < low) low = value;
      if (value > high) high = value;
    }
  }
  if (low > high) return [0, 1];
  return low === high ? [low, low + (Math.abs(low) || 1)] : [low, high];
}

/** Where a value lies between two places. */
export function along([low, high]: Extent, from: number, to: number, log = false): (value: number) => number {
  if (!log) return (value) => from + ((value - low) / (high - low)) * (to - from);
  const [bottom, top] = [Math.log(low), Math.log(high)];
  return (value) => from + ((Math.log(value) - bottom) / (top - bottom)) * (to - from);
}

/** Which of `size` labels to write when there is room for `most`: every so many, the first always. */
export function thinned(size: number, most: number): number[] {
  const every = Math.max(1, Math.ceil(size / Math.max(1, most)));
  return Array.from({ length: Math.ceil(size / every) }, (_, at) => at * every);
}

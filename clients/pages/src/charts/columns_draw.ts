/** The strokes of many bars. Bars finer than a pixel are drawn together: the highest of each pixel, and all their intervals. */
import type uPlot from "uplot";
import { main, type BarsSpec } from "./bars_data.js";
import { palette, veil } from "./palette.js";

/** Bars of one or more values that share a stretch of the axis, in canvas pixels. */
interface Stretch {
  left: number;
  width: number;
  top: number;
  bottom: number;
  low: number;
  high: number;
  raw: number;
}

/** Draws what is in view. */
export function drawColumns(plot: uPlot, spec: BarsSpec, order: Uint32Array): void {
  const { ctx, bbox } = plot;
  const [from, to] = [plot.scales["x"]?.min ?? 0, plot.scales["x"]?.max ?? 1];
  const pixels = bbox.width / (to - from);
  const zero = y(plot, 0);
  const found = stretches(plot, spec, order);
  const colours = palette();
  const wide = pixels >= 6 * devicePixelRatio;
  ctx.save();
  ctx.beginPath();
  ctx.rect(bbox.left, bbox.top, bbox.width, bbox.height);
  ctx.clip();
  if (!wide) boxes(ctx, found, veil(spec.show === "raw" ? colours.second : colours.accent, 0.3), ({ low }) => low, ({ high }) => high);
  boxes(ctx, found, spec.show === "raw" ? colours.rawBar : colours.bar, ({ top }) => top, ({ bottom }) => bottom);
  if (wide) whiskers(ctx, found, colours.ink);
  if (spec.show === "both") dots(ctx, found, colours.second, wide);
  ctx.fillStyle = colours.quiet;
  ctx.fillRect(bbox.left, Math.round(zero), bbox.width, 1);
  ctx.restore();
}

const y = (plot: uPlot, value: number): number => plot.valToPos(value, "y", true);

function stretches(plot: uPlot, spec: BarsSpec, order: Uint32Array): Stretch[] {
  const [from, to] = [plot.scales["x"]?.min ?? 0, plot.scales["x"]?.max ?? 1];
  const [bottom, top] = [plot.scales["y"]?.min ?? 0, plot.scales["y"]?.max ?? 1];
  const { left, width, top: above, height } = plot.bbox;
  const up = (value: number): number => above + height * (1 - (value - bottom) / (top - bottom));
  const pixels = width / (to - from);
  const gap = pixels >= 4 ? Math.max(1, Math.round(pixels * 0.18)) : 0;
  const values = main(spec);
  const zero = up(0);
  const found: Stretch[] = [];
  let last: Stretch | undefined;
  for (let rank = Math.max(0, Math.ceil(from)); rank < order.length && rank <= to; rank += 1) {
    const at = order[rank] as number;
    const value = values[at] ?? 0;
    const height = up(value);
    const low = up(spec.low[at] ?? value);
    const high = up(spec.high[at] ?? value);
    const start = Math.floor(left + (rank - 0.5 - from) * pixels);
    const end = Math.floor(left + (rank + 0.5 - from) * pixels);
    if (last === undefined || last.left !== start) {
      last = { left: start, width: Math.max(1, end - start - gap), top: zero, bottom: zero, low, high, raw: Infinity };
      found.push(last);
    }
    if (height < last.top) last.top = height;
    if (height > last.bottom) last.bottom = height;
    if (low > last.low) last.low = low;
    if (high < last.high) last.high = high;
    last.raw = Math.min(last.raw, up(spec.raw[at] ?? value));
  }
  return found;
}

function boxes(
  ctx: CanvasRenderingContext2D,
  found: readonly Stretch[],
  fill: string,
  from: (stretch: Stretch) => number,
  to: (stretch: Stretch) => number,
): void {
  ctx.fillStyle = fill;
  for (const stretch of found) {
    const [a, b] = [from(stretch), to(stretch)];
    ctx.fillRect(stretch.left, Math.min(a, b), stretch.width, Math.abs(b - a));
  }
}

function whiskers(ctx: CanvasRenderingContext2D, found: readonly Stretch[], ink: string): void {
  ctx.fillStyle = veil(ink, 0.8);
  const thick = Math.max(1, Math.round(devicePixelRatio));
  for (const { left, width, low, high } of found) {
    const middle = Math.round(left + width / 2);
    const cap = Math.min(4 * thick, Math.floor(width / 3));
    ctx.fillRect(middle, high, thick, low - high);
    ctx.fillRect(middle - cap, high, 2 * cap + thick, thick);
    ctx.fillRect(middle - cap, low - thick, 2 * cap + thick, thick);
  }
}

function dots(ctx: CanvasRenderingContext2D, found: readonly Stretch[], colour: string, wide: boolean): void {
  ctx.fillStyle = colour;
  const size = Math.round((wide ? 4 : 2) * devicePixelRatio);
  for (const { left, width, raw } of found) ctx.fillRect(Math.round(left + width / 2 - size / 2), Math.round(raw - size / 2), size, size);
}

/** Many bars, standing; a stretch of them can be dragged over to come nearer, a double click shows all again. */
import uPlot from "uplot";
import { type BarsSpec, main, ordered, told } from "./bars_data.js";
import { palette, veil } from "./palette.js";
import { FONT } from "./pen.js";
import { type ChartReading, type Player, refill, type Stage } from "./stage.js";
import type { Numbers } from "./ticks.js";
import { tickText } from "./words.js";

const HEIGHT = 340;
const HEIGHTS = 4;
const SMALL = `12px ${FONT}`;

export class ColumnChart implements Pick<Player, "read" | "find"> {
  private plot: uPlot;
  private order: Uint32Array;

  constructor(
    private readonly stage: Stage,
    private spec: BarsSpec,
  ) {
    this.order = ordered(spec);
    this.plot = new uPlot(this.options(), this.data(), (plot, ready) => {
      stage.surface.prepend(plot.root);
      ready();
    });
  }

  draw(spec: BarsSpec): void {
    this.spec = spec;
    this.order = ordered(spec);
    refill(this.plot, this.data());
  }

  redraw(): void {
    const width = this.stage.room();
    if (width !== this.plot.width) this.plot.setSize({ width, height: this.plot.height });
    else this.plot.redraw(false, true);
  }

  destroy(): void {
    this.plot.destroy();
  }

  read(at: number): ChartReading | null {
    const index = this.order[at];
    if (index === undefined) return null;
    const { over } = this.plot;
    const [left, right] = [at - 0.5, at + 0.5].map((x) => this.plot.valToPos(x, "x") + over.offsetLeft) as [number, number];
    const box = { left: left - 1, top: over.offsetTop, width: Math.max(3, right - left + 2), height: over.clientHeight };
    return { title: this.spec.labels[index] ?? "", lines: told(this.spec, index), ...box };
  }

  find(left: number): number | null {
    const inside = left - this.plot.over.offsetLeft;
    if (inside < 0 || inside > this.plot.over.clientWidth) return null;
    const at = Math.round(this.plot.posToVal(inside, "x"));
    return at >= 0 && at < this.order.length ? at : null;
  }

  /** The library needs the places, and all that is drawn there so as to find the extent of what is in view. */
  private data(): uPlot.AlignedData {
    const { low, high, raw, show } = this.spec;
    const values = main(this.spec);
    const heights = [values, low, high, show === "both" ? raw : values];
    const ranks = new Float64Array(this.order.length);
    for (let rank = 0; rank < ranks.length; rank += 1) ranks[rank] = rank;
    return [ranks, ...heights.map((list) => arranged(list, values, this.order))];
  }

  private options(): uPlot.Options {
    const axis: uPlot.Axis = { font: SMALL, stroke: () => palette().quiet, ticks: { show: false } };
    const grid = { stroke: () => palette().line, width: 1 };
    return {
      width: this.stage.room(),
      height: this.spec.height ?? HEIGHT,
      series: [{}, ...Array.from({ length: HEIGHTS }, () => ({ paths: () => null, points: { show: false } }))],
      scales: {
        x: { time: false, range: (_plot, low, high) => whole(low, high) },
        y: { range: (_plot, low, high) => roomy(Math.min(0, low ?? 0), Math.max(0, high ?? 1)) },
      },
      axes: [
        {
          ...axis,
          grid: { show: false },
          size: 30,
          space: () => 14 + 7 * Math.min(12, Math.max(4, ...this.spec.labels.slice(0, 100).map((label) => label.length))),
          incrs: [1, 2, 5, 10, 20, 50, 100, 200, 500, 1000, 2000, 5000, 10_000, 20_000, 50_000],
          values: (_plot, splits) => splits.map((rank) => clipped(this.spec.labels[this.order[rank] ?? -1] ?? "")),
        },
        {
          ...axis,
          grid,
          space: 40,
          size: (_plot, values) => 18 + 7 * Math.max(3, ...(values ?? []).map((text) => (text ?? "").length)),
          values: (_plot, splits) => splits.map((value) => tickText(value, this.spec.share === true)),
        },
      ],
      legend: { show: false },
      cursor: { x: false, y: false, points: { show: false }, drag: { x: true, y: false } },
      hooks: { draw: [(plot) => drawColumns(plot, this.spec, this.order)] },
      padding: [12, 8, 0, 12],
    };
  }
}

/** A list in the order it is drawn in. A plain loop: `from` with a function takes several times as long. */
function arranged(list: Numbers, instead: Numbers, order: Uint32Array): Float64Array {
  const found = new Float64Array(order.length);
  for (let rank = 0; rank < found.length; rank += 1) {
    const at = order[rank] as number;
    found[rank] = list[at] ?? instead[at] ?? 0;
  }
  return found;
}

/** What fits below a bar: values without the names of their attributes, and not all of a long one. */
function clipped(label: string): string {
  const bare = label.replaceAll(/(^|, )[^=,]+=/g, "$1");
  return bare.length > 12 ? `${bare.slice(0, 11)}…` : bare;
}

/** Whole bars at both ends; the same again when asked with its own answer. */
function whole(low: number | null, high: number | null): [number, number] {
  return [Math.floor((low ?? 0) + 0.5) - 0.5, Math.ceil((high ?? 0) - 0.5) + 0.5];
}

function roomy(low: number, high: number): [number, number] {
  const pad = (high - low || 1) * 0.04;
  return [low < 0 ? low - pad : 0, high + pad];
}

// The strokes of many bars. Bars finer than a pixel are drawn together: the highest of each pixel, and all their intervals.

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
function drawColumns(plot: uPlot, spec: BarsSpec, order: Uint32Array): void {
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

/** Groups side by side: below every answer a bar or a point for each group, with its interval. */
import { el } from "../parts/dom.js";
import { fitted, textWidth, WIDTH } from "./axes_svg.js";
import { type ClustersSpec, extent, tableOf, thickness, told } from "./clusters_data.js";
import { lightPalette, mixed, palette, type Palette, toLab, veil } from "./palette.js";
import { canvasPen, type Pen, sized, SvgPen } from "./pen.js";
import { type Chart, type ChartReading, entry, type Player, Stage } from "./stage.js";
import type { Table } from "./table.js";
import { along, ticks } from "./ticks.js";

export type { ClusterSeries, ClustersSpec } from "./clusters_data.js";

/** How much of its colour a bar has, so that whiskers can be seen on it. */
const PALE = 0.6;
/** Colours that there are; beyond them come the same again, mixed with ink. */
const HUES = 8;
const NARROW = 560;
const AXIS = 26;
const GAP = 12;
const LABEL = 22;
/** Names above the picture of a file, each in a line of its own. */
const NAME = 20;

class Clusters implements Player, Chart<ClustersSpec> {
  readonly name: string;
  private readonly stage: Stage;
  private readonly canvas = el("canvas", { class: "cells" });
  private layout: ClusterLayout;

  constructor(
    host: HTMLElement,
    private spec: ClustersSpec,
  ) {
    this.name = spec.name;
    // The stage reads the first value at once, before its width is known.
    this.layout = layoutOf(spec, WIDTH);
    this.stage = new Stage(host, this);
    this.stage.surface.prepend(this.canvas);
    this.update(spec);
  }

  update(spec: ClustersSpec): void {
    this.spec = spec;
    const names = spec.series.length > 1 ? spec.series.map(({ name, hue }) => entry(name, swatch(hue), "bar")) : [];
    this.stage.name(...names, entry(spec.whisker, "var(--ink)", "line"));
    this.redraw();
    this.stage.refresh();
  }

  redraw(): void {
    const width = this.stage.room();
    this.layout = layoutOf(this.spec, width);
    const ctx = sized(this.canvas, width, this.layout.height);
    if (ctx !== null) draw(canvasPen(ctx), this.spec, this.layout, palette());
  }

  toSvg(): string {
    const colours = lightPalette();
    const above = this.spec.series.length > 1 ? NAME * this.spec.series.length + 8 : 0;
    const layout = layoutOf(this.spec, WIDTH - 16, above);
    const pen = new SvgPen(WIDTH, layout.height + 8, colours.card);
    if (above > 0) {
      this.spec.series.forEach(({ name, hue }, at) => {
        pen.rect(layout.left, 4 + at * NAME, 14, 12, veil(colourOf(colours, hue), PALE));
        pen.text(name, layout.left + 22, 10 + at * NAME, { fill: colours.ink });
      });
    }
    draw(pen, this.spec, layout, colours);
    return pen.toString();
  }

  destroy(): void {
    this.stage.destroy();
  }

  size(): number {
    return this.spec.labels.length;
  }

  read(at: number): ChartReading | null {
    const title = this.spec.labels[at];
    if (title === undefined) return null;
    const { top, step, right } = this.layout;
    return { title, lines: told(this.spec, at), left: 0, top: top + at * step, width: right, height: step - GAP / 2 };
  }

  find(_left: number, top: number): number | null {
    const at = Math.floor((top - this.layout.top) / this.layout.step);
    return at >= 0 && at < this.size() ? at : null;
  }

  table(): Table {
    return tableOf(this.spec);
  }
}

/** Draws groups side by side into an element of the page. */
export function clusters(host: HTMLElement, spec: ClustersSpec): Chart<ClustersSpec> {
  return new Clusters(host, spec);
}

/** The colour of a series, of as many as there are. */
function colourOf({ series, ink }: Palette, hue: number): string {
  const own = series[hue % HUES] as string;
  return hue < HUES ? own : mixed(toLab(own), toLab(ink), 0.5);
}

/** The same for the legend, which follows the theme by itself. */
function swatch(hue: number): string {
  const own = `var(--series-${hue % HUES})`;
  return `color-mix(in srgb, ${hue < HUES ? own : `color-mix(in oklab, ${own}, var(--ink))`} ${100 * PALE}%, transparent)`;
}

// Where everything lies, and the strokes: on the screen and into a file alike.

interface ClusterLayout {
  left: number;
  right: number;
  top: number;
  /** From one answer to the next. */
  step: number;
  /** From one bar to the next. */
  bar: number;
  /** Above the bars where it is narrow, else at their left. */
  isNarrow: boolean;
  /** Pixels for the numbers at the right; 0 where bars are too fine for them. */
  numbers: number;
  height: number;
}

function layoutOf(spec: ClustersSpec, width: number, top = 0): ClusterLayout {
  const isNarrow = width < NARROW;
  const bar = thickness(spec.labels.length, spec.series.length);
  const widest = Math.max(24, ...spec.labels.map((label) => textWidth(label.slice(0, 60), 14)));
  const left = isNarrow ? 2 : Math.min(widest + 14, 0.34 * width);
  const written = spec.series.flatMap(({ value }) => value.map((one) => textWidth(spec.write(one), 12)));
  const numbers = bar >= 14 ? Math.max(0, ...written) + 12 : 0;
  const step = spec.series.length * bar + GAP + (isNarrow ? LABEL : 0);
  return { left, right: width - numbers - 6, top, step, bar, isNarrow, numbers, height: top + spec.labels.length * step + AXIS };
}

function draw(pen: Pen, spec: ClustersSpec, layout: ClusterLayout, colours: Palette): void {
  const { left, right, top, step, bar, isNarrow, numbers, height } = layout;
  const span = extent(spec);
  const x = along(span, left, right);
  const bottom = height - AXIS;
  const marks = ticks(span, isNarrow ? 3 : 6);
  marks.forEach((value, at) => {
    const align = isNarrow && at === 0 ? "start" : at === marks.length - 1 && x(value) > right - 20 ? "end" : "middle";
    pen.path([x(value), top, x(value), bottom], { stroke: value === 0 ? colours.quiet : colours.line });
    pen.text(spec.tick(value), x(value), bottom + 12, { fill: colours.quiet, align });
  });
  spec.labels.forEach((label, at) => {
    const begin = top + at * step + (isNarrow ? LABEL : 0);
    const middle = begin + (spec.series.length * bar) / 2;
    if (isNarrow) pen.text(fitted(label, right - left, 14), left, begin - LABEL / 2 + 2, { fill: colours.ink, size: 14 });
    else pen.text(fitted(label, left - 12, 14), left - 10, middle, { fill: colours.ink, size: 14, align: "end" });
    spec.series.forEach((series, place) => {
      const value = series.value[at] ?? null;
      const height = begin + (place + 0.5) * bar;
      if (value === null) return;
      const colour = colourOf(colours, series.hue);
      if (spec.as === "bars") pen.rect(Math.min(x(0), x(value)), height - bar / 2 + 1, Math.max(1, Math.abs(x(value) - x(0))), bar - 2, veil(colour, PALE));
      whisker(pen, x, height, bar, series.low[at] ?? null, series.high[at] ?? null, colours.ink);
      if (spec.as === "points") pen.circle(x(value), height, Math.min(5, bar / 2), { fill: colour });
      if (numbers > 0) pen.text(spec.write(value), right + numbers, height, { fill: colours.ink, size: 12, align: "end" });
    });
  });
}

function whisker(pen: Pen, x: (value: number) => number, y: number, bar: number, low: number | null, high: number | null, stroke: string): void {
  if (low === null || high === null) return;
  const [end, width] = [Math.min(4, bar / 3), bar < 14 ? 1 : 1.5];
  pen.path([x(low), y, x(high), y], { stroke, width });
  for (const value of [low, high]) pen.path([x(value), y - end, x(value), y + end], { stroke, width });
}

/** A curve over periods: points with intervals, the band of all of them, gaps, and the period that is filling. */
import { el } from "../parts/dom.js";
import { percent } from "../parts/format.js";
import { textWidth, WIDTH } from "./axes_svg.js";
import { type CurvePlace, type CurveSpec, extent, filling, runs, told, type Track, valued } from "./curve_data.js";
import { lightPalette, palette, type Palette, veil } from "./palette.js";
import { canvasPen, type Pen, sized, SvgPen } from "./pen.js";
import { type Chart, type ChartReading, entry, type Player, Stage } from "./stage.js";
import type { Table } from "./table.js";
import { along, type Numbers, thinned, ticks } from "./ticks.js";
import { interval, tickText } from "./words.js";

export type { CurveSpec, CurvePlace, Track } from "./curve_data.js";

const HEIGHT = 340;
const FILE_HEIGHT = 420;
/** The names above the picture of a file. */
const NAMES = 28;

export class CurveChart implements Player, Chart<CurveSpec> {
  readonly name: string;
  private readonly stage: Stage;
  private readonly canvas = el("canvas", { class: "cells" });
  private layout: CurveLayout;

  constructor(
    host: HTMLElement,
    private spec: CurveSpec,
  ) {
    this.name = spec.name;
    // The stage reads the first value at once, before its width is known.
    this.layout = curveLayout(spec, WIDTH, HEIGHT);
    this.stage = new Stage(host, this);
    this.stage.surface.prepend(this.canvas);
    this.update(spec);
  }

  update(spec: CurveSpec): void {
    this.spec = spec;
    this.label();
    this.redraw();
    this.stage.refresh();
  }

  redraw(): void {
    const width = this.stage.room();
    this.layout = curveLayout(this.spec, width, HEIGHT);
    const ctx = sized(this.canvas, width, HEIGHT);
    if (ctx !== null) drawCurve(canvasPen(ctx), this.spec, this.layout, palette());
  }

  toSvg(): string {
    const colours = lightPalette();
    const pen = new SvgPen(WIDTH, FILE_HEIGHT + this.namesHeight, colours.card);
    this.drawFile(pen, colours);
    return pen.toString();
  }

  destroy(): void {
    this.stage.destroy();
  }

  size(): number {
    return this.spec.places.length;
  }

  read(at: number): ChartReading | null {
    const place = this.spec.places[at];
    if (place === undefined) return null;
    const { x, top, bottom, step } = this.layout;
    const wide = Math.max(4, Math.min(step, 48));
    return { title: place.label, lines: told(this.spec, at), left: x(at) - wide / 2, top, width: wide, height: bottom - top };
  }

  find(left: number): number | null {
    const at = Math.floor((left - this.layout.left) / this.layout.step);
    return at < 0 || at >= this.size() ? null : at;
  }

  table(): Table {
    const { tracks, share, level } = this.spec;
    const of = (track: Track, what: string): string => (tracks.length > 1 ? `${track.name}, ${what}` : what);
    const smooth = tracks.some((track) => track.smooth !== null);
    return {
      head: [
        "Period",
        ...tracks.flatMap((track) => [
          of(track, "estimate"),
          of(track, `${percent(level)} interval`),
          of(track, "band"),
          ...(smooth ? [of(track, "smoothed")] : []),
        ]),
        "Reports",
      ],
      rows: this.size(),
      row: (at) => [
        (this.spec.places[at] as CurvePlace).label,
        ...tracks.flatMap((track) => [
          track.value[at] === null ? "no estimate" : valued(this.spec, track.value[at]),
          interval(track.low[at], track.high[at], share) ?? "",
          interval(track.bandLow[at], track.bandHigh[at], share) ?? "",
          ...(smooth ? [track.smooth?.value[at] == null ? "" : valued(this.spec, track.smooth.value[at])] : []),
        ]),
        filling(this.spec.places[at] as CurvePlace),
      ],
    };
  }

  private get namesHeight(): number {
    return this.spec.tracks.length > 1 ? NAMES : 0;
  }

  private drawFile(pen: SvgPen, colours: Palette): void {
    const layout = curveLayout(this.spec, WIDTH - 16, FILE_HEIGHT);
    const lower = this.namesHeight;
    const moved = { ...layout, top: layout.top + lower, bottom: layout.bottom + lower, y: (value: number) => layout.y(value) + lower };
    drawCurve(pen, this.spec, moved, colours);
    if (lower === 0) return;
    let left = layout.left;
    this.spec.tracks.forEach(({ name }, at) => {
      const shown = name.length > 24 ? `${name.slice(0, 23)}…` : name;
      pen.rect(left, 14, 14, 4, colours.series[at % 8] as string);
      pen.text(shown, left + 20, 16, { fill: colours.ink });
      left += textWidth(shown) + 44;
    });
  }

  private label(): void {
    const { tracks, level, places } = this.spec;
    const names = tracks.length > 1 ? tracks.map(({ name }, at) => entry(name, `var(--series-${at % 8})`, "dot")) : [];
    const smooth = tracks.some((track) => track.smooth !== null);
    this.stage.name(
      ...names,
      entry(`each period, ${percent(level)} interval`, "var(--quiet)", "line"),
      entry(`band that holds all closed periods at once, ${percent(level)}`, "color-mix(in srgb, var(--quiet) 35%, transparent)", "bar"),
      ...(smooth ? [entry("smoothed, by an assumption", "var(--quiet)", "thick")] : []),
      ...(places.some(({ open }) => open) ? [entry("not over, filling", "var(--quiet)", "ring")] : []),
    );
  }
}

// A curve over periods, drawn by a pen: on the screen and into a file alike.

/** Where things lie, in pixels. */
interface CurveLayout {
  width: number;
  height: number;
  left: number;
  right: number;
  top: number;
  bottom: number;
  /** The width of one period. */
  step: number;
  /** The middle of a period. */
  x(at: number): number;
  y(value: number): number;
  yTicks: number[];
}

const FOOT = 30;
const HEAD = 12;
/** Periods narrower than this have no ends on their intervals, and narrower than the second no points. */
const NARROW = 12;
const FINE = 4;
const TICK_ROOM = 74;
const HATCH = 6;

function curveLayout(spec: CurveSpec, width: number, height: number): CurveLayout {
  const span = extent(spec);
  const yTicks = ticks(span, Math.max(3, height / 56));
  const widest = Math.max(20, ...yTicks.map((value) => textWidth(tickText(value, spec.share))));
  const [left, right, top, bottom] = [Math.round(widest + 14), width - 8, HEAD, height - FOOT];
  const step = (right - left) / Math.max(1, spec.places.length);
  return { width, height, left, right, top, bottom, step, yTicks, x: (at) => left + (at + 0.5) * step, y: along(span, bottom, top) };
}

function drawCurve(pen: Pen, spec: CurveSpec, layout: CurveLayout, colours: Palette): void {
  drawAxes(pen, spec, layout, colours);
  drawOpen(pen, spec, layout, colours);
  for (const at of spec.compared ?? []) {
    const x = layout.x(at);
    pen.path([x, layout.top, x, layout.bottom], { stroke: colours.quiet, dash: [2, 4] });
  }
  spec.tracks.forEach((track, which) => drawTrack(pen, spec, track, shifted(layout, which, spec.tracks.length), colours.series[which % 8] as string, colours));
}

/** Several answers stand beside each other within a period, so that no interval hides another. */
function shifted(layout: CurveLayout, which: number, of: number): CurveLayout {
  const apart = Math.min(7, layout.step / (of + 1)) * (which - (of - 1) / 2);
  return { ...layout, x: (at) => layout.x(at) + apart };
}

function drawAxes(pen: Pen, spec: CurveSpec, { left, right, bottom, yTicks, x, y }: CurveLayout, colours: Palette): void {
  for (const value of yTicks) {
    pen.path([left, y(value), right, y(value)], { stroke: colours.line });
    pen.text(tickText(value, spec.share), left - 8, y(value), { fill: colours.quiet, align: "end" });
  }
  pen.path([left, bottom, right, bottom], { stroke: colours.quiet });
  const marks = thinned(spec.places.length, (right - left) / TICK_ROOM);
  for (const at of marks) {
    pen.path([x(at), bottom, x(at), bottom + 5], { stroke: colours.quiet });
    const text = spec.places[at]?.tick ?? "";
    // The first and the last must not run out of the picture.
    const half = textWidth(text) / 2;
    pen.text(text, Math.min(Math.max(x(at), half + 2), right + 6 - half), bottom + 17, { fill: colours.quiet, align: "middle" });
  }
}

/** A period that is not over: its column is outlined, and hatched as high as it is full. */
function drawOpen(pen: Pen, spec: CurveSpec, { top, bottom, step, x }: CurveLayout, colours: Palette): void {
  spec.places.forEach(({ open, reports, expected }, at) => {
    if (!open) return;
    const half = Math.min(Math.max(step / 2, 3), 24);
    const [from, to] = [x(at) - half, x(at) + half];
    const full = expected === null || expected === 0 ? 0 : Math.min(1, reports / expected);
    const level = bottom - full * (bottom - top);
    pen.rect(from, top, to - from, bottom - top, veil(colours.quiet, 0.07));
    for (const line of hatched(from, to, level, bottom)) pen.path(line, { stroke: veil(colours.quiet, 0.4) });
    if (full > 0) pen.path([from, level, to, level], { stroke: colours.quiet, width: 1.5 });
  });
}

/** Rising lines within a box. */
export function hatched(left: number, right: number, top: number, bottom: number): number[][] {
  const found: number[][] = [];
  const wide = right - left;
  for (let start = bottom + wide - HATCH / 2; start > top; start -= HATCH) {
    // From (left, start) up to (right, start - wide), cut to the box.
    const [y0, y1] = [Math.min(start, bottom), Math.max(start - wide, top)];
    if (y0 > y1) found.push([left + (start - y0), y0, left + (start - y1), y1]);
  }
  return found;
}

function drawTrack(pen: Pen, spec: CurveSpec, track: Track, layout: CurveLayout, colour: string, colours: Palette): void {
  const { step, x, y } = layout;
  const closed = (at: number): boolean => spec.places[at]?.open !== true;
  area(pen, layout, track.bandLow, track.bandHigh, veil(colour, 0.15));
  for (const run of runs(track.value, closed)) {
    pen.path(run.flatMap((at) => [x(at), y(track.value[at] as number)]), { stroke: veil(colour, track.smooth === null ? 0.75 : 0.3), width: 1.5 });
  }
  const radius = step < FINE ? 0 : step < NARROW ? 2 : 3.5;
  spec.places.forEach(({ open }, at) => {
    const value = track.value[at] ?? null;
    if (value === null) return;
    const [low, high] = [track.low[at] ?? null, track.high[at] ?? null];
    if (low !== null && high !== null) {
      const ends = step < NARROW ? [] : [low, high];
      const how = { stroke: step < FINE ? veil(colour, 0.5) : colour, width: step < NARROW ? 1 : 1.5, dash: open ? [3, 3] : [] };
      pen.path([x(at), y(low), x(at), y(high)], how);
      for (const end of ends) pen.path([x(at) - 3, y(end), x(at) + 3, y(end)], { stroke: colour, width: 1.5 });
    }
    if (open) pen.circle(x(at), y(value), 4, { fill: colours.card, stroke: colour, width: 2 });
    else if (radius > 0) pen.circle(x(at), y(value), radius, { fill: colour });
  });
  if (track.smooth !== null) drawSmooth(pen, layout, track.smooth, colour);
}

function drawSmooth(pen: Pen, layout: CurveLayout, { value, low, high }: NonNullable<Track["smooth"]>, colour: string): void {
  const line = (list: Numbers, width: number, dash: number[]): void => {
    for (const run of runs(list)) pen.path(run.flatMap((at) => [layout.x(at), layout.y(list[at] as number)]), { stroke: colour, width, dash });
  };
  line(value, 3, []);
  line(low, 1, [6, 4]);
  line(high, 1, [6, 4]);
}

/** What lies between two lines, stretch by stretch; a place alone in its stretch is as wide as its period. */
function area(pen: Pen, { step, x, y }: CurveLayout, low: Numbers, high: Numbers, fill: string): void {
  for (const run of runs(low, (at) => (high[at] ?? null) !== null)) {
    const half = run.length === 1 ? Math.min(step / 2, 12) : 0;
    const across = (at: number): number[] => (half === 0 ? [x(at)] : [x(at) - half, x(at) + half]);
    const above = run.flatMap((at) => across(at).flatMap((place) => [place, y(high[at] as number)]));
    const below = [...run].reverse().flatMap((at) => across(at).reverse().flatMap((place) => [place, y(low[at] as number)]));
    pen.path([...above, ...below], { fill });
  }
}

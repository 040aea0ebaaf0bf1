/** A curve over periods: points with intervals, the band of all of them, gaps, and the period that is filling. */
import { el } from "../parts/dom.js";
import { percent } from "../parts/format.js";
import { WIDTH, textWidth } from "./axes_svg.js";
import { filling, told, valued, type CurveSpec, type CurvePlace, type Track } from "./curve_data.js";
import { curveLayout, drawCurve, type CurveLayout } from "./curve_draw.js";
import { lightPalette, palette, type Palette } from "./palette.js";
import { canvasPen, SvgPen } from "./pen.js";
import { entry, Stage, type Chart, type Player, type ChartReading } from "./stage.js";
import type { Table } from "./table.js";
import { interval } from "./words.js";

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

/** A canvas of so many CSS pixels, empty, and what draws on it. */
function sized(canvas: HTMLCanvasElement, width: number, height: number): CanvasRenderingContext2D | null {
  const ratio = devicePixelRatio;
  const [across, down] = [Math.round(width * ratio), Math.round(height * ratio)];
  if (canvas.width !== across) canvas.width = across;
  if (canvas.height !== down) canvas.height = down;
  canvas.style.width = `${width}px`;
  canvas.style.height = `${height}px`;
  const ctx = canvas.getContext("2d");
  ctx?.setTransform(ratio, 0, 0, ratio, 0, 0);
  ctx?.clearRect(0, 0, width, height);
  return ctx;
}

/** Lines over a common x, with bands for their intervals; steps for a cumulative curve; linear or logarithmic axes. */
import uPlot from "uplot";
import { type Axis, type Frame, framed, textWidth, WIDTH } from "./axes_svg.js";
import { type Columns, columnsOf, dashOf, hueOf, type Line, type LinesSpec, shapeOf } from "./lines_data.js";
import { bandOf, optionsOf } from "./lines_options.js";
import { lightPalette, veil } from "./palette.js";
import { type Chart, type ChartReading, entry, type Player, refill, Stage } from "./stage.js";
import type { Table } from "./table.js";
import { type Extent, extentOf, logTicks, thinned, ticks } from "./ticks.js";
import { column, interval, tickText, worded } from "./words.js";

export type { Line, LinesSpec } from "./lines_data.js";

const HEIGHT = 280;

class Lines implements Player {
  readonly name: string;
  private readonly stage: Stage;
  private plot: uPlot;
  private merged: Columns;

  constructor(
    host: HTMLElement,
    private spec: LinesSpec,
  ) {
    this.name = spec.name ?? "Lines";
    this.merged = columnsOf(spec);
    this.stage = new Stage(host, this);
    this.plot = this.build();
    this.label();
    this.stage.refresh();
  }

  update(spec: LinesSpec): void {
    const same = shapeOf(spec) === shapeOf(this.spec);
    const names = namesOf(this.spec);
    this.spec = spec;
    this.merged = columnsOf(spec);
    if (same) refill(this.plot, this.data());
    else {
      this.plot.destroy();
      this.plot = this.build();
    }
    if (!same || names !== namesOf(spec)) this.label();
    this.stage.refresh();
  }

  redraw(): void {
    const width = this.stage.room();
    if (width !== this.plot.width) this.plot.setSize({ width, height: this.plot.height });
    else this.plot.redraw(false, true);
  }

  toSvg(): string {
    return linesSvg(this.spec, this.merged);
  }

  destroy(): void {
    this.plot.destroy();
    this.stage.destroy();
  }

  size(): number {
    return this.merged.x.length;
  }

  read(at: number): ChartReading | null {
    const x = this.merged.x[at];
    if (x === undefined || !this.plot) return null;
    const found = this.values(at);
    const first = found.find(({ y }) => y !== null);
    const over = this.plot.over;
    const left = this.plot.valToPos(x, "x") + over.offsetLeft;
    const top = (first ? this.plot.valToPos(first.y as number, "y") : 0) + over.offsetTop;
    return {
      title: this.place(x),
      lines: found.flatMap(({ line, y, low, high }) => (y === null ? [] : [this.told(line, y, low, high)])),
      left: left - 4,
      top: top - 4,
      width: 8,
      height: 8,
    };
  }

  find(left: number): number | null {
    const inside = left - this.plot.over.offsetLeft;
    return this.size() === 0 || inside < -8 || inside > this.plot.over.clientWidth + 8 ? null : this.plot.posToIdx(inside);
  }

  table(): Table {
    const heads = this.spec.series.flatMap((line) => [line.name, ...(line.low && line.high ? [line.band ?? "interval"] : [])]);
    // Over a logarithmic axis values differ by powers of ten: each has digits of its own.
    const text = (...lists: Line["y"][]) => (this.spec.logY ? (value: number) => worded(value, this.share) : column(this.share, ...lists));
    const texts = this.spec.series.map((line) => [text(line.y), text(line.low ?? [], line.high ?? [])] as const);
    return {
      head: [this.spec.xLabel ?? "x", ...heads],
      rows: this.size(),
      row: (at) => [
        this.place(this.merged.x[at] as number),
        ...this.values(at).flatMap(({ line, y, low, high }, series) => [
          y === null ? "" : texts[series]![0](y),
          ...(line.low && line.high ? [interval(low, high, this.share, texts[series]![1]) ?? ""] : []),
        ]),
      ],
    };
  }

  private get share(): boolean {
    return this.spec.share === true;
  }

  private place(x: number): string {
    const label = this.spec.labels?.[this.spec.x.indexOf(x)];
    if (label !== undefined) return label;
    const text = x >= 1000 ? Math.round(x).toLocaleString("en") : worded(x, false);
    return this.spec.xLabel ? `${this.spec.xLabel}: ${text}` : text;
  }

  private told(line: Line, y: number, low: number | null, high: number | null): string {
    const named = this.spec.series.length > 1 ? `${line.name}: ` : "";
    const between = interval(low, high, this.share);
    return `${named}${worded(y, this.share)}${between === null ? "" : ` (${between})`}`;
  }

  private values(at: number): { line: Line; y: number | null; low: number | null; high: number | null }[] {
    let column = 0;
    const next = (): number | null => this.merged.columns[column++]?.[at] ?? null;
    return this.spec.series.map((line) => ({ line, y: next(), low: line.low ? next() : null, high: line.high ? next() : null }));
  }

  private data(): uPlot.AlignedData {
    return [this.merged.x, ...this.merged.columns] as uPlot.AlignedData;
  }

  private build(): uPlot {
    const size = { width: this.stage.room(), height: this.spec.height ?? HEIGHT };
    return new uPlot(optionsOf(() => this.spec, size), this.data(), (plot, ready) => {
      this.stage.surface.prepend(plot.root);
      ready();
    });
  }

  private label(): void {
    const entries = this.spec.series.map((line, at) => {
      const shape = line.as === "points" ? "dot" : "line";
      return entry(line.band === undefined ? line.name : `${line.name}, ${line.band} shaded`, `var(--series-${hueOf(line, at)})`, shape, dashOf(this.spec, line, at));
    });
    this.stage.name(...(entries.length > 1 || this.spec.series.some(bandOf) ? entries : []));
  }
}

const namesOf = ({ series }: LinesSpec): string => series.map(({ name, band }) => `${name}\n${band}`).join("\n");

/** Draws lines into an element of the page. */
export function lines(host: HTMLElement, spec: LinesSpec): Chart<LinesSpec> {
  return new Lines(host, spec);
}

// Lines as a file, from the same numbers as on the screen.

const SVG_HEIGHT = 420;

function linesSvg(spec: LinesSpec, { x, columns }: Columns): string {
  const colours = lightPalette();
  const frame = framed(SVG_HEIGHT, colours, xAxis(spec, x), yAxis(spec, columns), spec.series.length > 1 ? 44 : 24);
  const { pen } = frame;
  if (spec.mark !== undefined && !(spec.logX && spec.mark.x <= 0)) {
    const place = frame.x(spec.mark.x);
    pen.path([place, frame.top, place, frame.bottom], { stroke: colours.ink, dash: [4, 4] });
    const right = place > WIDTH / 2;
    if (spec.mark.label) pen.text(spec.mark.label, place + (right ? -6 : 6), frame.top + 8, { fill: colours.ink, bold: true, align: right ? "end" : "start" });
  }
  let column = 0;
  const next = (): (number | null)[] => columns[column++] ?? [];
  spec.series.forEach((line, at) => {
    const colour = colours.series[hueOf(line, at)] as string;
    const y = next();
    const [low, high] = [line.low ? next() : null, line.high ? next() : null];
    if (low && high) {
      const [below, above] = [traced(frame, line, x, low), traced(frame, line, x, high)];
      pen.path([...above, ...backwards(below)], { fill: veil(colour, 0.18) });
    }
    const points = traced(frame, line, x, y);
    if (line.as !== "points") pen.path(points, { stroke: colour, width: 2, dash: dashOf(spec, line, at) });
    else for (let point = 0; point < points.length; point += 2) pen.circle(points[point] as number, points[point + 1] as number, (line.size ?? 6) / 2, { fill: colour });
  });
  if (spec.series.length > 1) {
    let left = frame.left;
    spec.series.forEach((line, at) => {
      const [stroke, dash] = [colours.series[hueOf(line, at)] as string, dashOf(spec, line, at)];
      if (spec.direct) pen.path([left, 20, left + 28, 20], { stroke, width: 3, dash });
      else pen.rect(left, 18, 14, 4, stroke);
      const swatch = spec.direct ? 34 : 20;
      pen.text(line.name, left + swatch, 20, { fill: colours.ink });
      left += textWidth(line.name) + swatch + 24;
    });
  }
  return pen.toString();
}

function xAxis({ logX, labels, xLabel }: LinesSpec, x: readonly number[]): Axis {
  const extent = logX ? ([x[0] ?? 1, x.at(-1) ?? 10] as Extent) : extentOf([x], false);
  const marks = logX ? logTicks(extent, 10) : labels ? thinned(x.length, 12).map((at) => x[at] as number) : ticks(extent, 8);
  const text = (value: number): string => labels?.[x.indexOf(value)]?.slice(0, 14) ?? tickText(value, false);
  return { extent, log: logX === true, ticks: marks, text, label: xLabel };
}

function yAxis({ logY, share, yLabel, y }: LinesSpec, columns: Columns["columns"]): Axis {
  const [low, high] = extentOf(y ? [...columns, y] : columns, false);
  const extent = logY ? ([low, high] as Extent) : ([low > 0 && low < high / 4 ? 0 : low, high] as Extent);
  return { extent, log: logY === true, ticks: logY ? logTicks(extent, 8) : ticks(extent, 6), text: (value) => tickText(value, share === true), label: yLabel };
}

/** The points of a line as they are drawn; steps keep their height until the next place. */
function traced(frame: Frame, line: Line, x: readonly number[], y: readonly (number | null)[]): number[] {
  const points: number[] = [];
  for (let at = 0; at < x.length; at += 1) {
    const value = y[at] ?? null;
    if (value === null) continue;
    const [across, up] = [frame.x(x[at] as number), frame.y(value)];
    if (line.as === "steps" && points.length > 0) points.push(across, points.at(-1) as number);
    if (line.as === "falling_steps" && points.length > 0) points.push(points.at(-2) as number, up);
    points.push(across, up);
  }
  return points;
}

function backwards(points: readonly number[]): number[] {
  const found: number[] = [];
  for (let at = points.length - 2; at >= 0; at -= 2) found.push(points[at] as number, points[at + 1] as number);
  return found;
}

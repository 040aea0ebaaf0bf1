/** Lines over a common x, with bands for their intervals; steps for a cumulative curve; linear or logarithmic axes. */
import uPlot from "uplot";
import { bandOf, optionsOf } from "./lines_options.js";
import { columnsOf, dashOf, hueOf, shapeOf, type Columns, type Line, type LinesSpec } from "./lines_data.js";
import { linesSvg } from "./lines_svg.js";
import { entry, Stage, type Chart, type Player, type ChartReading } from "./stage.js";
import type { Table } from "./table.js";
import { column, interval, worded } from "./words.js";
import { refill } from "./zoom.js";

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

/** Bars with whiskers for their intervals: lying and labelled when they are few, standing when they are many. */
import { el } from "../parts/dom.js";
import { percent } from "../parts/format.js";
import { framed, textWidth, WIDTH } from "./axes_svg.js";
import { type BarsSpec, extent, main, ordered } from "./bars_data.js";
import { ColumnChart } from "./columns.js";
import { lightPalette, veil } from "./palette.js";
import { SvgPen } from "./pen.js";
import { Rows } from "./rows.js";
import { type Chart, type ChartReading, entry, type Player, Stage } from "./stage.js";
import type { Table } from "./table.js";
import { along, thinned, ticks } from "./ticks.js";
import { column, even, interval, tickText } from "./words.js";

export type { BarsSpec } from "./bars_data.js";

const FEW = 30;
const FINE = 120;

class BarChart implements Player {
  readonly name: string;
  private readonly stage: Stage;
  private drawn: Rows | ColumnChart | null = null;

  constructor(
    host: HTMLElement,
    private spec: BarsSpec,
  ) {
    this.name = spec.name ?? "Bars";
    this.stage = new Stage(host, this);
    this.drawn = this.build();
    this.label();
    this.stage.refresh();
  }

  update(spec: BarsSpec): void {
    const before = this.spec;
    this.spec = spec;
    if (this.drawn && this.few === this.drawn instanceof Rows) this.drawn.draw(spec);
    else {
      this.drawn?.destroy();
      this.drawn = this.build();
    }
    if (before.show !== spec.show || before.level !== spec.level) this.label();
    this.stage.refresh();
  }

  redraw(): void {
    this.drawn?.redraw();
  }

  toSvg(): string {
    return this.few ? rowsSvg(this.spec) : columnsSvg(this.spec);
  }

  destroy(): void {
    this.drawn?.destroy();
    this.stage.destroy();
  }

  size(): number {
    return this.spec.labels.length;
  }

  read(at: number): ChartReading | null {
    return this.drawn?.read(at) ?? null;
  }

  find(left: number, top: number): number | null {
    return this.drawn?.find(left, top) ?? null;
  }

  table(): Table {
    const { labels, value, raw, low, high, share = false } = this.spec;
    const order = ordered(this.spec);
    const [values, raws, ends] = [column(share, value), column(share, raw), column(share, low, high)];
    return {
      head: ["Answer", "Projected", "Raw", "Interval"],
      rows: order.length,
      row: (rank) => {
        const at = order[rank] as number;
        return [labels[at] ?? "", values(value[at]), raws(raw[at]), interval(low[at], high[at], share, ends) ?? ""];
      },
    };
  }

  private get few(): boolean {
    return this.spec.listed === true || this.spec.labels.length <= FEW;
  }

  /** Whiskers, or where bars are too fine for them a pale column. */
  private intervalSwatch(): [string, "line" | "bar"] {
    const fine = this.spec.labels.length > FINE;
    return fine ? ["color-mix(in srgb, var(--bar) 45%, transparent)", "bar"] : ["var(--ink)", "line"];
  }

  private build(): Rows | ColumnChart {
    return this.few ? new Rows(this.stage, this.spec) : new ColumnChart(this.stage, this.spec);
  }

  private label(): void {
    const { show, level } = this.spec;
    this.stage.name(
      entry(show === "raw" ? "raw estimate" : "projected estimate", show === "raw" ? "var(--raw-bar)" : "var(--bar)", "bar"),
      ...(show === "both" ? [entry("raw estimate", "var(--second)", this.few ? "ring" : "dot")] : []),
      entry(level === undefined ? "interval" : `${percent(level)} interval`, ...this.intervalSwatch()),
      ...(this.few ? [] : [el("span", { class: "chart-hint" }, "drag to come nearer, double click for all")]),
    );
  }
}

/** Draws bars into an element of the page. */
export function bars(host: HTMLElement, spec: BarsSpec): Chart<BarsSpec> {
  return new BarChart(host, spec);
}

// Bars as a file, from the same numbers as on the screen: lying when they are few, standing when they are many.

const ROW = 28;
const HEIGHT = 420;
/** Bars that a file shows side by side at most. */
const FINEST = 1800;

function rowsSvg(spec: BarsSpec): string {
  const colours = lightPalette();
  const share = spec.share === true;
  const labels = spec.labels.map((label) => ([...label].length > 40 ? `${[...label].slice(0, 39).join("")}…` : label));
  const left = 24 + Math.max(20, ...labels.map((label) => textWidth(label, 13)));
  const [right, bottom] = [WIDTH - 90, 16 + labels.length * ROW];
  const pen = new SvgPen(WIDTH, bottom + 36, colours.card);
  const span = extent(spec);
  const x = along(span, left, right);
  for (const value of ticks(span, 8)) {
    pen.path([x(value), 12, x(value), bottom], { stroke: value === 0 ? colours.quiet : colours.line });
    pen.text(tickText(value, share), x(value), bottom + 16, { fill: colours.quiet, align: "middle" });
  }
  ordered(spec).forEach((at, rank) => {
    const middle = 16 + (rank + 0.5) * ROW;
    const value = main(spec)[at] ?? null;
    pen.text(labels[at] ?? "", left - 10, middle, { fill: colours.ink, size: 13, align: "end" });
    pen.text(even(value, Math.max(-span[0], span[1]), share), right + 12, middle, { fill: colours.ink, size: 13 });
    if (value === null) return;
    const [from, to] = [x(Math.min(0, value)), x(Math.max(0, value))];
    pen.rect(from, middle - 9, to - from, 18, spec.show === "raw" ? colours.rawBar : colours.bar);
    const [low, high] = [spec.low[at] ?? null, spec.high[at] ?? null];
    if (low !== null && high !== null) {
      pen.path([x(low), middle, x(high), middle], { stroke: colours.ink, width: 1.5 });
      for (const end of [low, high]) pen.path([x(end), middle - 4, x(end), middle + 4], { stroke: colours.ink, width: 1.5 });
    }
    const raw = spec.raw[at] ?? null;
    if (spec.show === "both" && raw !== null) pen.circle(x(raw), middle, 4, { stroke: colours.second, width: 2, fill: colours.card });
  });
  return pen.toString();
}

function columnsSvg(spec: BarsSpec): string {
  const colours = lightPalette();
  const order = ordered(spec);
  const span = extent(spec);
  const share = spec.share === true;
  const text = (rank: number): string => [...(spec.labels[order[rank] ?? -1] ?? "")].slice(0, 14).join("");
  const frame = framed(
    HEIGHT,
    colours,
    { extent: [-0.5, order.length - 0.5], log: false, ticks: thinned(order.length, 10), text },
    { extent: span, log: false, ticks: ticks(span, 6), text: (value) => tickText(value, share) },
  );
  const { pen, x, y } = frame;
  const raws = spec.show === "both";
  const [fill, dots] = [spec.show === "raw" ? colours.rawBar : colours.bar, raws ? colours.second : ""];
  for (const { from, to, value, low, high, raw } of stretches(spec, order)) {
    const [left, right] = [x(from - 0.42), x(to + 0.42)];
    const fine = right - left < 4;
    if (fine) pen.rect(left, y(high), right - left, y(low) - y(high), veil(fill, 0.4));
    pen.rect(left, y(Math.max(0, value)), right - left, Math.abs(y(value) - y(0)), fill);
    if (!fine) pen.path([(left + right) / 2, y(low), (left + right) / 2, y(high)], { stroke: colours.ink });
    if (raws) pen.circle((left + right) / 2, y(raw), fine ? 0.7 : 2.5, { fill: dots });
  }
  return pen.toString();
}

/** Bars next to each other that are drawn as one, because they are finer than half a pixel. */
function stretches(spec: BarsSpec, order: Uint32Array): { from: number; to: number; value: number; low: number; high: number; raw: number }[] {
  const together = Math.ceil(order.length / FINEST);
  const values = main(spec);
  return Array.from({ length: Math.ceil(order.length / together) }, (_, at) => {
    const [from, to] = [at * together, Math.min(order.length, (at + 1) * together) - 1];
    const places = [...order.subarray(from, to + 1)];
    const of = (list: BarsSpec["value"]): number[] => places.map((place) => list[place] ?? values[place] ?? 0);
    const value = of(values).reduce((one, other) => (Math.abs(other) > Math.abs(one) ? other : one));
    return { from, to, value, low: Math.min(...of(spec.low)), high: Math.max(...of(spec.high)), raw: Math.max(...of(spec.raw)) };
  });
}

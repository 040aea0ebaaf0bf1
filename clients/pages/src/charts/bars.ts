/** Bars with whiskers for their intervals: lying and labelled when they are few, standing when they are many. */
import { el } from "../parts/dom.js";
import { percent } from "../parts/format.js";
import { ordered, type BarsSpec } from "./bars_data.js";
import { columnsSvg, rowsSvg } from "./bars_svg.js";
import { ColumnChart } from "./columns.js";
import { Rows } from "./rows.js";
import { entry, Stage, type Chart, type Player, type ChartReading } from "./stage.js";
import type { Table } from "./table.js";
import { column, interval } from "./words.js";

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

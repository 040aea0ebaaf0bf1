/** Many bars, standing; a stretch of them can be dragged over to come nearer, a double click shows all again. */
import uPlot from "uplot";
import { main, ordered, told, type BarsSpec } from "./bars_data.js";
import { drawColumns } from "./columns_draw.js";
import { palette } from "./palette.js";
import { FONT } from "./pen.js";
import type { Player, ChartReading, Stage } from "./stage.js";
import { tickText } from "./words.js";
import { refill } from "./zoom.js";
import type { Numbers } from "./ticks.js";

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

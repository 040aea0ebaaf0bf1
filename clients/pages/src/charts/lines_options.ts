/** How lines are drawn on the screen: the axes, strokes and bands that the plotting library is told. */
import uPlot from "uplot";
import { dashOf, endOf, hueOf, type Line, type LinesSpec } from "./lines_data.js";
import { palette, veil } from "./palette.js";
import { FONT } from "./pen.js";
import { logTicks } from "./ticks.js";
import { tickText } from "./words.js";

const SMALL = `12px ${FONT}`;

export const bandOf = (line: Line): boolean => line.low !== undefined && line.high !== undefined;

/** Options of a plot whose shape is that of the spec now; what may change later is asked of it again. */
export function optionsOf(spec: () => LinesSpec, size: { width: number; height: number }): uPlot.Options {
  const { logX, logY } = spec();
  const series: uPlot.Series[] = [{}];
  const bands: uPlot.Band[] = [];
  spec().series.forEach((line, at) => {
    series.push(main(line, hueOf(line, at), dashOf(spec(), line, at)));
    const stroke = steps(line);
    for (const side of [line.low, line.high]) {
      if (side !== undefined) series.push({ width: 0, points: { show: false }, spanGaps: true, ...stroke });
    }
    if (bandOf(line)) bands.push({ series: [series.length - 1, series.length - 2], fill: () => veil(colour(hueOf(line, at)), 0.18) });
  });
  return {
    ...size,
    series,
    bands,
    scales: {
      x: { time: false, distr: logX ? 3 : 1, ...(logX ? { range: (_plot, low, high) => [low, high] as [number, number] } : {}) },
      y: { distr: logY ? 3 : 1, range: (_plot, low, high) => (logY ? roomyLog(low, high) : roomy(spec(), low, high)) },
    },
    axes: [xAxis(spec), yAxis(spec)],
    legend: { show: false },
    cursor: { x: false, y: false, points: { show: false }, drag: { x: true, y: false } },
    // Below the lines and points, which it marks.
    hooks: { drawAxes: [(plot) => drawMark(plot, spec())], draw: [(plot) => drawNames(plot, spec())] },
    padding: [14, (plot) => labelRoom(spec(), plot.width), 0, 0],
  };
}

const colour = (hue: number): string => palette().series[hue % 8] as string;

function steps(line: Line): { paths?: uPlot.Series.PathBuilder } {
  if (line.as !== "steps" && line.as !== "falling_steps") return {};
  const build = uPlot.paths.stepped as uPlot.Series.SteppedPathBuilderFactory;
  return { paths: build({ align: line.as === "steps" ? 1 : -1 }) };
}

function main(line: Line, hue: number, dash: readonly number[]): uPlot.Series {
  const paint = (): string => colour(hue);
  if (line.as === "points") {
    return { stroke: paint, paths: () => null, points: { show: true, size: line.size ?? 6, width: 1.5, stroke: paint, fill: paint } };
  }
  return { stroke: paint, width: 2, spanGaps: true, points: { show: false }, ...(dash.length > 0 ? { dash: [...dash] } : {}), ...steps(line) };
}

/** A little room above and below, and the zero line where it is near. */
function roomy(spec: LinesSpec, low: number | null, high: number | null): [number, number] {
  const [least, most] = spec.y ?? [Infinity, -Infinity];
  const bottom = Math.min(low ?? least, least);
  const top = Math.max(high ?? most, most);
  if (!(bottom <= top)) return [0, 1];
  const pad = (top - bottom || Math.abs(top) || 1) * 0.05;
  return [bottom >= 0 && bottom <= 2 * pad ? 0 : bottom - pad, top + pad];
}

function roomyLog(low: number | null, high: number | null): [number, number] {
  return low === null || high === null ? [0.1, 1] : [low / 1.25, high * 1.25];
}

function xAxis(spec: () => LinesSpec): uPlot.Axis {
  return {
    ...plain(),
    space: 64,
    size: 30,
    ...(spec().logX ? { splits: splits(90), filter: all } : spec().x.every(Number.isInteger) ? { incrs: WHOLE } : {}),
    ...(spec().xLabel === undefined ? {} : { label: spec().xLabel as string, labelSize: 26, labelFont: SMALL }),
    values: (_plot, splits) => splits.map((value) => (value === null ? "" : xText(spec(), value))),
  };
}

function yAxis(spec: () => LinesSpec): uPlot.Axis {
  return {
    ...plain(),
    space: 36,
    ...(spec().logY ? { splits: splits(40), filter: all } : {}),
    ...(spec().yLabel === undefined ? {} : { label: spec().yLabel as string, labelSize: 24, labelFont: SMALL }),
    size: (_plot, values) => 18 + 7 * Math.max(3, ...(values ?? []).map((text) => (text ?? "").length)),
    values: (_plot, splits) => splits.map((value) => (value === null ? "" : tickText(value, spec().share === true))),
  };
}

/** Steps between marks where only whole numbers occur. */
const WHOLE = [1, 10, 100, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8].flatMap((power) => [power, 2 * power, 5 * power]);

/** The library would leave out marks that are no powers of ten. */
const all: uPlot.Axis.Filter = (_plot, splits) => splits;

/** Round numbers on a logarithmic axis, one for so many pixels at most. */
function splits(pixels: number): uPlot.Axis.Splits {
  return (plot, axis, low, high) => {
    const length = axis === 0 ? plot.bbox.width : plot.bbox.height;
    return logTicks([low, high], length / devicePixelRatio / pixels);
  };
}

const plain = (): uPlot.Axis => ({
  font: SMALL,
  stroke: () => palette().quiet,
  grid: { stroke: () => palette().line, width: 1 },
  ticks: { show: false },
});

function xText({ labels, x }: LinesSpec, value: number): string {
  if (labels === undefined) return tickText(value, false);
  const label = labels[x.indexOf(value)] ?? "";
  return label.length > 12 ? `${label.slice(0, 11)}…` : label;
}

function drawMark(plot: uPlot, { mark, logX }: LinesSpec): void {
  if (mark === undefined || (logX && mark.x <= 0)) return;
  const { ctx, bbox } = plot;
  const x = Math.round(plot.valToPos(mark.x, "x", true)) + 0.5;
  if (!(x >= bbox.left && x <= bbox.left + bbox.width)) return;
  const ratio = devicePixelRatio;
  ctx.save();
  ctx.strokeStyle = palette().ink;
  ctx.lineWidth = ratio;
  ctx.setLineDash([4 * ratio, 4 * ratio]);
  ctx.beginPath();
  ctx.moveTo(x, bbox.top);
  ctx.lineTo(x, bbox.top + bbox.height);
  ctx.stroke();
  if (mark.label !== undefined) {
    const right = x > bbox.left + bbox.width / 2;
    ctx.font = `600 ${12 * ratio}px ${FONT}`;
    ctx.fillStyle = palette().ink;
    ctx.textAlign = right ? "right" : "left";
    ctx.textBaseline = "top";
    ctx.fillText(mark.label, x + (right ? -6 : 6) * ratio, bbox.top);
  }
  ctx.restore();
}

// Names of lines beside their ends, on the screen: nobody has to look up a colour in the legend.

const PADDING = 14;
/** Pixels of a chart from which on there is room for names. */
const LEAST_WIDTH = 460;
/** Pixels of the longest name, and of one letter of it. */
const MOST_ROOM = 150;
const LETTER = 6.6;
const LONGEST = Math.floor(MOST_ROOM / LETTER);
/** Pixels from one name to the next. */
const APART = 14;

const shortened = (name: string): string => (name.length <= LONGEST ? name : `${name.slice(0, LONGEST - 1)}…`);

const isNamed = ({ direct }: LinesSpec, width: number): boolean => direct === true && width >= LEAST_WIDTH;

/** Pixels at the right of the lines. */
function labelRoom(spec: LinesSpec, width: number): number {
  if (!isNamed(spec, width)) return PADDING;
  const longest = Math.max(0, ...spec.series.map(({ name, as }) => (as === "points" ? 0 : shortened(name).length)));
  return Math.ceil(longest * LETTER) + PADDING;
}

function drawNames(plot: uPlot, spec: LinesSpec): void {
  if (!isNamed(spec, plot.width)) return;
  const { ctx, bbox } = plot;
  const ratio = devicePixelRatio;
  const named = spec.series.flatMap((line, at) => {
    const y = line.as === "points" ? null : endOf(line);
    return y !== null ? [{ name: line.name, hue: hueOf(line, at), y: plot.valToPos(y, "y", true) / ratio }] : [];
  });
  const [top, bottom] = [bbox.top / ratio, (bbox.top + bbox.height) / ratio];
  const places = spread(named.map(({ y }) => y), APART, top, bottom);
  ctx.save();
  ctx.font = `${12 * ratio}px ${FONT}`;
  ctx.textAlign = "left";
  ctx.textBaseline = "middle";
  named.forEach(({ name, hue }, at) => {
    ctx.fillStyle = palette().series[hue] as string;
    ctx.fillText(shortened(name), bbox.left + bbox.width + 6 * ratio, (places[at] as number) * ratio);
  });
  ctx.restore();
}

// Places of labels in a column: as near to what they name as they can be without touching.

/** The places, in the given order: at least so far apart, and within the ends if there is room for all. */
export function spread(places: readonly number[], apart: number, low: number, high: number): number[] {
  const order = places.map((_, at) => at).sort((a, b) => (places[a] as number) - (places[b] as number));
  const found = [...places];
  let least = low;
  for (const at of order) {
    found[at] = Math.max(found[at] as number, least);
    least = (found[at] as number) + apart;
  }
  // What was pushed over the end is pushed back, and pushes what stands before it.
  let most = high;
  for (const at of order.reverse()) {
    found[at] = Math.min(found[at] as number, most);
    most = (found[at] as number) - apart;
  }
  return found;
}

/** Bars as a file, from the same numbers as on the screen: lying when they are few, standing when they are many. */
import { framed, textWidth, WIDTH } from "./axes_svg.js";
import { extent, main, ordered, type BarsSpec } from "./bars_data.js";
import { lightPalette, veil } from "./palette.js";
import { SvgPen } from "./pen.js";
import { along, thinned, ticks } from "./ticks.js";
import { even, tickText } from "./words.js";

const ROW = 28;
const HEIGHT = 420;
/** Bars that a file shows side by side at most. */
const FINEST = 1800;

export function rowsSvg(spec: BarsSpec): string {
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

export function columnsSvg(spec: BarsSpec): string {
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

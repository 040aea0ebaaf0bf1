/** Lines as a file, from the same numbers as on the screen. */
import { framed, WIDTH, textWidth, type Axis, type Frame } from "./axes_svg.js";
import { dashOf, hueOf, type Columns, type Line, type LinesSpec } from "./lines_data.js";
import { lightPalette, veil } from "./palette.js";
import { extentOf, logTicks, thinned, ticks, type Extent } from "./ticks.js";
import { tickText } from "./words.js";

const HEIGHT = 420;

export function linesSvg(spec: LinesSpec, { x, columns }: Columns): string {
  const colours = lightPalette();
  const frame = framed(HEIGHT, colours, xAxis(spec, x), yAxis(spec, columns), spec.series.length > 1 ? 44 : 24);
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

/** Names of lines beside their ends, on the screen: nobody has to look up a colour in the legend. */
import type uPlot from "uplot";
import { endOf, hueOf, type LinesSpec } from "./lines_data.js";
import { palette } from "./palette.js";
import { FONT } from "./pen.js";
import { spread } from "./spread.js";

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
export function labelRoom(spec: LinesSpec, width: number): number {
  if (!isNamed(spec, width)) return PADDING;
  const longest = Math.max(0, ...spec.series.map(({ name, as }) => (as === "points" ? 0 : shortened(name).length)));
  return Math.ceil(longest * LETTER) + PADDING;
}

export function drawNames(plot: uPlot, spec: LinesSpec): void {
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

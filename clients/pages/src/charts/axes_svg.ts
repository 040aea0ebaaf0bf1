/** The frame of an exported picture: gridlines, marks, names of the axes. */
import { FONT, SvgPen } from "./pen.js";
import type { Palette } from "./palette.js";
import { along, type Extent } from "./ticks.js";

export interface Axis {
  extent: Extent;
  log: boolean;
  ticks: readonly number[];
  text(value: number): string;
  label?: string | undefined;
}

export interface Frame {
  pen: SvgPen;
  x(value: number): number;
  y(value: number): number;
  left: number;
  right: number;
  top: number;
  bottom: number;
}

export const WIDTH = 960;

/** An empty picture with two axes; the caller draws into it. */
export function framed(height: number, colours: Palette, xAxis: Axis, yAxis: Axis, above = 24): Frame {
  const pen = new SvgPen(WIDTH, height, colours.card);
  const widest = Math.max(...yAxis.ticks.map((value) => textWidth(yAxis.text(value))));
  const [left, right, top] = [widest + (yAxis.label ? 40 : 20), WIDTH - 24, above];
  const bottom = height - (xAxis.label ? 52 : 32);
  const [x, y] = [along(xAxis.extent, left, right, xAxis.log), along(yAxis.extent, bottom, top, yAxis.log)];
  for (const value of yAxis.ticks) {
    pen.path([left, y(value), right, y(value)], { stroke: colours.line });
    pen.text(yAxis.text(value), left - 8, y(value), { fill: colours.quiet, align: "end" });
  }
  for (const value of xAxis.ticks) {
    pen.path([x(value), top, x(value), bottom], { stroke: colours.line });
    pen.text(xAxis.text(value), x(value), bottom + 16, { fill: colours.quiet, align: "middle" });
  }
  if (xAxis.label) pen.text(xAxis.label, (left + right) / 2, height - 16, { fill: colours.quiet, align: "middle" });
  if (yAxis.label) pen.text(yAxis.label, 14, (top + bottom) / 2, { fill: colours.quiet, align: "middle", turn: -90 });
  return { pen, x, y, left, right, top, bottom };
}

let measure: CanvasRenderingContext2D | null = null;

/** CSS pixels of a text in the charts' font. */
export function textWidth(text: string, size = 12): number {
  measure ??= document.createElement("canvas").getContext("2d");
  if (measure === null) return text.length * size * 0.6;
  measure.font = `${size}px ${FONT}`;
  return measure.measureText(text).width;
}

/** As much of a text as there is room for. */
export function fitted(text: string, room: number, size = 12): string {
  if (textWidth(text, size) <= room) return text;
  const signs = [...text.slice(0, Math.max(1, Math.floor(room / 3)))];
  while (signs.length > 1 && textWidth(`${signs.join("")}…`, size) > room) signs.pop();
  return `${signs.join("")}…`;
}

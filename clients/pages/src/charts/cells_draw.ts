/** Cells, their labels and the scale of their colours, drawn by a pen: on the screen and into a file alike. */
import { textWidth } from "./axes_svg.js";
import { extent, type CellsSpec } from "./cells_data.js";
import { clearer } from "./colour.js";
import type { Palette } from "./palette.js";
import type { Pen } from "./pen.js";
import { along, thinned, ticks } from "./ticks.js";
import { even, tickText } from "./words.js";

/** Where the cells lie, in pixels. */
export interface CellLayout {
  left: number;
  top: number;
  cellWidth: number;
  cellHeight: number;
  width: number;
  height: number;
}

const SCALE = 44;
const FOOT = 46;
const TALLEST = 520;
const LABEL = 120;
/** Cells smaller than this have no gap between them. */
const FINE = 9;
/** Cells at least so large have their number written in them. */
const WRITTEN = { width: 52, height: 24 };

export function layoutOf(spec: CellsSpec, room: number): CellLayout {
  const widest = Math.max(16, ...spec.rows.map((row) => textWidth(row.slice(0, 24))));
  const left = Math.round(Math.min(LABEL, room * 0.3, widest + 10) + 22);
  const cellWidth = Math.min(120, (room - left - 2) / Math.max(1, spec.columns.length));
  const square = Math.max(cellWidth, 4);
  const cellHeight = Math.max(2, Math.min(36, square, TALLEST / Math.max(1, spec.rows.length)));
  return { left, top: SCALE, cellWidth, cellHeight, width: room, height: SCALE + cellHeight * spec.rows.length + FOOT };
}

export function drawCells(pen: Pen, spec: CellsSpec, layout: CellLayout, colours: Palette): void {
  const { left, top, cellWidth, cellHeight } = layout;
  const [rows, columns] = [spec.rows.length, spec.columns.length];
  const [low, high] = extent(spec);
  const colour = (row: number, column: number): string | null => {
    const value = spec.value[spec.places[row * columns + column] ?? -1] ?? null;
    return value === null ? null : colours.ramp((value - low) / (high - low));
  };
  const fine = Math.min(cellWidth, cellHeight) < FINE;
  if (fine && pen.grid) pen.grid({ left, top, width: columns * cellWidth, height: rows * cellHeight }, rows, columns, colour);
  else drawEach(pen, spec, layout, colour, fine ? 0 : 1);
  if (cellWidth >= WRITTEN.width && cellHeight >= WRITTEN.height) write(pen, spec, layout, colours, colour);
  drawLabels(pen, spec, layout, colours);
  drawScale(pen, spec, layout, colours);
}

type Colour = (row: number, column: number) => string | null;

function drawEach(pen: Pen, spec: CellsSpec, { left, top, cellWidth, cellHeight }: CellLayout, colour: Colour, gap: number): void {
  for (let row = 0; row < spec.rows.length; row += 1) {
    const up = Math.round(top + row * cellHeight);
    const tall = Math.max(1, Math.round(top + (row + 1) * cellHeight) - up - gap);
    for (let column = 0; column < spec.columns.length; column += 1) {
      const start = Math.round(left + column * cellWidth);
      const fill = colour(row, column);
      if (fill !== null) pen.rect(start, up, Math.max(1, Math.round(left + (column + 1) * cellWidth) - start - gap), tall, fill);
    }
  }
}

/** The numbers themselves, in the cells. */
function write(pen: Pen, spec: CellsSpec, { left, top, cellWidth, cellHeight }: CellLayout, colours: Palette, colour: Colour): void {
  const [low, high] = extent(spec);
  const columns = spec.columns.length;
  spec.places.forEach((at, cell) => {
    const [row, column] = [Math.floor(cell / columns), cell % columns];
    const ground = colour(row, column);
    if (ground === null) return;
    const how = { fill: clearer(ground, colours.ink, colours.card), size: 11, align: "middle" as const };
    pen.text(even(spec.value[at], Math.max(-low, high), spec.share), left + (column + 0.5) * cellWidth, top + (row + 0.5) * cellHeight, how);
  });
}

function drawLabels(pen: Pen, spec: CellsSpec, { left, top, cellWidth, cellHeight }: CellLayout, colours: Palette): void {
  const how = { fill: colours.quiet };
  const bottom = top + cellHeight * spec.rows.length;
  const across = cellWidth * spec.columns.length;
  for (const row of thinned(spec.rows.length, (cellHeight * spec.rows.length) / 15)) {
    pen.text(fitted(spec.rows[row] ?? "", left - 28), left - 6, top + (row + 0.5) * cellHeight, { ...how, align: "end" });
  }
  const widest = Math.max(...spec.columns.map((column) => textWidth(column.slice(0, 24)))) + 10;
  const shown = thinned(spec.columns.length, across / Math.min(widest, Math.max(48, cellWidth)));
  const room = shown.length > 1 ? (shown[1] as number) * cellWidth - 4 : across;
  for (const column of shown) {
    const text = fitted(spec.columns[column] ?? "", room);
    pen.text(text, left + (column + 0.5) * cellWidth, bottom + 12, { ...how, align: "middle" });
  }
  pen.text(fitted(spec.columnName, across), left + across / 2, bottom + 32, { ...how, fill: colours.ink, align: "middle" });
  pen.text(fitted(spec.rowName, bottom - top), 9, (top + bottom) / 2, { ...how, fill: colours.ink, align: "middle", turn: -90 });
}

function drawScale(pen: Pen, spec: CellsSpec, { left, width }: CellLayout, colours: Palette): void {
  const span = extent(spec);
  const end = left + Math.min(280, width - left - 30);
  const x = along(span, left, end);
  const steps = Math.floor((end - left) / 2);
  for (let step = 0; step < steps; step += 1) pen.rect(left + 2 * step, 4, 2, 10, colours.ramp(step / (steps - 1)));
  for (const value of ticks(span, 4)) {
    pen.path([x(value), 14, x(value), 18], { stroke: colours.quiet });
    pen.text(tickText(value, spec.share), x(value), 26, { fill: colours.quiet, size: 11, align: value === span[0] ? "start" : "middle" });
  }
}

function fitted(text: string, room: number): string {
  if (textWidth(text) <= room) return text;
  let size = Math.max(1, Math.floor(room / 7));
  while (size > 1 && textWidth(`${text.slice(0, size)}…`) > room) size -= 1;
  return `${text.slice(0, size)}…`;
}

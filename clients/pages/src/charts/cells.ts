/** A chart of coloured cells on a canvas; the arrow keys move over it in all four directions. */
import { el } from "../parts/dom.js";
import { fitted, textWidth, WIDTH } from "./axes_svg.js";
import { type CellsSpec, extent, told } from "./cells_data.js";
import { clearer, lightPalette, palette, type Palette } from "./palette.js";
import { canvasPen, type Pen, sized, SvgPen } from "./pen.js";
import { type Chart, type ChartReading, type Player, Stage } from "./stage.js";
import type { Table } from "./table.js";
import { along, thinned, ticks } from "./ticks.js";
import { column, even, interval, tickText } from "./words.js";

export class Cells implements Player, Chart<CellsSpec> {
  readonly name: string;
  private readonly stage: Stage;
  private readonly canvas = el("canvas", { class: "cells" });
  private layout: CellLayout;
  /** Which cells have a value, row by row: what can be read, in the order it is read in. */
  private readable: number[] = [];

  constructor(
    host: HTMLElement,
    private spec: CellsSpec,
  ) {
    this.name = spec.name;
    this.stage = new Stage(host, this);
    this.stage.surface.prepend(this.canvas);
    this.layout = layoutOf(spec, this.stage.room());
    this.update(spec);
  }

  update(spec: CellsSpec): void {
    this.spec = spec;
    this.readable = [];
    spec.places.forEach((at, cell) => at >= 0 && this.readable.push(cell));
    this.redraw();
    this.stage.refresh();
  }

  redraw(): void {
    this.layout = layoutOf(this.spec, this.stage.room());
    const ctx = sized(this.canvas, this.layout.width, this.layout.height);
    if (ctx === null) return;
    drawCells(canvasPen(ctx), this.spec, this.layout, palette());
  }

  toSvg(): string {
    const layout = layoutOf(this.spec, WIDTH - 20);
    const colours = lightPalette();
    const pen = new SvgPen(WIDTH, layout.height + 8, colours.card);
    drawCells(pen, this.spec, layout, colours);
    return pen.toString();
  }

  destroy(): void {
    this.stage.destroy();
  }

  size(): number {
    return this.readable.length;
  }

  read(at: number): ChartReading | null {
    const cell = this.readable[at];
    if (cell === undefined) return null;
    const [row, column] = this.where(cell);
    const { left, top, cellWidth, cellHeight } = this.layout;
    return {
      title: this.spec.title(row, column),
      lines: told(this.spec, this.spec.places[cell] as number),
      left: left + column * cellWidth - 1,
      top: top + row * cellHeight - 1,
      width: Math.max(4, cellWidth + 1),
      height: Math.max(4, cellHeight + 1),
    };
  }

  find(left: number, top: number): number | null {
    const column = Math.floor((left - this.layout.left) / this.layout.cellWidth);
    const row = Math.floor((top - this.layout.top) / this.layout.cellHeight);
    return this.readableAt(row, column);
  }

  step(at: number, key: string): number {
    const [row, column] = this.where(this.readable[at] ?? 0);
    const down = key === "ArrowDown" ? 1 : key === "ArrowUp" ? -1 : 0;
    const right = key === "ArrowRight" ? 1 : key === "ArrowLeft" ? -1 : 0;
    return this.readableAt(row + down, column + right) ?? at;
  }

  table(): Table {
    const { value, low, high, share } = this.spec;
    const [values, ends] = [column(share, value), column(share, low, high)];
    return {
      head: ["Answer", "Value", "Interval"],
      rows: this.readable.length,
      row: (index) => {
        const cell = this.readable[index] as number;
        const at = this.spec.places[cell] as number;
        return [this.spec.title(...this.where(cell)), values(value[at]), interval(low?.[at], high?.[at], share, ends) ?? ""];
      },
    };
  }

  private where(cell: number): [number, number] {
    const across = this.spec.columns.length;
    return [Math.floor(cell / across), cell % across];
  }

  private readableAt(row: number, column: number): number | null {
    const { rows, columns } = this.spec;
    if (row < 0 || column < 0 || row >= rows.length || column >= columns.length) return null;
    const cell = row * columns.length + column;
    let [low, high] = [0, this.readable.length];
    while (low < high) {
      const middle = (low + high) >> 1;
      if ((this.readable[middle] as number) < cell) low = middle + 1;
      else high = middle;
    }
    return this.readable[low] === cell ? low : null;
  }
}

// Cells, their labels and the scale of their colours, drawn by a pen: on the screen and into a file alike.

/** Where the cells lie, in pixels. */
interface CellLayout {
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

function layoutOf(spec: CellsSpec, room: number): CellLayout {
  const widest = Math.max(16, ...spec.rows.map((row) => textWidth(row.slice(0, 24))));
  const left = Math.round(Math.min(LABEL, room * 0.3, widest + 10) + 22);
  const cellWidth = Math.min(120, (room - left - 2) / Math.max(1, spec.columns.length));
  const square = Math.max(cellWidth, 4);
  const cellHeight = Math.max(2, Math.min(36, square, TALLEST / Math.max(1, spec.rows.length)));
  return { left, top: SCALE, cellWidth, cellHeight, width: room, height: SCALE + cellHeight * spec.rows.length + FOOT };
}

function drawCells(pen: Pen, spec: CellsSpec, layout: CellLayout, colours: Palette): void {
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

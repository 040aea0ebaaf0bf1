/** A chart of coloured cells on a canvas; the arrow keys move over it in all four directions. */
import { el } from "../parts/dom.js";
import { told, type CellsSpec } from "./cells_data.js";
import { drawCells, layoutOf, type CellLayout } from "./cells_draw.js";
import { lightPalette, palette } from "./palette.js";
import { canvasPen, SvgPen } from "./pen.js";
import { Stage, type Chart, type Player, type ChartReading } from "./stage.js";
import type { Table } from "./table.js";
import { column, interval } from "./words.js";
import { WIDTH } from "./axes_svg.js";

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
    const { width, height } = this.layout;
    const ratio = devicePixelRatio;
    const [across, down] = [Math.round(width * ratio), Math.round(height * ratio)];
    if (this.canvas.width !== across) this.canvas.width = across;
    if (this.canvas.height !== down) this.canvas.height = down;
    this.canvas.style.width = `${width}px`;
    this.canvas.style.height = `${height}px`;
    const ctx = this.canvas.getContext("2d");
    if (ctx === null) return;
    ctx.setTransform(ratio, 0, 0, ratio, 0, 0);
    ctx.clearRect(0, 0, width, height);
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

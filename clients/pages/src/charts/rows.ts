/** A few bars, lying, each with its label and its number in the same line: as text, not as a picture of text. */
import { el, fill } from "../parts/dom.js";
import { extent, main, ordered, told, type BarsSpec } from "./bars_data.js";
import type { Player, ChartReading, Stage } from "./stage.js";
import { textWidth } from "./axes_svg.js";
import { along, ticks } from "./ticks.js";
import { even, tickText } from "./words.js";

interface BarRow {
  /** The label it stands for: where it moves, its bar moves with it. */
  name: string;
  row: HTMLElement;
  label: HTMLElement;
  bar: HTMLElement;
  whisker: HTMLElement;
  raw: HTMLElement;
  value: HTMLElement;
}

const NARROW = 560;
const HEIGHTS = { wide: 34, narrow: 50 };
const AXIS = 26;

export class Rows implements Pick<Player, "read" | "find"> {
  readonly root = el("div", { class: "rows" });
  private readonly grid = el("div", { class: "rows-grid" });
  private readonly body = el("div", { class: "rows-body" });
  private rows: BarRow[] = [];
  private order: Uint32Array = new Uint32Array();
  private rank: Uint32Array = new Uint32Array();
  private step = HEIGHTS.wide;
  private largest = 1;
  private place: (value: number) => number = () => 0;

  constructor(
    private readonly stage: Stage,
    private spec: BarsSpec,
  ) {
    fill(this.root, this.grid, this.body);
    stage.surface.prepend(this.root);
    this.draw(spec);
  }

  draw(spec: BarsSpec): void {
    this.spec = spec;
    this.order = ordered(spec);
    this.rank = new Uint32Array(this.order.length);
    this.order.forEach((at, rank) => (this.rank[at] = rank));
    this.layout();
    const [low, high] = extent(spec);
    this.largest = Math.max(-low, high);
    this.place = along([low, high], 0, 100);
    this.match(spec.labels);
    this.rows.forEach((row, at) => this.put(row, at, this.place));
    const marks = ticks([low, high], this.step === HEIGHTS.wide ? 6 : 4);
    fill(this.grid, ...marks.map((value) => this.gridline(value, this.place(value))));
  }

  redraw(): void {
    this.draw(this.spec);
  }

  destroy(): void {
    this.root.remove();
  }

  read(at: number): ChartReading | null {
    const index = this.order[at];
    if (index === undefined) return null;
    const end = Math.max(main(this.spec)[index] ?? 0, this.spec.high[index] ?? 0);
    const beside = this.grid.offsetLeft + (this.place(end) / 100) * this.grid.clientWidth + 14;
    const box = { left: -6, top: at * this.step, width: this.stage.surface.clientWidth + 12, height: this.step, beside };
    return { title: this.spec.labels[index] ?? "", lines: told(this.spec, index), ...box };
  }

  find(_left: number, top: number): number | null {
    const at = Math.floor(top / this.step);
    return at >= 0 && at < this.order.length ? at : null;
  }

  private layout(): void {
    const width = this.stage.room();
    const narrow = width < NARROW;
    this.step = narrow ? HEIGHTS.narrow : HEIGHTS.wide;
    this.root.classList.toggle("rows-narrow", narrow);
    const widest = Math.max(24, ...this.spec.labels.map((label) => textWidth(label.slice(0, 60), 15)));
    this.root.style.setProperty("--label", `${Math.ceil(Math.min(widest + 6, width * 0.34))}px`);
    this.root.style.height = `${this.spec.labels.length * this.step + AXIS}px`;
  }

  /** A row for every label: those that stay keep theirs, and slide to their new places. */
  private match(labels: readonly string[]): void {
    const known = new Map<string, BarRow[]>();
    for (const row of this.rows) known.set(row.name, [...(known.get(row.name) ?? []), row]);
    this.rows = labels.map((label) => known.get(label)?.shift() ?? this.add(label));
    for (const rows of known.values()) for (const { row } of rows) row.remove();
  }

  private add(name: string): BarRow {
    const [label, value] = [el("span", { class: "rows-label", dir: "auto" }), el("span", { class: "rows-value figures" })];
    const [bar, whisker, raw] = [el("i", { class: "rows-bar" }), el("i", { class: "rows-whisker" }), el("i", { class: "rows-raw" })];
    const row = el("div", { class: "rows-row" }, label, el("div", { class: "rows-track" }, bar, whisker, raw), value);
    this.body.append(row);
    return { name, row, label, bar, whisker, raw, value };
  }

  private put({ row, label, bar, whisker, raw, value }: BarRow, at: number, place: (value: number) => number): void {
    const { labels, low, high, show, share } = this.spec;
    const height = main(this.spec)[at] ?? null;
    row.style.transform = `translateY(${(this.rank[at] as number) * this.step}px)`;
    row.classList.toggle("rows-of-raw", show === "raw");
    set(label, labels[at] ?? "");
    label.title = labels[at] ?? "";
    set(value, even(height, this.largest, share === true));
    span(bar, place(Math.min(0, height ?? 0)), place(Math.max(0, height ?? 0)));
    const [from, to] = [low[at] ?? null, high[at] ?? null];
    whisker.hidden = from === null || to === null;
    span(whisker, place(from ?? 0), place(to ?? 0));
    const measured = this.spec.raw[at] ?? null;
    raw.hidden = show !== "both" || measured === null;
    raw.style.left = `${place(measured ?? 0)}%`;
  }

  private gridline(value: number, left: number): HTMLElement {
    const line = el("i", { class: value === 0 ? "rows-zero" : "" }, el("span", {}, tickText(value, this.spec.share === true)));
    line.style.left = `${left}%`;
    return line;
  }
}

function span(box: HTMLElement, from: number, to: number): void {
  box.style.left = `${from}%`;
  box.style.width = `${to - from}%`;
}

function set(box: HTMLElement, text: string): void {
  if (box.textContent !== text) box.textContent = text;
}

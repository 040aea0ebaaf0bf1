/**
 * What all charts share: a surface to draw on, what the pointer or the arrow keys are at in words, the numbers behind it.
 *
 * To a screen reader the surface is a slider over the chart's values: arrow keys reach it everywhere, and it speaks.
 */
import type uPlot from "uplot";
import { el, fill } from "../parts/dom.js";
import { onThemeChange } from "./palette.js";
import { FoldedTable, type Table } from "./table.js";

/** One value of a chart in words, and the box on the surface that it is drawn in. */
export interface ChartReading {
  title: string;
  lines: string[];
  left: number;
  top: number;
  width: number;
  height: number;
  /** Where the words begin, at the height of the box, when not beside and above it. */
  beside?: number;
}

/** What a chart tells its stage. */
export interface Player {
  name: string;
  /** How many values can be read. */
  size(): number;
  read(at: number): ChartReading | null;
  /** The value drawn at a place of the surface, in CSS pixels. */
  find(left: number, top: number): number | null;
  /** Where an arrow key leads; unless told, to the value before or after. */
  step?(at: number, key: string): number;
  table(): Table;
  /** The surface has another width, or the theme other colours. */
  redraw(): void;
}

/** What every chart gives its page. */
export interface Chart<Spec> {
  update(spec: Spec): void;
  toSvg(): string;
  destroy(): void;
}

const BACK = new Set(["ArrowLeft", "ArrowUp"]);
const ON = new Set(["ArrowRight", "ArrowDown"]);
const LEAP = 10;

export class Stage {
  readonly legend = el("p", { class: "chart-legend", hidden: true });
  readonly surface: HTMLElement;
  private readonly tip = el("div", { class: "chart-tip", hidden: true, "aria-hidden": "true" });
  private readonly spot = el("div", { class: "chart-spot", hidden: true });
  private readonly table: FoldedTable;
  private readonly figure: HTMLElement;
  private at: number | null = null;
  private width = 0;
  private readonly stopTheme: () => void;
  private readonly resized: ResizeObserver;

  constructor(
    host: HTMLElement,
    private readonly player: Player,
  ) {
    this.surface = el("div", {
      class: "chart-surface",
      role: "slider",
      tabindex: 0,
      "aria-label": `${player.name}: values, by arrow keys`,
      onpointermove: (event: PointerEvent) => this.follow(event),
      onpointerdown: (event: PointerEvent) => this.follow(event),
      onpointerleave: () => this.show(null),
      onkeydown: (event: KeyboardEvent) => this.key(event),
      onfocus: () => this.focused(),
      onblur: () => this.show(null),
    });
    this.surface.append(this.spot, this.tip);
    this.table = new FoldedTable(player.name, () => player.table());
    this.figure = el("figure", { class: "chart" }, this.legend, this.surface, this.table.element);
    fill(host, this.figure);
    this.stopTheme = onThemeChange(() => this.again());
    this.resized = new ResizeObserver(() => {
      if (this.surface.clientWidth !== this.width) this.again();
    });
    this.resized.observe(this.surface);
    this.speak(0);
  }

  /** CSS pixels there are to draw on. */
  room(): number {
    this.width = this.surface.clientWidth;
    return Math.max(120, this.width);
  }

  /** Says what the colours mean, when there is more than one. */
  name(...entries: HTMLElement[]): void {
    fill(this.legend, ...entries);
    this.legend.hidden = entries.length === 0;
  }

  /** The values changed: what is shown in words changes with them. */
  refresh(): void {
    this.table.refresh();
    if (this.at === null) this.speak(0);
    else this.show(Math.min(this.at, this.player.size() - 1));
  }

  destroy(): void {
    this.stopTheme();
    this.resized.disconnect();
    this.figure.remove();
  }

  private again(): void {
    this.player.redraw();
    if (this.at !== null) this.show(this.at);
  }

  private follow(event: PointerEvent): void {
    const box = this.surface.getBoundingClientRect();
    this.show(this.player.find(event.clientX - box.left, event.clientY - box.top));
  }

  private focused(): void {
    if (this.at === null && this.surface.matches(":focus-visible")) this.show(0);
  }

  private key(event: KeyboardEvent): void {
    const to = this.keyed(event.key);
    if (to === undefined) return;
    event.preventDefault();
    this.show(to === null ? null : Math.max(0, Math.min(this.player.size() - 1, to)));
  }

  /** The value a key leads to; undefined where it leads nowhere, null where it puts the words away. */
  private keyed(key: string): number | null | undefined {
    const at = this.at ?? -1;
    if (key === "Escape") return this.at === null ? undefined : null;
    if (key === "Home") return 0;
    if (key === "End") return this.player.size() - 1;
    if (key === "PageUp") return at - LEAP;
    if (key === "PageDown") return at + LEAP;
    if (!BACK.has(key) && !ON.has(key)) return undefined;
    return this.player.step && at >= 0 ? this.player.step(at, key) : at + (ON.has(key) ? 1 : -1);
  }

  private show(at: number | null): void {
    const reading = at === null || at < 0 ? null : this.player.read(at);
    this.at = reading === null ? null : at;
    this.spot.hidden = this.tip.hidden = reading === null;
    if (reading === null) return;
    place(this.spot, reading.left, reading.top);
    this.spot.style.width = `${reading.width}px`;
    this.spot.style.height = `${reading.height}px`;
    fill(this.tip, el("strong", { dir: "auto" }, reading.title), ...reading.lines.map((line) => el("span", {}, line)));
    const { offsetWidth: width, offsetHeight: height } = this.tip;
    const [left, top] = where(reading, width, height, this.surface.clientWidth);
    place(this.tip, left, Math.max(0, Math.min(this.surface.clientHeight - height, top)));
    this.speak(this.at as number);
  }

  private speak(at: number): void {
    const size = this.player.size();
    const reading = size > 0 ? this.player.read(at) : null;
    this.surface.setAttribute("aria-valuemin", "1");
    this.surface.setAttribute("aria-valuemax", String(Math.max(1, size)));
    this.surface.setAttribute("aria-valuenow", String(size > 0 ? at + 1 : 1));
    this.surface.setAttribute("aria-valuetext", reading === null ? "nothing yet" : [reading.title, ...reading.lines].join(", "));
  }
}

/** A name with its colour, for a legend; the colour follows the theme because it is the theme's own. */
export function entry(name: string, colour: string, shape: "bar" | "ring" | "line" | "thick" | "dot" = "line", dash: readonly number[] = []): HTMLElement {
  const swatch = el("i", { class: `chart-swatch chart-swatch-${shape}` });
  swatch.style.color = colour;
  if (dash.length > 0) {
    swatch.classList.add("chart-swatch-dashed");
    swatch.style.backgroundImage = dashes(dash);
  }
  return el("span", { class: "chart-entry" }, swatch, name);
}

/** A line's pattern of dashes and gaps as a background that repeats. */
function dashes(dash: readonly number[]): string {
  let at = 0;
  const parts = dash.map((length, place) => `${place % 2 === 0 ? "currentColor" : "transparent"} ${at}px ${(at += length)}px`);
  return `repeating-linear-gradient(90deg, ${parts.join(", ")})`;
}

/** The corner of the words: within the surface, and not on what they are about. */
function where({ left, top, width, height, beside }: ChartReading, wide: number, tall: number, room: number): [number, number] {
  if (beside !== undefined) return [Math.max(0, Math.min(beside, room - wide)), top + (height - tall) / 2];
  const right = left + width + 10;
  return [right + wide <= room ? right : Math.max(0, left - wide - 10), top - tall - 6];
}

function place(box: HTMLElement, left: number, top: number): void {
  box.style.transform = `translate(${Math.round(left)}px, ${Math.round(top)}px)`;
}

// New numbers for a plot that may be zoomed in: the part that is looked at stays in view.

export function refill(plot: uPlot, data: uPlot.AlignedData): void {
  const { min, max } = plot.scales["x"] ?? {};
  const [before, after] = [plot.data[0], data[0]] as [ArrayLike<number>, ArrayLike<number>];
  const first = before[0];
  const last = before[before.length - 1];
  const known = min !== undefined && max !== undefined && first !== undefined && last !== undefined;
  const zoomed = known && (min > first || max < last);
  if (zoomed && min <= (after[after.length - 1] ?? -Infinity) && max >= (after[0] ?? Infinity)) {
    plot.setData(data, false);
    plot.setScale("x", { min, max });
  } else plot.setData(data);
}

/** What the collector tells a page to draw of a survey, and which chart draws it. */
import type { Picture } from "../../parts/api_types.js";
import type { BarsSpec } from "../../charts/bars_data.js";
import type { HeatmapSpec } from "../../charts/heatmap.js";
import type { LinesSpec } from "../../charts/lines_data.js";
import type { RangesSpec } from "../../charts/ranges.js";
import { figure, percent, plain } from "../../parts/format.js";
import type { Looks } from "../shared/looks.js";
import { wordPanels, type WordsPanel } from "./words_told.js";

/** Projected and raw answers, and the ends of their intervals. */
type Quantities = [value: (number | null)[], raw: (number | null)[], low: (number | null)[], high: (number | null)[]];

/** How a slice of the answers is looked at; or the histogram, which the picture holds beside them. */
export type PicturePanel = Picture["panels"][number] | { view: "histogram"; title: string; start: number; stop: number; shares: boolean } | WordsPanel;

/** Every panel of a picture. */
export function panelsOf(picture: Picture): PicturePanel[] {
  const { panels, histogram } = picture;
  if (picture.certain !== null) return wordPanels(picture.certain, picture.words);
  if (histogram === null) return panels;
  const title = `share of people in each bin${histogram.unit && ` (${histogram.unit})`}`;
  return [{ view: "histogram", title, start: 0, stop: histogram.value.length, shares: true }, ...panels];
}

/** How the person wants to look at it. */
export interface Choice {
  order: "value" | "domain";
  show: "projected" | "raw" | "both";
  level: number;
  looks: Looks;
}

export type DrawnChart =
  | { chart: "bars"; spec: BarsSpec }
  | { chart: "lines"; spec: LinesSpec }
  | { chart: "heatmap"; spec: HeatmapSpec }
  | { chart: "ranges"; spec: RangesSpec };

/** The chart that shows a panel. */
export function drawn(picture: Picture, panel: PicturePanel, { order, show }: Choice): DrawnChart {
  const cut = <Kind>(list: readonly Kind[]): Kind[] => list.slice(panel.start, panel.stop);
  const name = titleOf(panel);
  const share = panel.shares;
  const [value, raw, low, high] = [picture.value, picture.raw, picture.low, picture.high].map(cut) as Quantities;
  const cells = { name, share, value: show === "raw" ? raw : value, low, high, ...(show === "both" ? { raw } : {}) };
  switch (panel.view) {
    case "bars":
      return { chart: "bars", spec: { name, labels: cut(picture.labels), value, raw, low, high, order, show, share, level: picture.level } };
    case "words":
      return { chart: "bars", spec: listed(name, picture, panel, show) };
    case "histogram":
      return { chart: "bars", spec: binned(name, picture, show) };
    case "cdf":
      return { chart: "lines", spec: curve(name, panel.x, { value, raw, low, high }, show, share, percent(picture.level)) };
    case "heatmap":
      return { chart: "heatmap", spec: { ...cells, rows: panel.rows, columns: panel.columns, rowName: panel.row_name, columnName: panel.column_name } };
    case "ranges":
      return { chart: "ranges", spec: { ...cells, lows: panel.lows, highs: panel.highs, ...(panel.names ? { names: panel.names } : {}) } };
  }
}

/** Words below each other, the most common first. */
function listed(name: string, picture: Picture, { places }: WordsPanel, show: Choice["show"]): BarsSpec {
  const of = <Kind>(list: readonly Kind[]): Kind[] => places.map((place) => list[place] as Kind);
  const [value, raw, low, high] = [picture.value, picture.raw, picture.low, picture.high].map(of) as Quantities;
  return { name, labels: of(picture.labels).map(plain), value, raw, low, high, order: "value", show, share: true, level: picture.level, listed: true };
}

/** Bins beside each other, in their order. */
function binned(name: string, { histogram, level }: Picture, show: Choice["show"]): BarsSpec {
  const { labels, value, raw, low, high } = histogram!;
  return { name, labels, value, raw, low, high, order: "domain", show, share: true, level };
}

function curve(
  name: string,
  values: (number | string)[],
  { value, raw, low, high }: Pick<Picture, "value" | "raw" | "low" | "high">,
  show: Choice["show"],
  share: boolean,
  level: string,
): LinesSpec {
  const named = values.some((x) => typeof x === "string");
  const x = named ? values.map((_, at) => at) : (values as number[]);
  // A line listed from its highest value downwards has the share at or above each value.
  const as = (x[0] ?? 0) > (x[1] ?? 1) ? ("falling_steps" as const) : ("steps" as const);
  const first = show === "raw" ? { name: "raw", y: raw } : { name: "projected", y: value };
  const second = show === "both" ? [{ name: "raw", y: raw, as }] : [];
  return {
    name,
    x,
    ...(named ? { labels: values.map(String) } : {}),
    share,
    series: [{ ...first, low, high, band: `${level} interval`, as }, ...second],
    ...(share ? { y: [0, 1] as const } : {}),
  };
}

/** Half of the widest interval: what the picture itself says of its precision; null where it has none. */
export function halfWidth({ low, high }: Picture): number | null {
  let widest = 0;
  for (let at = 0; at < low.length; at += 1) {
    const [from, to] = [low[at] ?? null, high[at] ?? null];
    if (from !== null && to !== null && to - from > widest) widest = to - from;
  }
  return widest > 0 ? widest / 2 : null;
}

/** What stands above a panel. */
export const titleOf = (panel: PicturePanel): string =>
  sentence(panel.view === "heatmap" ? panel.title.replace(`${panel.row_name} x ${panel.column_name}`, `${panel.row_name} × ${panel.column_name}`) : panel.title);

/** Three digits, rounded up: what stays below a number may not stay below a smaller one. */
export function upward(value: number): string {
  if (!(value > 0) || !Number.isFinite(value)) return figure(value);
  const unit = 10 ** (Math.floor(Math.log10(value)) - 2);
  return figure(Math.ceil(value / unit - 1e-9) * unit);
}

const sentence = (text: string): string => text.charAt(0).toUpperCase() + text.slice(1);

/** From what the collector tells of groups to the pictures of them. */
import type { ClusterSeries, ClustersSpec } from "../../charts/clusters.js";
import type { AnswerRow, ByGroupBody, ComparisonBody, Picture, WeightedBody } from "../../parts/api_types.js";
import { figure, percent, plain } from "../../parts/format.js";
import { tickText } from "../../charts/words.js";
import { type AnswerUnit, signed, unitOf, writer } from "./words.js";

/** Most groups of one picture. */
export const MOST = 12;

/** The groups that have enough reports to be drawn. */
export const drawnGroups = ({ groups }: ByGroupBody): ByGroupBody["groups"] => groups.filter(({ n_reports: n }) => n !== null).slice(0, MOST);

/** The answers of all groups side by side. Of words each group may have others. */
export function sideBySide(body: ByGroupBody, variable: readonly string[]): ClustersSpec {
  const groups = drawnGroups(body);
  const labels = [...new Set(groups.flatMap(({ answers }) => answers.map(({ label }) => label)))];
  const series = groups.map((group) => seriesOf(group.label, variable.indexOf(group.value), labels, group.answers));
  return specOf(`Groups by ${body.by}`, labels, series, body, body.level);
}

/** All answers as they were given, beside the weighted ones. */
export function beside(picture: Picture, body: WeightedBody, measured: AnswerUnit): ClustersSpec {
  const shown = new Set(picture.labels);
  const labels = body.answers.map(({ label }) => label).filter((label) => shown.has(label)).slice(0, 20);
  const given = picture.labels.map((label, at) => ({ label, value: picture.value[at] ?? null, low: picture.low[at] ?? null, high: picture.high[at] ?? null }));
  const series = [seriesOf("as answered", 7, labels, given), seriesOf("weighted", 0, labels, body.answers)];
  return specOf("Weighted answers", labels, series, measured, body.level);
}

/** The differences of two groups around zero. */
export function differences(body: ComparisonBody, measured: AnswerUnit): ClustersSpec {
  const rows = body.differences.slice(0, 30);
  const { share } = measured;
  const numbers = rows.flatMap(({ value, low, high }) => [value, low, high]);
  return {
    name: `${body.names[0]} less ${body.names[1]}`,
    labels: rows.map(({ label }) => plain(label)),
    series: [{ name: `difference${unitOf(measured)}`, hue: 0, value: rows.map(({ value }) => value), low: rows.map(({ low }) => low), high: rows.map(({ high }) => high) }],
    as: "points",
    write: signed(measured, numbers),
    tick: (value) => figure(share ? 100 * value : value),
    whisker: `${body.names[0]} less ${body.names[1]}${unitOf(measured)}, with ${percent(body.level)} interval`,
  };
}

type DrawnRow = Pick<AnswerRow, "label" | "value" | "low" | "high">;

function seriesOf(name: string, hue: number, labels: readonly string[], rows: readonly DrawnRow[]): ClusterSeries {
  const byLabel = new Map(rows.map((row) => [row.label, row]));
  const of = (read: (row: DrawnRow) => number | null): (number | null)[] => labels.map((label) => (byLabel.has(label) ? read(byLabel.get(label) as DrawnRow) : null));
  return { name, hue: Math.max(0, hue), value: of(({ value }) => value), low: of(({ low }) => low), high: of(({ high }) => high) };
}

function specOf(name: string, labels: readonly string[], series: readonly ClusterSeries[], measured: AnswerUnit, level: number): ClustersSpec {
  const numbers = series.flatMap(({ value }) => value);
  const mark = (value: number): string => `${tickText(value, measured.share)}`;
  return { name, labels: labels.map(plain), series, as: "bars", write: writer(measured, numbers), tick: mark, whisker: `${percent(level)} interval` };
}

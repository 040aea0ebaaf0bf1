/** Charts show the numbers they are given: in order, together, and with nothing made up where something is unknown. */
import type { Picture } from "../src/parts/api_types.js";
import assert from "node:assert/strict";
import { test } from "node:test";
import { extent, ordered, told, type BarsSpec } from "../src/charts/bars_data.js";
import { columnsOf, dashOf, endOf, hueOf, shapeOf, type Line, type LinesSpec } from "../src/charts/lines_data.js";
import { spread } from "../src/charts/lines_options.js";
import { fromTheTop } from "../src/views/planner/result.js";
import { promise } from "../src/views/survey/bound.js";
import { placeOf, written } from "../src/views/survey/estimate.js";
import { drawn, halfWidth, panelsOf, upward, type Choice } from "../src/views/survey/picture.js";

const BARS: BarsSpec = {
  labels: ["a", "b", "c", "d"],
  value: [0.1, 0.4, null, 0.4],
  raw: [0.5, 0.3, -0.1, 0.2],
  low: [0, 0.3, null, 0.35],
  high: [0.2, 0.5, null, 0.45],
  order: "value",
  show: "projected",
  share: true,
};

test("bars are sorted by what they show; equal ones keep their order; unknown ones come last", () => {
  assert.deepEqual([...ordered(BARS)], [1, 3, 0, 2]);
  assert.deepEqual([...ordered({ ...BARS, show: "raw" })], [0, 1, 3, 2]);
  assert.deepEqual([...ordered({ ...BARS, order: "domain" })], [0, 1, 2, 3]);
});

test("the axis holds everything drawn, and zero", () => {
  assert.deepEqual(extent(BARS), [0, 0.5]);
  assert.deepEqual(extent({ ...BARS, show: "both" }), [-0.1, 0.5]);
});

test("a bar is told with its interval, and with the raw value where both are shown", () => {
  assert.deepEqual(told(BARS, 1), ["40 %", "30 % to 50 %"]);
  assert.deepEqual(told({ ...BARS, show: "both" }, 2), ["unknown", "raw −10 %"]);
});

test("series with places of their own are put on one axis", () => {
  const spec: LinesSpec = { x: [1, 10], series: [{ name: "curve", y: [5, 6], low: [4, 5], high: [6, null] }, { name: "seen", x: [3], y: [7], as: "points" }] };
  assert.deepEqual(columnsOf(spec), { x: [1, 3, 10], columns: [[5, null, 6], [4, null, 5], [6, null, null], [null, 7, null]] });
});

test("a logarithmic axis leaves out what has no logarithm", () => {
  const { x, columns } = columnsOf({ x: [0, 1, 2, 3], logX: true, logY: true, series: [{ name: "", y: [1, 0, -1, 2] }] });
  assert.deepEqual([x, columns], [[1, 2, 3], [[null, null, 2]]]);
});

test("new numbers keep a chart's shape, another kind of series does not", () => {
  const spec: LinesSpec = { x: [1], series: [{ name: "a", y: [1] }] };
  assert.equal(shapeOf(spec), shapeOf({ x: [1, 2], series: [{ name: "b", y: [3, 4] }], mark: { x: 2 } }));
  assert.notEqual(shapeOf(spec), shapeOf({ ...spec, series: [{ name: "a", y: [1], as: "steps" }] }));
});

const PICTURE: Picture = {
  certain: null,
  findable: null,
  figures: [],
  histogram: null,
  survey: "",
  title: "",
  kind: "queries",
  unit: "",
  mechanism: "codebook",
  epsilon: 1,
  delta: 0,
  n_reports: 100,
  minimum_reports: 10,
  waiting: 0,
  level: 0.95,
  bound: { l2: 1, statement: "" },
  raw_bound: { l2: 1, statement: "" },
  always: null,
  method: "exact",
  projection_gap: 0,
  projection: "hull of the columns",
  answers: 4,
  positions: null,
  labels: ["a", "b", "c", "d"],
  value: [0.1, 0.2, 0.3, 0.4],
  raw: [0.5, 0.6, 0.7, 0.8],
  low: [0, 0.1, 0.1, null],
  high: [0.2, 0.3, 0.5, null],
  panels: [],
};
const CHOICE: Choice = { order: "domain", show: "projected", level: 0.95, looks: "open" };

test("a panel shows its own slice", () => {
  const { chart, spec } = drawn(PICTURE, { view: "bars", title: "parities", start: 1, stop: 3, shares: false }, CHOICE);
  assert.equal(chart, "bars");
  assert.deepEqual((spec as BarsSpec).labels, ["b", "c"]);
  assert.equal((spec as BarsSpec).share, false);
});

test("shares are told from other numbers", () => {
  for (const shares of [true, false]) {
    assert.equal(drawn(PICTURE, { view: "bars", title: "t", start: 0, stop: 4, shares }, CHOICE).spec.share, shares);
  }
});

test("a line of words becomes places with labels; one listed downwards falls", () => {
  const words = drawn(PICTURE, { view: "cdf", title: "t", start: 0, stop: 4, shares: true, x: ["low", "mid", "high", "top"] }, CHOICE).spec as LinesSpec;
  assert.deepEqual([words.x, words.labels], [[0, 1, 2, 3], ["low", "mid", "high", "top"]]);
  const down = drawn(PICTURE, { view: "cdf", title: "t", start: 0, stop: 4, shares: true, x: [4, 3, 2, 1] }, CHOICE).spec as LinesSpec;
  assert.equal(down.series[0]?.as, "falling_steps");
});

test("raw values take the place of the projected ones when asked for", () => {
  const panel = { view: "heatmap", title: "a x b", start: 0, stop: 4, shares: true, rows: ["1", "2"], columns: ["1", "2"], row_name: "a", column_name: "b" } as const;
  const told = drawn(PICTURE, { ...panel, rows: [...panel.rows], columns: [...panel.columns] }, { ...CHOICE, show: "raw" });
  assert.deepEqual((told.spec as { value: unknown }).value, PICTURE.raw);
  assert.equal(told.spec.name, "A × b");
});

test("half of the widest interval, where there is one", () => {
  assert.equal(halfWidth(PICTURE), 0.2);
  assert.equal(halfWidth({ ...PICTURE, low: [null], high: [null] }), null);
});

test("what stays below a number is never told as a smaller one", () => {
  assert.equal(upward(4.4817), "4.49");
  assert.equal(upward(0.02735), "0.0274");
  assert.equal(upward(0.25), "0.25");
  assert.equal(upward(0), "0");
  for (let at = 1; at < 2000; at += 1) assert.ok(Number(upward(at / 7)) >= at / 7 - 1e-9);
});

test("only bounds that the collector has stated are told, never one guessed between two of them", () => {
  // Between 100 and 1000 this bound falls late: a straight line between them would promise too much.
  const curve = { n: [100, 1000, 10_000], l2: [1, 0.5, 0.1], margin: [null, null, null], statement: "" };
  assert.match(promise(curve, null, 900, true), /is now 1; with 10,000 reports it is 0\.1\.$/);
  assert.match(promise(curve, { n: 900, l2: 0.98 }, 900, true), /is now 0\.98;/);
  assert.match(promise(curve, { n: 800, l2: 0.99 }, 900, true), /is now 1;/);
  assert.equal(promise(curve, null, 50, true), "Every report makes the answers more precise.");
  assert.equal(promise(curve, null, 900, false), "The bound on the expected error is 1.");
});

test("a histogram stands before the panels, with its bins in their order", () => {
  const histogram = { unit: "minutes", labels: ["0 to 5", "5 to 10"], ends: [0, 5, 10], value: [0.25, 0.75], raw: [0.2, 0.8], low: [0.1, 0.7], high: [0.3, 0.9] };
  const picture = { ...PICTURE, histogram };
  const [panel] = panelsOf(picture);
  const { spec } = drawn(picture, panel!, { ...CHOICE, order: "value" });
  assert.equal(spec.name, "Share of people in each bin (minutes)");
  assert.deepEqual([(spec as BarsSpec).labels, (spec as BarsSpec).order], [["0 to 5", "5 to 10"], "domain"]);
  assert.deepEqual(panelsOf(PICTURE), PICTURE.panels);
});

test("a figure is written to the digits that its interval tells, and lies on its scale", () => {
  assert.equal(written(301.2345, { low: 295, high: 307 }), "301");
  assert.equal(written(-0.0123, { low: -0.015, high: -0.01 }), "−0.0123");
  assert.equal(written(5, { low: 5, high: 5 }), "5");
  assert.deepEqual([-1, 0, 5, 99].map((value) => placeOf(value, { least: 0, most: 10 })), [0, 0, 0.5, 1]);
});

test("lines that are named at their ends differ in their dashes as well as in colour", () => {
  const series: Line[] = Array.from({ length: 6 }, (_, at) => ({ name: `line ${at}`, y: [1, 2] }));
  const spec: LinesSpec = { x: [1, 2], series, direct: true };
  const patterns = series.map((line, at) => JSON.stringify(dashOf(spec, line, at)));
  assert.equal(new Set(patterns).size, 6);
  assert.equal(new Set(series.map(hueOf)).size, 6);
  assert.deepEqual(dashOf({ x: [1, 2], series }, series[1]!, 1), []);
});

test("a design keeps its colour and dashes wherever it stands", () => {
  const line: Line = { name: "hadamard", y: [1], hue: 3 };
  assert.deepEqual([hueOf(line, 0), hueOf(line, 5), hueOf({ name: "b", y: [] }, 5)], [3, 3, 5]);
});

test("a legend reads as the lines end, from the top", () => {
  const designs: Line[] = [
    { name: "low", y: [3, 1] },
    { name: "none", y: [null, null] },
    { name: "high", y: [1, 5] },
    { name: "ends early", y: [4, null] },
  ];
  assert.deepEqual(fromTheTop(designs).map(({ name }) => name), ["high", "ends early", "low", "none"]);
  assert.deepEqual(designs.map(endOf), [1, null, 5, 4]);
});

test("names beside lines keep apart, near their lines and within the chart", () => {
  assert.deepEqual(spread([10, 50], 14, 0, 100), [10, 50]);
  assert.deepEqual(spread([50, 50, 50], 14, 0, 100), [50, 64, 78]);
  assert.deepEqual(spread([99, 98, 2], 14, 0, 100), [100, 86, 2]);
});

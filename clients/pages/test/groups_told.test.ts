/** Groups in words and pictures, and a population as it is typed or read from a file. */
import assert from "node:assert/strict";
import { test } from "node:test";
import type { ByGroupBody, ComparisonBody, Picture, WeightedBody } from "../src/parts/api_types.js";
import { extent, tableOf, thickness, told } from "../src/charts/clusters_data.js";
import { differences, sideBySide } from "../src/views/groups/pictures.js";
import { readPopulation, totalOf, typedPopulation } from "../src/views/groups/population.js";
import { effectiveWords, figuresBeside, jointWords, pWords, signed, tooFewWords, unitOf, verdict, watchedWords, writer } from "../src/views/groups/words.js";

const row = (label: string, value: number) => ({ label, value, raw: value, low: value - 0.02, high: value + 0.02 });
const BY: ByGroupBody = {
  survey: "", by: "arm", unit: "", share: true, level: 0.95, always: true, method: "", n_answers: 2,
  groups: [
    { value: "A", label: "arm A", n_reports: 900, answers: [row("tea", 0.41), row("coffee", 0.59)] },
    { value: "B", label: "arm B", n_reports: null, answers: [] },
    { value: "C", label: "arm C", n_reports: 1000, answers: [row("coffee", 0.51), row("tea", 0.49)] },
  ],
};
const COMPARED: ComparisonBody = {
  first: "", second: "", names: ["arm A", "arm C"], reports: [900, 1000], epsilon: [1, 1], delta: [0, 0], unit: "", level: 0.95, always: false,
  joint: { statistic: 7.73, degrees: 1, p_value: 0.0054, method: "" },
  condition: "",
  differences: [
    { label: "tea", first: 0.41, second: 0.49, value: -0.08, raw: -0.08, low: -0.11, high: -0.05, p_value: 0.00001, adjusted_p_value: 0.00001 },
    { label: "coffee", first: 0.59, second: 0.51, value: 0.08, raw: 0.08, low: 0.05, high: 0.11, p_value: 0.2, adjusted_p_value: 0.2 },
  ],
};

test("groups stand side by side, each with its colour, and one with too few reports without a number", () => {
  const spec = sideBySide(BY, ["A", "B", "C"]);
  assert.deepEqual(spec.labels, ["tea", "coffee"]);
  assert.deepEqual(spec.series.map(({ name, hue, value }) => [name, hue, value]), [["arm A", 0, [0.41, 0.59]], ["arm C", 2, [0.49, 0.51]]]);
  assert.equal(tooFewWords(BY), "Too few reports yet: arm B.");
  assert.deepEqual(told(spec, 0), ["arm A: 41.0\u00a0% (39.0\u00a0% to 43.0\u00a0%)", "arm C: 49.0\u00a0% (47.0\u00a0% to 51.0\u00a0%)"]);
  assert.deepEqual(tableOf(spec).head, ["Answer", "arm A", "arm C"]);
  assert.ok(!JSON.stringify(tableOf(spec).row(0)).includes("arm B"));
  assert.deepEqual(extent(spec), [0, 0.61]);
});

test("many groups and answers are drawn finer", () => {
  assert.ok(thickness(3, 2) > thickness(20, 10));
  assert.ok(thickness(20, 10) >= 8);
});

test("differences are told in points, with p-values and a verdict that is adjusted", () => {
  const spec = differences(COMPARED, BY);
  assert.deepEqual(told(spec, 0), ["−8.0 (−11.0 to −5.0)"]);
  assert.equal(spec.tick(-0.05), "−5");
  assert.equal(jointWords(COMPARED), "Whether any of 2 answers differs between arm A and arm C: chi-squared 7.73, 1 degree of freedom, p = 0.0054.");
  assert.match(verdict(COMPARED), /^Different at 5.%, adjusted for the number of answers: tea\.$/);
  assert.match(verdict({ ...COMPARED, differences: COMPARED.differences.slice(1) }), /^No answer differs/);
  assert.deepEqual([pWords(1e-9), pWords(0.0054), pWords(null)], ["p < 0.0001", "p = 0.0054", "unknown"]);
  assert.equal(signed({ share: false, unit: "minutes" }, [12.5])(12.5), "+12.5");
  assert.deepEqual([unitOf(BY), unitOf({ share: false, unit: "minutes" }), unitOf({ share: false, unit: "" })], [" in points", " in minutes", ""]);
  assert.equal(writer({ share: false, unit: "minutes" }, [12.5])(null), "unknown");
});

test("while the survey is open the test is the watched one, and one of one look is warned of", () => {
  assert.match(watchedWords(true, "open", true) ?? "", /^Watched: /);
  assert.match(watchedWords(false, "0", true) ?? "", /^Of one look: /);
  assert.equal(watchedWords(false, "open", false), null);
});

test("weights tell what they cost", () => {
  const found = { n_reports: 13_000, effective_reports: 8830.4, groups: [{ n_reports: 9 }, { n_reports: 7 }] } as WeightedBody;
  const fields = { ...found, groups: [{ n_reports: null }, { n_reports: null }] } as WeightedBody;
  assert.match(effectiveWords(fields), /weighed by 2 known shares, worth/);
  assert.equal(effectiveWords(found), "13,000 reports weighed by 2 groups, worth 8,830 without weights (67.9\u00a0%).");
});

test("means are told weighted and as they were answered", () => {
  const picture = { figures: [{ name: "mean of time", unit: "minutes", value: 5.07, low: 4, high: 6, least: 0, most: 10 }], labels: ["drink=tea"] } as unknown as Picture;
  const body = { answers: [row("drink=tea", 0.5), { ...row("mean of time", 5.06), low: 4.83, high: 5.3 }] } as WeightedBody;
  assert.deepEqual(figuresBeside(picture, body), ["Mean of time: 5.06\u00a0minutes (4.83\u00a0minutes to 5.30\u00a0minutes); as answered 5.07\u00a0minutes"]);
  assert.deepEqual(figuresBeside({ ...picture, labels: ["mean of time"] }, body), [], "a bar says it");
});

test("a population is read from a file, in any order of its columns, and what is wrong is said", () => {
  const found = { age: { "18-39": 0.4, "40+": 0.6 }, 'the "place"': { "Rome, IT": 1 } };
  assert.deepEqual(readPopulation('variable,value,share\r\nage,18-39,0.4\r\nage,40+,0.6\r\n"the ""place""","Rome, IT",1\r\n'), { found });
  assert.deepEqual(readPopulation("share,variable,value\n1,a,b\n"), { found: { a: { b: 1 } } });
  for (const text of ["age,18-39,0.4", "variable,value,share", "variable,value,share\nage,,0.4", "variable,value,share\nage,x,40", "variable,value,share\na,b,1\na,b,1"])
    assert.ok("wrong" in readPopulation(text), text);
});

test("shares that are typed are per cent, of every value of a variable or of none", () => {
  assert.deepEqual(typedPopulation({ age: { young: "40", old: "60" }, arm: { A: "", B: " " } }), { found: { age: { young: 0.4, old: 0.6 } } });
  for (const typed of [{ age: { young: "", old: "" } }, { age: { young: "40", old: "" } }, { age: { young: "x", old: "60" } }, { age: { young: "-1", old: "101" } }])
    assert.ok("wrong" in typedPopulation(typed), JSON.stringify(typed));
  assert.deepEqual([totalOf({ a: "40", b: "59.5" }), totalOf({ a: "", b: "5" }), totalOf({ a: "x" })], [99.5, 5, null]);
});

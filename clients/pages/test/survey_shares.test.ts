/** The figures of the picture: every bar between the least and e^epsilon times the least. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { explain } from "../../js/src/explain.js";
import { readSurvey, type Survey } from "../../js/src/index.js";
import { range, shares } from "../../js/test/stated.js";
import { runs } from "../src/survey/likelihood.js";
import { hex } from "../src/survey/bytes_view.js";
import { viewOf } from "../src/survey/kinds/kind.js";
import { Measured, sentence, summary } from "../src/survey/shares.js";
import { valueAt } from "../src/survey/fields/values.js";

const read = async (size: number, name: string) =>
  (await readSurvey(JSON.stringify(shares(range(size), { name })))) as Survey;

test("how a report is drawn depends on how many answers there are", () => {
  assert.equal(viewOf(4n), "rows");
  assert.equal(viewOf(50), "stripes");
  assert.equal(viewOf(2n ** 40n), null);
});

for (const [mechanism, size] of [["hadamard", 20], ["unary_optimized", 2000], ["randomized_response", 4]] as const) {
  test(`bars of ${mechanism} over ${size} answers reach both lines and pass none`, async () => {
    const survey = await read(size, mechanism);
    const domain = survey.domain!;
    const found = explain(survey, survey.randomize(3n));
    const measured = new Measured(found);
    const all = Array.from({ length: size }, (_, i) => measured.times(valueAt(domain, BigInt(i))));
    assert.ok(all.every((height) => height >= 1 && height <= Math.E));
    assert.ok(Math.abs(Math.min(...all) - 1) < 1e-9);
    assert.ok(Math.abs(Math.max(...all) - found.ratio) < 1e-9);
    const groups = measured.groups(measured.times(3n));
    // One of 2^2000 sets has a probability that no reader could make anything of.
    assert.equal(groups.every((bar) => bar.probability === ""), mechanism === "unary_optimized");
    assert.equal(groups.filter((bar) => bar.mine).length, 1);
    const favoured = all.filter((height) => height > found.ratio - 1e-9).length;
    assert.equal(groups[0]!.label, favoured === 1 ? "1 answer" : `${favoured.toLocaleString("en")} answers`);
    assert.ok(Math.abs(groups.find((bar) => bar.mine)!.times - all[3]!) < 1e-9);
  });
}

test("many groups are put together, and none is shown lower than it is", () => {
  const groups = Array.from({ length: 13 }, (_, i) => ({ probability: 0.26 - 0.01 * i, count: 2n }));
  const found = { logLikelihood: () => 0, lowest: 0.14, logLowest: Math.log(0.14), ratio: 0.26 / 0.14, groups };
  const bars = new Measured(found).groups(0.24 / 0.14);
  assert.equal(bars.length, 5);
  assert.deepEqual(bars.map((bar) => bar.label), ["6 answers", "6 answers", "6 answers", "6 answers", "2 answers"]);
  assert.deepEqual(bars.map((bar) => bar.mine), [true, false, false, false, false]);
  assert.equal(bars[0]!.probability, "0.26");
});

test("words round up, so that the ratio never seems smaller than it is", () => {
  assert.match(summary(Math.exp(0.2499), 0.25), /more than 1\.29 times .* allows 1\.29 times/);
  assert.match(summary(1, 1), /equally likely\. The promise allows 2\.72 times/);
  const bar = { label: "", probability: "1 in 500", mine: false };
  assert.match(sentence({ ...bar, times: 1 }), /as unlikely as from any: .* 1 in 500\./);
  assert.match(sentence({ ...bar, times: 2.711 }), /2\.72 times as likely/);
  assert.match(sentence({ ...bar, probability: "", times: 2.711 }), /2\.72 times as likely as the least\.$/);
});

test("thin bars of one height go together, the person's own alone and last", () => {
  const bar = (times: number, mine = false) => ({ label: "", times, probability: "", mine });
  const bars = [bar(1), bar(1), bar(1, true), bar(1), bar(2), bar(2)];
  assert.deepEqual(
    runs(bars, true).map(({ first, length }) => [first, length]),
    [[0, 2], [3, 1], [4, 2], [2, 1]],
  );
  assert.equal(runs(bars, false).length, 6);
});

test("bytes are shown in pairs, and what is cut says so", () => {
  assert.equal(hex(Uint8Array.of(0, 255, 16)), "00 ff 10");
  assert.equal(hex(new Uint8Array(3), 2), "00 00 … 1 more byte");
});

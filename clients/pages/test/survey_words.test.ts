/** The survey page's words: what is promised is never more than what holds. */
import assert from "node:assert/strict";
import { test } from "node:test";
import type { Ledger } from "../../js/src/index.js";
import { readSurvey } from "../../js/src/index.js";
import { panel, queries, range, shares, vector } from "../../js/test/stated.js";
import { kindOf } from "../src/survey/kinds/registry.js";
import { elseLabel } from "../src/survey/fields/values.js";
import { atMost, grouped, ledgerAfter, ledgerBefore } from "../src/survey/words.js";
import { promise, strength, surestOf, times } from "../src/survey/words.js";

test("factors are rounded up, never down, to three digits", () => {
  for (let epsilon = 0.001; epsilon < 16; epsilon *= 1.07) {
    const factor = Math.exp(epsilon);
    assert.ok(atMost(factor) >= factor * (1 - 1e-11), String(epsilon));
    assert.ok(atMost(factor) <= factor * 1.01, String(epsilon));
  }
  assert.equal(times(1), "1");
  assert.equal(times(Math.E), "2.72");
  assert.equal(times(Math.exp(0.25)), "1.29");
  assert.equal(times(Math.exp(7)), "1,100");
});

test("a coin toss becomes at most what is said", () => {
  assert.equal(surestOf(1), "73.2 %");
  assert.equal(surestOf(0.01), "50.3 %");
  assert.equal(surestOf(5), "99.34 %");
  assert.equal(surestOf(16), "more than 99.999 %");
  for (const epsilon of [0.1, 0.5, 1, 2, 4, 8]) {
    assert.ok(parseFloat(surestOf(epsilon)) / 100 >= 1 / (1 + Math.exp(-epsilon)), String(epsilon));
  }
});

test("the promise names the factor of this very epsilon", () => {
  assert.match(promise(1)[0], /more than 2\.72 times surer/);
  assert.match(promise(0.5)[0], /more than 1\.65 times surer/);
  assert.match(promise(0.5)[1], /62\.3 %/);
  assert.deepEqual([0.5, 1, 2, 4].map(strength), ["very strong", "strong", "fair", "weak"]);
});

const ledger = (spent: number, left: number, answers: number) => ({
  spent,
  left,
  budget: 8,
  entries: Array.from({ length: answers }, (_, i) => ({ survey: `${i}` }) as Ledger["entries"][number]),
});

test("the ledger before and after, in decimals as people write them", () => {
  assert.match(ledgerBefore(ledger(0, 8, 0), 1), /nothing on this site yet\. This one costs 1 and leaves 7\.$/);
  const before = ledgerBefore(ledger(7.7, 0.3, 3), 0.1);
  assert.match(before, /3 surveys .* spent 7\.7 of 8\. This one costs 0\.1 and leaves 0\.2\.$/);
  assert.equal(ledgerAfter(ledger(1, 7, 1)), "Spent on this site so far: 1 of 8, for 1 survey. Left: 7.");
});

test("a survey that renews is one survey, however often it was answered", () => {
  const entries = ["a", "b", "a", "a"].map((survey) => ({ survey }) as Ledger["entries"][number]);
  assert.match(ledgerAfter({ ...ledger(4, 4, 0), entries }), /for 2 surveys/);
});

test("a label for everything else is found, and only such a one", () => {
  const names = ["Other", "something else", "None of these", "Prefer not to say", "Don’t know", "I’d rather not"];
  for (const name of names) assert.equal(elseLabel(["tea", name]), name);
  for (const name of ["Northern", "Otherland", "nonesuch", "not often", "Nathan", "anything"]) {
    assert.equal(elseLabel(["tea", name]), null, name);
  }
  assert.equal(elseLabel([1, 2, 3]), null);
});

test("what is asked, by kind of survey", async () => {
  const labels = ["tea", "water"];
  const read = (stated: object) => readSurvey(JSON.stringify(stated));
  const drinks = await read(shares({ labels }, { name: "hadamard" }));
  assert.match(kindOf(drinks).words.join(" "), /about how many people give each answer, and not who/);
  const line = { domain: range(4), type: "prefix" };
  assert.match(kindOf(await read(queries(line, { name: "haar", tilt: 0 }))).words.join(" "), /at or below each value\.$/);
  const number = await read(vector(1, 1, { name: "binary" }));
  assert.match(kindOf(number).words.join(" "), /^Say one number\. .* average over everybody/);
  const rounds = panel({ labels }, 10);
  assert.match(kindOf(await read(rounds)).words.join(" "), /Up to 10 questions .* only one of them/);
  const seat = { panel: rounds, query: ["==", ["attribute", "value"], "tea"], round: 3 };
  const round = await read(vector(1, 1, { name: "binary" }, { seat }));
  assert.match(kindOf(round).words.join(" "), /^Say what is true of you\. .* average over everybody/);
});

test("fingerprints come in groups of four", () => {
  assert.equal(grouped("0123456789ab"), "0123 4567 89ab");
  assert.equal(grouped(""), "");
});

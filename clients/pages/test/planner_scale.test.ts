/** Sliders over round numbers, numbers as people write them, and plans in words. */
import type { Planned, PlannedOption } from "../src/parts/api_types.js";
import assert from "node:assert/strict";
import { test } from "node:test";
import { measureOf } from "../src/questions/kinds.js";
import { nearest, numberOf, stops } from "../src/views/planner/slider.js";
import { stateOf } from "../src/views/planner/state.js";
import { comparisonWords, epsilonWords, errorWords, headline, peopleWords, readable, shortNames, trackingWords } from "../src/views/planner/words.js";
import { DECLARED } from "./declared.js";

test("stops go up from end to end, and no step is larger than it must be", () => {
  for (const [least, most, whole] of [[100, 1e9, true], [0.05, 8, false], [2, 1e6, true], [1, 2, true], [0.001, 1, false]] as const) {
    const found = stops(least, most, whole);
    assert.deepEqual([found[0], found.at(-1)], [least, most]);
    for (let i = 1; i < found.length; i += 1) {
      assert.ok(found[i]! > found[i - 1]!);
      assert.ok(found[i]! / found[i - 1]! <= 1.25 || found[i]! - found[i - 1]! === 1, `${found[i - 1]} to ${found[i]}`);
      if (whole) assert.ok(Number.isInteger(found[i]));
    }
  }
});

test("the nearest stop is so by ratio, and the last one beyond the end", () => {
  const found = stops(1, 100, false);
  assert.equal(found[nearest(found, 10.01)], 10);
  assert.equal(found[nearest(found, 1e9)], 100);
  assert.equal(found[nearest(found, 1e-9)], 1);
});

test("numbers are read as people write them", () => {
  for (const text of ["1000000", "1,000,000", "1_000_000", "1e6", "1E+6", "1M", "1000k", " 1 000 000 ", "1.0m"]) assert.equal(numberOf(text), 1e6, text);
  for (const text of ["", "x", "1..2", "-1", "0x10", "1e999", "1 M people", "∞"]) assert.equal(numberOf(text), null, text);
});

test("numbers in words", () => {
  assert.equal(peopleWords(1_200_000), "1.2 million people");
  assert.match(epsilonWords(1), /2\.72 times.*: private$/);
  assert.match(epsilonWords(3), /devices refuse it/);
  assert.match(errorWords("margin", measureOf("shares", {}), 0.01), /± 1 point,/);
  assert.equal(readable("error 1e-05 needs 1e+15 people, sha256:1e5a, 12"), "error 0.00001 needs 1 × 10¹⁵ people, sha256:1e5a, 12");
});

test("a plan leads with the margin, and says both errors", () => {
  const found = { question: "shares", answers: 40, people: 1000, epsilon: 1, margin: 0.03311, l2: 0.1, tracking: null } as Planned;
  const told = (solve: string): string => Object.values(headline(stateOf(`?solve=${solve}`, DECLARED), measureOf("shares", {}), found)).join(" ");
  const both = "each share is known to about ± 3.31 points (95\u00a0%); all 40 together: L2 at most 0.1.";
  assert.equal(told("error"), `± 3.31 points With 1,000 people at epsilon 1: ${both}`);
  assert.equal(told("people"), `1,000 people are needed at epsilon 1. E${both.slice(1)}`);
  assert.equal(told("epsilon"), `epsilon 1 is needed with 1,000 people. E${both.slice(1)}`);
});

test("a panel's plan tells its largest error, rounded up", () => {
  const found = { question: "panel", answers: null, people: 1000, epsilon: 1, margin: null, l2: null, rounds: 10, error: 0.03311, tracking: null } as Planned;
  const { large, sentence } = headline(stateOf("?kind=panel", DECLARED), measureOf("panel", {}), found);
  assert.equal(large, "Error below 0.0332");
  assert.match(sentence, /over 10 rounds .* below 0\.0332; about 100 people answer each round\.$/);
});

test("designs go by their mechanism where all have one strategy", () => {
  const option = (strategy: string, mechanism: string | null) => ({ name: `${strategy} with ${mechanism}`, strategy, mechanism }) as PlannedOption;
  assert.deepEqual([...shortNames([option("histogram", "unary_optimized")]).values()], ["unary optimized"]);
  assert.deepEqual([...shortNames([option("haar", "rejection"), option("direct", "codebook")]).values()], ["haar with rejection", "direct with codebook"]);
});

test("a plan of periods says what a person loses, which change is seen, and what answering every period would cost", () => {
  const every = { epsilon: 0.0192, margin: 0.32, people: 4_441_984, times: 44.4, reason: "" };
  const tracking = { periods: 52, window: 52, windows: 1, people_per_period: 1923, epsilon_in_all: 1, change: 0.0978, every_period: every };
  const found = { question: "shares", answers: 2, people: 100_000, epsilon: 1, margin: 0.0484, l2: 0.03, tracking } as Planned;
  const measure = measureOf("shares", {});
  const { sentence } = headline(stateOf("?periods=52", DECLARED), measure, found);
  assert.match(sentence, /^With 100,000 people at epsilon 1: in each period each share is known to about ± 4\.84 points/);
  const change = headline(stateOf("?periods=52&criterion=change", DECLARED), measure, found);
  assert.equal(change.large, "9.78 points");
  const [once, loss, seen, cost] = trackingWords(measure, found);
  assert.match(once ?? "", /one of 52 periods, so each period has about 1,923 of the 100,000 people/);
  assert.equal(loss, "A person's whole history costs epsilon 1, once.");
  assert.match(seen ?? "", /is 9\.78 points\.$/);
  assert.match(cost ?? "", /would take 4,441,984 people, 44\.4 times as many\. With the same people the margin would be ± 32 points\.$/);
  const renewing = { ...found, tracking: { ...tracking, window: 13, windows: null, periods: null, epsilon_in_all: null } } as Planned;
  assert.match(trackingWords(measure, renewing)[1] ?? "", /in each window of 13 periods, 2 for any 13 periods, which adds up without an end: 4 in 4 windows/);
  assert.deepEqual(trackingWords(measure, { ...found, tracking: null }), []);
});

test("a plan of two groups says people per group, the difference and how often it is seen", () => {
  const comparison = { groups: [1915, 5745], ratio: 3, difference: 0.08, power: 0.8 };
  const found = { question: "shares", answers: 2, people: 7660, epsilon: 1, margin: 0.0486, l2: 0.035, tracking: null, comparison } as Planned;
  const measure = measureOf("shares", {});
  const told = (solve: string): string => Object.values(headline(stateOf(`?criterion=difference&solve=${solve}`, DECLARED), measure, found)).join(" ");
  assert.match(told("people"), /^1,915 people in one group and 5,745 in the other show a difference of 8 points .* 80 times in 100 .*: 7,660 people in all\.$/);
  assert.match(told("error"), /^8 points is the smallest difference /);
  assert.match(told("epsilon"), /^epsilon 1 is needed for 1,915 people/);
  assert.match(comparisonWords(measure, found)[0] ?? "", /^In the first group each share is known to about ± 4\.86 points/);
  assert.deepEqual(comparisonWords(measure, { ...found, comparison: null }), []);
});

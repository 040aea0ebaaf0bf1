/** Sliders over round numbers, numbers as people write them, and query sets as words. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { nearest, numberOf, stops } from "../src/views/planner_scale.js";
import { epsilonWords, headline, peopleWords, readable, type PlanAnswer } from "../src/views/planner_words.js";
import { FIRST } from "../src/views/planner_state.js";
import { FAMILIES, workloadOf, workloadText } from "../src/views/planner_workload.js";

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

test("a query set is a family and its sizes, and anything else is the first one", () => {
  for (const [family, { parts }] of Object.entries(FAMILIES)) {
    const text = workloadText(family, parts.map((part) => part.first));
    assert.deepEqual(workloadOf(text), { family, parts: parts.map((part) => part.first) });
  }
  for (const odd of ["", "prefix", "constructor:1", "bins:10", "<b>:2"]) assert.equal(workloadOf(odd).family, "prefix");
});

test("numbers in words", () => {
  assert.equal(peopleWords(1_200_000), "1.2 million people");
  assert.match(epsilonWords(1), /2\.72 times.*: private$/);
  assert.match(epsilonWords(3), /devices refuse it/);
  assert.equal(readable("error 1e-05 needs 1e+15 people, sha256:1e5a, 12"), "error 0.00001 needs 1 × 10¹⁵ people, sha256:1e5a, 12");
});

test("the headline is a sentence, and its error is rounded up", () => {
  const found = { users: 1000, epsilon: 1, target_error: 0.03311 } as PlanAnswer;
  const { large, sentence } = headline(FIRST, found);
  assert.equal(`${large} ${sentence}`, "An error of at most 0.0332 can be expected from 1,000 people at epsilon 1.");
});

/** How answers are read: as shares where a condition was asked, in whichever of its forms. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { asWholeRadius, isTruth, readingOf, shownAnswer, type QueryTree } from "../src/views/conversation/reading.js";

const young: QueryTree = ["<", ["attribute", "age"], 30];
const asked = (query: QueryTree, radius = 1, question: object = { kind: "vector" }) =>
  readingOf({ question: question as { kind: string }, seat: { query, panel: { panel: { radius } } } });

test("a condition is a truth, and so is one behind an if; a number is none", () => {
  for (const tree of [true, young, ["and", young, young], ["not", young], ["in", ["attribute", "age"], [1]], ["if", young, true, young]] as QueryTree[]) {
    assert.equal(isTruth(tree), true, JSON.stringify(tree));
  }
  for (const tree of [1, ["attribute", "age"], ["if", young, 1, -1], ["+", 1, 2], ["find", ["attribute", "age"], [1]]] as QueryTree[]) {
    assert.equal(isTruth(tree), false, JSON.stringify(tree));
  }
});

test("a condition's mean is the share itself", () => {
  const reading = asked(young);
  assert.equal(reading.as, "share");
  assert.deepEqual(shownAnswer(reading, 0.2, 0.1, 0.3), { value: 0.2, low: 0.1, high: 0.3 });
});

test("1 or -1 is shown as the same share", () => {
  const reading = asked(["if", young, 1, -1]);
  assert.equal(reading.as, "share");
  assert.deepEqual(shownAnswer(reading, -0.5, -0.75, -0.25), { value: 0.25, low: 0.125, high: 0.375 });
});

test("where the condition counts as the smaller number, the ends of the interval change places", () => {
  assert.deepEqual(shownAnswer(asked(["if", young, -1, 1]), -0.5, -0.75, -0.25), { value: 0.75, low: 0.625, high: 0.875 });
});

test("any other number is a mean between the radius and its negative", () => {
  for (const tree of [["attribute", "age"], ["if", young, ["attribute", "age"], 0], ["if", young, 1, 1]] as QueryTree[]) {
    const reading = asked(tree, 3);
    assert.deepEqual([reading.as, reading.from, reading.to], ["mean", -3, 3]);
    assert.equal(reading.shown(0.5), 0.5);
  }
});

test("what is not known stays unknown", () => {
  assert.deepEqual(shownAnswer(asked(["if", young, 1, -1]), 0, null, null), { value: 0.5, low: null, high: null });
});

test("a choice is read as shares", () => {
  assert.equal(asked(["attribute", "sex"], 1, { kind: "shares", domain: {} }).as, "choice");
});

test("the whole radius is offered for conditions only, with brackets where they are needed", () => {
  assert.equal(asWholeRadius("age < 30", young, 1), "1 if age < 30 else -1");
  assert.equal(asWholeRadius("a if b else c", ["if", young, true, false], 2), "2 if (a if b else c) else -2");
  assert.equal(asWholeRadius("age", ["attribute", "age"], 1), null);
});

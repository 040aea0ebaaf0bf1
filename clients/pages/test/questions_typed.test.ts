/** Parameters of declared questions: what is given, how it is read, and how an address holds it. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { accuracyWords } from "../src/questions/accuracy.js";
import { measureOf } from "../src/questions/kinds.js";
import { isPanel, questionOf, slotsOf } from "../src/questions/declared.js";
import { fromAddress, givenOf, nothingTyped, readParameters, toAddress, typedFrom, type Typed } from "../src/questions/typed.js";
import { DECLARED } from "./declared.js";

const PARAMETERS = DECLARED.questions.flatMap(({ parameters }) => parameters);

function read(kind: string, given: Partial<Typed> = {}): { found: object; faults: string[] } {
  const typed = { ...nothingTyped(), ...given };
  const faults = new Map<string, string>();
  const { parameters } = questionOf(DECLARED, kind);
  return { found: readParameters(givenOf(parameters, typed, "integer"), typed, faults), faults: [...faults.keys()] };
}

test("a group is one slot, and every other parameter one by itself", () => {
  const slots = slotsOf(questionOf(DECLARED, "panel").parameters);
  assert.deepEqual(slots.map(({ group, ways }) => [group, ways.length]), [["values", 4], ["", 1], ["", 1]]);
});

test("an unknown kind is the first one, and a panel is what has no strategies", () => {
  assert.equal(questionOf(DECLARED, "constructor").kind, "shares");
  assert.deepEqual(DECLARED.questions.filter(isPanel).map(({ kind }) => kind), ["panel"]);
});

test("what is not typed is the default or the example; of a group one way is given", () => {
  assert.deepEqual(read("shares"), { found: { values: 40 }, faults: [] });
  assert.deepEqual(read("queries"), { found: { workload: "prefix:1024" }, faults: [] });
  assert.deepEqual(read("vector"), { found: { dimension: 20, radius: 1 }, faults: [] });
  assert.deepEqual(read("shares", { ways: { values: "range" } }), { found: { range: { start: 18, stop: 99 } }, faults: [] });
  assert.deepEqual(read("shares", { ways: { values: "labels" }, texts: { labels: "a\nb" } }).found, { labels: ["a", "b"] });
  assert.deepEqual(read("shares", { ways: { values: "elsewhere" } }).found, { values: 40 });
});

test("every kind of parameter says what is wrong with it", () => {
  for (const values of ["", "1", "2.5", "many"]) assert.deepEqual(read("shares", { texts: { values } }).faults, ["values"], values);
  assert.deepEqual(read("vector", { texts: { dimension: "0", radius: "-1" } }).faults, ["dimension", "radius"]);
  assert.deepEqual(read("queries", { texts: { workload: " " } }).faults, ["workload"]);
  assert.deepEqual(read("shares", { ways: { values: "labels" } }).faults, ["labels"]);
  assert.deepEqual(read("shares", { ways: { values: "range" }, texts: { range: "5..1" } }).faults, ["range"]);
});

test("an alphabet is a name, or its characters as they are; integers are no larger than can be sent", () => {
  assert.deepEqual(read("words").found, { longest: 16, alphabet: "unicode" });
  assert.deepEqual(read("words", { texts: { alphabet: " latin " } }).found, { longest: 16, alphabet: "latin" });
  assert.deepEqual(read("words", { texts: { alphabet: "abc " } }).found, { longest: 16, alphabet: "abc " });
  for (const alphabet of ["", "  ", "a"]) assert.deepEqual(read("words", { texts: { alphabet } }).faults, ["alphabet"]);
  assert.deepEqual(read("words", { texts: { below: "9007199254740993" } }).faults, ["below"]);
});

test("attributes go by their names, whatever those are; empty rows are left out", () => {
  const attributes = [{ name: "age", values: "0 to 9" }, { name: "", values: " " }, { name: "__proto__", values: "a,b" }];
  const { found } = read("shares", { ways: { values: "attributes" }, rows: { attributes } });
  assert.equal(JSON.stringify(found), '{"attributes":{"age":{"start":0,"stop":9},"__proto__":["a","b"]}}');
});

test("attributes without a name, without values, or twice are told", () => {
  const wrong = [
    [{ name: "", values: "" }],
    [{ name: "age", values: "" }],
    [{ name: "", values: "a,b" }],
    [{ name: "a", values: "1,2" }, { name: "a", values: "1,2" }],
  ];
  for (const attributes of wrong)
    assert.deepEqual(read("shares", { ways: { values: "attributes" }, rows: { attributes } }).faults, ["attributes"]);
});

test("texts, choices and optional numbers: what is left empty is not said, but for a text", () => {
  const missing = "refuse";
  assert.deepEqual(read("number"), { found: { low: 0, high: 600, unit: "", wants: "mean", missing }, faults: [] });
  const texts = { unit: " minutes ", wants: "distribution", points: "9", low: "-5" };
  assert.deepEqual(read("number", { texts }).found, { low: -5, high: 600, unit: "minutes", wants: "distribution", points: 9, missing });
  assert.deepEqual(read("number", { texts: { wants: "median", points: "1" } }).faults, ["wants", "points"]);
});

test("the fields of a form may be numbers, those of a record may not", () => {
  const rows = { attributes: [{ name: "minutes", values: "0 to 600 minutes" }, { name: "weight", values: "0.5 to 2, 5 points" }] };
  const minutes = { low: 0, high: 600, unit: "minutes" };
  assert.deepEqual({ ...(read("records", { rows }).found as any).attributes }, { minutes, weight: { low: 0.5, high: 2, points: 5 } });
  assert.deepEqual(read("shares", { ways: { values: "attributes" }, rows }).faults, ["attributes"]);
  assert.deepEqual(read("records", { rows: { attributes: [{ name: "a", values: "5 to 2 minutes" }] } }).faults, ["attributes"]);
});

test("an address brings back what it was made of, and nonsense in it does no harm", () => {
  for (const typed of [
    { ...nothingTyped(), ways: { values: "labels" }, texts: { labels: "a, b\nc & d" } },
    { ...nothingTyped(), ways: { values: "attributes" }, rows: { attributes: [{ name: "a=b", values: "x\ny" }] } },
  ]) {
    const given = givenOf(questionOf(DECLARED, "shares").parameters, typed, "integer");
    assert.deepEqual(fromAddress(PARAMETERS, new URLSearchParams(toAddress(given, typed))), typed);
  }
  for (const query of ["attributes={", "attributes=[]", "attributes=[7]", "more=1&__proto__=2"])
    assert.deepEqual(fromAddress(PARAMETERS, new URLSearchParams(query)), nothingTyped());
});

test("what was kept comes back; what was spoilt is blank", () => {
  const typed: Typed = { ways: { values: "labels" }, texts: { labels: "a" }, rows: { attributes: [{ name: "a", values: "b" }] } };
  assert.deepEqual(typedFrom(JSON.parse(JSON.stringify(typed))), typed);
  for (const spoilt of [null, 7, [], { texts: [1] }, { texts: { labels: 5 }, rows: { attributes: [{}] }, ways: null }])
    assert.deepEqual(typedFrom(spoilt), nothingTyped());
});

test("the margin of one answer comes first, in the answer's own unit", () => {
  assert.equal(accuracyWords(measureOf("shares", {}), 0.004, 0.0123, 40), "Each share is known to about ± 0.4 points (95\u00a0%); all 40 together: L2 at most 0.0123.");
  const expected = { l2: 0.01, people: "uniform values" };
  assert.match(accuracyWords(measureOf("shares", {}), 0.004, 0.0123, 40, expected), /L2 at most 0\.0123, about 0\.01 for uniform values\.$/);
  assert.equal(accuracyWords(measureOf("vector", {}), 0.5, 0.5, 1), "Each coordinate is known to about ± 0.5 (95\u00a0%).");
  const minutes = { unit: "minutes" };
  assert.equal(accuracyWords(measureOf("number", minutes), 5, 5, 1), "The mean is known to about ± 5\u00a0minutes (95\u00a0%).");
  assert.match(accuracyWords(measureOf("number", { ...minutes, wants: "distribution" }), 0.05, 5, 64), /^Each share .* ± 5 points/);
  assert.match(accuracyWords(measureOf("constructor", {}), 0.5, 2), /^Each answer is known to about ± 0\.5 .*; all answers together: L2 at most 2\.$/);
});

test("what no answer counts as is said of a question, and of each attribute", () => {
  assert.deepEqual(read("number").found, { low: 0, high: 600, unit: "", wants: "mean", missing: "refuse" });
  assert.deepEqual(read("number", { texts: { missing: "as 0 " } }).found, { low: 0, high: 600, unit: "", wants: "mean", missing: "as 0" });
  const attributes = [
    { name: "plan", values: "free, pro", missing: " unknown " },
    { name: "age", values: "0 to 9", missing: "0" },
    { name: "minutes", values: "0 to 600 minutes", missing: "1.5" },
    { name: "town", values: "Oslo, Bergen", missing: " " },
  ];
  assert.deepEqual({ ...(read("records", { rows: { attributes } }).found as { attributes: object }).attributes }, {
    plan: { labels: ["free", "pro"], missing: "as unknown" },
    age: { start: 0, stop: 9, missing: "as 0" },
    minutes: { low: 0, high: 600, unit: "minutes", missing: "as 1.5" },
    town: ["Oslo", "Bergen"],
  });
  const typed = { ...nothingTyped(), rows: { attributes } };
  const { parameters } = questionOf(DECLARED, "records");
  const address = new URLSearchParams(toAddress(givenOf(parameters, typed, "integer"), typed));
  assert.deepEqual(fromAddress(parameters, address).rows.attributes, attributes);
});

/** The form as the collector is asked to state it, and what is refused before it is asked. */
import assert from "node:assert/strict";
import { test } from "node:test";
import {
  BLANK,
  domainSize,
  draftOf,
  filledFrom,
  filledFromAddress,
  planOf,
  type Draft,
  type Filled,
} from "../src/dashboard/form/draft.js";
import { epsilonAt, meaning, placeOf } from "../src/dashboard/form/epsilon.js";
import { foretell } from "../src/dashboard/form/foretold.js";

const COLOURS: Filled = { ...BLANK, title: " Colour ", labels: "red\ngreen" };

function drafted(given: Partial<Filled>): Draft {
  const read = draftOf({ ...COLOURS, ...given });
  assert.ok("draft" in read, JSON.stringify("faults" in read ? [...read.faults] : []));
  return read.draft;
}

function faults(given: Partial<Filled>): string[] {
  const read = draftOf({ ...COLOURS, ...given });
  return "faults" in read ? [...read.faults.keys()] : [];
}

test("each kind sends its own fields and no other", () => {
  assert.deepEqual(drafted({}), { kind: "distribution", title: "Colour", epsilon: 1, labels: ["red", "green"] });
  assert.deepEqual(drafted({ answers: "range", mechanism: "hadamard" }), {
    kind: "distribution",
    title: "Colour",
    epsilon: 1,
    range: { start: 0, stop: 99 },
    mechanism: "hadamard",
  });
  assert.deepEqual(drafted({ kind: "queries", labels: "" }), {
    kind: "queries",
    title: "Colour",
    epsilon: 1,
    workload: "prefix:64",
  });
  assert.deepEqual(drafted({ kind: "mean", radius: "2,5" }), {
    kind: "mean",
    title: "Colour",
    epsilon: 1,
    dimension: 20,
    radius: 2.5,
  });
  assert.deepEqual(drafted({ kind: "adaptive", mechanism: "hadamard" }), {
    kind: "adaptive",
    title: "Colour",
    epsilon: 1,
    labels: ["red", "green"],
    rounds: 20,
  });
});

test("attributes go by their names, whatever those are; empty rows are left out", () => {
  const attributes = [
    { name: "age", values: "0 to 9" },
    { name: "", values: " " },
    { name: "__proto__", values: "a,b" },
  ];
  const draft = drafted({ answers: "attributes", attributes });
  assert.equal(JSON.stringify(draft["attributes"]), '{"age":{"start":0,"stop":9},"__proto__":["a","b"]}');
  assert.equal(domainSize(draft), 20);
});

test("what is wrong is told at its field, all of it at once", () => {
  assert.deepEqual(faults({ title: " ", labels: "", epsilon: "0" }), ["title", "epsilon", "labels"]);
  for (const epsilon of ["", "-1", "much", "Infinity", "NaN"])
    assert.deepEqual(faults({ epsilon }), ["epsilon"], epsilon);
  assert.deepEqual(faults({ answers: "range", from: "5", to: "1" }), ["range"]);
  assert.deepEqual(faults({ kind: "queries", workload: "" }), ["workload"]);
  assert.deepEqual(faults({ kind: "mean", dimension: "0", radius: "-1" }), ["dimension", "radius"]);
  assert.deepEqual(faults({ kind: "adaptive", rounds: "1.5" }), ["rounds"]);
  assert.deepEqual(faults({ minimum: "many" }), ["minimum_reports"]);
  for (const attributes of [
    [],
    [{ name: "age", values: "" }],
    [{ name: "", values: "a,b" }],
    [
      { name: "a", values: "1,2" },
      { name: "a", values: "1,2" },
    ],
  ])
    assert.deepEqual(faults({ answers: "attributes", attributes }), ["attributes"]);
});

test("an epsilon that the collector would refuse is not sent to it", () => {
  for (const epsilon of ["1e9", "16.1", "1e-7"]) assert.deepEqual(faults({ epsilon }), ["epsilon"], epsilon);
  assert.equal(drafted({ epsilon: "16" }).epsilon, 16);
  const read = draftOf({ ...COLOURS, epsilon: "17" });
  assert.match("faults" in read ? (read.faults.get("epsilon") ?? "") : "", /from 9\.54 × 10⁻⁷ to 16/);
});

test("a form that was kept comes back as it was, and one that was spoilt does no harm", () => {
  const filled: Filled = {
    ...COLOURS,
    kind: "adaptive",
    answers: "attributes",
    attributes: [{ name: "a", values: "1,2" }],
  };
  assert.deepEqual(filledFrom(JSON.stringify(filled)), filled);
  for (const text of [null, "", "{", "7", "null", '{"attributes":[null]}']) assert.deepEqual(filledFrom(text), BLANK);
  assert.deepEqual(filledFrom('{"kind":"constructor","answers":"x","attributes":{},"title":5,"more":1}'), BLANK);
});

test("the planner is asked with the same survey, and a number of people", () => {
  assert.deepEqual(planOf(drafted({}), 500), { kind: "distribution", epsilon: 1, users: 500, size: 2 });
  assert.deepEqual(planOf(drafted({ kind: "queries" }), 500), {
    kind: "queries",
    epsilon: 1,
    users: 500,
    workload: "prefix:64",
  });
  assert.deepEqual(planOf(drafted({ kind: "mean" }), 500), {
    kind: "mean",
    epsilon: 1,
    users: 500,
    dimension: 20,
    radius: 1,
  });
  assert.deepEqual(planOf(drafted({ kind: "adaptive" }), 500), {
    kind: "adaptive",
    epsilon: 1,
    users: 500,
    rounds: 20,
  });
});

test("what is foretold is that of the survey's own mechanism", () => {
  const plan = {
    target_error: 0.5,
    candidates: [
      { name: "other", l2: 0.1, margin: 0.9 },
      { name: "own", l2: 0.02, margin: 0.0123 },
    ],
  };
  assert.match(foretell("distribution", "own", plan, 10_000), /^With 10,000 people, .* within 1\.23 percentage points/);
  assert.match(foretell("mean", "own", plan, 10_000), /off by about 0\.02/);
  assert.match(foretell("adaptive", "binary", plan, 1), /^With one person, .* below 0\.5/);
  assert.match(foretell("distribution", "other", plan, 10), /off by about 0\.1/, "a share within 90 points is none");
  assert.match(foretell("mean", "none", { target_error: null, candidates: [] }, 10), /nothing can be promised/);
});

test("epsilon's meaning is e to it, and the guess that follows from it", () => {
  assert.match(meaning(Math.log(3))?.sentence ?? "", /at most 3 times.*at most 75\u00a0% of/);
  assert.match(meaning(1)?.sentence ?? "", /at most 73\.2\u00a0% of/, "rounded up: it is 73.106");
  assert.equal(meaning(2)?.warning, "");
  assert.match(meaning(2.1)?.warning ?? "", /page will refuse an epsilon above 2, and so will devices/);
  assert.match(meaning(1e9)?.sentence ?? "", /∞ times.*right more than 99\.999\u00a0%/);
  for (const none of [0, -1, NaN, Infinity]) assert.equal(meaning(none), null);
});

test("the slider goes by factors from 0.1 to 10, and finds its own places again", () => {
  assert.deepEqual([epsilonAt(0), epsilonAt(100), epsilonAt(200)], [0.1, 1, 10]);
  assert.deepEqual([placeOf(0.0001), placeOf(1), placeOf(1e9)], [0, 100, 200]);
  for (let place = 0; place <= 200; place++) assert.ok(Math.abs(placeOf(epsilonAt(place)) - place) <= 3, String(place));
});

test("the planner's link fills the form, and whatever else stands in an address does not", () => {
  const from = (query: string) => filledFromAddress(new URLSearchParams(query));
  assert.deepEqual(from("kind=distribution&size=300&epsilon=0.5"), {
    ...BLANK,
    answers: "range",
    from: "0",
    to: "299",
    epsilon: "0.5",
  });
  assert.deepEqual(from("kind=queries&workload=prefix:8&epsilon=2"), {
    ...BLANK,
    kind: "queries",
    workload: "prefix:8",
    epsilon: "2",
  });
  for (const query of ["", "kind=other", "size=1", "size=x", "__proto__=1&answers=texts"]) {
    assert.deepEqual(from(query), BLANK);
  }
});

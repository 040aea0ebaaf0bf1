/** The form as the collector is asked to state it, and what is refused before it is asked. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { nextMonday } from "../src/views/create/calendar_fields.js";
import { isDesigned } from "../src/views/create/design_fields.js";
import { blank, draftOf, filledFrom, filledFromAddress, type SurveyDraft, type Filled } from "../src/views/create/draft.js";
import { epsilonAt, meaning, placeOf } from "../src/views/create/epsilon.js";
import { questionOf } from "../src/questions/declared.js";
import { DECLARED } from "./declared.js";

const colours = (given: Partial<Filled> = {}): Filled => ({
  ...blank(),
  kind: "shares",
  typed: { ways: {}, texts: { labels: "red\ngreen" }, rows: {} },
  title: " Colour ",
  ...given,
});

const read = (given: Partial<Filled>) => draftOf(colours(given), questionOf(DECLARED, given.kind ?? "shares"), DECLARED.calendar);

function drafted(given: Partial<Filled> = {}): SurveyDraft {
  const found = read(given);
  assert.ok("draft" in found, JSON.stringify("faults" in found ? [...found.faults] : []));
  return found.draft;
}

function faults(given: Partial<Filled>): string[] {
  const found = read(given);
  return "faults" in found ? [...found.faults.keys()] : [];
}

test("each kind sends its own parameters and no other", () => {
  const same = { title: "Colour", epsilon: 1 };
  assert.deepEqual(drafted(), { ...same, kind: "shares", parameters: { labels: ["red", "green"] } });
  assert.deepEqual(drafted({ kind: "queries" }), { ...same, kind: "queries", parameters: { workload: "prefix:1024" } });
  assert.deepEqual(drafted({ kind: "vector" }), { ...same, kind: "vector", parameters: { dimension: 20, radius: 1 } });
  assert.deepEqual(drafted({ kind: "panel" }), {
    ...same,
    kind: "panel",
    parameters: { labels: ["red", "green"], rounds: 20, radius: 1 },
  });
});

test("settings that were left empty are not sent; a panel has no design", () => {
  const settings = { strategy: "histogram", mechanism: "hadamard", criterion: "margin", people: "5,000", delta: "1e-6", max_report_bytes: "9" };
  const { kind, title, epsilon, parameters, ...design } = drafted(settings);
  assert.deepEqual(design, { ...settings, people: 5_000, delta: 1e-6, max_report_bytes: 9 });
  assert.deepEqual(Object.keys(drafted({ kind: "panel", ...settings })).sort(), ["epsilon", "kind", "parameters", "people", "title"]);
  assert.ok(isDesigned(colours(settings)) && !isDesigned(colours()));
});

test("a relay is sent where reports go through one, and what is wrong with it is told at its field", () => {
  const typed = { "relay.url": " https://relay.example.org ", "relay.least": "10,000", "relay.delta": "" };
  assert.ok(!("relay" in drafted(typed)) && !("relay" in drafted({ kind: "panel", relays: "yes", ...typed })));
  const relay = { url: "https://relay.example.org", least: 10_000 };
  assert.deepEqual(drafted({ relays: "yes", ...typed }).relay, relay);
  assert.deepEqual(drafted({ relays: "yes", ...typed, "relay.delta": "1e-8" }).relay, { ...relay, delta: 1e-8 });
  assert.deepEqual(faults({ relays: "yes" }), ["relay.url", "relay.least"]);
  assert.deepEqual(faults({ relays: "yes", ...typed, "relay.least": "1", "relay.delta": "0" }), ["relay.least", "relay.delta"]);
  assert.ok(!isDesigned(colours({ relays: "yes", ...typed })));
});

test("what is wrong is told at its field, all of it at once", () => {
  const typed = { ways: {}, texts: {}, rows: {} };
  assert.deepEqual(faults({ title: " ", typed, epsilon: "0" }), ["title", "labels", "epsilon"]);
  for (const epsilon of ["", "-1", "much", "Infinity", "NaN"]) assert.deepEqual(faults({ epsilon }), ["epsilon"], epsilon);
  assert.deepEqual(faults({ people: "0", delta: "small", max_report_bytes: "x", minimum_reports: "many" }), [
    "people",
    "delta",
    "max_report_bytes",
    "minimum_reports",
  ]);
});

test("an epsilon that the collector would refuse is not sent to it", () => {
  for (const epsilon of ["1e9", "16.1", "1e-7"]) assert.deepEqual(faults({ epsilon }), ["epsilon"], epsilon);
  assert.equal(drafted({ epsilon: "16" }).epsilon, 16);
  const found = read({ epsilon: "17" });
  assert.match("faults" in found ? (found.faults.get("epsilon") ?? "") : "", /from 9\.54 × 10⁻⁷ to 16/);
});

test("a form that was kept comes back as it was, and one that was spoilt does no harm", () => {
  const filled = colours({ kind: "panel", people: "7" });
  assert.deepEqual(filledFrom(JSON.stringify(filled)), filled);
  for (const text of [null, "", "{", "7", "null", '{"typed":[null],"title":5,"more":1}']) assert.deepEqual(filledFrom(text), blank());
});

test("the planner's link fills the form, and whatever else stands in an address does not", () => {
  const parameters = DECLARED.questions.flatMap((question) => question.parameters);
  const from = (query: string) => filledFromAddress(new URLSearchParams(query), parameters);
  assert.deepEqual(from("kind=shares&values=300&epsilon=0.5&people=50"), {
    ...blank(),
    kind: "shares",
    typed: { ways: { values: "values" }, texts: { values: "300" }, rows: {} },
    epsilon: "0.5",
    people: "50",
  });
  assert.deepEqual(from("size=1&__proto__=1&typed=x"), blank());
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

test("a survey that repeats sends its calendar, and nothing of it is sent where it is asked once", () => {
  const texts = { labels: "red\ngreen", every: "week", starts: "2027-01-04", periods: "52", renews: "quarter" };
  const typed = { ways: {}, texts, rows: {} };
  assert.deepEqual(drafted({ repeats: "yes", typed })["calendar"], { every: "week", starts: "2027-01-04", periods: 52, renews: "quarter" });
  assert.ok(!("calendar" in drafted({ typed })));
  assert.ok(!("calendar" in drafted({ kind: "panel", repeats: "yes", typed })));
  assert.deepEqual(faults({ repeats: "yes", typed: { ways: {}, texts: { ...texts, starts: "", periods: "1" }, rows: {} } }), ["periods", "starts"]);
});

test("a calendar begins on the next Monday", () => {
  assert.equal(nextMonday(new Date("2026-11-16T20:00:00Z")), "2026-11-23");
  assert.equal(nextMonday(new Date("2026-11-22T23:59:00Z")), "2026-11-23");
  assert.equal(nextMonday(new Date("2026-12-29T00:00:00Z")), "2027-01-04");
});

test("public groups are sent as they were typed, and what is wrong with them is told at their field", () => {
  assert.ok(!("groups" in drafted({ groups: " \n" })) && !("groups" in drafted({ kind: "panel", groups: "arm: A, B" })));
  assert.deepEqual(drafted({ groups: "arm: A, B\n platform = phone , web " }).groups, { arm: ["A", "B"], platform: ["phone", "web"] });
  for (const groups of ["arm", "arm: A", ": A, B", "arm: A, A", "arm: A, B\narm: C, D"]) assert.deepEqual(faults({ groups }), ["groups"], groups);
  const many = (n: number): string => `n: ${Array.from({ length: n }, (_, at) => at).join(",")}`;
  assert.deepEqual(faults({ groups: `${many(50)}\narm: A, B, C` }), ["groups"]);
  assert.equal(Object.keys(drafted({ groups: `${many(50)}\narm: A, B` }).groups as object).length, 2);
});

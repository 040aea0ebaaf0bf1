/** The planner's state in addresses, requests, on the command line and in Python. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { commandLine, pythonLines } from "../src/views/planner/elsewhere.js";
import { newSurveyLink, requestOf, searchOf, stateOf, type PlanState } from "../src/views/planner/state.js";
import { DECLARED } from "./declared.js";

const state = (search: string): PlanState => stateOf(search, DECLARED);
const request = (told: PlanState): object => requestOf(told, new Map());

const FIRST = state("");
const MARGIN = state("?kind=shares&values=1000&epsilon=0.5&margin=0.05&solve=people");
const QUERIES = state("?kind=queries&workload=marginals:age=10,sex=2:2&l2=0.02&criterion=l2&solve=epsilon");
const VECTOR = state("?kind=vector&dimension=7&radius=2.5");
const PANEL = state("?kind=panel&rounds=50&people=12345");
const ROUNDS = state("?kind=panel&solve=rounds&error=0.1&radius=2");
const RECORDS = state(`?kind=shares&attributes=${encodeURIComponent('[{"name":"age","values":"0 to 9"},{"name":"it\'s","values":"a b,c"}]')}`);
const NUMBER = state("?kind=number&unit=minutes&margin=5&solve=people");
const FORM = state(`?kind=records&attributes=${encodeURIComponent('[{"name":"plan","values":"a,b"},{"name":"time","values":"0 to 9 hours"}]')}`);
const PERIODS = state("?kind=shares&values=2&periods=52&solve=people&criterion=change&change=0.03");
const WINDOWS = state("?kind=shares&values=2&renews=13");
const WORDS = state("?kind=words&longest=8&alphabet=latin&solve=people&criterion=share&share=0.002");
const COMPARED = state("?kind=shares&values=2&solve=people&criterion=difference&difference=0.08&power=0.9&ratio=3");
const SEEN = state("?kind=shares&values=2&people=20000&criterion=difference");
const STATES = [COMPARED, SEEN, WORDS, PERIODS, WINDOWS, FIRST, MARGIN, QUERIES, VECTOR, PANEL, ROUNDS, RECORDS, NUMBER, FORM];

test("an address brings back what it was made of", () => {
  for (const one of STATES) assert.deepEqual(request(state(searchOf(one))), request(one));
  for (const one of STATES) assert.equal(searchOf(state(searchOf(one))), searchOf(one));
});

test("an address that says nonsense is as if it said nothing", () => {
  assert.deepEqual(state("?kind=constructor&people=-1&epsilon=nan&margin=0&solve=rounds&rounds=0&criterion=linf"), FIRST);
});

test("a request names the kind, its parameters, and all but what is worked out", () => {
  assert.deepEqual(request(FIRST), { kind: "shares", parameters: { values: 40 }, epsilon: 1, people: 100_000, criterion: "margin" });
  assert.deepEqual(request(MARGIN), { kind: "shares", parameters: { values: 1000 }, epsilon: 0.5, margin: 0.05 });
  assert.deepEqual(request(QUERIES), { kind: "queries", parameters: { workload: "marginals:age=10,sex=2:2" }, people: 100_000, l2: 0.02 });
  assert.deepEqual(request(PANEL), { kind: "panel", parameters: { radius: 1, rounds: 50 }, epsilon: 1, people: 12_345 });
  assert.deepEqual(request(ROUNDS), { kind: "panel", parameters: { radius: 2 }, epsilon: 1, people: 100_000, error: 0.1 });
});

test("words are planned by the share that is found, which means nothing elsewhere", () => {
  assert.deepEqual(request(WORDS), { kind: "words", parameters: { longest: 8, alphabet: "latin" }, epsilon: 1, share: 0.002 });
  assert.equal(commandLine(WORDS), "sottovoce plan words --longest 8 --alphabet latin --epsilon 1 --share 0.002");
  assert.deepEqual([state("?kind=shares&criterion=share").criterion, state("?kind=words&criterion=l2").criterion], ["margin", "margin"]);
  assert.match(newSurveyLink(WORDS, { epsilon: 1, people: 9 }), /^\/new\?kind=words&longest=8&alphabet=latin&below=&epsilon=1&people=9&criterion=margin$/);
});

test("what is wrong with a parameter is told by its name", () => {
  const faults = new Map<string, string>();
  requestOf(state("?kind=queries&workload="), faults);
  assert.deepEqual([...faults.keys()], ["workload"]);
});

test("the command line says the same", () => {
  assert.equal(commandLine(MARGIN), "sottovoce plan shares --values 1000 --epsilon 0.5 --margin 0.05");
  assert.equal(commandLine(VECTOR), "sottovoce plan vector --dimension 7 --radius 2.5 --epsilon 1 --people 100000 --criterion margin");
  assert.equal(commandLine(RECORDS), "sottovoce plan shares --attributes age=0..9 'it'\\''s=a b,c' --epsilon 1 --people 100000 --criterion margin");
  assert.equal(commandLine(ROUNDS), "sottovoce plan panel --radius 2 --epsilon 1 --people 100000 --error 0.1");
  assert.equal(commandLine(NUMBER), "sottovoce plan number --low 0 --high 600 --unit minutes --epsilon 1 --margin 5");
  assert.match(commandLine(FORM), /--attributes plan=a,b time=number:0\.\.9:hours --epsilon/);
  assert.equal(commandLine(state("?kind=shares&range=18..99&solve=people")), "sottovoce plan shares --range 18..99 --epsilon 1 --margin 0.01");
});

test("Python says the same", () => {
  assert.equal(pythonLines(FIRST), 'import sottovoce as sv\nsv.plan(sv.shares(40), epsilon=1, people=100_000, criterion="margin")');
  assert.ok(pythonLines(QUERIES).endsWith('sv.plan(sv.queries(parse_workload("marginals:age=10,sex=2:2")), people=100_000, l2=0.02)'));
  assert.ok(pythonLines(NUMBER).endsWith('sv.plan(sv.number(low=0, high=600, unit="minutes"), epsilon=1, margin=5)'));
  assert.ok(pythonLines(FORM).includes('sv.plan(sv.records({"plan": ["a", "b"], "time": sv.number(0, 9, "hours")}), '));
  assert.ok(pythonLines(VECTOR).includes("sv.plan(sv.vector(dimension=7, radius=2.5), "));
  assert.ok(pythonLines(RECORDS).includes(`sv.plan(sv.shares({"age": range(0, 10), "it's": ["a b", "c"]}), `));
  assert.ok(pythonLines(PANEL).endsWith("plan_panel(rounds=50, epsilon=1, people=12_345)"));
});

test("the form for a new survey is told what makes the planned one", () => {
  assert.equal(newSurveyLink(MARGIN, { epsilon: 0.5, people: 777 }), "/new?kind=shares&values=1000&epsilon=0.5&people=777&criterion=margin");
  assert.equal(newSurveyLink(QUERIES, { epsilon: 1, people: 9 }), "/new?kind=queries&workload=marginals%3Aage%3D10%2Csex%3D2%3A2&epsilon=1&people=9");
  assert.equal(newSurveyLink(ROUNDS, { epsilon: 1, people: 9, rounds: 33 }), "/new?kind=panel&radius=2&epsilon=1&rounds=33");
});

test("a survey that repeats is planned by its periods, or without an end by its window", () => {
  const asked = { kind: "shares", parameters: { values: 2 }, epsilon: 1 };
  assert.deepEqual(request(PERIODS), { ...asked, periods: 52, change: 0.03 });
  assert.deepEqual(request(WINDOWS), { ...asked, renews: 13, people: 100_000, criterion: "margin" });
  assert.equal(state("?kind=shares&criterion=change").criterion, "margin");
  assert.equal(commandLine(PERIODS), "sottovoce plan shares --values 2 --periods 52 --epsilon 1 --change 0.03");
  assert.ok(pythonLines(WINDOWS).endsWith('sv.plan(sv.shares(2), renews=13, epsilon=1, people=100_000, criterion="margin")'));
  assert.match(newSurveyLink(PERIODS, { epsilon: 1, people: 9 }), /&criterion=margin&repeats=yes&periods=52$/);
});

test("two groups are planned by their difference, or by their people for the smallest that they show", () => {
  const asked = { kind: "shares", parameters: { values: 2 }, epsilon: 1 };
  assert.deepEqual(request(COMPARED), { ...asked, difference: 0.08, power: 0.9, ratio: 3 });
  assert.deepEqual(request(SEEN), { ...asked, people: 20_000, groups: 2 });
  assert.equal(state("?kind=shares&criterion=difference&periods=52").criterion, "margin");
  assert.equal(state("?kind=panel&criterion=difference&power=0.9").criterion, "difference", "kept for a question, of which a panel takes no note");
  assert.deepEqual(request(state("?kind=panel&criterion=difference")), request(state("?kind=panel")));
  assert.equal(commandLine(COMPARED), "sottovoce plan shares --values 2 --epsilon 1 --difference 0.08 --power 0.9 --ratio 3");
  assert.ok(pythonLines(SEEN).endsWith("sv.plan(sv.shares(2), epsilon=1, people=20_000, groups=2)"));
  assert.match(newSurveyLink(COMPARED, { epsilon: 1, people: 9 }), /&people=9&criterion=margin&groups=arm%3A\+A%2C\+B$/);
});

test("what no answer counts as is written for the command line and for Python", () => {
  const rows = [{ name: "plan", values: "a,b", missing: "c" }, { name: "time", values: "0 to 9 hours", missing: "1" }, { name: "age", values: "0 to 9", missing: "0" }];
  const form = state(`?kind=records&attributes=${encodeURIComponent(JSON.stringify(rows))}`);
  assert.match(commandLine(form), /--attributes 'plan=a,b missing as c' 'time=number:0\.\.9:hours missing as 1' 'age=0\.\.9 missing as 0' /);
  assert.ok(
    pythonLines(form).includes(
      'sv.records({"plan": sv.shares(["a", "b"], missing="as c"), "time": sv.number(0, 9, "hours", missing="as 1"), "age": sv.shares(range(0, 10), missing="as 0")})',
    ),
  );
  assert.match(commandLine(state("?kind=number&missing=as+0&solve=people&margin=5")), /--missing 'as 0' /);
  assert.doesNotMatch(commandLine(NUMBER), /missing/);
});

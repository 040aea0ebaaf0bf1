/** The planner's state in addresses, requests, and on the command line. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { commandLine, FIRST, newSurveyLink, pythonLines, requestOf, searchOf, stateOf, type PlanState } from "../src/views/planner_state.js";

const STATES: PlanState[] = [
  FIRST,
  { ...FIRST, size: 1000, solve: "users", error: 0.05, epsilon: 0.5 },
  { ...FIRST, kind: "queries", workload: "marginals:age=10,sex=2:2", solve: "epsilon" },
  { ...FIRST, kind: "mean", dimension: 7, radius: 2.5 },
  { ...FIRST, kind: "adaptive", rounds: 50, users: 12_345 },
  { ...FIRST, kind: "adaptive", solve: "rounds", error: 0.1 },
];

test("an address brings back what it was made of", () => {
  for (const state of STATES) assert.deepEqual(requestOf(stateOf(searchOf(state))), requestOf(state));
  for (const state of STATES) assert.equal(searchOf(stateOf(searchOf(state))), searchOf(state));
});

test("an address that says nonsense is as if it said nothing", () => {
  assert.deepEqual(stateOf("?kind=constructor&size=1.5&users=-1&epsilon=nan&target_error=0&solve=rounds&rounds=0&radius=0"), FIRST);
});

test("a request names the kind, what is asked, and all but what is worked out", () => {
  assert.deepEqual(requestOf(FIRST), { kind: "distribution", size: 300, users: 1_000_000, epsilon: 1 });
  assert.deepEqual(requestOf(STATES[2]!), { kind: "queries", workload: "marginals:age=10,sex=2:2", users: 1_000_000, target_error: 0.02 });
  assert.deepEqual(requestOf(STATES[5]!), { kind: "adaptive", users: 1_000_000, epsilon: 1, target_error: 0.1 });
});

test("the command line and Python say the same", () => {
  assert.equal(commandLine(STATES[1]!), "sottovoce plan distribution --domain-size 1000 --epsilon 0.5 --target-error 0.05");
  assert.equal(commandLine(STATES[3]!), "sottovoce plan mean --dimension 7 --radius 2.5 --users 1000000 --epsilon 1");
  assert.equal(commandLine({ ...STATES[2]!, workload: "marginals:it's=2:1" }), "sottovoce plan queries --workload 'marginals:it'\\''s=2:1' --users 1000000 --target-error 0.02");
  assert.ok(pythonLines(FIRST).endsWith("sv.plan(300, users=1_000_000, epsilon=1)"));
  assert.ok(pythonLines(STATES[3]!).endsWith("sv.plan(dimension=7, radius=2.5, users=1_000_000, epsilon=1)"));
  assert.ok(pythonLines(STATES[4]!).endsWith("plan_adaptive(rounds=50, users=12_345, epsilon=1)"));
  assert.ok(pythonLines(STATES[5]!).endsWith("plan_adaptive(users=1_000_000, epsilon=1, target_error=0.1)"));
});

test("the form for a new survey is told kind, sizes and epsilon", () => {
  assert.equal(newSurveyLink(STATES[5]!, 0.7), "/new?kind=adaptive&rounds=20&epsilon=0.7");
  assert.equal(newSurveyLink(STATES[2]!, 1), "/new?kind=queries&workload=marginals%3Aage%3D10%2Csex%3D2%3A2&epsilon=1");
});

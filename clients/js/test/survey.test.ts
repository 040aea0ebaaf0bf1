/** Statements of surveys: what each part may hold, which parts go together, and that nothing else is taken. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { SurveyError } from "../src/core/errors.js";
import { Panel } from "../src/surveys/panel.js";
import { readSurvey } from "../src/surveys/read.js";
import { type Survey } from "../src/surveys/survey.js";
import { panel, queries, range, shares, vector } from "./stated.js";

const read = async (stated: object) => (await readSurvey(JSON.stringify(stated))) as Survey;
const HADAMARD = { name: "hadamard" };
const CODEBOOK = { candidates: 32, layers: 6, marked: 11, name: "codebook", rotations: 15, size: 64 };
const PREFIX = { domain: range(7), type: "prefix" };

test("what is read of a survey: its question, its mechanism and what can be answered", async () => {
  const drinks = await read(shares({ labels: ["tea", "water"] }, HADAMARD, { title: "Drinks" }));
  assert.deepEqual([drinks.kind, drinks.title, drinks.epsilon, drinks.delta], ["shares", "Drinks", 1, 0]);
  assert.deepEqual([drinks.seat, drinks.domain!.size, drinks.mechanism.name], [null, 2n, "hadamard"]);
  assert.ok(drinks.values.has("tea") && !drinks.values.has("wine"));
  const line = await read(queries(PREFIX, HADAMARD, "histogram"));
  assert.deepEqual([line.kind, line.domain!.size, line.input(3)], ["queries", 7n, 3]);
  const point = await read(vector(2, 2.5, CODEBOOK));
  assert.deepEqual([point.kind, point.domain, point.values.allowed], ["vector", null, "vectors of 2 numbers"]);
  assert.ok(point.question.kind === "vector" && point.question.radius === 2.5);
  assert.deepEqual(point.input([1, -2]), Float64Array.of(1, -2));
});

test("histogram takes every mechanism for values, for shares and for queries", async () => {
  for (const mechanism of [
    { name: "randomized_response" },
    { name: "hadamard" },
    { name: "hadamard_blocks", blocks: 2 },
    { name: "projective_geometry", order: 2, dimension: 3 },
    { name: "subset_selection", subset_size: 2 },
    { name: "unary_optimized" },
    { name: "unary_symmetric" },
  ]) {
    const plain = await read(shares(range(7), mechanism));
    const asked = await read(queries(PREFIX, mechanism, "histogram"));
    assert.equal(plain.mechanism.name, mechanism.name);
    assert.equal(asked.mechanism.reportBytes, plain.mechanism.reportBytes);
  }
});

test("direct is stated like every strategy, and randomizes the column of a value", async () => {
  const survey = await read(queries(PREFIX, CODEBOOK, "direct"));
  assert.deepEqual(survey.input(5), Float64Array.of(0, 0, 0, 0, 0, 1, 1));
  await assert.rejects(read(queries(PREFIX, CODEBOOK, undefined, { design: { mechanism: CODEBOOK } })), SurveyError);
});

test("parts that do not belong together are refused", async () => {
  const haar = { name: "haar", tilt: 0 };
  const design = (strategy: unknown, mechanism: object = HADAMARD, more: object = {}) => ({
    design: { mechanism, strategy, ...more },
  });
  const bad: object[] = [
    shares(range(7), haar, design("haar", haar)),
    shares(range(7), CODEBOOK, design("direct", CODEBOOK)),
    shares(range(7), CODEBOOK),
    shares(range(7), haar),
    shares(range(7), HADAMARD, { delta: 1e-6 }),
    shares(range(2 ** 40 + 1), HADAMARD),
    vector(2, 1, HADAMARD, design("histogram")),
    vector(2, 1, HADAMARD),
    vector(2, 1, { name: "binary" }),
    vector(2, 1, { name: "gaussian", noise_variance: 739609951928, steps: 94905 }, { delta: 1e-6 }),
    queries(PREFIX, HADAMARD, "direct"),
    queries(PREFIX, CODEBOOK, "histogram"),
    queries(PREFIX, HADAMARD, "haar"),
    queries(PREFIX, haar, "hierarchical"),
    queries(PREFIX, HADAMARD, "histogram", { delta: 1e-6 }),
    queries(PREFIX, CODEBOOK, "factorized"),
    queries(PREFIX, CODEBOOK, "", design("factorized", CODEBOOK, { digest: "0".repeat(64) })),
    queries(PREFIX, CODEBOOK, "", design("factorized", CODEBOOK, { digest: "constructor" })),
    ...["0".repeat(64), null, 1].map((digest) => shares(range(7), HADAMARD, design("histogram", HADAMARD, { digest }))),
  ];
  for (const [i, stated] of bad.entries()) await assert.rejects(read(stated), SurveyError, String(i));
});

test("every part holds exactly its fields", async () => {
  const parts = (stated: any): [string, object][] =>
    ["question", "design", "panel"].filter((name) => name in stated).map((name) => [name, stated[name]]);
  for (const good of [
    shares(range(7), HADAMARD),
    queries(PREFIX, CODEBOOK, "direct"),
    vector(3, 1, CODEBOOK),
    panel(range(7), 3),
  ]) {
    const without = (part: object, field: string) =>
      Object.fromEntries(Object.entries(part).filter(([name]) => name !== field));
    await read(good);
    await assert.rejects(read({ ...good, more: 1 }), SurveyError);
    for (const field of Object.keys(good)) await assert.rejects(read(without(good, field)), SurveyError, field);
    for (const [name, part] of parts(good)) {
      for (const bad of [null, [], "x", { ...part, more: 1 }]) {
        await assert.rejects(read({ ...good, [name]: bad }), SurveyError, name);
      }
      for (const field of Object.keys(part)) {
        await assert.rejects(read({ ...good, [name]: without(part, field) }), SurveyError, `${name} ${field}`);
      }
    }
    for (const format of [1, 3, "2", null]) await assert.rejects(read({ ...good, format }), SurveyError);
  }
});

test("questions of unknown kinds are refused", async () => {
  for (const kind of ["distribution", "mean", "adaptive", "toString", 1, null]) {
    const question = { domain: range(7), kind };
    await assert.rejects(read(shares(range(7), HADAMARD, { question })), SurveyError);
  }
});

test("a panel is read whole, and is no survey", async () => {
  const found = await readSurvey(JSON.stringify(panel(range(9), 3, { title: "People" })));
  assert.ok(found instanceof Panel);
  assert.deepEqual(
    [found.kind, found.title, found.epsilon, found.delta, found.rounds, found.radius, found.domain.size],
    ["panel", "People", 1, 0, 3, 1, 9n],
  );
  const stated = { domain: range(9), radius: 1, rounds: 3 };
  for (const change of [{ rounds: 0 }, { rounds: 2 ** 16 + 1 }, { rounds: 1.5 }, { radius: 0 }, { domain: range(1) }]) {
    await assert.rejects(read(panel(range(9), 3, { panel: { ...stated, ...change } })), SurveyError);
  }
});

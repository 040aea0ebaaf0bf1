/** What is promised: no more than holds, and delta beside epsilon wherever there is one. */
import type { Picture } from "../src/parts/api_types.js";
import assert from "node:assert/strict";
import { test } from "node:test";
import { readSurvey } from "../../js/src/index.js";
import { vector } from "../../js/test/stated.js";
import { guaranteeLines, likelier, promised, promisedBoth } from "../src/parts/promise.js";
import { troubleOf } from "../src/survey/trouble.js";
import { statements } from "../src/views/survey/certificate.js";

test("delta stands beside epsilon where it is not 0, rounded up and never away", () => {
  assert.equal(promised({ epsilon: 1, delta: 0 }), "ε = 1");
  assert.equal(promised({ epsilon: 0.5, delta: 1e-6 }), "ε = 0.5, δ = 10⁻⁶");
  assert.equal(promised({ epsilon: 2, delta: 1.2301e-9 }), "ε = 2, δ = 1.24 × 10⁻⁹");
});

test("pure privacy is told of every report, with a delta of every set of them", () => {
  assert.equal(
    likelier({ epsilon: 1, delta: 0 }),
    "No report is more than 2.72 times likelier from one answer than from any other.",
  );
  assert.equal(
    likelier({ epsilon: 1, delta: 1e-6 }),
    "For every set of reports, its probability with one answer is at most 2.72 times that with any other, plus 10⁻⁶.",
  );
});

test("with a relay both guarantees are told, the central one rounded up and with its assumption", () => {
  const central = { local_epsilon: 4, epsilon: 0.08412, lower: 0.07919, delta: 1e-6, least: 100_000, method: "blanket", assumption: "It holds if.", promise: "", relay: "https://relay.example.org:8471/a" };
  assert.equal(promisedBoth({ epsilon: 4, delta: 0, central }), "ε = 4 on the device; ε = 0.0842, δ = 10⁻⁶ in a batch");
  assert.equal(promisedBoth({ epsilon: 4, delta: 0, central: null }), "ε = 4");
  const [local, batch] = guaranteeLines(central);
  assert.deepEqual(local!.slice(0, 2), ["One report, on the device", "ε = 4"]);
  assert.deepEqual(batch, ["A batch of 100,000 or more, through relay.example.org:8471", "ε = 0.0842, δ = 10⁻⁶", "It holds if. Nothing below ε\u00a0=\u00a00.0791 could be proved of it."]);
  assert.ok(!guaranteeLines({ ...central, lower: 0 })[1]![2].includes("proved"));
});

test("the certificate promises no more than holds", () => {
  const found = { bound: { l2: 0.1, statement: "sqrt(V / n)" }, raw_bound: { l2: 0.2, statement: "" }, projection: "ball", projection_gap: 0, n_reports: 500, minimum_reports: 100, level: 0.95 };
  const told = (delta: number) => statements({ ...found, epsilon: 1, delta } as Picture);
  const [name, pure, words] = told(0)[0]!;
  assert.deepEqual([name, pure], ["Privacy", "ε = 1"]);
  assert.ok(words.startsWith("No report is more than 2.72 times likelier from one answer than from any other. This holds"));
  const [, figures, gaussian] = told(1e-6)[0]!;
  assert.equal(figures, "ε = 1, δ = 10⁻⁶");
  assert.ok(gaussian.startsWith("For every set of reports, ") && gaussian.includes("plus 10⁻⁶. This holds"));
  assert.ok(!gaussian.includes("No report"));
  assert.ok(told(0)[1]!.join(" ").endsWith("For the raw answers it is at most 0.2."));
  assert.ok(told(0).concat(told(1e-6)).every((line) => !/proved/.test(line.join(" "))));
});

test("the survey page answers none with a delta, so that what it says of epsilon holds", async () => {
  const codebook = { candidates: 32, layers: 6, marked: 11, name: "codebook", rotations: 15, size: 64 };
  const gaussian = { name: "gaussian", noise_variance: 739609951928, steps: 94905 };
  const read = (delta: number, mechanism: { name: string }) =>
    readSurvey(JSON.stringify(vector(1, 1, mechanism, { delta })));
  for (const mechanism of [codebook, { name: "binary" }]) assert.equal((await read(0, mechanism)).epsilon, 1);
  for (const mechanism of [codebook, { name: "binary" }, gaussian]) {
    const refused = await read(1e-6, mechanism).then(() => null, (error: unknown) => error);
    assert.equal(troubleOf(refused).title, "This page cannot answer this survey", mechanism.name);
  }
});

/** Seats and rounds of panels: who answers when, what a record gives, the bytes sent, and rounds that are refused whatever the record. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { fromHex, toHex } from "../src/core/bytes.js";
import { QueryError, SurveyError, ValueOutsideDomainError } from "../src/core/errors.js";
import { deriveSeat } from "../src/device/turns.js";
import { readSurvey } from "../src/surveys/read.js";
import { Survey } from "../src/surveys/survey.js";
import { fromHexFloat, replay } from "./replay.js";
import { panel, queries, range, shares, vector } from "./stated.js";
import { valueAt } from "./values.js";
import { vectors } from "./vectors.js";

async function read(stated: object): Promise<Survey> {
  const survey = await readSurvey(JSON.stringify(stated));
  assert.ok(survey instanceof Survey);
  return survey;
}

test("a seat follows from the device's secret", async () => {
  for (const { secret, id, window, seats, seat } of vectors("seats").seats) {
    assert.equal(String(await deriveSeat(fromHex(secret), id, BigInt(window), BigInt(seats))), seat);
  }
});

test("reports of rounds: what a record gives, and the bytes sent", async () => {
  for (const { canonical, id, tag, reports } of vectors("adaptive").rounds) {
    const survey = (await readSurvey(canonical)) as Survey;
    assert.deepEqual([survey.id, toHex(survey.tag)], [id, tag]);
    for (const { positions, input, tape, report } of reports) {
      const { attributes } = survey.domain!;
      const number = attributes.reduce((n, [name, inner]) => n * inner.size + BigInt(positions[name]), 0n);
      const record = valueAt(survey.domain!, number);
      const found = survey.input(record);
      assert.deepEqual(found, typeof input === "string" ? Float64Array.of(fromHexFloat(input)) : input);
      assert.equal(toHex(replay(tape, (source) => survey.randomize(record, source))), report);
    }
  }
});

const PEOPLE = panel(
  {
    attributes: [
      { domain: range(100), name: "age" },
      { domain: { labels: ["DE", "FR"] }, name: "country" },
    ],
  },
  4,
);
const AGE = ["attribute", "age"];
const seat = (change: object = {}) => ({ panel: PEOPLE, query: AGE, round: 2, ...change });
const number = (change: object = {}, more: object = {}) =>
  vector(1, 1, { name: "binary" }, { seat: seat(change), ...more });
const choice = (size: number, change: object = {}, more: object = {}) =>
  shares(range(size), { name: "hadamard" }, { seat: seat(change), ...more });

test("a record gives the query's answer, clipped to the panel's radius or into the choices", async () => {
  const asked = await read(number({ query: ["/", ["-", AGE, 50], 10] }));
  const inputs = (survey: Survey, ages: number[]) => ages.map((age) => survey.input({ age, country: "DE" }));
  assert.deepEqual(inputs(asked, [0, 45, 99]), [[-1], [-0.5], [1]].map((entry) => Float64Array.from(entry)));
  assert.deepEqual(inputs(await read(choice(7, { query: ["-", AGE, 50] })), [0, 53, 99]), [0, 3, 6]);
  assert.deepEqual(inputs(await read(choice(2, { query: ["<", AGE, 50] })), [0, 99]), [1, 0]);
  assert.deepEqual([asked.kind, asked.seat!.round, asked.seat!.panel.rounds], ["vector", 2, 4]);
  assert.deepEqual(asked.seat!.query, ["/", ["-", AGE, 50], 10]);
  assert.equal(asked.seat!.panel.id, (await readSurvey(JSON.stringify(PEOPLE))).id);
});

test("all mechanisms for values serve a round of choices", async () => {
  for (const mechanism of [
    { name: "randomized_response" },
    { name: "hadamard_blocks", blocks: 2 },
    { name: "projective_geometry", order: 2, dimension: 3 },
    { name: "subset_selection", subset_size: 2 },
    { name: "unary_optimized" },
    { name: "unary_symmetric" },
  ]) {
    const survey = await read(shares(range(5), mechanism, { seat: seat() }));
    assert.equal(survey.randomize({ age: 3, country: "FR" }).length, 4 + survey.mechanism.reportBytes);
  }
});

test("rounds that break a rule are refused, whatever the record would be", async () => {
  const within = (change: object) => ({ panel: { ...PEOPLE, ...change } });
  const stated = PEOPLE.panel as object;
  const codebook = { candidates: 32, layers: 6, marked: 11, name: "codebook", rotations: 15, size: 64 };
  const bad: object[] = [
    number({ round: 0 }),
    number({ round: 5 }),
    number({ round: 1.5 }),
    number({ more: 1 }),
    number({}, { seat: null }),
    number({}, { seat: { panel: PEOPLE, round: 1 } }),
    number({}, { epsilon: 0.5 }),
    number({}, { delta: 1e-6 }),
    number({ panel: null }),
    number(within({ format: 1 })),
    number(within({ title: "a\nb" })),
    number(within({ more: 1 })),
    number(within({ seat: seat() })),
    number(within({ panel: { ...stated, more: 1 } })),
    number(within({ panel: { ...stated, rounds: 0 } })),
    number(within({ panel: { ...stated, radius: 0 } })),
    number({ panel: number() }),
    vector(2, 1, codebook, { seat: seat() }),
    vector(1, 1, codebook, { seat: seat() }),
    vector(1, 2, { name: "binary" }, { seat: seat() }),
    queries({ domain: range(5), type: "prefix" }, { name: "hadamard" }, "histogram", { seat: seat() }),
    shares({ labels: [0, 1, 2] }, { name: "hadamard" }, { seat: seat() }),
    shares({ ...range(5), start: 1 }, { name: "hadamard" }, { seat: seat() }),
    shares({ ...range(5), step: 2 }, { name: "hadamard" }, { seat: seat() }),
    choice(2 ** 20 + 1),
    choice(1),
  ];
  for (const [i, round] of bad.entries()) await assert.rejects(read(round), SurveyError, String(i));
  const divided = ["/", 1, ["-", AGE, 50]];
  for (const query of [["attribute", "nobody"], divided, ["attribute", "country"], 0.5]) {
    await assert.rejects(read(choice(5, { query })), QueryError);
  }
  await read(choice(2 ** 20));
});

test("a record outside the panel's domain is refused without being named", async () => {
  for (const survey of [await read(number()), await read(choice(5))]) {
    const record = { age: 123456, country: "DE" };
    assert.ok(!survey.values.has(record) && survey.values.has({ age: 41, country: "DE" }));
    assert.throws(() => survey.input(record), (error: Error) => {
      return error instanceof ValueOutsideDomainError && !error.message.includes("123456");
    });
  }
});

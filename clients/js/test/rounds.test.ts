import assert from "node:assert/strict";
import { test } from "node:test";
import { drawSeat, readAdaptive } from "../src/adaptive.js";
import { toHex } from "../src/bytes.js";
import { QueryError, SurveyError, ValueOutsideDomainError } from "../src/errors.js";
import { readChoice, readQuestion } from "../src/rounds.js";
import { fromHexFloat, replay } from "./replay.js";
import { vectors } from "./vectors.js";

const { surveys, seats, rounds } = vectors("adaptive");
const read = ({ survey, id }: any) =>
  (survey.kind === "adaptive_question" ? readQuestion : readChoice)(survey, { id, attachments: {} });

test("a device draws its round", () => {
  for (const { id, round, tape } of seats) {
    const { survey } = surveys.find((stated: any) => stated.id === id);
    assert.equal(replay(tape, (source) => drawSeat(readAdaptive(survey).rounds, source)), round);
  }
});

test("reports of rounds: what a record gives, and the bytes sent", async () => {
  for (const round of rounds) {
    const asked = await read(round);
    for (const { positions, input, tape, report } of round.reports) {
      const { attributes } = asked.domain!;
      const number = attributes.reduce((n, [name, inner]) => n * inner.size + BigInt(positions[name]), 0n);
      const found = asked.input(attributes.length > 1 ? number : labelled(asked.domain, number)) as any;
      const expected = typeof input === "string" ? [fromHexFloat(input)] : input;
      assert.deepEqual(found, expected);
      assert.equal(round.tag + toHex(replay(tape, (source) => asked.mechanism.randomize(found, source))), report);
    }
  }
});

/** A range's value by its number; the others take numbers themselves. */
const labelled = (domain: any, number: bigint): bigint => domain.start + domain.step * number;

test("rounds that break a rule are refused, whatever the record would be", async () => {
  const [question] = rounds;
  const choice = rounds.find((round: any) => round.survey.kind === "adaptive_choice");
  const bad: [any, object][] = [
    [question, { round: 0 }],
    [question, { round: question.survey.survey.rounds + 1 }],
    [question, { epsilon: 0.5 }],
    [question, { mechanism: { name: "hadamard" } }],
    [question, { mechanism: { name: "binary", size: 1 } }],
    [question, { survey: { ...question.survey.survey, format: 2 } }],
    [question, { survey: { ...question.survey.survey, title: "a\nb" } }],
    [question, { survey: { ...question.survey.survey, more: 1 } }],
    [question, { survey: question.survey }],
    [question, { size: 2 }],
    [choice, { size: 1 }],
    [choice, { size: 2 ** 20 + 1 }],
    [choice, { mechanism: { name: "binary" } }],
  ];
  for (const [{ survey, id }, change] of bad) {
    await assert.rejects(read({ survey: { ...survey, ...change }, id }), SurveyError, JSON.stringify(change));
  }
  const divided = ["/", 1, ["-", ["attribute", "age"], 50]];
  for (const query of [["attribute", "nobody"], divided, ["attribute", "country"], 0.5]) {
    await assert.rejects(read({ survey: { ...choice.survey, query }, id: choice.id }), QueryError);
  }
});

test("a record outside the domain is refused without being named", async () => {
  const asked = await read(rounds[0]);
  assert.throws(() => asked.input({ age: 123456 }), (error: Error) => {
    return error instanceof ValueOutsideDomainError && !error.message.includes("123456");
  });
});

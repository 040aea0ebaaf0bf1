/** Numbers, choices and forms on the survey page: how answers read, and which ones a picture shows. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { readDomain } from "../../js/src/domain/domain.js";
import { NumberGrid } from "../../js/src/domain/number.js";
import type { Explanation } from "../../js/src/explain.js";
import { readSurvey, type Survey } from "../../js/src/index.js";
import { Records } from "../../js/src/questions/records.js";
import { Relation } from "../../js/src/questions/relation.js";
import { Words } from "../../js/src/questions/words.js";
import { choicesKind } from "../src/survey/kinds/choices.js";
import { numberKind } from "../src/survey/kinds/number.js";
import { recordsKind } from "../src/survey/kinds/records.js";
import { kindOf } from "../src/survey/kinds/registry.js";
import { wordsKind } from "../src/survey/kinds/words.js";
import { countedAs } from "../src/survey/fields/word_field.js";
import { clippedWords } from "../src/survey/fields/number_field.js";
import { Ticked } from "../src/survey/fields/ticks.js";

const FOUND = {} as Explanation;
/** What is known of a report on these fields. */
const about = (...fields: number[]) => ({ fields }) as unknown as Explanation;
const MINUTES = new NumberGrid({ low: 0, high: 600, unit: "minutes", points: 33 });
const MEAN = { grid: MINUTES, wants: "mean" };

test("a number outside counts as the nearer end, and that is said without repeating it", () => {
  assert.equal(clippedWords(700, MINUTES), "That is above 600\u00a0minutes, and will count as 600\u00a0minutes.");
  assert.match(clippedWords(-0.5, MINUTES), /^That is below 0/);
  for (const inside of [0, 12.5, 600]) assert.equal(clippedWords(inside, MINUTES), "");
  const kind = numberKind(MEAN);
  assert.equal(kind.text(700), "700\u00a0minutes, which counts as 600\u00a0minutes");
  assert.equal(kind.text(0.1), "0.1\u00a0minutes");
  assert.match(kind.drawn(FOUND), /two nearest of 33 marks, which are 18\.8\u00a0minutes apart/);
});

test("a picture of a number goes from end to end, with the own one exactly", () => {
  for (const [mine, at] of [[300, 64], [-5, 0], [9999, 127]] as const) {
    const [shown] = numberKind(MEAN).examples(FOUND, mine);
    assert.equal(shown!.own, at);
    assert.equal(shown!.value(at), Math.min(Math.max(mine, 0), 600));
    const values = Array.from({ length: shown!.size }, (_, i) => shown!.value(i) as number);
    assert.ok(values.every((value, i) => Math.abs(value - (600 * i) / 127) <= 300 / 127));
    assert.deepEqual([values[0], values.at(-1)], [0, 600]);
  }
  assert.equal(numberKind({ grid: MINUTES, wants: "distribution" }).examples(FOUND, null)[0]!.size, 33);
});

test("no more boxes are ticked than may be, and none at all only where that was said", () => {
  const ticked = new Ticked(2);
  assert.equal(ticked.read(), null);
  for (const i of [5, 3, 4]) ticked.set(i, true);
  assert.deepEqual([ticked.read(), ticked.isFull], [[3, 5], true]);
  assert.match(ticked.words, /^2 of at most 2 ticked\. Untick one/);
  ticked.setNone(true);
  assert.deepEqual([ticked.read(), ticked.words], [[], ""]);
  ticked.set(1, true);
  assert.deepEqual([ticked.read(), ticked.isNone], [[1], false]);
  ticked.set(1, false);
  assert.equal(ticked.read(), null);
});

test("a picture of choices shows the own answer, what would be without each option, and every option alone", () => {
  const kind = choicesKind({ options: readDomain({ labels: ["bus", "tram", "bike"] }), most: 2 });
  assert.match(kind.words[0], /at most 2\.$/);
  const [around, single] = kind.examples(FOUND, ["bus", "bike"]);
  const all = <Value>(size: number, at: (i: number) => Value) => Array.from({ length: size }, (_, i) => at(i));
  assert.deepEqual(all(around!.size, around!.label), ["bus, bike", "without “bus”", "without “bike”", "nothing ticked"]);
  assert.deepEqual(all(around!.size, around!.value), [["bus", "bike"], ["bike"], ["bus"], []]);
  assert.deepEqual(all(single!.size, single!.value), [["bus"], ["tram"], ["bike"]]);
  assert.equal(kind.examples(FOUND, null)[0]!.own, -1);
  assert.deepEqual([kind.text([]), kind.text(["tram"])], ["None of these", "tram"]);
  assert.equal(choicesKind({ options: readDomain({ labels: ["bus", "none of these"] }), most: 2 }).text([]), "I tick nothing");
});

test("a picture of a form shows the cells of the table that was drawn, and leaves the other fields alone", () => {
  const attributes = [
    { name: "country", domain: { labels: ["DE", "FR"] } },
    { name: "age_group", domain: { start: 20, step: 10, size: 3 } },
    { name: "minutes", number: { low: 0, high: 600, unit: "minutes", points: 3 } },
  ];
  const form = recordsKind(new Records({ kind: "records", attributes, tables: 2 }));
  const mine = { country: "FR", age_group: 40n, minutes: 100 };
  const [cells, ...more] = form.examples(about(0, 1), mine);
  assert.deepEqual([cells!.size, cells!.own, more.length], [6, 5, 0]);
  assert.equal(cells!.label(1), "country: DE · age group: 30");
  assert.deepEqual(cells!.value(1), { country: "DE", age_group: 30n, minutes: 100 });
  const [own, points] = form.examples(about(0, 2), mine);
  assert.deepEqual([own!.value(0), own!.own, points!.size, points!.own], [mine, 0, 6, -1]);
  assert.deepEqual(points!.value(4), { ...mine, minutes: 300 });
  assert.match(form.drawn(about(1)), /before your answers were looked at\. .* nothing about country and minutes\.$/);
  assert.equal(form.text({ ...mine, minutes: 700 }), "country: FR\nage group: 40\nminutes: 700\u00a0minutes, which counts as 600\u00a0minutes");
});

test("a form of a relation has its outcome last, and a number without grid points is shown at five places", () => {
  const regressors = [
    { name: "age", number: { low: 20, high: 60, unit: "", points: 2 } },
    { name: "own_car", domain: { labels: ["no", "yes"] } },
  ];
  const outcome = { name: "minutes", number: { low: 0, high: 600, unit: "", points: 2 } };
  const form = recordsKind(new Relation({ kind: "relation", regressors, outcome }));
  assert.match(form.words[0], /^Fill in what is true of you: 3 fields/);
  assert.match(form.words[1], /how minutes depends on age and own car, as a line through all answers\.$/);
  const mine = { age: 33, own_car: "yes", minutes: 90 };
  const [own, marks] = form.examples(about(0), mine);
  assert.deepEqual([own!.own, own!.value(0), marks!.size, marks!.own], [0, mine, 5, -1]);
  assert.deepEqual(Array.from({ length: 5 }, (_, i) => (marks!.value(i) as typeof mine).age), [20, 30, 40, 50, 60]);
  assert.equal(form.examples(about(0, 2), null)[0]!.size, 25);
  assert.match(form.drawn(about(1, 2)), /nothing about age\.$/);
});

test("a word is shown as it will be counted, and as other with the reason", () => {
  const question = new Words({ kind: "words", code: { code: "unicode", longest: 8, case: "lower" } });
  const kind = wordsKind(question);
  assert.deepEqual(countedAs(question, "  CoVid "), { word: "covid", since: "" });
  assert.match(countedAs(question, "much too long").since, /^, since it is longer than 8 characters/);
  assert.equal(countedAs(question, "much too long").word, "other");
  assert.equal(countedAs(question, "שלום").word, "שלום");
  assert.equal(countedAs(question, "\u202etxet").word, "other");
  assert.equal(countedAs(question, "a\u00adb").word, "a⟨U+00AD⟩b");
  assert.deepEqual([kind.text("Covid"), kind.text("flu"), kind.text("")], ["Covid, which counts as: covid", "flu", "other"]);
  const [around] = kind.examples(FOUND, "Covid");
  assert.deepEqual([around!.size, around!.own, around!.label(0), around!.label(1)], [2, 0, "covid", "other"]);
  const [none] = kind.examples(FOUND, "much too long");
  assert.deepEqual([none!.size, none!.own, none!.label(0)], [1, 0, "other"]);
});

test("integers and bytes are typed, and shown, in digits", () => {
  const integers = new Words({ kind: "words", code: { code: "integers", below: 1000 } });
  assert.deepEqual([wordsKind(integers).text(17n), wordsKind(integers).text("abc")], ["17", "abc, which counts as: other"]);
  assert.match(countedAs(integers, "1000").since, /^, since it is none of the integers from 0 to 999$/);
  const bytes = new Words({ kind: "words", code: { code: "bytes", longest: 2 } });
  assert.equal(wordsKind(bytes).text(Uint8Array.of(0, 255)), "0x00ff");
  assert.equal(countedAs(bytes, "0x00FF").word, "0x00ff");
});

const asked = async (question: object, design: object) =>
  (await readSurvey(JSON.stringify({ format: 2, title: "", epsilon: 1, delta: 0, question, design }))) as Survey;

test("the page asks by what a question asks for, and another package's as the plain one that it states", async () => {
  const domain = { start: 0, step: 1, size: 5 };
  const design = { strategy: "histogram", mechanism: { name: "hadamard" } };
  const shares = { kind: "shares", domain };
  assert.match(kindOf(await asked(shares, design)).words[1], /how many people give each answer/);
  const queries = { kind: "queries", workload: { type: "prefix", domain } };
  for (const question of [queries, { kind: "reaching", least: 3, asked_as: queries }]) {
    const kind = kindOf(await asked(question, design));
    assert.equal(kind.size, 5n);
    assert.match(kind.words[1], /at or below each value/);
  }
  await assert.rejects(asked({ kind: "reaching", least: 3 }, design), { name: "SurveyError" });
  await assert.rejects(asked({ kind: "reaching", asked_as: { kind: "nearing", asked_as: shares } }, design), { name: "SurveyError" });
});

/** What chips write into a question, and how a question's symbols are told apart. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { placeOf, tokens, wanted } from "../src/views/conversation/query.js";
import { attributesOf, examples, insertion, literal, named, spread } from "../src/views/conversation/words.js";

const people = attributesOf({
  attributes: [
    { name: "age", domain: { start: 17, step: 1, size: 74 } },
    { name: "country", domain: { labels: ["DE", "FR", "IT"] } },
    { name: "class", domain: { labels: [1, 2, 3] } },
    { name: "name", domain: { alphabet: "abc", length: 4 } },
  ],
});
const [age, country, grade, name] = people as [any, any, any, any];

test("symbols put together are the text again, whatever it is", () => {
  for (const text of ["age < 30 and country in ('F\\'R', \"DE\")", "1 if a else -1", "'open", "ä == 'é' # €\n", "a<=b!=c//d", "😀 + .5e3"]) {
    assert.equal(tokens(text).map((token) => token.text).join(""), text);
  }
});

test("symbols have kinds", () => {
  const kinds = tokens("find(age, (1,)) if x == 'and' else -2.5").filter((token) => token.kind !== "space");
  assert.deepEqual(kinds.map((token) => token.kind), [
    "call", "sign", "name", "sign", "sign", "number", "sign", "sign", "sign", "word", "name", "sign", "text", "word", "sign", "number",
  ]);
});

test("what may follow a text", () => {
  const cases: [string, string][] = [
    ["", "condition"], ["age", "joint"], ["age <", "value"], ["age < 30", "joint"], ["age < 30 and", "condition"], ["not ", "condition"],
    ["country in (", "value"], ["country in ('FR', ", "value"], ["country in ('FR')", "joint"], ["(", "condition"], ["age + ", "value"],
    ["find(country, (", "value"], ["country in", "value"],
  ];
  for (const [before, wants] of cases) assert.equal(wanted(before).wants, wants, before);
});

test("chips write whole conditions, or what is missing of one", () => {
  assert.equal(insertion("", age), "age");
  assert.equal(insertion("", country, "FR"), "country == 'FR'");
  assert.equal(insertion("age < 30", country, "FR"), " and country == 'FR'");
  assert.equal(insertion("country", country, "FR"), " == 'FR'");
  assert.equal(insertion("country ==", country, "FR"), " 'FR'");
  assert.equal(insertion("country in ('FR', ", country, "DE"), "'DE'");
  assert.equal(insertion("age < 30 and ", country), "country");
  assert.equal(insertion("age < 30", country), " and country");
  assert.equal(insertion("not", grade, 2), " attribute('class') == 2");
});

test("names that are no words of a query are quoted, and quotes in texts are escaped", () => {
  assert.equal(named("größe"), "größe");
  for (const odd of ["class", "two words", "1st", "ﬁ", "a'b", "<b>"]) assert.equal(named(odd), `attribute(${literal(odd)})`);
  assert.equal(literal("it's \\ a\nline\u2028"), "'it\\'s \\\\ a\\nline\\u2028'");
  assert.equal(literal(-3), "-3");
});

test("a domain without attributes has one that is called value", () => {
  assert.deepEqual(attributesOf({ labels: ["a", "b"] }).map((one) => one.name), ["value"]);
});

test("ranges say from where to where", () => {
  assert.equal(age.about, "17 to 90");
  assert.equal(attributesOf({ start: 10, step: -2, size: 6 })[0]?.about, "0 to 10 in steps of 2");
  assert.equal(name.about, "up to 4 characters");
});

test("examples are made of the survey's own attributes", () => {
  const made = examples(people, 1);
  assert.ok(made.includes("age < 54"));
  assert.ok(made.includes("country in ('DE', 'FR')"));
  assert.deepEqual(examples([name], 1), []);
});

test("a choice over an attribute covers all of its values", () => {
  assert.deepEqual(spread(country), { query: "find(country, ('DE', 'FR', 'IT'))", labels: ["DE", "FR", "IT"] });
  const ages = spread(age);
  assert.equal(ages?.query, "(age - 17) // 10");
  assert.deepEqual([ages?.labels.length, ages?.labels[0], ages?.labels.at(-1)], [8, "17–26", "87–90"]);
  assert.deepEqual(spread(attributesOf({ start: -2, step: 1, size: 5 })[0]!), { query: "(value + 2)", labels: ["-2", "-1", "0", "1", "2"] });
  assert.equal(spread(name), null);
});

test("a fault's column is found in the text, characters beyond the first plane included", () => {
  assert.equal(placeOf("column 7: there is no attribute 'thirty'", "age < thirty"), 6);
  assert.equal(placeOf("column 6: wrong", "'😀' x y"), "'😀' x".length);
  assert.equal(placeOf("an unfinished text", "'"), null);
});

/** What people type and choose, and how answers are shown: no page is needed for that. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { type RangeDomain, readDomain, type TextDomain } from "../../js/src/domain/domain.js";
import { numbersFault, numbersIn, textFault, wholeFault, wholeNumber } from "../src/survey/fields/faults.js";
import { vectorText } from "../src/survey/kinds/vector.js";
import { narrowed } from "../src/survey/fields/listing.js";
import { queryText } from "../src/survey/report_view.js";
import { sendingOf } from "../src/survey/status_view.js";
import { labelAt, plain, valueAt } from "../src/survey/fields/values.js";

test("whole numbers as people type them, and nothing else", () => {
  assert.equal(wholeNumber(" 42 "), 42n);
  assert.equal(wholeNumber("−7"), -7n);
  assert.equal(wholeNumber("+7"), 7n);
  assert.equal(wholeNumber("9223372036854775807"), 2n ** 63n - 1n);
  for (const text of ["", " ", "4.5", "1e3", "four", "0x10", "- 3", "1,000"]) {
    assert.equal(wholeNumber(text), null, text);
  }
});

test("lists of numbers need exactly as many", () => {
  assert.deepEqual(numbersIn("1, -2.5; 3e-1", 3), [1, -2.5, 0.3]);
  assert.deepEqual(numbersIn(" .5\n−1 ", 2), [0.5, -1]);
  for (const text of ["", "1 2", "1 2 x", "1 2 Infinity", "1 2 1e999"]) assert.equal(numbersIn(text, 3), null, text);
});

test("what is wrong with a number is said, and never repeated", () => {
  const ages = readDomain({ start: 0, step: 1, size: 120 }) as RangeDomain;
  const tens = readDomain({ start: 100, step: -10, size: 20 }) as RangeDomain;
  const found: readonly (readonly [string, RegExp])[] = [
    ["", /nothing is written .* from 0 to 119/],
    ["500", /too large; answers go from 0 to 119/],
    ["9".repeat(30), /too large/],
    ["-1", /too small/],
    ["−" + "9".repeat(30), /too small/],
    ["12.5", /not a whole number/],
    ["old", /not a whole number/],
    [" 42 ", /^$/],
  ];
  for (const [text, told] of found) {
    assert.match(wholeFault(text, ages), told, text);
    assert.ok(text.trim() === "" || !wholeFault(text, ages).includes(text.trim()), text);
  }
  assert.match(wholeFault("45", tens), /between two answers; they go from -90 to 100, in steps of 10\.$/);
  assert.equal(wholeFault("-90", tens), "");
});

test("what is wrong with several numbers, or with a text", () => {
  assert.match(numbersFault(" ", 1), /nothing is written there yet; one number is due/);
  assert.match(numbersFault("x", 1), /^that cannot be read as a number/);
  assert.match(numbersFault("1 2 x", 3), /^number 3 cannot be read/);
  assert.match(numbersFault("1, 2", 3), /^2 are written there; 3 numbers are due/);
  assert.equal(numbersFault("1 2 −3e−1", 3), "");
  const codes = readDomain({ alphabet: "ab", length: 2 }) as TextDomain;
  assert.match(textFault("", codes), /nothing is written/);
  assert.match(textFault("abc", codes), /not among those listed/);
  assert.match(textFault("aba", codes), /too long; 2 characters/);
  assert.equal(textFault("ab", codes), "");
});

test("a list is narrowed down by what is typed, beginnings first", () => {
  const names = ["North Ham", "Ham", "South", "hamlet", "Graham"];
  assert.deepEqual(narrowed(names, "ham"), { shown: [1, 3, 0, 4], all: 4 });
  assert.deepEqual(narrowed(names, " "), { shown: [0, 1, 2, 3, 4], all: 5 });
  assert.deepEqual(narrowed(names, "", 2), { shown: [0, 1], all: 5 });
  assert.deepEqual(narrowed(names, "<b>"), { shown: [], all: 0 });
});

test("every value has its number, in all kinds of domains", () => {
  const domains = [
    { labels: ["tea", "1"] },
    { labels: [5, -1, 40] },
    { start: 10, step: -3, size: 4 },
    { alphabet: "ab", length: 2 },
    {
      attributes: [
        { name: "a", domain: { labels: ["x", "y"] } },
        { name: "b", domain: { start: 0, step: 1, size: 3 } },
      ],
    },
  ].map((stated) => readDomain(stated));
  for (const domain of domains) {
    for (let i = 0n; i < domain.size; i++) assert.equal(domain.find(valueAt(domain, i)), i);
    const labels = Array.from({ length: Number(domain.size) }, (_, i) => labelAt(domain, BigInt(i)));
    assert.equal(new Set(labels).size, labels.length);
  }
  assert.equal(labelAt(domains[3]!, 0n), "(empty)");
  assert.equal(labelAt(domains[4]!, 5n), "a: y · b: 2");
  assert.equal(vectorText([0.5, -0.25]), "0.5, −0.25");
  assert.match(vectorText(Array(100).fill(1)), /^(?:1, ){12}… \(100 in all\)$/);
});

test("what cannot be seen is made visible, and joiners stay", () => {
  assert.equal(plain("\u202eevil"), "⟨U+202E⟩evil");
  assert.equal(plain("y\u200bes\n"), "y⟨U+200B⟩es⟨U+000A⟩");
  assert.equal(plain("👩\u200d🚀 <b>ok</b>"), "👩\u200d🚀 <b>ok</b>");
});

test("a round's question reads as a question", () => {
  const age = ["attribute", "age"];
  const country = ["attribute", "country"];
  assert.equal(queryText(["<", age, 30]), "age < 30");
  assert.equal(
    queryText(["and", ["<=", age, 30], ["in", country, ["FR", "DE"]]]),
    "(age ≤ 30) and (country is one of “FR”, “DE”)",
  );
  assert.equal(queryText(["if", ["==", country, "FR"], 1, -1]), "if (country = “FR”) then 1 else −1");
  assert.equal(queryText(["clip", ["/", ["-", age, 40], 20], -1, 1]), "clip((age − 40) / 20, −1, 1)");
  assert.equal(queryText(["find", country, ["FR", "DE"]]), "which of “FR”, “DE” country is");
  assert.match(queryText(["in", age, Array.from({ length: 20 }, (_, i) => i)]), /, 7, … \(20 in all\)$/);
  assert.equal(queryText(["not", ["==", age, ["integer", "9007199254740993"]]]), "not (age = 9007199254740993)");
});

test("where sending stands: the ledger decides, then what the person has said", () => {
  assert.equal(sendingOf("unsent", false, false), "asked");
  assert.equal(sendingOf("unsent", true, true), "trying");
  assert.equal(sendingOf("unsent", true, false), "kept");
  assert.equal(sendingOf("sent", false, true), "sent");
  assert.equal(sendingOf("refused", true, false), "refused");
});

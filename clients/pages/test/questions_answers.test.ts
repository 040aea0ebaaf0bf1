/** Numbers, labels and ranges, read from what was typed. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { numberFrom, readLabels, readRange, readValues, sizeOf, understood, wholeNumber } from "../src/questions/answers.js";

const wrong = (read: object): string => (read as { wrong?: string }).wrong ?? "";

test("labels: one per line, spaces around and blank lines left out, whatever ends a line", () => {
  assert.deepEqual(readLabels(" red \r\n\r\ngreen\rlight blue\n"), { found: ["red", "green", "light blue"] });
  assert.deepEqual(readLabels("a, b\n<script>\n__proto__"), { found: ["a, b", "<script>", "__proto__"] });
});

test("labels: none, one alone and two that are the same are refused, with the lines they stand on", () => {
  assert.match(wrong(readLabels(" \n ")), /Write the values/);
  assert.match(wrong(readLabels("red\n")), /two or more/);
  assert.match(wrong(readLabels("red\n\ngreen\n red ")), /“red” is there twice, on lines 1 and 4/);
  assert.ok(wrong(readLabels(`${"x".repeat(900)}\n${"x".repeat(900)}`)).length < 150);
});

test("labels: ten thousand of them are read", () => {
  const read = readLabels(Array.from({ length: 10_000 }, (_, i) => `answer ${i}`).join("\n"));
  assert.ok("found" in read && read.found.length === 10_000);
});

test("ranges have both their ends, and the second one is larger", () => {
  assert.deepEqual(readRange("0", "99"), { found: { start: 0, stop: 99 } });
  assert.deepEqual(readRange("−5", " 5 "), { found: { start: -5, stop: 5 } });
  for (const [from, to] of [
    ["", "9"],
    ["1.5", "9"],
    ["0", "1e3"],
    ["0x10", "20"],
    ["0", "9".repeat(16)],
  ])
    assert.match(wrong(readRange(from ?? "", to ?? "")), /whole numbers/);
  assert.match(wrong(readRange("5", "5")), /larger than the first, 5/);
});

test("an attribute's values: a range, a line with commas, or lines", () => {
  for (const text of ["0 to 99", "0..99", " 0 – 99 "])
    assert.deepEqual(readValues(text), { found: { start: 0, stop: 99 } });
  assert.deepEqual(readValues("DE, FR ,IT,"), { found: ["DE", "FR", "IT"] });
  assert.deepEqual(readValues("Paris, Texas\nParis"), { found: ["Paris, Texas", "Paris"] });
  assert.match(wrong(readValues("a,b,a")), /at places 1 and 3/);
});

test("what was understood is said, with its size", () => {
  assert.equal(sizeOf({ start: 0, stop: 99 }), 100);
  assert.equal(understood({ start: -1, stop: 1 }), "3 whole numbers, -1 to 1");
  assert.equal(understood(["a", "b", "c", "d", "e"]), "5 values: a, b, c, d, …");
});

test("whole numbers may have their thousands apart, and are exact", () => {
  assert.equal(wholeNumber(" 1,000,000 "), 1_000_000);
  assert.equal(wholeNumber("10 000"), 10_000);
  for (const text of ["", "1,5", "1e6", "ten", "1.0", "9007199254740993"]) assert.equal(wholeNumber(text), null, text);
});

test("numbers may have a comma for a point, and are finite", () => {
  assert.equal(numberFrom(" 2,5 "), 2.5);
  assert.equal(numberFrom("1e-6"), 1e-6);
  for (const text of ["", "much", "Infinity", "NaN", "1,000,000"]) assert.equal(numberFrom(text), null, text);
});

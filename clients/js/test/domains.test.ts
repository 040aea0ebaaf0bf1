/** How values are numbered, and what is not a value. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { canonicalText } from "../src/core/json.js";
import { readDomain } from "../src/domain/domain.js";
import { DomainError, ValueOutsideDomainError } from "../src/core/errors.js";
import { vectors } from "./vectors.js";

for (const { domain: stated, size, values, outside } of vectors("domains")) {
  test(`domain ${canonicalText(stated).slice(0, 60)}`, () => {
    const domain = readDomain(stated);
    assert.equal(domain.size, BigInt(size));
    assert.equal(domain.statement, stated);
    for (const { value, index, label } of values) {
      assert.equal(domain.index(value), BigInt(index));
      assert.equal(domain.label(BigInt(index)), label);
    }
    for (const value of [...outside, Symbol("x"), () => 1, Infinity, [[]], new Map()]) {
      assert.throws(() => domain.index(value), ValueOutsideDomainError);
    }
    for (const value of [undefined, NaN]) {
      if ("missing" in stated) assert.equal(domain.index(value), domain.index(null));
      else assert.throws(() => domain.index(value), ValueOutsideDomainError);
    }
  });
}

test("an error never holds the value", () => {
  for (const { domain: stated } of vectors("domains")) {
    const domain = readDomain(stated);
    for (const secret of ["xyzzy-7319", 731_973_197_319]) {
      assert.throws(
        () => domain.index(secret),
        (error: Error) => !`${error.message}${error.stack}${JSON.stringify(error)}`.includes("7319"),
      );
    }
  }
});

test("a record's own fields count, and none that it inherits", () => {
  const domain = readDomain({ attributes: [{ name: "constructor", domain: { labels: ["a", "b"] } }] });
  assert.throws(() => domain.index({}), ValueOutsideDomainError);
  assert.throws(() => domain.index(Object.create({ constructor: "a" })), ValueOutsideDomainError);
  assert.equal(domain.index({ constructor: "b" }), 1n);
});

test("numbers split into attributes, the last one fastest", () => {
  const stated = [
    { name: "a", domain: { start: 0, step: 1, size: 5 } },
    { name: "b", domain: { labels: ["x", "y", "z"] } },
  ];
  assert.deepEqual(readDomain({ attributes: stated }).split(7n), [2n, 1n]);
});

test("integers beyond 2^53 are exact", () => {
  const domain = readDomain({ start: "-9223372036854775808", step: 1, size: "9223372036854775807" });
  assert.equal(domain.index(-5n), 2n ** 63n - 5n);
  assert.equal(domain.label(2n ** 63n - 2n), "-2");
  assert.throws(() => readDomain({ start: "9223372036854775807", step: 1, size: 2 }), DomainError);
  for (const spelled of [" 9007199254740992", "09007199254740992", "9007199254740991", 2 ** 53, "1", ""]) {
    assert.throws(() => readDomain({ start: spelled, step: 1, size: 2 }), DomainError);
  }
  assert.throws(() => domain.index(2 ** 60), ValueOutsideDomainError); // no exact integer
});

test("texts and records are not given by position", () => {
  const record = { attributes: ["a", "b"].map((name) => ({ name, domain: { labels: ["x", "y"] } })) };
  for (const stated of [{ alphabet: "ab", length: 3 }, record]) {
    for (const value of [0, 1, 1n, true]) assert.throws(() => readDomain(stated).index(value), ValueOutsideDomainError);
  }
});

test("what missing values count as must be a value", () => {
  const integers = { start: 1, step: 1, size: 5 };
  for (const missing of [0, 6, 1.5, null, true, "1"]) {
    assert.throws(() => readDomain({ ...integers, missing }), DomainError);
    assert.throws(() => readDomain({ labels: [1, 2], missing }), DomainError);
    assert.throws(() => readDomain({ labels: ["a", "b"], missing }), DomainError);
  }
  assert.throws(() => readDomain({ alphabet: "ab", length: 3, missing: "a" }), DomainError);
});

test("labels are not given by position", () => {
  for (const name of ["b", "1", " +2 "]) {
    for (const value of [0, 1, 1n, true]) assert.throws(() => readDomain({ labels: ["a", name] }).index(value));
  }
});

/** How values are numbered, and what is no value. */
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
    for (const value of [...outside, undefined, Symbol("x"), () => 1, NaN, Infinity, [[]], new Map()]) {
      assert.throws(() => domain.index(value), ValueOutsideDomainError);
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

test("labels that read like numbers are not given by index", () => {
  for (const name of ["1", " +2 ", "-\u0663"]) assert.throws(() => readDomain({ labels: ["a", name] }).index(1));
  assert.equal(readDomain({ labels: ["a", "1b"] }).index(1), 1n);
});

/** Forms of a person's value that every language accepts or refuses alike: those of `vectors/values.json`. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { ValueOutsideDomainError } from "../src/core/errors.js";
import { canonicalText } from "../src/core/json.js";
import { readQuestion } from "../src/questions/registry.js";
import { vectors } from "./vectors.js";

const READ: Record<string, (of: any) => unknown> = {
  infinity: () => Infinity,
  "-infinity": () => -Infinity,
  nan: () => NaN,
  nothing: () => undefined,
  integer: BigInt,
  list: (entries) => entries.map(given),
  set: (entries) => new Set(entries.map(given)),
  object: (fields) => Object.fromEntries(fields.map(([name, value]: any) => [name, given(value)])),
  map: (fields) => new Map(fields.map(([name, value]: any) => [name, given(value)])),
  floats: (entries) => Float64Array.from(entries),
  integers: (entries) => Int32Array.from(entries),
};

/** The value that stands in the file. */
const given = (form: any): unknown => (typeof form === "object" && form !== null ? READ[form.is]!(form.of) : form);

const finite = (read: unknown): unknown =>
  Array.isArray(read) ? read.map((entry) => (Number.isFinite(entry) ? entry : 0)) : read;

for (const [number, { question: stated, alike, refused }] of vectors("values").cases.entries()) {
  test(`forms of a value, ${number}: ${canonicalText(stated).slice(0, 70)}`, () => {
    const question = readQuestion(stated);
    for (const [form, plain] of alike) {
      assert.ok(question.values.has(given(form)), JSON.stringify(form));
      assert.deepEqual(finite(question.read(given(form))), finite(question.read(given(plain))), JSON.stringify(form));
    }
    for (const form of refused) {
      assert.ok(!question.values.has(given(form)), JSON.stringify(form));
      assert.throws(() => question.read(given(form)), ValueOutsideDomainError, JSON.stringify(form));
    }
  });
}

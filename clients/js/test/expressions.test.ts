import assert from "node:assert/strict";
import { test } from "node:test";
import { canonicalText, parseJson } from "../src/core/json.js";
import { readDomain } from "../src/domain/domain.js";
import { QueryError, SurveyError } from "../src/core/errors.js";
import { readQuery } from "../src/expressions/query.js";
import { readTree } from "../src/expressions/tree.js";
import { fromHexFloat } from "./replay.js";
import { vectors } from "./vectors.js";

const { domains, asked, goes_wrong: goesWrong, unreadable } = vectors("expressions");
const domainOf = (name: string) => readDomain(domains[name]);

/** What a vector's answer stands for: integers are decimal text, reals hexadecimal floats, truths themselves. */
function expected(kind: string, stated: any): bigint | number | boolean {
  if (kind === "truth") return stated;
  return kind === "integer" ? BigInt(stated) : fromHexFloat(stated);
}

test("expressions that may be asked: canonical form, kind, bounds, sizes and every answer", () => {
  for (const vector of asked) {
    const domain = domainOf(vector.domain);
    assert.equal(canonicalText(vector.tree), vector.canonical);
    const { nodes, depth } = readTree(vector.tree);
    const { kind, low, high, of } = readQuery(vector.tree, domain);
    assert.deepEqual([kind, nodes, depth], [vector.kind, vector.nodes, vector.depth], vector.text);
    const ends = kind === "truth" ? [0n, 1n] : [expected(kind, vector.low), expected(kind, vector.high)];
    assert.ok(Object.is(low, ends[0]) && Object.is(high, ends[1]), vector.text);
    vector.records.forEach((record: string, i: number) => {
      const answer = of(domain.split(BigInt(record)));
      assert.ok(Object.is(answer, expected(kind, vector.answers[i])), `${vector.text} at ${record}`);
    });
  }
  assert.ok(asked.length > 100);
});

test("expressions that could go wrong for some record are refused before any record is looked at", () => {
  for (const { domain, tree, text } of goesWrong) {
    assert.throws(() => readQuery(tree, domainOf(domain)), QueryError, text);
  }
  assert.ok(goesWrong.length > 50);
});

test("what the grammar does not hold is refused", () => {
  for (const { fault, text } of unreadable) assert.throws(() => readTree(parseJson(text)), SurveyError, fault);
  assert.ok(unreadable.length > 30);
});

test("names that objects inherit are no operations", () => {
  for (const name of ["constructor", "toString", "__proto__", "integers"]) {
    assert.throws(() => readTree([name, 1]), QueryError);
  }
});

test("limits hold exactly: depth, parts and members of lists", () => {
  const nested = (levels: number): unknown => (levels === 1 ? 1 : ["abs", nested(levels - 1)]);
  assert.equal(readTree(nested(32)).depth, 32);
  assert.throws(() => readTree(nested(33)), QueryError);
  assert.equal(readTree(["min", ...Array(1023).fill(1)]).nodes, 1024);
  assert.throws(() => readTree(["min", ...Array(1024).fill(1)]), QueryError);
  const listed = (members: number, first = 0) => {
    return ["in", ["attribute", "value"], Array.from({ length: members }, (_, i) => first + i)];
  };
  assert.equal(readQuery(listed(2 ** 16), domainOf("small")).kind, "truth");
  assert.throws(() => readTree(listed(2 ** 16 + 1)), QueryError);
  // As many members, each of 17 bytes with its comma: a text of more than 2^20 bytes.
  assert.throws(() => readQuery(listed(2 ** 16, 10 ** 15), domainOf("small")), QueryError);
});

import assert from "node:assert/strict";
import { test } from "node:test";
import { readDomain } from "../src/domain.js";
import { QueryError, SurveyError } from "../src/errors.js";
import { Query } from "../src/expressions/query.js";
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
    const query = new Query(vector.tree);
    assert.equal(query.canonical, vector.canonical);
    const plan = query.check(domain);
    const { kind, low, high, nodes, depth } = plan;
    assert.deepEqual([kind, nodes, depth], [vector.kind, vector.nodes, vector.depth], vector.text);
    const ends = kind === "truth" ? [0n, 1n] : [expected(kind, vector.low), expected(kind, vector.high)];
    assert.ok(Object.is(low, ends[0]) && Object.is(high, ends[1]), vector.text);
    vector.records.forEach((record: string, i: number) => {
      const answer = plan.of(domain.split(BigInt(record)));
      assert.ok(Object.is(answer, expected(kind, vector.answers[i])), `${vector.text} at ${record}`);
    });
  }
  assert.ok(asked.length > 100);
});

test("expressions that could go wrong for some record are refused before any record is looked at", () => {
  for (const { domain, tree, text } of goesWrong) {
    assert.throws(() => new Query(tree).check(domainOf(domain)), QueryError, text);
  }
  assert.ok(goesWrong.length > 50);
});

test("what the grammar does not hold is refused", () => {
  for (const { fault, text } of unreadable) assert.throws(() => Query.fromJson(text), SurveyError, fault);
  assert.ok(unreadable.length > 30);
});

test("names that objects inherit are no operations", () => {
  for (const name of ["constructor", "toString", "__proto__", "integers"]) {
    assert.throws(() => new Query([name, 1]), QueryError);
  }
});

test("limits hold exactly: depth, parts and members of lists", () => {
  const nested = (levels: number): unknown => (levels === 1 ? 1 : ["abs", nested(levels - 1)]);
  assert.equal(new Query(nested(32)).check(domainOf("small")).depth, 32);
  assert.throws(() => new Query(nested(33)), QueryError);
  assert.equal(new Query(["min", ...Array(1023).fill(1)]).check(domainOf("small")).nodes, 1024);
  assert.throws(() => new Query(["min", ...Array(1024).fill(1)]), QueryError);
  const listed = (members: number) => ["in", ["attribute", "value"], Array.from({ length: members }, (_, i) => i)];
  assert.equal(new Query(listed(2 ** 16)).check(domainOf("small")).kind, "truth");
  assert.throws(() => new Query(listed(2 ** 16 + 1)), QueryError);
});

/**
 * The same work for every value and every outcome: what runs, and how often, is counted by V8; nothing is timed.
 *
 * Draws are the same for all values. They come from a script, which also keeps what was asked of it.
 */
import assert from "node:assert/strict";
import { Session } from "node:inspector/promises";
import { after, test } from "node:test";
import { setFlagsFromString } from "node:v8";
import type { JsonObject } from "../src/core/json.js";
import type { Source } from "../src/randomness/source.js";
import type { Survey } from "../src/surveys/survey.js";

// V8 counts blocks of what is compiled from now on, so that the client is imported afterwards. Optimized code is not
// counted.
setFlagsFromString("--no-opt");
const session = new Session();
session.connect();
await session.post("Profiler.enable");
await session.post("Profiler.startPreciseCoverage", { callCount: true, detailed: true });
after(() => session.disconnect());
const { encodeSubset } = await import("../src/core/codecs.js");
const { readDomain } = await import("../src/domain/domain.js");
const { readMechanism } = await import("../src/mechanisms/registry.js");
const { readSurvey } = await import("../src/surveys/read.js");

/** How often each function, and each block of it where there is a branch, ran during a call. */
async function work(call: () => unknown, only = /\/build\/src\//, blocks = true): Promise<string> {
  call(); // compiled
  await session.post("Profiler.takePreciseCoverage");
  call();
  const { result } = await session.post("Profiler.takePreciseCoverage");
  const ours = result.filter(({ url }) => only.test(url)).sort((a, b) => (a.url < b.url ? -1 : 1));
  const counts = ours.flatMap(({ url, functions }) =>
    functions
      .filter(({ ranges }) => ranges[0]!.count > 0)
      .flatMap(({ functionName, ranges }) =>
        ranges
          .slice(0, blocks ? ranges.length : 1)
          .map(({ startOffset, count }) => `${url.split("/").at(-1)} ${functionName} ${startOffset} ${count}`),
      ),
  );
  assert.ok(counts.length > 0);
  return counts.join("\n");
}

test("power: a loop that runs longer for a larger number is seen", async () => {
  const of = (member: number) => work(() => encodeSubset([member], 1000));
  assert.equal(await of(900), await of(901));
  assert.notEqual(await of(1), await of(900));
});

/** Answers every draw alike: a share of the way to n, and truths as given. */
function script(share: number, truth: boolean) {
  const asked: unknown[] = [];
  const source = {
    below: (n: number) => (asked.push(n), Math.floor(share * n)),
    bernoulli: () => (asked.push("bernoulli"), truth),
  };
  return { asked, source: source as unknown as Source };
}

const MECHANISMS: [size: number, stated: JsonObject][] = [
  [2, { name: "randomized_response" }],
  [1000, { name: "randomized_response" }],
  [2 ** 40, { name: "hadamard" }],
  [100, { name: "hadamard" }],
  [100, { name: "hadamard_blocks", blocks: 4 }],
  [2 ** 39, { name: "hadamard_blocks", blocks: 16 }],
  [120, { name: "projective_geometry", order: 5, dimension: 4 }],
  [800, { name: "projective_geometry", order: 9, dimension: 4 }],
  [20000, { name: "projective_geometry", order: 1009, dimension: 3 }],
  [60, { name: "subset_selection", subset_size: 20 }],
  [30, { name: "unary_optimized" }],
  [30, { name: "unary_symmetric" }],
];

for (const [size, stated] of MECHANISMS) {
  test(`${stated.name} over ${size} values: the same draws and the same work`, async () => {
    const mechanism = readMechanism(stated, size, 1);
    const values = [0, 1, size - 1, size - 2, Math.floor(size / 2), Math.floor(size / 3)];
    for (const power of [16, 17, 31, 32, 33]) if (2 ** power < size) values.push(2 ** power - 1, 2 ** power);
    for (const share of [0, 0.37, 0.999]) {
      const [asked, done] = [new Set<string>(), new Set<string>()];
      for (const value of values) {
        for (const truth of [true, false]) {
          const draws = script(share, truth);
          done.add(await work(() => mechanism.randomize(value, draws.source)));
          asked.add(draws.asked.join());
        }
      }
      assert.equal(asked.size, 1);
      assert.equal(done.size, 1, [...done].slice(0, 2).join("\n\n"));
    }
  });
}

const QUERIES: JsonObject[] = [
  { design: { strategy: "haar", mechanism: { name: "haar", tilt: 3 } }, type: "prefix" },
  { design: { strategy: "hierarchical", mechanism: { name: "hierarchical", branching: 3, tilt: -2 } }, type: "prefix" },
  {
    design: { strategy: "fourier", mechanism: { name: "fourier", sizes: [2, 2, 2, 2, 2, 2], order: 3, only: 0, tilt: 1 } },
    type: "parities",
    order: 3,
  },
];

for (const { design, ...workload } of QUERIES) {
  test(`${(design as JsonObject).strategy}: the same draws and the same work`, async () => {
    const domain = { start: 0, step: 1, size: 64 };
    const question = { kind: "queries", workload: { ...workload, domain } };
    const stated = { format: 2, title: "", epsilon: 1, delta: 0, question, design };
    const survey = (await readSurvey(JSON.stringify(stated))) as Survey;
    for (const share of [0, 0.37, 0.999]) {
      const [asked, done] = [new Set<string>(), new Set<string>()];
      for (const value of [0, 1, 31, 32, 63]) {
        for (const truth of [true, false]) {
          const draws = script(share, truth);
          done.add(await work(() => survey.randomize(value, draws.source)));
          asked.add(draws.asked.join());
        }
      }
      assert.equal(asked.size, 1);
      assert.equal(done.size, 1, [...done].slice(0, 2).join("\n\n"));
    }
  });
}

test("records: the same draws and the same work for every record, whichever table is drawn", async () => {
  const attributes = [
    { name: "age", domain: { start: 18, step: 1, size: 41 } },
    { name: "minutes", number: { low: 0, high: 600, unit: "", points: 3 } },
  ];
  const tables = [
    { attributes: [0], weight: 2, mechanism: { name: "projective_geometry", order: 4, dimension: 4 } },
    { attributes: [0, 1], weight: 3, mechanism: { name: "subset_selection", subset_size: 30 } },
    { attributes: [1], weight: 4, mechanism: { name: "randomized_response" } },
  ];
  const question = { kind: "records", attributes, tables: 2 };
  const design = { strategy: "tables", mechanism: { name: "tables", tables } };
  const stated = { format: 2, title: "", epsilon: 1, delta: 0, question, design };
  const survey = (await readSurvey(JSON.stringify(stated))) as Survey;
  const records = [
    [18, 0],
    [58, 600],
    [19, 300],
    [40, 123.456],
    [31, 1e9],
  ];
  for (const share of [0, 0.37, 0.6, 0.999]) {
    const [asked, done] = [new Set<string>(), new Set<string>()];
    for (const record of records) {
      for (const truth of [true, false]) {
        const draws = script(share, truth);
        done.add(await work(() => survey.randomize(record, draws.source)));
        asked.add(draws.asked.join());
      }
    }
    assert.equal(asked.size, 1);
    assert.equal(done.size, 1, [...done].slice(0, 2).join("\n\n"));
  }
});

const CODES: [code: JsonObject, ends: number[], values: unknown[]][] = [
  [{ code: "letters", alphabet: "abcdefghijklmnopqrstuvwxyz'- ", longest: 4, case: "lower" }, [20], ["tea", "Zzzz", "", "coffee", "é"]],
  [{ code: "unicode", longest: 3, case: "lower" }, [20, 40, 60], ["a", "zz9", "字字字", "👍", "", "longer"]],
  [{ code: "bytes", longest: 2 }, [18], [Uint8Array.of(0), Uint8Array.of(255, 255), new Uint8Array(3), "0x00"]],
  [{ code: "integers", below: 2 ** 40 }, [20, 41], [0, 2 ** 40 - 1, 2n ** 39n, 2 ** 40, -1, 0.5, "7"]],
];

for (const [code, ends, values] of CODES) {
  test(`words as ${code.code}: the same draws and, once a text is normalised, the same work`, async () => {
    const rows = ends.map(() => 5);
    const hashes = { name: "hashed_prefixes", ends, rows, order: 9, dimension: 4 };
    const question = { kind: "words", code };
    const design = { strategy: "prefixes", mechanism: hashes };
    const survey = (await readSurvey(JSON.stringify({ format: 2, title: "", epsilon: 1, delta: 0, question, design }))) as Survey;
    for (const share of [0, 0.37, 0.999]) {
      const [asked, done] = [new Set<string>(), new Set<string>()];
      for (const value of [...values, null, undefined]) {
        for (const truth of [true, false]) {
          const draws = script(share, truth);
          done.add(await work(() => survey.randomize(value, draws.source), /\/build\/src\/(?!domain\/spelling)/, false));
          asked.add(draws.asked.join());
        }
      }
      assert.equal(asked.size, 1);
      assert.equal(done.size, 1, [...done].slice(0, 2).join("\n\n"));
    }
  });
}

const LONG = "x".repeat(500);
const OUTSIDE = ["water", LONG, LONG.repeat(9), "", 7, -1, 10n ** 40n, null, 0.5, true, {}, Symbol("x"), "\ud800"];
const DOMAINS: [stated: JsonObject, inside: unknown[]][] = [
  [{ labels: Array.from({ length: 200 }, (_, i) => (i - 100) * 2 ** 40) }, [-100 * 2 ** 40, 0, 99 * 2 ** 40]],
  [{ labels: ["", "a", "a\0", "é", "😀😀", ...Array.from({ length: 50 }, (_, i) => LONG + i)] }, ["", "a", "😀😀", `${LONG}7`]],
  [{ labels: ["1", "2", "3"] }, ["1", "3"]],
  [{ alphabet: "ab😀", length: 4 }, ["", "b", "😀😀😀😀"]],
  [{ start: -7, step: 7, size: 11 }, [-7, 63]],
];

for (const [stated, inside] of DOMAINS) {
  test(`${JSON.stringify(stated).slice(0, 40)}: a value is looked up by the same work, inside and outside`, async () => {
    const second = { name: "second", domain: { start: 0, step: 1, size: 3 } };
    const [alone, record] = [readDomain(stated), readDomain({ attributes: [{ name: "first", domain: stated }, second] })];
    const [one, both] = [new Set<string>(), new Set<string>()];
    for (const value of [...inside, ...OUTSIDE]) {
      assert.equal(alone.has(value), inside.includes(value) || alone.find(value) >= 0n);
      one.add(await work(() => alone.find(value), /\/domain\//, false));
      for (const other of [1, 9]) both.add(await work(() => record.find([value, other]), /\/domain\//, false));
    }
    for (const value of inside) assert.ok(alone.has(value));
    assert.equal(one.size, 1, [...one].slice(0, 2).join("\n\n"));
    assert.equal(both.size, 1);
  });
}

test("a text is found by as many characters compared, whatever prefix it shares with the labels", () => {
  const labels = ["y", LONG, ...Array.from({ length: 98 }, (_, i) => LONG + i)];
  const domain = readDomain({ labels });
  const real = String.prototype.charCodeAt;
  const counts = new Set<number>();
  for (const value of [...labels, ...OUTSIDE]) {
    let compared = 0;
    String.prototype.charCodeAt = function (i) {
      compared++;
      return real.call(this, i);
    };
    try {
      domain.find(value);
    } finally {
      String.prototype.charCodeAt = real;
    }
    counts.add(compared);
  }
  // Seven steps and one comparison, of two texts over the longest and one character more.
  assert.deepEqual([...counts], [8 * 2 * (LONG.length + 3)]);
});

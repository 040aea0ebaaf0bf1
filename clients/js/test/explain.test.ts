/** Explanations against the exact channel, against counting one by one, and against reports that are none. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { concat, fromHex } from "../src/core/bytes.js";
import { MismatchError, ReportError, ValueOutsideDomainError } from "../src/core/errors.js";
import { explain, type Explanation } from "../src/explain.js";
import { FINITE } from "../src/mechanisms/registry.js";
import { readSurvey } from "../src/surveys/read.js";
import { Survey } from "../src/surveys/survey.js";
import { lawOf } from "./enumerate.js";
import { panel, queries, range, shares, vector } from "./stated.js";
import { valueAt } from "./values.js";
import { vectors } from "./vectors.js";

const values = (size: number) => Array.from({ length: size }, (_, value) => value);
const record = (sizes: readonly number[]) => ({
  attributes: sizes.map((size, i) => ({ domain: range(size), name: `a${i}` })),
});
type Stated = { [field: string]: unknown };

async function read(stated: Stated): Promise<Survey> {
  const survey = await readSurvey(JSON.stringify(stated));
  assert.ok(survey instanceof Survey);
  return survey;
}

const distribution = (size: number, mechanism: Stated, more: Stated = {}) => read(shares(range(size), mechanism, more));
const labelled = (labels: string[], mechanism: Stated, more: Stated = {}) => read(shares({ labels }, mechanism, more));
const asked = (workload: Stated, mechanism: Stated, strategy = mechanism.name, more: Stated = {}) =>
  read(queries(workload, mechanism, strategy, more));
const mean = (dimension: number, mechanism: Stated, more: Stated = {}) => read(vector(dimension, 2, mechanism, more));
const prefix = (size: number) => ({ domain: range(size), type: "prefix" });
const tables = (sizes: readonly number[], k: number) => ({ domain: record(sizes), k, type: "marginals" });
const parities = (sizes: readonly number[], order: number, tilt: number) => ({
  name: "fourier",
  only: 0,
  order,
  sizes,
  tilt,
});
const CODEBOOK = { name: "codebook", size: 64, candidates: 16, marked: 3, rotations: 2, layers: 6 };

/** Of every mechanism, surveys whose reports can all be listed, and the values that they can be given. */
async function miniatures(epsilon: number): Promise<[Survey, unknown[]][]> {
  const more = { epsilon };
  const seat = { panel: panel(range(9), 2, more), query: ["%", ["attribute", "value"], 5], round: 1 };
  const round = { ...more, seat };
  const vectorsOf2 = [[0, 0], [2, 0], [-2, 0], [0, 1e308], [NaN, 1], [1.5, -0.25]];
  return [
    [await distribution(5, { name: "hadamard" }, more), values(5)],
    [await distribution(8, { name: "hadamard" }, more), values(8)],
    [await distribution(7, { name: "hadamard_blocks", blocks: 4 }, more), values(7)],
    [await distribution(6, { name: "hadamard_blocks", blocks: 2 }, more), values(6)],
    [await distribution(13, { name: "projective_geometry", order: 3, dimension: 3 }, more), values(13)],
    [await distribution(19, { name: "projective_geometry", order: 4, dimension: 3 }, more), values(19)],
    [await distribution(9, { name: "projective_geometry", order: 9, dimension: 2 }, more), values(9)],
    [await distribution(5, { name: "randomized_response" }, more), values(5)],
    [await distribution(5, { name: "subset_selection", subset_size: 3 }, more), values(5)],
    [await distribution(17, { name: "subset_selection", subset_size: 2 }, more), values(17)],
    [await distribution(5, { name: "unary_optimized" }, more), values(5)],
    [await distribution(4, { name: "unary_symmetric" }, more), values(4)],
    [await asked(prefix(5), { name: "randomized_response" }, "histogram", more), values(5)],
    [await asked(prefix(7), { name: "hierarchical", branching: 3, tilt: 5 }, "hierarchical", more), values(7)],
    [await asked(prefix(7), { name: "haar", tilt: -12 }, "haar", more), values(7)],
    [await asked(tables([3, 2], 2), parities([3, 2], 2, 8), "fourier", more), values(6).map((i) => [i >> 1, i & 1])],
    [await mean(2, CODEBOOK, more), vectorsOf2],
    [await mean(1, { name: "binary" }, more), [[2], [-2], [0], [1e308], [NaN], [0.3]]],
    ...(await Promise.all(
      [...FINITE.keys()].map(async (name): Promise<[Survey, unknown[]]> => {
        const { domain_size, survey } = vectors(name).find((entry: any) => entry.domain_size === 5);
        return [await distribution(domain_size, survey.design.mechanism, more), values(domain_size)];
      }),
    )),
    [await distribution(5, { name: "hadamard" }, round), values(9)],
    [await read(vector(1, 1, { name: "binary" }, round)), values(9)],
  ];
}

/** Equal but for rounding: a logarithm of some tens, as those of sets have, costs a few units of 1e-15. */
const close = (found: number, expected: number, share = 1e-13) =>
  assert.ok(Math.abs(found - expected) <= share * Math.abs(expected), `${found} is not ${expected}`);

/** What must hold of any explanation. */
function checkWhole(found: Explanation): void {
  assert.ok(found.ratio >= 1 && found.ratio <= Math.exp(found.epsilon));
  assert.ok(found.lowest <= found.highest && found.words.length >= 3);
  assert.ok(found.words.every((sentence) => /^[A-Z0-9].*\.$/.test(sentence) && !/undefined|NaN/.test(sentence)));
  if (found.lowest > 1e-300) close(found.ratio, found.highest / found.lowest);
}

for (const epsilon of [0.1, 1, 3]) {
  test(`at epsilon ${epsilon} likelihoods are those of the exact channel`, async () => {
    for (const [survey, inputs] of await miniatures(epsilon)) {
      const laws = inputs.map((value) => lawOf(survey.mechanism, survey.input(value)));
      const sums = inputs.map(() => 0);
      for (const payload of laws[0]!.chances.keys()) {
        const found = explain(survey, concat(survey.tag, fromHex(payload)), inputs[0]);
        checkWhole(found);
        const chances = laws.map(({ chances, denominator }) => Number(chances.get(payload)!) / Number(denominator));
        for (const [i, value] of inputs.entries()) {
          close(found.likelihood(value), chances[i]!);
          close(Math.exp(found.logLikelihood(value)), chances[i]!);
          assert.ok(found.likelihood(value) <= found.highest && found.likelihood(value) >= found.lowest);
          sums[i]! += found.likelihood(value);
        }
        // These few vectors need not be extreme ones, but a codebook has no other chances than the extreme ones.
        const extremes = survey.mechanism.name === "codebook" ? [found.lowest, found.highest] : chances;
        if (survey.seat === null || survey.kind === "shares") {
          close(found.highest, Math.max(...extremes));
          close(found.lowest, Math.min(...extremes));
        }
        const nearest = (chance: number) => (chance * chance > found.lowest * found.highest ? "highest" : "lowest");
        if (extremes !== chances) for (const chance of chances) close(chance, found[nearest(chance)]);
        if (survey.seat || survey.domain === null) continue;
        for (const { probability, count } of found.groups!) {
          const near = chances.filter((chance) => Math.abs(chance - probability) < 1e-12 * probability);
          assert.equal(BigInt(near.length), count);
        }
        assert.equal(found.groups!.reduce((sum, { count }) => sum + count, 0n), survey.domain.size);
      }
      for (const sum of sums) close(sum, 1, 1e-12);
    }
  });
}

test("what is counted without listing is what listing counts", async () => {
  const larger = await Promise.all([
    ...[999, 1000, 1023, 1024].map((size) => distribution(size, { name: "hadamard" })),
    ...[2, 8, 64].map((blocks) => distribution(700, { name: "hadamard_blocks", blocks })),
    ...[
      [300, 7, 4],
      [400, 7, 4],
      [341, 4, 5],
      [80, 9, 3],
      [90, 2, 7],
      [90, 89, 2],
    ].map(([size, order, dimension]) => distribution(size!, { name: "projective_geometry", order, dimension })),
    ...[2, 3, 10].map((branching) => asked(prefix(365), { name: "hierarchical", branching, tilt: 3 })),
    ...[256, 300, 365, 511].map((size) => asked(prefix(size), { name: "haar", tilt: 3 })),
    asked(tables([5, 3, 7, 4], 3), parities([5, 3, 7, 4], 3, -2)),
  ]);
  for (const survey of larger) {
    for (let i = 0; i < 40; i++) {
      const value = (i * 37) % Number(survey.domain!.size);
      const found = explain(survey, survey.randomize(valueAt(survey.domain!, value)));
      checkWhole(found);
      const likelihoods = values(Number(survey.domain!.size)).map((i) => found.likelihood(valueAt(survey.domain!, i)));
      for (const { probability, count } of found.groups!) {
        assert.equal(BigInt(likelihoods.filter((likelihood) => likelihood === probability).length), count);
      }
      assert.equal(found.highest, Math.max(...likelihoods));
      assert.equal(found.lowest, Math.min(...likelihoods));
    }
  }
});

test("channels of attachments: columns add up to one, and rows are counted", async () => {
  for (const { strategy, canonical, digest, attachments } of vectors("strategies").surveys) {
    if (strategy !== "optimized") continue;
    const survey = (await readSurvey(canonical, { [digest]: fromHex(attachments[0]) })) as Survey;
    const domain = values(Number(survey.domain!.size));
    const sums = domain.map(() => 0);
    let reports = 0;
    while (sums[0]! < 1) {
      const found = explain(survey, concat(survey.tag, Uint8Array.of(reports++)));
      checkWhole(found);
      const likelihoods = domain.map((value) => found.likelihood(value));
      likelihoods.forEach((likelihood, value) => (sums[value]! += likelihood));
      assert.equal(found.groups!.reduce((sum, { count }) => sum + count, 0n), survey.domain!.size);
      assert.deepEqual([found.lowest, found.highest], [Math.min(...likelihoods), Math.max(...likelihoods)]);
    }
    assert.throws(() => explain(survey, concat(survey.tag, Uint8Array.of(reports))), ReportError);
    assert.deepEqual(sums, domain.map(() => 1)); // integers out of a power of two: no rounding at all
  }
});

test("huge domains at once, and likelihoods that no double holds", async () => {
  const huge = await distribution(2 ** 40, { name: "hadamard" });
  const found = explain(huge, huge.randomize(12345));
  checkWhole(found);
  assert.equal(found.groups!.reduce((sum, { count }) => sum + count, 0n), 2n ** 40n);
  const sets: [Stated, number][] = [
    [{ name: "unary_optimized" }, 20_000],
    [{ name: "unary_symmetric" }, 20_000],
    [{ name: "subset_selection", subset_size: 3000 }, 12_000],
  ];
  for (const [mechanism, size] of sets) {
    const survey = await distribution(size, mechanism);
    const found = explain(survey, survey.randomize(7));
    checkWhole(found);
    assert.equal(found.likelihood(7), 0);
    assert.ok(found.logLikelihood(7) < -1000 && found.logLikelihood(7) > -Infinity);
    const logs = values(50).map((value) => found.logLikelihood(value));
    assert.ok(Math.max(...logs) - Math.min(...logs) <= 1 + 1e-9);
    close(Math.log(found.ratio), 1, 1e-12);
  }
});

test("a report that is none, or another survey's, and a value outside the domain", async () => {
  const survey = await distribution(5, { name: "randomized_response" });
  const payload = (...bytes: number[]) => concat(survey.tag, Uint8Array.from(bytes));
  for (const bad of [payload(), payload(0, 0), payload(5), payload(255)]) {
    assert.throws(() => explain(survey, bad), ReportError);
  }
  assert.throws(() => explain(survey, Uint8Array.of(0, 0, 0, 0, 1)), MismatchError);
  for (const bad of [5, "x", undefined]) {
    assert.throws(() => explain(survey, payload(1)).likelihood(bad), ValueOutsideDomainError);
  }
  // Sets out of order, with a member twice, outside the domain, of another size, or with a bit beyond their end.
  const pairs = await distribution(17, { name: "subset_selection", subset_size: 2 });
  for (const [a, b] of [[3, 2], [3, 3], [2, 17], [2, 3 + 32]]) {
    const packed = a! + 32 * b!;
    assert.throws(() => explain(pairs, concat(pairs.tag, Uint8Array.of(packed % 256, packed >> 8))), ReportError);
  }
  const bitmap = await distribution(5, { name: "subset_selection", subset_size: 3 });
  for (const byte of [0b00011, 0b1111, 0b100011]) {
    assert.throws(() => explain(bitmap, concat(bitmap.tag, Uint8Array.of(byte))), ReportError);
  }
  const bits = await distribution(5, { name: "unary_optimized" });
  assert.throws(() => explain(bits, concat(bits.tag, Uint8Array.of(0b100000))), ReportError);
});

test("what the words say", async () => {
  const survey = await labelled(["tea", "coffee", "water"], { name: "hadamard" });
  assert.deepEqual(explain(survey, concat(survey.tag, Uint8Array.of(1)), "tea").words, [
    "One number below 4: 1.",
    "1 of 3 answers would send it with probability 0.366, the others with probability 0.134.",
    "From your answer its probability was 0.134.",
    "Seeing it shifts the odds between any two answers by a factor of at most 2.72.",
  ]);
  assert.deepEqual(explain(survey, concat(survey.tag, Uint8Array.of(0))).words, [
    "One number below 4: 0.",
    "Every answer sends it with the same probability, 0.366: it says nothing.",
    "Seeing it shifts the odds between any two answers by a factor of at most 1.",
  ]);
});

test("sets are named where they are few, and ratios told where probabilities are too small to be read", async () => {
  const labels = ["tea", "coffee", "water", "milk", "juice", "wine"];
  const pair = await labelled(labels, { name: "subset_selection", subset_size: 2 });
  // Two of six answers, as a bitmap: the second and the fourth.
  const named = explain(pair, concat(pair.tag, Uint8Array.of(0b001010))).words;
  assert.equal(named[0], "A set of 2 of the 6 answers, which may hold yours or not: “coffee” and “milk”.");
  assert.match(named[1]!, /^2 of 6 answers would send it with probability 0\.\d+, the others with probability 0\.\d+\.$/);
  const bits = await labelled(labels, { name: "unary_optimized" });
  const says = (byte: number) => explain(bits, concat(bits.tag, Uint8Array.of(byte))).words[0];
  assert.equal(says(0b000001), "A yes or no for each of the 6 answers, 1 of them yes: “tea”.");
  assert.equal(says(0), "A yes or no for each of the 6 answers, none of them yes.");
  assert.equal(says(0b111111), "A yes or no for each of the 6 answers, 6 of them yes.");

  const large = await distribution(300, { name: "subset_selection", subset_size: 81 });
  const first = Uint8Array.from({ length: 38 }, (_, i) => (i < 10 ? 255 : i === 10 ? 1 : 0)); // the first 81
  const report = concat(large.tag, first);
  const told = "It is 2.72 times as likely from 81 of the 300 answers as from the other 219.";
  assert.deepEqual(explain(large, report).words.slice(0, 2), [
    "A set of 81 of the 300 answers, which may hold yours or not.",
    told,
  ]);
  const least = "From your answer it was 2.72 times as likely as from the one that makes it least likely.";
  assert.deepEqual(explain(large, report, 80).words.slice(1, 3), [told, least]);
  assert.equal(explain(large, report, 81).words[2], "From your answer it was as unlikely as from any.");

  const answers = await distribution(300, { name: "unary_optimized" });
  const all = Uint8Array.from({ length: 38 }, (_, i) => (i < 37 ? 255 : 0b1111));
  const but = Uint8Array.from(all, (byte, i) => (i < 37 ? byte : 0b0111)); // all but the last
  const second = (payload: Uint8Array) => explain(answers, concat(answers.tag, payload)).words[1];
  assert.equal(second(all), "Every answer makes it equally likely: it says nothing.");
  assert.equal(second(but), "It is 2.72 times as likely from 299 of the 300 answers as from the other.");
  const codes = await mean(2, { ...CODEBOOK, rotations: 2 ** 20 });
  const drawn = explain(codes, codes.randomize([1, 0])).words[1];
  assert.equal(drawn, "No answer makes it more than 2.72 times as likely as another does.");
});

test("two probabilities that differ are never told by one number, and factors are rounded up", async () => {
  const coin = (epsilon: number) => labelled(["yes", "no"], { name: "randomized_response" }, { epsilon });
  const words = async (epsilon: number) => {
    const survey = await coin(epsilon);
    return explain(survey, concat(survey.tag, Uint8Array.of(0))).words;
  };
  const [, near, most] = await words(0.0001);
  assert.equal(near, "It is 1.01 times as likely from 1 of the 2 answers as from the other.");
  assert.match(most!, /at most 1\.01\.$/);
  const [says, apart, factor] = await words(0.25); // e^0.25 is 1.28403
  assert.equal(says, "One answer, which may be yours or any other: “yes”.");
  assert.equal(apart, "1 of 2 answers would send it with probability 0.562, the other with probability 0.438.");
  assert.match(factor!, /at most 1\.29\.$/);
  assert.match((await words(7)).at(-1)!, /at most 1,100\.$/);
});

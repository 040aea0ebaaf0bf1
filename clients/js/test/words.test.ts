/** Words that nobody listed: their spelling, their codes, refusals, the exact channel and what a report says. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { concat, toHex } from "../src/core/bytes.js";
import { canonicalText } from "../src/core/json.js";
import { Device } from "../src/device/device.js";
import { ReportError, SurveyError, ValueOutsideDomainError } from "../src/core/errors.js";
import { explain } from "../src/explain.js";
import { hashedPrefixes } from "../src/mechanisms/hashed_prefixes.js";
import type { Words } from "../src/questions/words.js";
import { MemoryStore } from "../src/device/store.js";
import { readSurvey } from "../src/surveys/read.js";
import { type Survey } from "../src/surveys/survey.js";
import { type Ratio, withinEpsilon } from "../src/randomness/thresholds.js";
import { readCode } from "../src/domain/word_codes.js";
import { spelt } from "../src/domain/spelling.js";
import { lawOf } from "./enumerate.js";
import { collectorOfTests, Signer } from "./server.js";
import { words } from "./stated.js";

const server = collectorOfTests();
type Stated = { [field: string]: unknown };
const read = async (stated: object) => (await readSurvey(JSON.stringify(stated))) as Survey;

const LATIN = { code: "letters", alphabet: "abcdefghijklmnopqrstuvwxyz'- ", longest: 4, case: "lower" };
const HASHES = { ends: [10, 20], rows: [2, 3], order: 5, dimension: 3 };

test("a word has one spelling", () => {
  const spellings: [text: string, lower: string | null, keep: string | null][] = [
    ["  Cafe\u0301 au\u3000\t lait ", "café au lait", "Café au lait"],
    ["ΟΔΟΣ", "οδοσ", "ΟΔΟΣ"], // not the final sigma that a whole word would get
    ["\u0130", "i\u0307", "\u0130"],
    ["\u212b\u2126", "åω", "ÅΩ"],
    ["שלום", "שלום", "שלום"],
    ["👩‍🚀", "👩‍🚀", "👩‍🚀"], // with a joiner, which is not a mark of direction
    ["\ufeff", null, null],
    ["", null, null],
    ["\u202etxet", null, null],
    ["a\0b", null, null],
    ["a\u200bb", null, null],
    ["\ud83d", null, null],
    ["\udc4d\ud83d", null, null],
  ];
  for (const [text, lower, keep] of spellings) {
    assert.deepEqual([spelt(text, "lower"), spelt(text, "keep")], [lower, keep]);
    if (lower !== null) assert.equal(spelt(lower, "lower"), lower);
  }
});

test("codes: the shorter, the more usual a character; zeros for what is no word", () => {
  const unicode = readCode({ code: "unicode", longest: 3, case: "lower" });
  const bits = (text: unknown) =>
    Array.from(unicode.row(text), (byte) => byte.toString(2).padStart(8, "0")).join("").slice(0, unicode.bits);
  const zeros = "0".repeat(60);
  assert.equal(bits("Z"), "11010".padEnd(60, "0"));
  assert.equal(bits("7z"), "110110011111010".padEnd(60, "0"));
  assert.equal(bits("é"), "111000011101001".padEnd(60, "0"));
  assert.equal(bits("字").slice(0, 20), "11110101101101010111");
  for (const text of ["", "abcd", "👍👍", 1, 1n, null, undefined, true, {}, ["a"], Uint8Array.of(1), Symbol("a")]) {
    assert.deepEqual([bits(text), unicode.has(text)], [zeros, false]);
  }
  const bytes = readCode({ code: "bytes", longest: 2 });
  assert.equal(toHex(bytes.row(Uint8Array.of(0, 255))), "00c000");
  assert.equal(bytes.has("ab") || bytes.has(Uint8Array.of()) || bytes.has(new Uint8Array(3)), false);
  const integers = readCode({ code: "integers", below: String(2n ** 64n) });
  assert.equal(toHex(integers.row(2n ** 64n - 1n)), "800000000000000000");
  for (const [value, isWord] of [[0, true], [7n, true], [-1, false], [0.5, false], [2 ** 60, false], [true, false], ["7", false]]) {
    assert.equal(integers.has(value), isWord);
  }
});

test("what a page shows before anything is drawn", async () => {
  const question = (await read(words(LATIN, HASHES))).question as Words;
  assert.deepEqual(question.spelling(" Tea "), { value: " Tea ", word: "tea", reason: null });
  assert.deepEqual(question.spelling("coffee"), { value: "coffee", word: null, reason: "it is longer than 4 characters" });
  assert.equal(question.spelling("té").reason, "it contains a character that is not in the survey's alphabet");
  assert.equal(question.spelling("\t").reason, "it is empty");
  assert.match(question.spelling("\u202e").reason!, /direction of writing/);
  const integers = readCode({ code: "integers", below: 100 });
  assert.deepEqual(integers.spelling(" 07"), { value: 7n, word: "7", reason: null });
  assert.equal(integers.spelling("7.5").reason, "it is none of the integers from 0 to 99");
  const bytes = readCode({ code: "bytes", longest: 2 });
  assert.deepEqual(bytes.spelling("0x0aFF"), { value: Uint8Array.of(10, 255), word: "0x0aff", reason: null });
  assert.equal(bytes.spelling("0x000000").reason, "it is longer than 2 bytes");
});

test("statements that are refused", async () => {
  const bad: [code: Stated, hashes: Stated, more?: Stated][] = [
    [{ ...LATIN, more: 1 }, HASHES],
    [{ ...LATIN, code: "words" }, HASHES],
    [{ ...LATIN, longest: 0 }, HASHES],
    [{ ...LATIN, longest: 65 }, HASHES],
    [{ ...LATIN, case: "upper" }, HASHES],
    [{ ...LATIN, alphabet: "aab" }, HASHES],
    [{ ...LATIN, alphabet: "aB" }, HASHES],
    [{ ...LATIN, alphabet: "ae\u0301" }, HASHES],
    [{ ...LATIN, alphabet: ["a", "b"] }, HASHES],
    [{ code: "integers", below: 1 }, HASHES],
    [{ code: "integers", below: "20" }, HASHES],
    [{ code: "integers", below: String(2n ** 64n + 1n) }, HASHES],
    [{ code: "integers", below: 2 ** 19, longest: 4 }, HASHES],
    [LATIN, { ...HASHES, key: [0, 0] }],
    [LATIN, { ...HASHES, ends: [10, 15] }],
    [LATIN, { ...HASHES, ends: [12, 20] }],
    [LATIN, { ...HASHES, ends: [20, 20] }],
    [LATIN, { ...HASHES, ends: [] }],
    [LATIN, { ...HASHES, ends: [10, 25] }],
    [LATIN, { ...HASHES, ends: [20] }],
    [LATIN, { ...HASHES, rows: [2, 0] }],
    [LATIN, { ...HASHES, rows: [2, 4095] }],
    [LATIN, { ...HASHES, rows: 2 }],
    [LATIN, { ...HASHES, order: 6 }],
    [LATIN, { ...HASHES, order: 2 ** 31 - 1 }],
    [LATIN, { ...HASHES, dimension: 1 }],
    [LATIN, { ...HASHES, dimension: 64 }],
    [LATIN, HASHES, { delta: 1e-6 }],
  ];
  await read(words(LATIN, HASHES));
  await read(words({ code: "integers", below: 2 ** 19 }, { ...HASHES, ends: [9, 20] }));
  for (const [code, hashes, more] of bad) {
    await assert.rejects(read(words(code, hashes, more)), SurveyError, JSON.stringify([code, hashes]));
  }
});

test("the exact channel keeps epsilon, and its explanation is exact", async () => {
  const shapes: [below: number, hashes: { ends: number[]; rows: number[]; order: number; dimension: number }][] = [
    [3, { ends: [2], rows: [1], order: 2, dimension: 3 }],
    [7, { ends: [1, 3], rows: [1, 2], order: 2, dimension: 2 }],
    [3, { ends: [1, 2], rows: [1, 1], order: 3, dimension: 2 }],
    [15, { ends: [4], rows: [2], order: 4, dimension: 2 }],
  ];
  for (const [below, hashes] of shapes) {
    const survey = await read(words({ code: "integers", below }, hashes));
    const values = [...Array(below).keys(), "other"];
    const laws = values.map((value) => lawOf(survey.mechanism, survey.input(value)));
    let worst: Ratio = { n: 1n, d: 1n };
    for (const payload of new Set(laws.flatMap(({ chances }) => [...chances.keys()]))) {
      const chances = laws.map((law) => law.chances.get(payload) ?? 0n);
      const [low, high] = [...chances].sort((a, b) => (a < b ? -1 : 1)).filter((_, i, all) => i === 0 || i === all.length - 1);
      if (high! * worst.d > worst.n * low!) worst = { n: high!, d: low! };
      const told = explain(survey, concat(survey.tag, Uint8Array.from(payload.match(/../g)!, (pair) => parseInt(pair, 16))));
      values.forEach((value, i) => {
        const exact = Number(chances[i]!) / Number(laws[i]!.denominator);
        assert.ok(Math.abs(told.likelihood(value) / exact - 1) < 1e-12);
      });
      assert.ok(told.ratio <= Math.E);
    }
    assert.ok(withinEpsilon(worst, 1));
    assert.ok(Number(worst.n) / Number(worst.d) > Math.exp(0.99));
  }
});

test("a row hashes the bits of its own prefix, and no others", () => {
  const mechanism = hashedPrefixes(20, { epsilon: 1, delta: 0, key: [1, 2] }, { ...HASHES, order: 97 });
  for (let bit = 0; bit < 20; bit++) {
    const code = new Uint8Array(3);
    code[bit >> 3]! |= 128 >> (bit & 7);
    const changed = mechanism.rowEnds.map((_, row) => mechanism.bucketOf(code, row) !== 0);
    // A word is in the first of 9,507 buckets by chance only.
    assert.deepEqual(changed, [bit < 10, bit < 10, true, true, true]);
  }
});

test("codes and bytes that no device has are refused", async () => {
  const survey = await read(words(LATIN, HASHES));
  for (const code of [new Uint8Array(2), new Uint8Array(4), Uint8Array.of(0, 0, 1), [0, 0, 0], "abc"]) {
    assert.throws(() => survey.mechanism.randomize(code as never, null as never), ValueOutsideDomainError);
  }
  const beyond = Uint8Array.of(155, 0); // five rows of 31 points
  assert.equal(survey.mechanism.reportBytes, 1);
  assert.throws(() => explain(survey, concat(survey.tag, beyond.subarray(0, 1))), ReportError);
});

test("what leaves is told in words", async () => {
  const survey = await read(words(LATIN, HASHES));
  const [what, how] = explain(survey, concat(survey.tag, Uint8Array.of(0))).words;
  assert.match(what!, /5 public rules throw words into 31 buckets; .* the first 10 of the 20 bits .* One of 31 points/);
  assert.match(how!, /^Depending on the answer it is sent with a probability from 0\.\d+ to 0\.\d+\.$/);
  assert.match(explain(survey, concat(survey.tag, Uint8Array.of(154))).words[0]!, /for whole words/);
});

test("a device answers with whatever a person types, once", async () => {
  const signer = new Signer();
  const envelope = await signer.envelope(canonicalText(words(LATIN, HASHES) as never));
  for (const value of ["Tea", "coffee", "", "\ud800", "שלום", "👍", null, undefined]) {
    server.publish(envelope);
    const device = new Device(new MemoryStore(), { key: signer.public });
    const receipt = await device.answer(server.url, envelope.id, value);
    assert.deepEqual([receipt.state, receipt.drawn, receipt.problem], ["sent", true, ""]);
  }
  assert.equal(server.sent.length, 8);
  assert.equal(new Set(server.sent.map((body) => body.length)).size, 1);
});

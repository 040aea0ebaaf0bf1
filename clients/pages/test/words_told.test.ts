/** Words on the dashboard and in the planner: certain ones apart from those that may be chance, and what is said of each. */
import assert from "node:assert/strict";
import { test } from "node:test";
import type { Picture, WordsFound } from "../src/parts/api_types.js";
import { specOf } from "../src/views/planner/result.js";
import { listWords, MOST_WORDS, shareWords, wordFacts, wordPanels } from "../src/views/survey/words_told.js";

const devices = (characters: number, devices: number | null) => ({ characters, devices, share: devices === null ? 1 : devices / 1e6 });
const FOUND: WordsFound = {
  false_discovery: 0.05,
  expected_doubtful: 2.4,
  other: { value: 0.031, raw: 0.031, low: 0.0276, high: 0.0344 },
  prefixes_kept: [40, 12],
  candidates: 10_000,
  cut: false,
  hostile_devices: { shortest: devices(3, 1500), longest: devices(16, 2310), statement: "about 2,310 hostile devices suffice" },
};
const told = (given: Partial<Picture>): string =>
  wordFacts({ words: FOUND, level: 0.95, findable: null, ...given } as Picture).map((fact) => fact.join(" | ")).join("\n");

test("certain words come apart from those that may be chance, each by its place", () => {
  const [sure, doubtful, ...more] = wordPanels([true, false, true, false], FOUND);
  assert.deepEqual([sure!.places, doubtful!.places, more.length], [[0, 2], [1, 3], 0]);
  assert.match(sure!.note, /nobody’s word is at most 5\u00a0%/);
  assert.match(doubtful!.note, /Chance alone lists about 2\.4 words here/);
  assert.deepEqual(wordPanels([], FOUND), []);
  const [many] = wordPanels(Array.from({ length: 200 }, () => true), FOUND);
  assert.equal(many!.places.length, MOST_WORDS);
  assert.match(many!.note, /The 60 largest of 200 are drawn/);
});

test("how the list stands is said in words, and so is an empty one", () => {
  assert.match(listWords([]), /^No word stands out yet/);
  assert.equal(listWords([true]), "1 word is certain.");
  assert.equal(listWords([true, true, false]), "2 words are certain; 1 more may be chance.");
  assert.equal(listWords([false]), "No word is certain yet; 1 more may be chance.");
});

test("other, malicious devices and what is not found yet are told; a cut list says so", () => {
  assert.match(told({}), /Other \| 3\.1\u00a0% \| 95\u00a0% interval: 2\.76\u00a0% to 3\.44\u00a0%/);
  assert.match(told({}), /Malicious devices \| 1,500 to 2,310 devices \| About 2,310 hostile devices suffice\./);
  assert.doesNotMatch(told({}), /Left out|Not found/);
  assert.match(told({ words: { ...FOUND, cut: true } }), /Left out/);
  const findable = [{ length: 4, share: 0.003 }, { length: 16, share: 0.006 }];
  assert.match(told({ findable }), /below about 0\.3\u00a0% to 0\.6\u00a0%.*By length: up to 4, 0\.3\u00a0%; up to 16, 0\.6\u00a0%/);
  assert.match(told({ findable: [{ length: 4, share: 1 }] }), /any word/);
});

test("too few reports for malicious devices to bring a word onto a list are not told as no devices", () => {
  const few = (shortest: number | null): string =>
    told({ words: { ...FOUND, hostile_devices: { shortest: devices(3, shortest), longest: devices(16, null), statement: "so few" } } });
  assert.match(few(null), /Malicious devices \| no list yet \| So few\./);
  assert.match(few(12), /Malicious devices \| 12 devices \| So few\./);
});

test("a word that was asked for is told with its interval, and whether it may be nobody's", () => {
  const row = { label: "covid", value: 0.1, raw: 0.1, low: 0.08, high: 0.12 };
  assert.equal(shareWords(row, 0.95), "95\u00a0% interval: 8\u00a0% to 12\u00a0%.");
  assert.match(shareWords({ ...row, low: -0.01 }, 0.95), /interval: 0\u00a0% to 12\u00a0%\. It may be a word that nobody has/);
  assert.match(shareWords(row, 0.95, true), /12\u00a0%\. It is on the list above: quote the interval from there/);
});

test("the picture of a plan has a line for every length, and marks the share that was asked for", () => {
  const recall = { probability: 0.9, target: null, share: 0.006, shares: [0.001, 0.01], lengths: [{ length: 4, share: 0.003, probabilities: [0.1, 1] }, { length: null, share: 1, probabilities: [0, 0.9] }], statement: "" };
  assert.deepEqual(specOf(recall).series.map(({ name, y }) => [name, y]), [["up to 4 long", [0.1, 1]], ["a number", [0, 0.9]]]);
  assert.deepEqual(specOf(recall).x, [0.1, 1]);
  assert.equal(specOf(recall).mark!.x, 0.6);
  assert.equal(specOf({ ...recall, target: 0.002 }).mark!.x, 0.2);
  assert.equal(specOf({ ...recall, share: 1 }).mark, undefined);
});

/** The log of surveys: the shared vectors, every small tree, and what is refused of each. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { fromBase64url } from "../src/core/bytes.js";
import { ServiceError, TransparencyError } from "../src/core/errors.js";
import { blockOf, checkLogProof, readLogProof } from "../src/transparency/evidence.js";
import { leafHash, peaks, provesConsistency, provesInclusion, rootFrom } from "../src/transparency/proofs.js";
import { readCheckpoint } from "../src/transparency/tree_head.js";
import { checkpointOf, consistencyOf, entryHash, inclusionOf, rootOf } from "./log_server.js";
import { Signer } from "./server.js";
import { vectors } from "./vectors.js";

const given = vectors("log");
const key = fromBase64url(given.key);
const roots = new Map<number, Uint8Array>(given.roots.map(({ size, root }: any) => [size, fromBase64url(root)]));
const LAST = Math.max(...roots.keys());
const hashes = (listed: readonly string[]) => listed.map((hash) => fromBase64url(hash));
const altered = (bytes: Uint8Array) => bytes.map((byte, i) => (i === 7 ? byte ^ 1 : byte));

test("vectors: entries, roots and proofs", async () => {
  assert.deepEqual(await leafHash(new TextEncoder().encode(given.entry)), entryHash(given.surveys[0]));
  for (const [size, root] of roots) assert.deepEqual(await rootFrom(0, [], given.surveys.slice(0, size).map(entryHash)), root);
  for (const { position, proof } of given.inclusion) {
    const leaf = entryHash(given.surveys[position]);
    assert.ok(await provesInclusion(leaf, position, LAST, hashes(proof), roots.get(LAST)!));
    assert.ok(!(await provesInclusion(altered(leaf), position, LAST, hashes(proof), roots.get(LAST)!)));
    assert.ok(!(await provesInclusion(leaf, position, LAST, hashes(proof).map(altered), roots.get(LAST)!)));
    assert.ok(!(await provesInclusion(leaf, position, LAST, hashes(proof).slice(1), roots.get(LAST)!)));
    assert.ok(!(await provesInclusion(leaf, position ^ 1, LAST, hashes(proof), roots.get(LAST)!)));
    assert.ok(!(await provesInclusion(leaf, LAST, LAST, hashes(proof), roots.get(LAST)!)));
  }
  for (const { old, new: size, proof } of given.consistency) {
    const [before, after] = [roots.get(old)!, roots.get(size)!];
    assert.ok(await provesConsistency(old, size, before, after, hashes(proof)));
    assert.ok(!(await provesConsistency(old, size, altered(before), after, hashes(proof))));
    assert.ok(!(await provesConsistency(old, size, before, altered(after), hashes(proof))));
    assert.ok(!(await provesConsistency(old, size, before, after, [...hashes(proof), before])));
    if (old < size) assert.ok(!(await provesConsistency(size, old, after, before, hashes(proof))));
    if (proof.length > 0) assert.ok(!(await provesConsistency(old, size, before, after, hashes(proof).slice(1))));
  }
});

test("vectors: checkpoints, and those to refuse", async () => {
  const sizes = await Promise.all(given.checkpoints.map(async (note: string) => (await readCheckpoint(note, key)).size));
  assert.deepEqual(sizes, [...roots.keys()]);
  assert.deepEqual((await readCheckpoint(given.checkpoints.at(-1), key)).root, roots.get(LAST));
  assert.ok(given.bad_checkpoints.length >= 5);
  for (const note of given.bad_checkpoints) await assert.rejects(readCheckpoint(note, key), TransparencyError);
});

test("a checkpoint has one form, one log and one signature", async () => {
  const signer = new Signer();
  const note = checkpointOf(signer, 3, new Uint8Array(32));
  assert.equal((await readCheckpoint(note, signer.public)).size, 3);
  await assert.rejects(readCheckpoint(note, new Signer().public), /of the log that another key signs/);
  await assert.rejects(readCheckpoint(note.repeat(5), signer.public), TransparencyError);
  await assert.rejects(readCheckpoint(note.replace("\n3\n", "\n4\n"), signer.public), /altered, or not signed by the key/);
  const [head, line = ""] = note.split("\n\n");
  const [, name = "", signature = ""] = line.trim().split(" ");
  const again = (bytes: Buffer) => `${head}\n\n\u2014 ${name} ${bytes.toString("base64")}\n`;
  const bytes = Buffer.from(signature, "base64");
  assert.equal(again(bytes), note);
  for (const place of [0, 3]) {
    await assert.rejects(readCheckpoint(again(Buffer.from(bytes.map((b, i) => (i === place ? b ^ 1 : b)))), signer.public), /names another key/);
  }
  await assert.rejects(readCheckpoint(again(Buffer.from(bytes.map((b, i) => (i === 67 ? b ^ 1 : b)))), signer.public), /altered/);
  // The last sign of 32 bytes has two bits that say nothing: only one of four spellings is the bytes'.
  const spelled = note.replace("AAA=\n", "AAB=\n");
  assert.notEqual(spelled, note);
  await assert.rejects(readCheckpoint(spelled, signer.public), TransparencyError);
  // A size that a double does not hold is refused, and not rounded.
  await assert.rejects(readCheckpoint(checkpointOf(signer, 2 ** 53, new Uint8Array(32)), signer.public), /signed note/);
  assert.equal((await readCheckpoint(checkpointOf(signer, 2 ** 53 - 1, new Uint8Array(32)), signer.public)).size, 2 ** 53 - 1);
});

test("vectors: what a device is sent", async () => {
  const { survey, remembered, answer } = given.device;
  const before = await readCheckpoint(remembered, key);
  const check = (change: object = {}, of = survey) => checkLogProof(readLogProof({ ...answer, ...change }), key, of, before);
  assert.equal((await check()).size, LAST);
  const other = answer.block[0];
  const without = (name: string) => ({ [name]: answer[name].slice(1) });
  for (const [change, why] of [
    [{ position: 4 }, /does not prove/],
    [{ position: LAST }, /does not prove/],
    [without("inclusion"), /does not prove/],
    [{ start: 256 }, /not about the block/],
    [without("block"), /not about the block/],
    [{ before: [other] }, /not about the block/],
    [{ consistency: [other] }, /does not continue/],
    [{ block: [answer.block[1], other, ...answer.block.slice(2)] }, /does not continue/],
    [{ block: [...answer.block.slice(0, 7), other] }, /does not continue/],
    [{ inclusion: ["_".repeat(43), ...answer.inclusion.slice(1)] }, /not in base64url/],
    [{ checkpoint: given.bad_checkpoints[1] }, /altered/],
  ] as const) {
    await assert.rejects(check(change), (error: unknown) => error instanceof TransparencyError && why.test(error.message), String(why));
  }
  await assert.rejects(check({}, given.surveys[4]), /does not prove/);
  for (const change of [
    { position: -1 }, { position: 0.5 }, { position: 2 ** 53 }, { start: "0" }, { checkpoint: null }, { block: "x" },
    { block: [other.slice(1)] }, { inclusion: [`${other.slice(1)}+`] }, { before: [null] }, { consistency: undefined },
  ]) {
    assert.throws(() => readLogProof({ ...answer, ...change }), ServiceError, JSON.stringify(change));
  }
  assert.throws(() => readLogProof(null), ServiceError);
});

test("every small tree: each proof holds for its own place and sizes, and for no other", async () => {
  const leaves = Array.from({ length: 17 }, (_, i) => entryHash(i.toString(16).padStart(64, "0")));
  for (let size = 1; size <= leaves.length; size++) {
    const own = leaves.slice(0, size);
    const root = rootOf(own);
    for (let position = 0; position < size; position++) {
      const proof = inclusionOf(position, own);
      for (let other = 0; other < size; other++) {
        assert.equal(await provesInclusion(leaves[position]!, other, size, proof, root), other === position);
      }
    }
    for (let old = 0; old <= size; old++) {
      const proof = consistencyOf(old, own);
      assert.ok(await provesConsistency(old, size, rootOf(own.slice(0, old)), root, proof), `${old} of ${size}`);
      if (old > 0) assert.ok(!(await provesConsistency(old, size, rootOf(own.slice(1, old)), root, proof)));
    }
    for (const before of peaks(size).map((_, i, all) => all.slice(0, i + 1))) {
      let at = 0;
      const found = before.map((width) => rootOf(own.slice(at, (at += width))));
      assert.deepEqual(await rootFrom(at, found, own.slice(at)), root);
    }
  }
  assert.deepEqual(await rootFrom(0, [], []), rootOf([]));
});

test("sizes beyond 32 bits are whole numbers too", () => {
  assert.deepEqual(peaks(2 ** 52 + 2 ** 33 + 1), [2 ** 52, 2 ** 33, 1]);
  assert.deepEqual([blockOf(0), blockOf(255), blockOf(256), blockOf(2 ** 53 - 1)], [0, 0, 1, 2 ** 45 - 1]);
});

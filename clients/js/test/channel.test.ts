/** Channels in attachments: good ones however they are packed, bad ones refused, and zlib streams taken strictly. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { constants, deflateSync } from "node:zlib";
import { concat, fromHex, toHex } from "../src/core/bytes.js";
import { MechanismError } from "../src/core/errors.js";
import { inflate, readChannel } from "../src/mechanisms/matrix_channel.js";
import { replay } from "./replay.js";
import { vectors } from "./vectors.js";

test("channels of the vectors, and their reports", async () => {
  let compared = 0;
  for (const entry of vectors("strategies").surveys.filter((each: any) => each.strategy === "optimized")) {
    const { epsilon } = JSON.parse(entry.canonical);
    for (const attachment of entry.attachments) {
      const { digest, mechanism } = await readChannel(fromHex(attachment), entry.domain_size, epsilon);
      assert.equal(digest, entry.digest);
      assert.equal(mechanism.reportBytes, entry.report_bytes);
      for (const { input, tape, payload } of entry.reports) {
        assert.equal(toHex(replay(tape, (source) => mechanism.randomize(input, source))), payload);
        compared++;
      }
    }
  }
  assert.ok(compared > 20);
});

test("bad channels of the vectors are refused", async () => {
  let refused = 0;
  for (const { fault, survey, digest, attachment } of vectors("strategies").bad_attachments) {
    const { epsilon, design, question } = JSON.parse(survey);
    if (design.strategy !== "optimized") continue;
    const { workload } = question;
    const size = workload.domain.size ?? workload.domain.labels.length;
    const read = readChannel(fromHex(attachment), size, epsilon);
    // Where only the digest is wrong, it is the survey's reader that refuses.
    await read.then(
      (found) => assert.notEqual(found.digest, digest, fault),
      (error) => assert.ok(error instanceof MechanismError, fault),
    );
    refused++;
  }
  assert.ok(refused > 15);
});

test("streams of every kind are unpacked, and nothing shorter or longer", async () => {
  const texts = ["", "a", "abc".repeat(5000), Array.from({ length: 70_000 }, (_, i) => (i * i) % 251).join("")];
  const { Z_FIXED, Z_DEFAULT_STRATEGY } = constants;
  for (const text of texts) {
    const bytes = new TextEncoder().encode(text);
    for (const [level, strategy] of [
      [0, Z_DEFAULT_STRATEGY],
      [9, Z_DEFAULT_STRATEGY],
      [6, Z_FIXED],
    ] as const) {
      const packed = new Uint8Array(deflateSync(bytes, { level, strategy }));
      assert.deepEqual(await inflate(packed, bytes.length), bytes);
      for (const after of [Uint8Array.of(0), packed, packed.slice(-4)]) {
        await assert.rejects(inflate(concat(packed, after), bytes.length), MechanismError);
      }
      await assert.rejects(inflate(packed.subarray(0, -1), bytes.length), MechanismError);
      await assert.rejects(inflate(packed, bytes.length + 1), MechanismError);
      if (bytes.length) await assert.rejects(inflate(packed, bytes.length - 1), MechanismError);
    }
  }
});

test("a stream with any one bit changed is refused, or read as what it was", async () => {
  const bytes = new TextEncoder().encode("sotto voce, in a low voice: ".repeat(9));
  const packed = new Uint8Array(deflateSync(bytes, { level: 9 }));
  let taken = 0;
  for (let bit = 0; bit < 8 * packed.length; bit++) {
    const changed = packed.slice();
    changed[bit >> 3]! ^= 1 << (bit & 7);
    const found = await inflate(changed, bytes.length).catch((error) => assert.ok(error instanceof MechanismError));
    if (found) (taken++, assert.deepEqual(found, bytes));
  }
  assert.ok(taken < 16); // bits of the header, and those left over before the checksum
});

/** What travels over HTTP: signed surveys, good and bad, and batches of reports. */
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { fromBase64url, fromHex, toBase64url, toHex } from "../src/core/bytes.js";
import { Collector } from "../src/device/collector.js";
import { ServiceError, SignatureError, SottovoceError } from "../src/core/errors.js";
import { collectorUrl, Http } from "../src/device/http.js";
import { checkPublicKey, fingerprint, verify } from "../src/core/signature.js";
import { Panel } from "../src/surveys/panel.js";
import { readSurvey } from "../src/surveys/read.js";
import { Survey } from "../src/surveys/survey.js";
import { encodeBatch } from "../src/device/wire.js";
import { json, raw, refuse, TestCollector } from "./server.js";
import { vectors } from "./vectors.js";

const { key, envelopes, bad_envelopes, bad_keys, bad_rounds, batches } = vectors("collector");
const trusted = fromBase64url(key.public, 32);
const server = new TestCollector();
let collector: Collector;

before(async () => {
  collector = new Collector(new Http(await server.start()), { attempts: 1, first: 0, longest: 0 });
});
after(() => server.stop());

test("published surveys are read, by the key and by the id", async () => {
  assert.equal(await fingerprint(trusted), key.fingerprint);
  for (const { envelope, tag } of envelopes) {
    server.publish(envelope);
    const found = await collector.survey(envelope.id, trusted);
    assert.equal(found.survey.id, envelope.id);
    assert.equal(found.state, envelope.state);
    if (tag === null) assert.ok(found.survey instanceof Panel);
    else assert.equal(toHex((found.survey as Survey).tag), tag);
  }
});

test("bad envelopes are refused", async () => {
  for (const { fault, asked, envelope } of bad_envelopes) {
    server.answers.set(`GET /v1/surveys/${asked}`, json(200, envelope));
    await assert.rejects(collector.survey(asked, trusted), SottovoceError, fault);
  }
  assert.ok(bad_envelopes.length > 5);
});

test("keys that anybody can sign for are refused, trusted or not", async () => {
  for (const { fault, asked, envelope } of bad_keys) {
    server.answers.set(`GET /v1/surveys/${asked}`, json(200, envelope));
    for (const known of [null, fromBase64url(envelope.key, 32)]) {
      await assert.rejects(collector.survey(asked, known), SignatureError, fault);
    }
  }
  assert.ok(bad_keys.length > 5);
});

test("bad rounds are refused", async () => {
  for (const { fault, survey, envelope } of bad_rounds) {
    const { statement } = envelopes.find((each: any) => each.envelope.id === survey).envelope;
    const panel = (await readSurvey(statement)) as Panel;
    server.answers.set(`GET /v1/surveys/${panel.id}/rounds/latest`, json(200, envelope));
    await assert.rejects(collector.latestRound(panel, trusted), SottovoceError, fault);
  }
  assert.ok(bad_rounds.length > 0);
});

test("a signature holds for its bytes, its context and its key alone", async () => {
  const { statement, signature } = envelopes[0].envelope;
  const bytes = new TextEncoder().encode(statement);
  const signed = fromBase64url(signature, 64);
  await verify(trusted, bytes, signed);
  const changes: [Uint8Array, Uint8Array, Uint8Array][] = [
    [trusted, bytes.slice(1), signed],
    [trusted, new TextEncoder().encode(`${statement} `), signed],
    [trusted, bytes, signed.map((byte, i) => (i === 5 ? byte ^ 1 : byte))],
    [trusted, bytes, new Uint8Array(64)],
    [trusted, bytes, new Uint8Array(0)],
    [new Uint8Array(32), bytes, signed],
    [trusted.slice(1), bytes, signed],
  ];
  for (const change of changes) await assert.rejects(verify(...change), { name: "SignatureError" });
});

test("keys under which anybody can sign, and second spellings of a key, are refused", async () => {
  const field = 2n ** 255n - 19n;
  const eighth = 0x7a03ac9277fdc74ec6cc392cfa53202a0f67100d760b3cba4fd84d3d706a17c7n;
  for (const height of [0n, 1n, field - 1n, eighth, field - eighth, field, field + 1n, 2n ** 255n - 1n]) {
    for (const sign of [0n, 2n ** 255n]) {
      const hex = (height + sign).toString(16).padStart(64, "0");
      assert.throws(() => checkPublicKey(fromHex(hex).reverse()), { name: "SignatureError" });
    }
  }
  assert.equal(checkPublicKey(trusted), trusted);
  assert.throws(() => checkPublicKey(trusted.slice(1)), { name: "SignatureError" });
});

test("batches, byte for byte", () => {
  for (const { survey, reports, body, json: stated } of batches) {
    const pairs = reports.map((report: any) => [fromHex(report.id), fromHex(report.report)]);
    assert.equal(toHex(encodeBatch(survey, pairs)), body);
    const listed = JSON.parse(stated);
    assert.deepEqual(
      (listed.reports ?? [listed]).map((one: any) => one.report),
      pairs.map(([, report]: Uint8Array[]) => toBase64url(report!)),
    );
  }
  assert.throws(() => encodeBatch("ab".repeat(32), []), { name: "ReportError" });
  assert.throws(() => encodeBatch("AB".repeat(32), [[new Uint8Array(16), new Uint8Array(5)]]), { name: "SurveyError" });
});

test("answers that no collector gives are no answers", async () => {
  const { id } = envelopes[0].envelope;
  const get = `GET /v1/surveys/${id}`;
  const bad = [
    raw(200, "<html>Welcome to the hotel</html>"),
    raw(200, ""),
    raw(200, "null"),
    raw(200, Uint8Array.of(0x22, 0xff, 0x22)),
    json(200, { ...envelopes[0].envelope, key: 5 }),
    json(200, { ...envelopes[0].envelope, attachments: "x" }),
    raw(302, "", { Location: "/elsewhere" }),
    raw(200, new Uint8Array(2 ** 24 + 1)),
    raw(204, ""),
  ];
  for (const answer of bad) {
    server.answers.set(get, answer);
    await assert.rejects(
      collector.survey(id, trusted),
      (error) => error instanceof ServiceError && error.code === "bad_answer",
    );
  }
  server.answers.set(get, refuse(404, "no_such_survey\u001b[2J"));
  await assert.rejects(collector.survey(id, trusted), { code: "no_such_survey[2J", status: 404 });
});

test("an answer that stops coming is given up", async () => {
  const { id } = envelopes[0].envelope;
  const hasty = new Collector(new Http(collector.url, { timeout: 0.2 }), { attempts: 1, first: 0, longest: 0 });
  server.answers.set(`GET /v1/surveys/${id}`, (_, response) => {
    response.writeHead(200);
    response.write("{");
  });
  await assert.rejects(hasty.survey(id, trusted), { code: "unreachable" });
});

test("a collector's address has one spelling", () => {
  assert.equal(collectorUrl("HTTPS://Stats.Example.org:443/sottovoce/"), "https://stats.example.org/sottovoce");
  assert.equal(collectorUrl("http://127.0.0.1:80"), "http://127.0.0.1");
  assert.equal(collectorUrl("http://stats.example.org/", true), "http://stats.example.org");
  for (const bad of [
    "http://stats.example.org",
    "http://127.0.0.1.example.org",
    "http://localhost.example.org",
    "ftp://x",
    "https://",
    "https://u:p@x",
    "https://u@x",
    "https://x?q",
    "https://x#f",
    "https:x",
    "https://x y",
    "https:\\\\x",
    "x",
    "",
    5,
    null,
    "https://münchen.example",
    "javascript:alert(1)",
  ]) {
    assert.throws(() => collectorUrl(bad), { code: "bad_address" }, String(bad));
  }
});

/** Strict JSON in, canonical JSON out. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { fromBase64url, fromHex, toBase64url, toHex } from "../src/core/bytes.js";
import { canonicalText, parseJson } from "../src/core/json.js";
import { SignatureError, SurveyError } from "../src/core/errors.js";

test("keys are sorted by UTF-16 code units, numbers shortest, strings with the fewest escapes", () => {
  // Code units sort U+1F600 (D83D DE00) before U+FB33, code points the other way round.
  const text = '{ "\ufb33":1, "😀":2,\n"b":[1e+21,1e-7,0.5,-1,0],"a":"\\u0007/€\\n \\" b" }';
  assert.equal(
    canonicalText(parseJson(text)),
    '{"a":"\\u0007/€\\n \\" b","b":[1e+21,1e-7,0.5,-1,0],"😀":2,"\ufb33":1}',
  );
});

test("what two readers could read differently is refused", () => {
  const bad = [
    '{"a":1,"a":2}',
    '{"a":1,"\\u0061":2}',
    "1.0",
    "1e3",
    "-0",
    "01",
    "1.",
    ".5",
    "+1",
    "NaN",
    "Infinity",
    "1e400",
    "9007199254740993",
    "'a'",
    '"\t"',
    '"\\x41"',
    '"a',
    "[1,]",
    "[1",
    '{"a":1,}',
    '{"a"}',
    "{a:1}",
    "1 2",
    "",
    " ",
    "tru",
    "[]]",
    "\ufeff1",
    "/**/1",
    "[".repeat(1e6) + "]".repeat(1e6),
    "[".repeat(3000) + "]".repeat(3000),
    '{"a":"\\u0062"}',
    '"\\/"',
    '{"b":1,"2":1}',
  ];
  for (const text of bad) assert.throws(() => canonicalText(parseJson(text)), SurveyError, text.slice(0, 20));
  assert.throws(() => parseJson(Uint8Array.of(0x22, 0xff, 0x22)), SurveyError);
  assert.throws(() => parseJson(Uint8Array.of(0xef, 0xbb, 0xbf, 0x31)), SurveyError);
  assert.throws(() => canonicalText("\ud800"), SurveyError);
});

test("keys of Object.prototype are keys like any other", () => {
  const found = parseJson('{"__proto__":{"polluted":1},"toString":2}') as { polluted?: number };
  assert.equal(found.polluted, undefined);
  assert.equal(canonicalText(found), '{"__proto__":{"polluted":1},"toString":2}');
  assert.equal(({} as { polluted?: number }).polluted, undefined);
});

test("base64url and hexadecimal have one spelling", () => {
  const bytes = Uint8Array.from({ length: 32 }, (_, i) => 37 * i + 250);
  assert.deepEqual(fromBase64url(toBase64url(bytes), 32), bytes);
  assert.deepEqual(fromBase64url(`${toBase64url(bytes)}=`, 32), bytes);
  assert.deepEqual(fromHex(toHex(bytes)), bytes);
  for (const bad of ["QQ==Q", "QR", "Q", "QQ=", "Q+", "Q/", " QQ", "QQ\n", "QQ====", ""]) {
    assert.throws(() => fromBase64url(bad, 1), SignatureError, bad);
  }
  for (const bad of ["A0", "a", "0x", "a0 "]) assert.throws(() => fromHex(bad), RangeError);
});

/** Oblivious HTTP: the examples that its RFCs publish, and the bytes that the Python library seals. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { concat, fromHex, sha256, toHex } from "../src/core/bytes.js";
import { SurveyError } from "../src/core/errors.js";
import { decodeResponse, encodeRequest } from "../src/oblivious/binary_http.js";
import { derivePrivateKey, exported, publicKeyOf, seal, sendTo } from "../src/oblivious/hpke.js";
import { readKeyConfigurations } from "../src/oblivious/key_configuration.js";
import { openResponse, padded, recordedKey, sealRequest, SIZES } from "../src/oblivious/messages.js";
import { readSignedKeys } from "../src/oblivious/signed_keys.js";
import { vectors } from "./vectors.js";

const ascii = (text: string) => new TextEncoder().encode(text);

test("RFC 9180, A.1.1: keys, the first message, exports", async () => {
  const ephemeral = await derivePrivateKey(fromHex("7268600d403fce431561aef583ee1613527cff655c1343f29812e66706df3234"));
  const recipient = await derivePrivateKey(fromHex("6db9df30aa07dd42ee5e8181afdb977e538f5e1fec8a06223f33f7013e525037"));
  assert.equal(toHex(ephemeral), "52c4a758a802cd8b936eceea314432798d5baf2d7e9235dc084ab1b9cfa2f736");
  assert.equal(toHex(recipient), "4612c550263fc8ad58375df3f557aac531d26850903e55a9f23f21d8534e8ac8");
  const publicKey = await publicKeyOf(recipient);
  assert.equal(toHex(publicKey), "3948cfe0ad1ddb695d780e59077195da6c56506b027329794ab02bca80815c4d");
  const context = await sendTo(publicKey, ascii("Ode on a Grecian Urn"), ephemeral);
  assert.equal(toHex(context.enc), "37fda3567bdbd628e88668c3c8d7e97d1d1253b6d4ea6d44c150f741f1bf4431");
  assert.equal(
    toHex(await seal(context, ascii("Beauty is truth, truth beauty"), ascii("Count-0"))),
    "f938558b5d72f1a23810b4be2ab4f84331acc02fc97babc53a52ae8218a355a96d8770ac83d07bea87e13c512a",
  );
  for (const [purpose, secret] of [
    ["", "3853fe2b4035195a573ffc53856e77058e15d9ea064de3e59f4961d0095250ee"],
    ["\0", "2e8f0b54673c7029649d4eb9d5e33bf1872cf76d623ff164ac185da9e88c21a5"],
    ["TestContext", "e9e43065102c3836401bed8c3c3c75ae46be1639869391d62c61f1ec7af54931"],
  ] as const) {
    assert.equal(toHex(await exported(context, ascii(purpose), 32)), secret);
  }
});

test("RFC 9292, Sec. 5: a request and a response of known length", () => {
  const request = {
    method: "GET",
    scheme: "https",
    authority: "",
    path: "/hello.txt",
    headers: [
      ["user-agent", "curl/7.16.3 libcurl/7.16.3 OpenSSL/0.9.7l zlib/1.2.3"],
      ["host", "www.example.com"],
      ["accept-language", "en, mi"],
    ] as const,
    body: new Uint8Array(0),
  };
  assert.equal(
    toHex(encodeRequest(request)),
    "0003474554056874747073000a2f68656c6c6f2e747874406c0a757365722d6167656e74346375726c2f372e31362e33206c6962" +
      "6375726c2f372e31362e33204f70656e53534c2f302e392e376c207a6c69622f312e322e3304686f73740f7777772e6578616d70" +
      "6c652e636f6d0f6163636570742d6c616e677561676506656e2c206d690000",
  );
  const whole = "0140c8001d5468697320636f6e74656e7420636f6e7461696e732043524c462e0d0a0d07747261696c65720474657874";
  for (const same of [whole, `${whole}000000`, whole.replace("01", "01406600")]) {
    const { status, headers, body } = decodeResponse(fromHex(same));
    assert.deepEqual([status, headers, new TextDecoder().decode(body)], [200, [], "This content contains CRLF.\r\n"]);
  }
  const retry = decodeResponse(fromHex(`0141f70e0b${toHex(ascii("retry-after"))}0135`));
  assert.deepEqual(retry, { status: 503, headers: [["retry-after", "5"]], body: new Uint8Array(0) });
  const bad = ["", "00", "01", "014066", "0140c805", `${whole}01`, whole.slice(0, -2), "0340c8", "01c00000000000000000"];
  for (const cut of bad) assert.throws(() => decodeResponse(fromHex(cut)), RangeError, cut);
});

test("RFC 9458, Appendix A: a whole exchange", async () => {
  const list = fromHex("002d" + "01002031e1f05a740102115220e9af918f738674aec95f54db6e04eb705aae8e79815500080001000100010003");
  const [configuration, ...others] = readKeyConfigurations(list);
  assert.deepEqual([configuration!.id, others.length], [1, 0]);
  for (let cut = 1; cut < list.length; cut++) assert.throws(() => readKeyConfigurations(list.slice(0, cut)), RangeError);
  const ephemeral = fromHex("bc51d5e930bda26589890ac7032f70ad12e4ecb37abb1b65b1256c9c48999c73");
  const request = fromHex("00034745540568747470730b6578616d706c652e636f6d012f");
  const sealed = await sealRequest(configuration!, request, ephemeral);
  assert.equal(
    toHex(sealed.message),
    "010020000100014b28f881333e7c164ffc499ad9796f877f4e1051ee6d31bad19dec96c208b4726374e469135906992e1268c594" +
      "d2a10c695d858c40a026e7965e7d86b83dd440b2c0185204b4d63525",
  );
  const response = fromHex("c789e7151fcba46158ca84b04464910d86f9013e404feea014e7be4a441f234f857fbd");
  const opened = await openResponse(sealed.context, response);
  assert.deepEqual([toHex(opened), decodeResponse(opened).status], ["0140c8", 200]);
  response[20]! ^= 1;
  await assert.rejects(openResponse(sealed.context, response));
  await assert.rejects(openResponse(sealed.context, new Uint8Array(3)));
});

test("the same bytes as the Python library seals, and the same responses and keys refused", async () => {
  const { device_secret, sealed, responses, keys } = vectors("oblivious");
  const secret = fromHex(device_secret);
  const asStated = ({ content, times, ...stated }: any) =>
    padded(encodeRequest({ ...stated, body: fromHex(content.repeat(times)) }));
  const read = (encoded: string) =>
    readKeyConfigurations(concat(Uint8Array.of(0, encoded.length / 2), fromHex(encoded)))[0]!;
  for (const { configuration, request, ephemeral_public, size, sha256: digest, plaintext, message } of sealed) {
    const to = read(configuration);
    const bytes = asStated(request);
    const { message: made } = await sealRequest(to, bytes, await recordedKey(secret, to, bytes));
    assert.deepEqual([made.length, toHex(made.slice(7, 39)), toHex(await sha256(made))], [size, ephemeral_public, digest]);
    if (message) assert.deepEqual([toHex(bytes), toHex(made)], [plaintext, message]);
  }
  const [to, request] = [read(responses.configuration), asStated(responses.request)];
  const { context } = await sealRequest(to, request, await recordedKey(secret, to, request));
  const opened = async (hex: string) => decodeResponse(await openResponse(context, fromHex(hex)));
  const { status, body } = await opened(responses.good.sealed);
  assert.deepEqual([status, toHex(body)], [responses.good.status, responses.good.content]);
  assert.ok(responses.bad.length > 5 && keys.bad.length > 5);
  for (const { what, sealed: bad } of responses.bad) await assert.rejects(opened(bad), Error, what);
  const readKeys = async (text: string) => readSignedKeys(JSON.parse(text), fromHex(keys.pinned));
  for (const { body: text, configurations } of keys.good) {
    assert.equal(toHex((await readKeys(text)).configuration.encoded), configurations[0]);
  }
  for (const { what, body: text } of keys.bad) await assert.rejects(readKeys(text), Error, what);
});

test("a request is padded with zeros to the smallest size that has room", () => {
  for (const [i, size] of SIZES.entries()) {
    const longest = new Uint8Array(size - 55).fill(1);
    assert.deepEqual(padded(longest), longest);
    const longer = concat(longest, Uint8Array.of(1));
    if (i + 1 === SIZES.length) assert.throws(() => padded(longer), SurveyError);
    else assert.deepEqual(padded(longer), concat(longer, new Uint8Array(SIZES[i + 1]! - 55 - longer.length)));
  }
});

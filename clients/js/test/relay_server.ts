/** A relay and the collector's gateway behind it, for tests: it keeps what is left, and opens it as the collector would. */
import { type KeyObject, randomBytes, sign } from "node:crypto";
import { concat, toBase64url } from "../src/core/bytes.js";
import {
  derivePrivateKey,
  exchange,
  open,
  publicKeyOf,
  responseKey,
  scheduled,
  seal,
  type Context,
} from "../src/oblivious/hpke.js";
import { json, raw, refuse, type Request, type Signer, TestCollector } from "./server.js";

const ascii = (text: string) => new TextEncoder().encode(text);
const HEADER = [0, 0x20, 0, 1, 0, 1];

/** A key pair of a gateway. */
export interface GatewayKey {
  readonly id: number;
  readonly secret: Uint8Array;
  readonly publicKey: Uint8Array;
}

export async function gatewayKey(id: number): Promise<GatewayKey> {
  const secret = await derivePrivateKey(randomBytes(32));
  return { id, secret, publicKey: await publicKeyOf(secret) };
}

const configuration = ({ id, publicKey }: GatewayKey): Uint8Array =>
  concat(Uint8Array.of(0, 41, id, 0, 0x20), publicKey, Uint8Array.of(0, 4, 0, 1, 0, 1));

/** What `GET /v1/keys` answers; `others` are configurations that stand before the keys. */
export function signedKeys(
  keys: readonly GatewayKey[],
  signer: Signer,
  { by = signer.private, others = new Uint8Array(0) }: { by?: KeyObject; others?: Uint8Array } = {},
) {
  const configurations = concat(others, ...keys.map(configuration));
  const signature = sign(null, concat(ascii("sottovoce keys\n"), configurations), by);
  return {
    configurations: toBase64url(configurations),
    signature: toBase64url(new Uint8Array(signature)),
    key: toBase64url(signer.public),
  };
}

export class TestRelay extends TestCollector {
  /** Messages that it holds. */
  readonly held: { readonly box: string; readonly message: Uint8Array }[] = [];
  /** The gateway's keys, the newest first. */
  keys: GatewayKey[] = [];

  /** Show these keys from now on, and take messages for the survey. */
  serve(surveyId: string, signer: Signer, ...keys: GatewayKey[]): void {
    this.keys = keys;
    this.answers.set("GET /v1/keys", json(200, signedKeys(keys, signer)));
    this.answers.set(`POST /v1/boxes/${surveyId}`, (request, response) => {
      const isKnown = this.keys.some(({ id }) => id === request.body[0]);
      if (isKnown) this.held.push({ box: surveyId, message: request.body });
      (isKnown ? json(200, { accepted: 1 }) : refuse(422, "unknown_key"))(request, response);
    });
  }

  /** Pass requests on to a collector, as relay and gateway do together. */
  passTo(collector: TestCollector): void {
    this.answers.set("POST /v1/requests", async (request, response) => {
      const { plaintext, context } = await this.opened(request.body);
      const inner = decodeRequest(plaintext);
      const { status, body, retryAfter } = await ask(collector, inner);
      const nonce = new Uint8Array(randomBytes(16));
      const label = ascii("message/bhttp response");
      const sealed = await seal(await responseKey(context, label, nonce), binaryResponse(status, retryAfter, body));
      raw(200, concat(nonce, sealed), { "Content-Type": "message/ohttp-res" })(request, response);
    });
  }

  /** What a message holds. */
  async opened(message: Uint8Array): Promise<{ plaintext: Uint8Array; context: Context }> {
    const header = message.slice(0, 7);
    if (header.slice(1).join() !== HEADER.join()) throw new Error("another suite");
    const { secret } = this.keys.find(({ id }) => id === header[0])!;
    const enc = message.slice(7, 39);
    const info = concat(ascii("message/bhttp request\0"), header);
    const context = await scheduled(enc, await exchange(secret, enc), await publicKeyOf(secret), info);
    return { plaintext: await open(context, message.slice(39)), context };
  }
}

/** The request in binary HTTP; only what the tests need of it. */
export function decodeRequest(bytes: Uint8Array): Request & { readonly contentType: string } {
  let at = 1;
  const number = () => {
    const first = bytes[at++]!;
    let found = first & 63;
    for (let left = (1 << (first >> 6)) - 1; left > 0; left--) found = 256 * found + bytes[at++]!;
    return found;
  };
  const sized = () => {
    const length = number();
    at += length;
    return bytes.slice(at - length, at);
  };
  const text = () => new TextDecoder().decode(sized());
  const [method, , , path] = [text(), text(), text(), text()] as const;
  const fields = new TextDecoder().decode(sized());
  const body = sized();
  return { method, path, body, headers: {}, port: undefined, contentType: fields.slice(2 + "content-type".length) };
}

async function ask(collector: TestCollector, { method, path, body }: Request) {
  const sent = method === "GET" ? {} : { body: body as Uint8Array<ArrayBuffer> };
  const answer = await fetch(collector.url + path, { method, ...sent });
  const retryAfter = answer.headers.get("Retry-After") ?? "";
  return { status: answer.status, body: new Uint8Array(await answer.arrayBuffer()), retryAfter };
}

function binaryResponse(status: number, retryAfter: string, body: Uint8Array): Uint8Array {
  const number = (value: number) => Uint8Array.of(0x80 | (value >> 24), (value >> 16) & 255, (value >> 8) & 255, value & 255);
  const text = (value: string) => concat(number(value.length), ascii(value));
  const fields = retryAfter ? concat(text("retry-after"), text(retryAfter)) : new Uint8Array(0);
  const parts = [number(fields.length), fields, number(body.length), body, number(0), new Uint8Array(99)];
  return concat(Uint8Array.of(1), number(status), ...parts);
}

/**
 * Requests and responses of Oblivious HTTP (RFC 9458): a request is encrypted to a collector's key, so that a relay in
 * between sees its size and nothing else; and the size is one of few.
 */
import { concat } from "../core/bytes.js";
import { ServiceError, SurveyError } from "../core/errors.js";
import { BAD_ANSWER } from "../core/transport.js";
import { checkPlatform, type Context, derivePrivateKey, hmac, KEY_BYTES, open, responseKey, seal, sendTo, TAG_BYTES } from "./hpke.js";
import { header, type KeyConfiguration } from "./key_configuration.js";

export const REQUEST_MEDIA_TYPE = "message/ohttp-req";

/** Sizes of encrypted requests: the smallest that fits, which is the same for all answers to a survey. */
export const SIZES: readonly number[] = [512, 2048, 8192, 65536];

const ascii = (text: string): Uint8Array => new TextEncoder().encode(text);
const REQUEST = ascii("message/bhttp request\0");
const RESPONSE = ascii("message/bhttp response");
/** So that the secret serves no other purpose under this key. */
const RECORDED = ascii("sottovoce sealed message 1\0");
const HEADER_BYTES = 7;
/** What encrypting adds to a request. */
const OVERHEAD = HEADER_BYTES + KEY_BYTES + TAG_BYTES;
const RESPONSE_NONCE_BYTES = 16;

/** A request with zeros behind it, which binary HTTP allows, so that it has one of the sizes once it is encrypted. */
export function padded(request: Uint8Array): Uint8Array<ArrayBuffer> {
  const size = SIZES.find((each) => each >= request.length + OVERHEAD);
  if (size === undefined) {
    throw new SurveyError(`a request through a relay has at most ${SIZES.at(-1)! - OVERHEAD} bytes`);
  }
  return concat(request, new Uint8Array(size - OVERHEAD - request.length));
}

/** An encrypted request, and what opens the response to it. */
export interface Sealed {
  readonly message: Uint8Array<ArrayBuffer>;
  readonly context: Context;
}

/** Encrypt a request, by a private key that is used for these very bytes alone: a random one, or `recordedKey`. */
export async function sealRequest(to: KeyConfiguration, request: Uint8Array, ephemeral: Uint8Array): Promise<Sealed> {
  const prefix = header(to);
  const context = await sendTo(to.publicKey, concat(REQUEST, prefix), ephemeral).catch(refuse);
  return { message: concat(prefix, context.enc, await seal(context, request)), context };
}

/** The platform's error as ours: it lacks what is needed, or the collector's key is none. */
async function refuse(): Promise<never> {
  await checkPlatform();
  throw new ServiceError("the collector's encryption key cannot be used", BAD_ANSWER);
}

/**
 * The private key for a recorded answer.
 *
 * It follows from the device's secret and is bound to all that is encrypted, so that sending again sends the same bytes, and no nonce ever meets two
 * plaintexts; only who has the device's secret can derive it.
 */
export const recordedKey = async (secret: Uint8Array, to: KeyConfiguration, request: Uint8Array): Promise<Uint8Array> =>
  derivePrivateKey(await hmac(secret, concat(RECORDED, to.encoded, request)));

/** The response behind its ciphertext; rejects unless it answers this very request. */
export async function openResponse(context: Context, message: Uint8Array): Promise<Uint8Array<ArrayBuffer>> {
  const nonce = message.slice(0, RESPONSE_NONCE_BYTES);
  return open(await responseKey(context, RESPONSE, nonce), message.slice(RESPONSE_NONCE_BYTES));
}

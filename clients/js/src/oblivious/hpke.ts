/**
 * HPKE in base mode (RFC 9180), the sender's side: X25519, HKDF-SHA256 and AES-128-GCM, all by the platform's WebCrypto.
 *
 * A context seals one message, as Oblivious HTTP does, so that there is no sequence number.
 */
import { concat } from "../core/bytes.js";
import { SurveyError } from "../core/errors.js";

export const KEM = 0x0020;
export const KDF = 0x0001;
export const AEAD = 0x0001;
/** Length of keys of X25519, private and public. */
export const KEY_BYTES = 32;
/** What AES-GCM adds to a message. */
export const TAG_BYTES = 16;
const AEAD_KEY_BYTES = 16;
const NONCE_BYTES = 12;
const HASH_BYTES = 32;

const ascii = (text: string): Uint8Array<ArrayBuffer> => new TextEncoder().encode(text);
/** A number in two bytes, the larger first. */
export const uint16 = (number: number): Uint8Array => Uint8Array.of(number >> 8, number & 255);

const VERSION = ascii("HPKE-v1");
const KEM_SUITE = concat(ascii("KEM"), uint16(KEM));
const SUITE = concat(ascii("HPKE"), uint16(KEM), uint16(KDF), uint16(AEAD));
const EMPTY = new Uint8Array(0);
/** RFC 7748: public keys are multiples of it. */
const BASE_POINT = Uint8Array.from({ length: KEY_BYTES }, (_, i) => (i === 0 ? 9 : 0));
/** What stands before the 32 bytes of a private key in PKCS #8 (RFC 8410), the one form in which platforms import them. */
const PKCS8 = Uint8Array.of(0x30, 46, 2, 1, 0, 0x30, 5, 6, 3, 0x2b, 0x65, 0x6e, 4, 34, 4, 32);

type Bytes = Uint8Array<ArrayBuffer>;

/** HMAC-SHA256. */
export async function hmac(key: Uint8Array, message: Uint8Array): Promise<Bytes> {
  const { subtle } = globalThis.crypto;
  // Platforms refuse an empty key, and HMAC pads keys with zeros.
  const raw = (key.length === 0 ? new Uint8Array(HASH_BYTES) : key) as Bytes;
  const imported = await subtle.importKey("raw", raw, { name: "HMAC", hash: "SHA-256" }, false, ["sign"]);
  return new Uint8Array(await subtle.sign("HMAC", imported, message as Bytes));
}

/** HKDF-Expand (RFC 5869) to at most one block, which is all that is needed here. */
async function expand(prk: Uint8Array, info: Uint8Array, length: number): Promise<Bytes> {
  return (await hmac(prk, concat(info, Uint8Array.of(1)))).slice(0, length);
}

const labeledExtract = (suite: Uint8Array, salt: Uint8Array, label: string, secret: Uint8Array): Promise<Bytes> =>
  hmac(salt, concat(VERSION, suite, ascii(label), secret));

const labeledExpand = (
  suite: Uint8Array,
  prk: Uint8Array,
  label: string,
  info: Uint8Array,
  length: number,
): Promise<Bytes> => expand(prk, concat(uint16(length), VERSION, suite, ascii(label), info), length);

/** The private key that follows from some secret bytes (RFC 9180, Sec. 7.1.3). */
export async function derivePrivateKey(secret: Uint8Array): Promise<Bytes> {
  return labeledExpand(KEM_SUITE, await labeledExtract(KEM_SUITE, EMPTY, "dkp_prk", secret), "sk", EMPTY, KEY_BYTES);
}

/** X25519 of a private and a public key; rejects if that is of small order, where everybody knows the result. */
export async function exchange(secret: Uint8Array, peer: Uint8Array): Promise<Bytes> {
  const { subtle } = globalThis.crypto;
  const algorithm = { name: "X25519" };
  const mine = await subtle.importKey("pkcs8", concat(PKCS8, secret), algorithm, false, ["deriveBits"]);
  const theirs = await subtle.importKey("raw", peer as Bytes, algorithm, false, []);
  const shared = new Uint8Array(await subtle.deriveBits({ ...algorithm, public: theirs }, mine, 8 * KEY_BYTES));
  if (shared.every((byte) => byte === 0)) throw new RangeError("a public key of small order");
  return shared;
}

/** The public key of a private one. */
export const publicKeyOf = (secret: Uint8Array): Promise<Bytes> => exchange(secret, BASE_POINT);

/** Rejects with `SurveyError` on a platform that cannot encrypt. */
export async function checkPlatform(): Promise<void> {
  try {
    await publicKeyOf(BASE_POINT);
  } catch {
    throw new SurveyError(
      "a relay needs encryption that this platform lacks (X25519 in WebCrypto): use https, or localhost, and a current " +
        "browser; nothing was sent",
    );
  }
}

/** What both ends of one message share. */
export interface Context {
  /** The sender's public key, which travels before the message. */
  readonly enc: Uint8Array;
  readonly key: Uint8Array;
  readonly nonce: Uint8Array;
  readonly exporter: Uint8Array;
}

/** The sender's context, by a private key that is used for this message alone. */
export async function sendTo(recipient: Uint8Array, info: Uint8Array, ephemeral: Uint8Array): Promise<Context> {
  const enc = await publicKeyOf(ephemeral);
  return scheduled(enc, await exchange(ephemeral, recipient), recipient, info);
}

/** The key schedule (RFC 9180, Sec. 4.1 and 5.1), from what both have agreed on. */
export async function scheduled(
  enc: Uint8Array,
  agreed: Uint8Array,
  recipient: Uint8Array,
  info: Uint8Array,
): Promise<Context> {
  const mixed = await labeledExtract(KEM_SUITE, EMPTY, "eae_prk", agreed);
  const shared = await labeledExpand(KEM_SUITE, mixed, "shared_secret", concat(enc, recipient), HASH_BYTES);
  const context = concat(
    Uint8Array.of(0),
    await labeledExtract(SUITE, EMPTY, "psk_id_hash", EMPTY),
    await labeledExtract(SUITE, EMPTY, "info_hash", info),
  );
  const secret = await labeledExtract(SUITE, shared, "secret", EMPTY);
  const derived = (label: string, length: number) => labeledExpand(SUITE, secret, label, context, length);
  return {
    enc,
    key: await derived("key", AEAD_KEY_BYTES),
    nonce: await derived("base_nonce", NONCE_BYTES),
    exporter: await derived("exp", HASH_BYTES),
  };
}

/** A secret for another purpose that both ends can derive (RFC 9180, Sec. 5.3); at most 32 bytes. */
export const exported = ({ exporter }: Context, purpose: Uint8Array, length: number): Promise<Bytes> =>
  labeledExpand(SUITE, exporter, "sec", purpose, length);

interface Keyed {
  readonly key: Uint8Array;
  readonly nonce: Uint8Array;
}

/** AES-128-GCM. */
export async function seal({ key, nonce }: Keyed, plaintext: Uint8Array, aad: Uint8Array = EMPTY): Promise<Bytes> {
  const { subtle } = globalThis.crypto;
  const imported = await subtle.importKey("raw", key as Bytes, "AES-GCM", false, ["encrypt"]);
  const algorithm = { name: "AES-GCM", iv: nonce as Bytes, additionalData: aad as Bytes };
  return new Uint8Array(await subtle.encrypt(algorithm, imported, plaintext as Bytes));
}

/** The plaintext; rejects where the ciphertext is not what the key sealed. */
export async function open({ key, nonce }: Keyed, ciphertext: Uint8Array): Promise<Bytes> {
  const { subtle } = globalThis.crypto;
  const imported = await subtle.importKey("raw", key as Bytes, "AES-GCM", false, ["decrypt"]);
  return new Uint8Array(await subtle.decrypt({ name: "AES-GCM", iv: nonce as Bytes }, imported, ciphertext as Bytes));
}

/** Key and nonce of a response (RFC 9458, Sec. 4.4): they follow from the request's context and a public nonce. */
export async function responseKey(context: Context, label: Uint8Array, nonce: Uint8Array): Promise<Keyed> {
  const prk = await hmac(concat(context.enc, nonce), await exported(context, label, AEAD_KEY_BYTES));
  return {
    key: await expand(prk, ascii("key"), AEAD_KEY_BYTES),
    nonce: await expand(prk, ascii("nonce"), NONCE_BYTES),
  };
}

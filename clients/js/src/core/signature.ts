/** Ed25519 over a survey's canonical JSON, encryption keys or a log's head, checked by the platform's WebCrypto. */
import { concat, sha256, toHex } from "./bytes.js";
import { SignatureError } from "./errors.js";

export const PUBLIC_KEY_BYTES = 32;
export const SIGNATURE_BYTES = 64;

/** What a signature is for: it stands before the signed bytes, so that a signature for one thing is never valid for another. */
export interface Purpose {
  readonly context: string;
  /** In error messages. */
  readonly name: string;
}

const SURVEY: Purpose = { context: "sottovoce survey 1\0", name: "the survey was" };

const FIELD = 2n ** 255n - 19n;

/** The y coordinate of two of the four points of order 8; the other two have its negative. */
const EIGHTH = 0x7a03ac9277fdc74ec6cc392cfa53202a0f67100d760b3cba4fd84d3d706a17c7n;

/**
 * Return a valid public key; any other throws `SignatureError`.
 *
 * For the eight points of small order anybody can forge signatures. A y coordinate of 2^255 - 19 or more is not
 * canonical, and a key must have one fingerprint.
 */
export function checkPublicKey(key: Uint8Array): Uint8Array {
  const height = key.length === PUBLIC_KEY_BYTES ? BigInt(`0x${toHex(key.slice().reverse())}`) % 2n ** 255n : 0n;
  if (height >= FIELD || [0n, 1n, FIELD - 1n, EIGHTH, FIELD - EIGHTH].includes(height)) {
    throw new SignatureError(
      `a key is ${PUBLIC_KEY_BYTES} bytes, or the same in base64url, and no point of small order`,
    );
  }
  return key;
}

/** Throw `SignatureError` unless this key signed exactly these bytes, by themselves as a survey's canonical JSON. */
export async function verify(
  key: Uint8Array,
  bytes: Uint8Array,
  signature: Uint8Array,
  { context, name }: Purpose = SURVEY,
): Promise<void> {
  checkPublicKey(key);
  let good = false;
  try {
    const { subtle } = globalThis.crypto;
    const trusted = await subtle.importKey("raw", key as Uint8Array<ArrayBuffer>, { name: "Ed25519" }, false, [
      "verify",
    ]);
    good = await subtle.verify(
      { name: "Ed25519" },
      trusted,
      signature as Uint8Array<ArrayBuffer>,
      concat(new TextEncoder().encode(context), bytes),
    );
  } catch (error) {
    if (error instanceof TypeError || (error as Error).name === "NotSupportedError") {
      throw new SignatureError(
        "this platform cannot check Ed25519 signatures: use https, or localhost, and a current browser",
      );
    }
  }
  if (!good) {
    throw new SignatureError(
      `${name} altered, or not signed by the key ${(await fingerprint(key)).slice(0, 16)}`,
    );
  }
}

/** SHA-256 of a public key in hexadecimal, for people to compare. */
export const fingerprint = async (key: Uint8Array): Promise<string> => toHex(await sha256(key));

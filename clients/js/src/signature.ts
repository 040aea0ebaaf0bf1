/** Ed25519 over a survey's canonical JSON, checked by the platform's WebCrypto. */
import { concat, sha256, toHex } from "./bytes.js";
import { SignatureError } from "./errors.js";

export const PUBLIC_KEY_BYTES = 32;
export const SIGNATURE_BYTES = 64;

/** Stands before what is signed, so that a signature made for anything else never passes for a survey's. */
const CONTEXT = new TextEncoder().encode("sottovoce survey 1\0");

/** Throw `SignatureError` unless this key signed exactly these bytes as a survey's canonical JSON. */
export async function verify(key: Uint8Array, canonical: Uint8Array, signature: Uint8Array): Promise<void> {
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
      concat(CONTEXT, canonical),
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
      `the survey was altered, or was not signed by the key ${(await fingerprint(key)).slice(0, 16)}`,
    );
  }
}

/** SHA-256 of a public key in hexadecimal, for people to compare. */
export const fingerprint = async (key: Uint8Array): Promise<string> => toHex(await sha256(key));

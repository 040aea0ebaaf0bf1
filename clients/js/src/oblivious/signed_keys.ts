/**
 * The keys to encrypt to, signed by the key that signs surveys.
 *
 * They come from a relay, which must not be able to put its own in their place.
 */
import type { SignedKeys } from "../core/api_types.js";
import { equalBytes, fromBase64url } from "../core/bytes.js";
import { ServiceError, SignatureError } from "../core/errors.js";
import { BAD_ANSWER } from "../core/transport.js";
import { fingerprint, PUBLIC_KEY_BYTES, type Purpose, SIGNATURE_BYTES, verify } from "../core/signature.js";
import { type KeyConfiguration, readKeyConfigurations } from "./key_configuration.js";

const KEYS: Purpose = { context: "sottovoce keys\n", name: "the encryption keys were" };

/** Verified keys: the one that signed, and the one to encrypt to. */
export interface VerifiedKeys {
  readonly signer: Uint8Array;
  readonly configuration: KeyConfiguration;
}

/** The newest key in an answer to `GET /v1/keys`, if the trusted key signed it; without one, whichever is shown. */
export async function readSignedKeys(answer: unknown, trusted: Uint8Array | null): Promise<VerifiedKeys> {
  const { configurations: listed, signature, key, ...others } = (answer ?? {}) as SignedKeys;
  const isWhole = [listed, signature, key].every((text) => typeof text === "string");
  if (!isWhole || Object.keys(others).length > 0) {
    throw new ServiceError("the relay's answer is not a list of keys; is this its address?", BAD_ANSWER);
  }
  const signer = fromBase64url(key, PUBLIC_KEY_BYTES);
  if (trusted !== null && !equalBytes(signer, trusted)) {
    throw new SignatureError(
      `the encryption keys are signed with the key ${(await fingerprint(signer)).slice(0, 16)}, and this device trusts ` +
        `only ${(await fingerprint(trusted)).slice(0, 16)}`,
    );
  }
  const configurations = fromBase64url(listed);
  await verify(signer, configurations, fromBase64url(signature, SIGNATURE_BYTES), KEYS);
  return { signer, configuration: newest(configurations) };
}

/** The first of the list, which is the newest, among those that this client can encrypt to. */
function newest(configurations: Uint8Array): KeyConfiguration {
  let found: readonly KeyConfiguration[] = [];
  try {
    found = readKeyConfigurations(configurations);
  } catch {
    // Signed and no list all the same: refused below, as an empty one is.
  }
  if (found[0] !== undefined) return found[0];
  throw new ServiceError("the collector lists no encryption key that this client knows how to use", BAD_ANSWER, 502);
}

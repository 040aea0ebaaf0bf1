/** Key configurations of a gateway (RFC 9458, Sec. 3), as `application/ohttp-keys` lists them. */
import { concat, viewOf } from "../core/bytes.js";
import { AEAD, KDF, KEM, KEY_BYTES, uint16 } from "./hpke.js";

/** A key to encrypt to, for the one suite that is used here. */
export interface KeyConfiguration {
  /** The collector knows its private keys by it. */
  readonly id: number;
  readonly publicKey: Uint8Array;
  /** As it was listed, without its length. */
  readonly encoded: Uint8Array;
}

/** What stands before an encrypted request: the key, and the suite. */
export const header = ({ id }: KeyConfiguration): Uint8Array =>
  concat(Uint8Array.of(id), uint16(KEM), uint16(KDF), uint16(AEAD));

/** The configurations that this client can encrypt to, in order; throws `RangeError` where the bytes are no such list. */
export function readKeyConfigurations(bytes: Uint8Array): KeyConfiguration[] {
  const found: KeyConfiguration[] = [];
  for (let at = 0; at < bytes.length; ) {
    if (at + 2 > bytes.length) throw new RangeError("a list of keys that ends too early");
    const end = at + 2 + viewOf(bytes).getUint16(at);
    if (end > bytes.length) throw new RangeError("a list of keys that ends too early");
    const configuration = readKeyConfiguration(bytes.slice(at + 2, end));
    if (configuration) found.push(configuration);
    at = end;
  }
  return found;
}

/** One configuration; null if it is for another key exchange, or has no suite of ours. */
function readKeyConfiguration(encoded: Uint8Array): KeyConfiguration | null {
  const view = viewOf(encoded);
  if (encoded.length < 3) throw new RangeError("a key that ends too early");
  if (view.getUint16(1) !== KEM) return null;
  const suitesAt = 3 + KEY_BYTES + 2;
  if (encoded.length < suitesAt) throw new RangeError("a key that ends too early");
  const suites = encoded.subarray(suitesAt);
  const length = view.getUint16(suitesAt - 2);
  if (length !== suites.length || length < 4 || length % 4 !== 0) throw new RangeError("suites of a wrong length");
  const hasOurs = Array.from({ length: length / 4 }, (_, i) => viewOf(suites).getUint32(4 * i)).includes(KDF * 2 ** 16 + AEAD);
  return hasOurs ? { id: encoded[0]!, publicKey: encoded.slice(3, 3 + KEY_BYTES), encoded } : null;
}

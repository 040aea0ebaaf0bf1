/**
 * Signed heads of the log: checkpoints as of c2sp.org/tlog-checkpoint, which are signed notes (c2sp.org/signed-note).
 *
 * They are signed with the key that signs the surveys; what that key signs otherwise begins with other words.
 */
import { concat, equalBytes, fromBase64url, sha256 } from "../core/bytes.js";
import { SignatureError, TransparencyError } from "../core/errors.js";
import { fingerprint, type Purpose, SIGNATURE_BYTES, verify } from "../core/signature.js";

export const HASH_BYTES = 32;

const KEY_ID_BYTES = 4;
const ED25519 = 1;

/** In characters; ours are half as long at most. */
const LONGEST_CHECKPOINT = 1024;

/** One signature, and no lines beyond the three: nothing of a checkpoint is left unread. */
const NOTE =
  /^((sottovoce\/log\/[0-9a-f]{64})\n(0|[1-9][0-9]{0,15})\n([A-Za-z0-9+/]{43}=)\n)\n\u2014 ([!-*,-~]{1,200}) ([A-Za-z0-9+/]{91}=)\n$/;

/** The text names its purpose itself: the origin is its first line. */
const CHECKPOINT: Purpose = { context: "", name: "the checkpoint was" };

/** How long a log is, and the root over all its entries. */
export interface TreeHead {
  readonly size: number;
  readonly root: Uint8Array;
}

/** The head that this key has signed; rejects with `TransparencyError` what is malformed, of another log, or altered. */
export async function readCheckpoint(note: string, key: Uint8Array): Promise<TreeHead> {
  const found = note.length <= LONGEST_CHECKPOINT ? NOTE.exec(note) : null;
  const [, text = "", origin = "", size = "", root = "", name = "", signature = ""] = found ?? [];
  if (found === null || !Number.isSafeInteger(Number(size))) {
    throw new TransparencyError("this is not a checkpoint of a log of surveys: it must be a signed note as of C2SP");
  }
  const own = `sottovoce/log/${await fingerprint(key)}`;
  if (origin !== own || name !== own) throw new TransparencyError("the checkpoint is of the log that another key signs");
  try {
    const signed = fromBase64(signature, KEY_ID_BYTES + SIGNATURE_BYTES);
    const named = await sha256(concat(new TextEncoder().encode(`${own}\n`), Uint8Array.of(ED25519), key));
    if (!equalBytes(signed.slice(0, KEY_ID_BYTES), named.slice(0, KEY_ID_BYTES))) {
      throw new SignatureError("the checkpoint's signature names another key");
    }
    await verify(key, new TextEncoder().encode(text), signed.slice(KEY_ID_BYTES), CHECKPOINT);
    return { size: Number(size), root: fromBase64(root, HASH_BYTES) };
  } catch (error) {
    if (error instanceof SignatureError) throw new TransparencyError(error.message);
    throw error;
  }
}

/** Base64 with its padding; every byte string has one form. */
const fromBase64 = (text: string, length: number): Uint8Array =>
  fromBase64url(text.replaceAll("+", "-").replaceAll("/", "_"), length);

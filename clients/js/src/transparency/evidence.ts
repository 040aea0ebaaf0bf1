/**
 * What a device asks a log for, once for each survey: one response with everything it has to check.
 *
 * To say the exact size of the log that it remembers would tell which devices are the same. So it says only how many
 * whole blocks of entries it has seen; the response holds the hashes of the block that it was in the middle of.
 */
import { equalBytes, fromBase64url } from "../core/bytes.js";
import type { LogProof } from "../core/api_types.js";
import { canonicalBytes } from "../core/json.js";
import { ServiceError, SignatureError, TransparencyError } from "../core/errors.js";
import { BAD_ANSWER } from "../core/transport.js";
import { leafHash, peaks, provesConsistency, provesInclusion, rootFrom } from "./proofs.js";
import { HASH_BYTES, readCheckpoint, type TreeHead } from "./tree_head.js";

const BLOCK_ENTRIES = 256;

/** The block that a log of this size was in the middle of. */
export const blockOf = (size: number): number => Math.floor(size / BLOCK_ENTRIES);

/** A response as a proof, if it has the form of one. */
export function readLogProof(answer: unknown): LogProof {
  const found = (answer ?? {}) as LogProof;
  const { checkpoint, position, start, inclusion, before, block, consistency } = found;
  const isWhole =
    typeof checkpoint === "string" &&
    [position, start].every((place) => Number.isSafeInteger(place) && place >= 0) &&
    [inclusion, before, block, consistency].every(
      (hashes) => Array.isArray(hashes) && hashes.every((hash) => typeof hash === "string" && /^[\w-]{43}$/.test(hash)),
    );
  if (!isWhole) throw new ServiceError("the collector's answer is not a proof of its log", BAD_ANSWER);
  return found;
}

/** The head of the log, if the survey is in it and it continues what is remembered; else rejects with `TransparencyError`. */
export async function checkLogProof(
  proof: LogProof,
  key: Uint8Array,
  survey: string,
  remembered: TreeHead | null,
): Promise<TreeHead> {
  const head = await readCheckpoint(proof.checkpoint, key);
  const leaf = await leafHash(canonicalBytes({ event: "published", survey }));
  if (!(await provesInclusion(leaf, proof.position, head.size, read(proof.inclusion), head.root))) {
    throw new TransparencyError(`the log does not prove that survey ${survey.slice(0, 12)} is in it`);
  }
  if (remembered) await checkContinues(proof, head, remembered);
  return head;
}

async function checkContinues(proof: LogProof, head: TreeHead, { size, root }: TreeHead): Promise<void> {
  if (head.size < size) {
    throw new TransparencyError(`the log has become shorter: it had ${size} entries, and now ${head.size}`, true);
  }
  const start = blockOf(size) * BLOCK_ENTRIES;
  const end = Math.min(start + BLOCK_ENTRIES, head.size);
  const [before, block] = [read(proof.before), read(proof.block)];
  if (proof.start !== start || before.length !== peaks(start).length || block.length !== end - start) {
    throw new TransparencyError("the log's proof is not about the block that was asked for");
  }
  const then = await rootFrom(start, before, block.slice(0, size - start));
  const later = await rootFrom(start, before, block);
  if (!equalBytes(then, root) || !(await provesConsistency(end, head.size, later, head.root, read(proof.consistency)))) {
    throw new TransparencyError(`the log does not continue the one that was shown before, of length ${size}`, true);
  }
}

function read(hashes: readonly string[]): Uint8Array[] {
  try {
    return hashes.map((hash) => fromBase64url(hash, HASH_BYTES));
  } catch (error) {
    if (error instanceof SignatureError) throw new TransparencyError("the log's proof is not in base64url");
    throw error;
  }
}

/** A collector's log for tests, honest or not, made from the definitions of RFC 9162 by recursion. */
import { createHash, sign } from "node:crypto";
import { concat, toBase64url } from "../src/core/bytes.js";
import { json, refuse, type Signer, type TestCollector } from "./server.js";

const digest = (...parts: readonly Uint8Array[]): Uint8Array =>
  new Uint8Array(createHash("sha256").update(concat(...parts)).digest());

export const entryHash = (survey: string): Uint8Array =>
  digest(Uint8Array.of(0), new TextEncoder().encode(`{"event":"published","survey":"${survey}"}`));

const split = (n: number): number => 2 ** Math.floor(Math.log2(n - 1));

type Hashes = readonly Uint8Array[];

/** The root over hashes of leaves (Sec. 2.1.1). */
export function rootOf(leaves: Hashes): Uint8Array {
  if (leaves.length < 2) return leaves[0] ?? digest();
  const k = split(leaves.length);
  return digest(Uint8Array.of(1), rootOf(leaves.slice(0, k)), rootOf(leaves.slice(k)));
}

/** The proof that a leaf is there (Sec. 2.1.3.1). */
export function inclusionOf(position: number, leaves: Hashes): Uint8Array[] {
  if (leaves.length < 2) return [];
  const k = split(leaves.length);
  return position < k
    ? [...inclusionOf(position, leaves.slice(0, k)), rootOf(leaves.slice(k))]
    : [...inclusionOf(position - k, leaves.slice(k)), rootOf(leaves.slice(0, k))];
}

/** The proof that a tree begins with its first `old` leaves (Sec. 2.1.4.1). */
export function consistencyOf(old: number, leaves: Hashes, isWhole = true): Uint8Array[] {
  if (old === 0) return [];
  if (old === leaves.length) return isWhole ? [] : [rootOf(leaves)];
  const k = split(leaves.length);
  return old <= k
    ? [...consistencyOf(old, leaves.slice(0, k), isWhole), rootOf(leaves.slice(k))]
    : [...consistencyOf(old - k, leaves.slice(k), false), rootOf(leaves.slice(0, k))];
}

/** The signed note of a head. */
export function checkpointOf(signer: Signer, size: number, root: Uint8Array): string {
  const origin = `sottovoce/log/${Buffer.from(digest(signer.public)).toString("hex")}`;
  const text = `${origin}\n${size}\n${Buffer.from(root).toString("base64")}\n`;
  const id = digest(new TextEncoder().encode(`${origin}\n`), Uint8Array.of(1), signer.public).slice(0, 4);
  const signature = concat(id, new Uint8Array(sign(null, Buffer.from(text), signer.private)));
  return `${text}\n\u2014 ${origin} ${Buffer.from(signature).toString("base64")}\n`;
}

export class TestLog {
  /** Ids in the order in which they were published; null: there is no log. */
  surveys: string[] | null = null;

  constructor(
    readonly server: TestCollector,
    readonly signer: Signer,
  ) {}

  get leaves(): Uint8Array[] {
    return (this.surveys ?? []).map(entryHash);
  }

  get checkpoint(): string {
    return checkpointOf(this.signer, this.leaves.length, rootOf(this.leaves));
  }

  /** What a device is sent that has seen so many blocks. */
  proof(survey: string, block: number) {
    const { leaves } = this;
    const start = 256 * block;
    const end = Math.min(start + 256, leaves.length);
    const written = (hashes: Hashes) => hashes.map(toBase64url);
    const position = this.surveys!.indexOf(survey);
    const isShorter = start > leaves.length;
    return {
      checkpoint: this.checkpoint,
      position,
      inclusion: written(inclusionOf(position, leaves)),
      start,
      // All tests stay within two blocks; the first is one full subtree.
      before: isShorter || block === 0 ? [] : written([rootOf(leaves.slice(0, start))]),
      block: isShorter ? [] : written(leaves.slice(start, end)),
      consistency: isShorter ? [] : written(consistencyOf(end, leaves)),
    };
  }

  /** Answer devices that ask about a survey from now on, with the log as it is then. */
  serve(...surveys: readonly string[]): void {
    for (const survey of surveys) {
      for (const block of [0, 1]) {
        this.server.answers.set(`GET /v1/log/proofs/${survey}?block=${block}`, (request, response) => {
          const found = this.surveys?.includes(survey) ? json(200, this.proof(survey, block)) : null;
          (found ?? refuse(404, this.surveys === null ? "not_found" : "not_in_log"))(request, response);
        });
      }
    }
  }

  /** Queries of the requests that were made to the log. */
  get asked(): string[] {
    return this.server.requests.flatMap(({ path }) => (path.startsWith("/v1/log/proofs/") ? [path.split("?")[1]!] : []));
  }
}

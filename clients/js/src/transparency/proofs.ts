/** Checking proofs of RFC 9162: by those who have two roots, and not the list. */
import { concat, equalBytes, sha256 } from "../core/bytes.js";

/** The way up from a node: its place at each height, and that of the last node there. */
class Ascent {
  constructor(
    public place: number,
    public last: number,
  ) {}

  /** Whether the node's sibling is on its left. */
  get isRight(): boolean {
    return this.place % 2 === 1 || this.place === this.last;
  }

  up(): void {
    [this.place, this.last] = [half(this.place), half(this.last)];
  }

  /** One level up; from a last node without a sibling as far as there is none. */
  next(): void {
    if (this.isRight) while (this.place % 2 === 0 && this.place > 0) this.up();
    this.up();
  }
}

/** Whether a leaf, by its hash, is at this position of the tree of that size and root (Sec. 2.1.3.2). */
export async function provesInclusion(
  leaf: Uint8Array,
  position: number,
  size: number,
  proof: readonly Uint8Array[],
  root: Uint8Array,
): Promise<boolean> {
  if (!(position < size)) return false;
  const ascent = new Ascent(position, size - 1);
  let found = leaf;
  for (const other of proof) {
    if (ascent.last === 0) return false;
    found = ascent.isRight ? await nodeHash(other, found) : await nodeHash(found, other);
    ascent.next();
  }
  return ascent.last === 0 && equalBytes(found, root);
}

/**
 * Whether the tree of `size` leaves begins with the leaves of the one of `old` (Sec. 2.1.4.2).
 *
 * Every tree continues the empty one, for which the proof is empty.
 */
export async function provesConsistency(
  old: number,
  size: number,
  oldRoot: Uint8Array,
  root: Uint8Array,
  proof: readonly Uint8Array[],
): Promise<boolean> {
  if (!(old <= size)) return false;
  if (old === size) return proof.length === 0 && equalBytes(oldRoot, root);
  if (old === 0) return proof.length === 0;
  const ascent = new Ascent(old - 1, size - 1);
  while (ascent.place % 2 === 1) ascent.up();
  // A full tree is its own first node.
  const [first, ...others] = ascent.place === 0 ? [oldRoot, ...proof] : proof;
  if (first === undefined) return false;
  let [fromOld, fromNew] = [first, first];
  for (const other of others) {
    if (ascent.last === 0) return false;
    if (ascent.isRight) {
      fromOld = await nodeHash(other, fromOld);
      fromNew = await nodeHash(other, fromNew);
    } else fromNew = await nodeHash(fromNew, other);
    ascent.next();
  }
  return ascent.last === 0 && equalBytes(fromOld, oldRoot) && equalBytes(fromNew, root);
}

// The Merkle tree of RFC 9162, Sec. 2.1, as far as a device needs it: its hashes, and a root from what a device is sent.
// Leaves and inner nodes are hashed with different prefixes, so that neither can pass for the other.

/** The hash of a leaf. */
export const leafHash = (content: Uint8Array): Promise<Uint8Array> => sha256(concat(Uint8Array.of(0), content));

/** The hash of an inner node. */
const nodeHash = (left: Uint8Array, right: Uint8Array): Promise<Uint8Array> =>
  sha256(concat(Uint8Array.of(1), left, right));

/** Half of it, rounded down: sizes go up to 2^53, and shifts only to 2^32. */
const half = (n: number): number => Math.floor(n / 2);

/** Numbers of leaves of the full subtrees that a tree of this size is made of, from left to right. */
export function peaks(size: number): number[] {
  const found: number[] = [];
  for (let [rest, width] = [size, 1]; rest > 0; [rest, width] = [half(rest), 2 * width]) {
    if (rest % 2 === 1) found.unshift(width);
  }
  return found;
}

/** The root of a tree, from the roots of the `peaks` of its first `size` leaves and the hashes of those that follow. */
export async function rootFrom(
  size: number,
  before: readonly Uint8Array[],
  leaves: readonly Uint8Array[],
): Promise<Uint8Array> {
  const stack = peaks(size).map((width, place) => ({ width, hash: before[place]! }));
  for (const leaf of leaves) {
    let [width, hash] = [1, leaf];
    for (; stack.at(-1)?.width === width; width *= 2) hash = await nodeHash(stack.pop()!.hash, hash);
    stack.push({ width, hash });
  }
  let root = stack.pop()?.hash ?? (await sha256(new Uint8Array(0)));
  while (stack.length > 0) root = await nodeHash(stack.pop()!.hash, root);
  return root;
}

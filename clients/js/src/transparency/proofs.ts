/** Checking proofs of RFC 9162: by those who have two roots, and not the list. */
import { equalBytes } from "../core/bytes.js";
import { half, nodeHash } from "./tree.js";

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

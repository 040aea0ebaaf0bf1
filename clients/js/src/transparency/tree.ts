/**
 * The Merkle tree of RFC 9162, Sec. 2.1, as far as a device needs it: its hashes, and a root from what a device is sent.
 *
 * Leaves and inner nodes are hashed with different prefixes, so that neither can pass for the other.
 */
import { concat, sha256 } from "../core/bytes.js";

/** The hash of a leaf. */
export const leafHash = (content: Uint8Array): Promise<Uint8Array> => sha256(concat(Uint8Array.of(0), content));

/** The hash of an inner node. */
export const nodeHash = (left: Uint8Array, right: Uint8Array): Promise<Uint8Array> =>
  sha256(concat(Uint8Array.of(1), left, right));

/** Half of it, rounded down: sizes go up to 2^53, and shifts only to 2^32. */
export const half = (n: number): number => Math.floor(n / 2);

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

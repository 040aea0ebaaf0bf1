"""Checking proofs of RFC 9162: by those who have two roots, and not the list."""

from __future__ import annotations

import hmac
from collections.abc import Sequence

from sottovoce.transparency.tree import HASH_BYTES, node_hash

__all__ = ["proves_consistency", "proves_inclusion"]


def proves_inclusion(leaf: bytes, position: int, size: int, proof: Sequence[bytes], root: bytes) -> bool:
    """Whether a leaf, by its hash, is at this position of the tree of that size and root (Sec. 2.1.3.2)."""
    if not 0 <= position < size or not _are_hashes(proof):
        return False
    place, last, found = position, size - 1, leaf
    for other in proof:
        if last == 0:
            return False
        if place & 1 or place == last:
            found = node_hash(other, found)
            while not place & 1 and place:
                place, last = place >> 1, last >> 1
        else:
            found = node_hash(found, other)
        place, last = place >> 1, last >> 1
    return last == 0 and hmac.compare_digest(found, root)


def proves_consistency(old: int, new: int, old_root: bytes, new_root: bytes, proof: Sequence[bytes]) -> bool:
    """Whether the tree of `new` leaves begins with the leaves of the one of `old` (Sec. 2.1.4.2).

    Every tree continues the empty one, for which the proof is empty.
    """
    if not 0 <= old <= new or not _are_hashes(proof):
        return False
    if old == new:
        return not proof and hmac.compare_digest(old_root, new_root)
    if old == 0:
        return not proof
    path = [old_root, *proof] if old & (old - 1) == 0 else list(proof)
    if not path:
        return False
    place, last = old - 1, new - 1
    while place & 1:
        place, last = place >> 1, last >> 1
    from_old = from_new = path[0]
    for other in path[1:]:
        if last == 0:
            return False
        if place & 1 or place == last:
            from_old, from_new = node_hash(other, from_old), node_hash(other, from_new)
            while not place & 1 and place:
                place, last = place >> 1, last >> 1
        else:
            from_new = node_hash(from_new, other)
        place, last = place >> 1, last >> 1
    return last == 0 and hmac.compare_digest(from_old, old_root) and hmac.compare_digest(from_new, new_root)


def _are_hashes(proof: Sequence[bytes]) -> bool:
    return all(len(one) == HASH_BYTES for one in proof)

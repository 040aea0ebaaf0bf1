"""The log of surveys as the Merkle tree of RFC 9162: its hashes and proofs, and how proofs are checked.

Leaves and inner nodes are hashed with different prefixes, so that neither can pass for the other. An entry
says what happened to which survey, and nothing of time, of devices or of reports.
"""

from __future__ import annotations

import hashlib
import hmac
from collections.abc import Iterable, Sequence
from typing import Final, final

__all__ = [
    "EMPTY_ROOT",
    "HASH_BYTES",
    "GrowingTree",
    "leaf_hash",
    "peaks",
    "proves_consistency",
    "proves_inclusion",
    "root_from",
]


HASH_BYTES: Final = 32

EMPTY_ROOT: Final = hashlib.sha256(b"").digest()
"""Root of the tree without leaves."""


def leaf_hash(content: bytes) -> bytes:
    """The hash of a leaf.

    Examples
    --------
    >>> leaf_hash(b"").hex()[:16]
    '6e340b9cffb37a98'
    """
    return hashlib.sha256(b"\0" + content).digest()


def _node_hash(left: bytes, right: bytes) -> bytes:
    """The hash of an inner node."""
    return hashlib.sha256(b"\1" + left + right).digest()


def peaks(size: int) -> list[int]:
    """Numbers of leaves of the full subtrees that a tree of this size is made of, from left to right.

    Examples
    --------
    >>> peaks(13), peaks(0)
    ([8, 4, 1], [])
    """
    return [1 << bit for bit in reversed(range(size.bit_length())) if size >> bit & 1]


def root_from(size: int, before: Iterable[bytes], leaves: Iterable[bytes]) -> bytes:
    """The root of a tree, from the roots of the `peaks` of its first `size` leaves and the hashes of those that follow.

    Examples
    --------
    >>> a, b, c = (leaf_hash(text) for text in (b"a", b"b", b"c"))
    >>> root_from(2, [_node_hash(a, b)], [c]) == _node_hash(_node_hash(a, b), c) == root_from(0, [], [a, b, c])
    True
    """
    stack = list(zip(peaks(size), before, strict=True))
    for leaf in leaves:
        width, node = 1, leaf
        while stack and stack[-1][0] == width:
            node = _node_hash(stack.pop()[1], node)
            width *= 2
        stack.append((width, node))
    if not stack:
        return EMPTY_ROOT
    *rest, (_, root) = stack
    for _, left in reversed(rest):
        root = _node_hash(left, root)
    return root


@final
class GrowingTree:
    """The hashes of all full subtrees, so that every proof takes time logarithmic in the number of leaves.

    Examples
    --------
    >>> tree = GrowingTree()
    >>> for text in (b"a", b"b", b"c"):
    ...     tree.append(leaf_hash(text))
    >>> tree.size, tree.inclusion(2, 3) == [tree.root(2)]
    (3, True)
    """

    def __init__(self) -> None:
        self._levels: list[list[bytes]] = [[]]
        """At place h the roots of the full subtrees of 2**h leaves, from left to right."""

    @property
    def size(self) -> int:
        """Number of leaves."""
        return len(self._levels[0])

    def append(self, leaf: bytes) -> None:
        """Add the hash of one more leaf."""
        node, height = leaf, 0
        while True:
            self._levels[height].append(node)
            if len(self._levels[height]) % 2:
                return
            node = _node_hash(*self._levels[height][-2:])
            height += 1
            if height == len(self._levels):
                self._levels.append([])

    def leaves(self, start: int, end: int) -> list[bytes]:
        """The hashes of the leaves from `start` to before `end`."""
        return self._levels[0][start:end]

    def root(self, size: int) -> bytes:
        """The root of the first `size` leaves."""
        self._check(size)
        return self._over(0, size) if size else EMPTY_ROOT

    def frontier(self, size: int) -> list[bytes]:
        """The roots of the `peaks` of the first `size` leaves."""
        self._check(size)
        roots, start = [], 0
        for width in peaks(size):
            roots.append(self._over(start, start + width))
            start += width
        return roots

    def inclusion(self, position: int, size: int) -> list[bytes]:
        """The proof that the leaf at this position is in the tree of `size` leaves (Sec. 2.1.3.1)."""
        self._check(size)
        if not 0 <= position < size:
            raise IndexError(f"position {position} is not below {size}")
        proof: list[bytes] = []
        start, end = 0, size
        while end - start > 1:
            middle = start + _split(end - start)
            if position < middle:
                proof.append(self._over(middle, end))
                end = middle
            else:
                proof.append(self._over(start, middle))
                start = middle
        return proof[::-1]

    def consistency(self, old: int, new: int) -> list[bytes]:
        """The proof that the tree of `new` leaves continues that of `old` (Sec. 2.1.4.1); empty if `old` is 0."""
        self._check(new)
        if not 0 <= old <= new:
            raise IndexError(f"size {old} is not from 0 to {new}")
        proof: list[bytes] = []
        start, end = 0, new
        is_whole = True  # whether the old tree so far is what its own root says
        while 0 < old < end:
            middle = start + _split(end - start)
            if old <= middle:
                proof.append(self._over(middle, end))
                end = middle
            else:
                proof.append(self._over(start, middle))
                start, is_whole = middle, False
        if old > 0 and not is_whole:
            proof.append(self._over(start, end))
        return proof[::-1]

    def _over(self, start: int, end: int) -> bytes:
        """The root over a range of leaves, which is not empty."""
        width = end - start
        height = width.bit_length() - 1
        if width == 1 << height and start % width == 0:
            return self._levels[height][start >> height]
        middle = start + _split(width)
        return _node_hash(self._over(start, middle), self._over(middle, end))

    def _check(self, size: int) -> None:
        if not 0 <= size <= self.size:
            raise IndexError(f"size {size} is not from 0 to {self.size}")


def _split(width: int) -> int:
    """The largest power of two below a number above 1."""
    return 1 << (width - 1).bit_length() - 1


def proves_inclusion(leaf: bytes, position: int, size: int, proof: Sequence[bytes], root: bytes) -> bool:
    """Whether a leaf, by its hash, is at this position of the tree of that size and root (Sec. 2.1.3.2)."""
    if not 0 <= position < size or not _are_hashes(proof):
        return False
    index, last, node = position, size - 1, leaf
    for other in proof:
        if last == 0:
            return False
        if index & 1 or index == last:
            node = _node_hash(other, node)
            while not index & 1 and index:
                index, last = index >> 1, last >> 1
        else:
            node = _node_hash(node, other)
        index, last = index >> 1, last >> 1
    return last == 0 and hmac.compare_digest(node, root)


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
    index, last = old - 1, new - 1
    while index & 1:
        index, last = index >> 1, last >> 1
    from_old = from_new = path[0]
    for other in path[1:]:
        if last == 0:
            return False
        if index & 1 or index == last:
            from_old, from_new = _node_hash(other, from_old), _node_hash(other, from_new)
            while not index & 1 and index:
                index, last = index >> 1, last >> 1
        else:
            from_new = _node_hash(from_new, other)
        index, last = index >> 1, last >> 1
    return last == 0 and hmac.compare_digest(from_old, old_root) and hmac.compare_digest(from_new, new_root)


def _are_hashes(proof: Sequence[bytes]) -> bool:
    return all(len(digest) == HASH_BYTES for digest in proof)

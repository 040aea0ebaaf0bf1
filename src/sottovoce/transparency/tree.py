"""The Merkle tree of RFC 9162, Sec. 2.1: its hashes, and the proofs of a list that only grows.

Leaves and inner nodes are hashed with different prefixes, so that neither can pass for the other.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable
from typing import Final, final

__all__ = ["EMPTY_ROOT", "HASH_BYTES", "GrowingTree", "leaf_hash", "node_hash", "peaks", "root_from"]

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


def node_hash(left: bytes, right: bytes) -> bytes:
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
    >>> root_from(2, [node_hash(a, b)], [c]) == node_hash(node_hash(a, b), c) == root_from(0, [], [a, b, c])
    True
    """
    stack = list(zip(peaks(size), before, strict=True))
    for leaf in leaves:
        width, found = 1, leaf
        while stack and stack[-1][0] == width:
            found = node_hash(stack.pop()[1], found)
            width *= 2
        stack.append((width, found))
    if not stack:
        return EMPTY_ROOT
    *rest, (_, root) = stack
    for _, left in reversed(rest):
        root = node_hash(left, root)
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
        found, height = leaf, 0
        while True:
            self._levels[height].append(found)
            if len(self._levels[height]) % 2:
                return
            found = node_hash(*self._levels[height][-2:])
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
        found, start = [], 0
        for width in peaks(size):
            found.append(self._over(start, start + width))
            start += width
        return found

    def inclusion(self, position: int, size: int) -> list[bytes]:
        """The proof that the leaf at this position is in the tree of `size` leaves (Sec. 2.1.3.1)."""
        self._check(size)
        if not 0 <= position < size:
            raise IndexError(f"position {position} is not below {size}")
        found: list[bytes] = []
        start, end = 0, size
        while end - start > 1:
            middle = start + _split(end - start)
            if position < middle:
                found.append(self._over(middle, end))
                end = middle
            else:
                found.append(self._over(start, middle))
                start = middle
        return found[::-1]

    def consistency(self, old: int, new: int) -> list[bytes]:
        """The proof that the tree of `new` leaves continues that of `old` (Sec. 2.1.4.1); empty if `old` is 0."""
        self._check(new)
        if not 0 <= old <= new:
            raise IndexError(f"size {old} is not from 0 to {new}")
        found: list[bytes] = []
        start, end = 0, new
        is_whole = True  # whether the old tree so far is what its own root says
        while 0 < old < end:
            middle = start + _split(end - start)
            if old <= middle:
                found.append(self._over(middle, end))
                end = middle
            else:
                found.append(self._over(start, middle))
                start, is_whole = middle, False
        if old > 0 and not is_whole:
            found.append(self._over(start, end))
        return found[::-1]

    def _over(self, start: int, end: int) -> bytes:
        """The root over some leaves, of which there are some."""
        width = end - start
        height = width.bit_length() - 1
        if width == 1 << height and start % width == 0:
            return self._levels[height][start >> height]
        middle = start + _split(width)
        return node_hash(self._over(start, middle), self._over(middle, end))

    def _check(self, size: int) -> None:
        if not 0 <= size <= self.size:
            raise IndexError(f"size {size} is not from 0 to {self.size}")


def _split(width: int) -> int:
    """The largest power of two below a number above 1."""
    return 1 << (width - 1).bit_length() - 1

"""The tree of RFC 9162 as its definitions say it, and as slowly: the oracle of the fast one."""

from __future__ import annotations

from hashlib import sha256


def split(n: int) -> int:
    """The largest power of two below n."""
    k = 1
    while 2 * k < n:
        k *= 2
    return k


def root(leaves: list[bytes]) -> bytes:
    """MTH of Sec. 2.1.1, over the contents of leaves."""
    if not leaves:
        return sha256(b"").digest()
    if len(leaves) == 1:
        return sha256(b"\0" + leaves[0]).digest()
    k = split(len(leaves))
    return sha256(b"\1" + root(leaves[:k]) + root(leaves[k:])).digest()


def inclusion(position: int, leaves: list[bytes]) -> list[bytes]:
    """PATH of Sec. 2.1.3.1."""
    if len(leaves) == 1:
        return []
    k = split(len(leaves))
    if position < k:
        return [*inclusion(position, leaves[:k]), root(leaves[k:])]
    return [*inclusion(position - k, leaves[k:]), root(leaves[:k])]


def consistency(old: int, leaves: list[bytes], whole: bool = True) -> list[bytes]:
    """SUBPROOF of Sec. 2.1.4.1."""
    if old == len(leaves):
        return [] if whole else [root(leaves)]
    k = split(len(leaves))
    if old <= k:
        return [*consistency(old, leaves[:k], whole), root(leaves[k:])]
    return [*consistency(old - k, leaves[k:], False), root(leaves[:k])]

"""Public randomness: Philox4x32-10 (Salmon, Moraes, Dror, Shaw 2011), the same bits in every language.

Both sides of a survey derive its rotations from its id, so these integers are part of the wire
contract. A counter is four 32-bit words, always in this order:

    (block, layer, rotation, purpose)

Output word w of block b is word 4 b + w of the stream (layer, rotation, purpose). Purposes are
listed below; a new use of public randomness takes a new number.
"""

from __future__ import annotations

from typing import Final

import numpy as np
from numpy.typing import NDArray

__all__ = ["PREFIX_HASHES", "REJECTION_NORMALS", "ROTATION_SIGNS", "WHEEL_BINS", "Key", "key_of", "philox4x32", "words"]

Key = tuple[int, int]
"""Two 32-bit words."""

ROTATION_SIGNS: Final = 0
"""Signs of the Hadamard layers of a rotation."""
REJECTION_NORMALS: Final = 2
"""Normals of a rejection report; the key is the report's seed, `layer` and `rotation` are 0. (1 is not used.)"""
WHEEL_BINS: Final = 3
"""Bins of options under a seed of the wheel: word i is option i's, `rotation` is the seed, `layer` is 0."""
PREFIX_HASHES: Final = 4
"""Words of the bits of a value's code under a row of hashed prefixes: word i is bit i's, `rotation` is the row."""

ROUNDS: Final = 10
MULTIPLIERS: Final = (0xD2511F53, 0xCD9E8D57)
WEYL: Final = (0x9E3779B9, 0xBB67AE85)

_LOW = np.uint64(0xFFFFFFFF)
_SHIFT = np.uint64(32)


def key_of(identifier: bytes) -> Key:
    """The key a survey's id gives: its first eight bytes as two little-endian words."""
    return int.from_bytes(identifier[:4], "little"), int.from_bytes(identifier[4:8], "little")


def philox4x32(key: Key, counters: NDArray[np.uint32]) -> NDArray[np.uint32]:
    """Philox4x32-10 of every row of an (n, 4) array of counters.

    Examples
    --------
    >>> zeros = philox4x32((0, 0), np.zeros((1, 4), np.uint32))
    >>> " ".join(f"{word:08x}" for word in zeros[0])
    '6627e8d5 e169c58d bc57ac4c 9b00dbd8'
    """
    c0, c1, c2, c3 = (counters[:, i].astype(np.uint64) for i in range(4))
    k0, k1 = (np.uint64(word) for word in key)
    for _ in range(ROUNDS):
        p0, p1 = np.uint64(MULTIPLIERS[0]) * c0, np.uint64(MULTIPLIERS[1]) * c2
        c0, c1, c2, c3 = (p1 >> _SHIFT) ^ c1 ^ k0, p1 & _LOW, (p0 >> _SHIFT) ^ c3 ^ k1, p0 & _LOW
        k0, k1 = (k0 + np.uint64(WEYL[0])) & _LOW, (k1 + np.uint64(WEYL[1])) & _LOW
    return np.stack([c0, c1, c2, c3], axis=1).astype(np.uint32)


def words(key: Key, n: int, *, layers: int, rotation: int, purpose: int) -> NDArray[np.uint32]:
    """The first n words of the streams of layers 0, 1, .., one row each."""
    blocks = -(-n // 4)
    counters = np.empty((layers, blocks, 4), dtype=np.uint32)
    counters[:, :, 0] = np.arange(blocks)
    counters[:, :, 1] = np.arange(layers)[:, None]
    counters[:, :, 2], counters[:, :, 3] = rotation, purpose
    return philox4x32(key, counters.reshape(-1, 4)).reshape(layers, -1)[:, :n]

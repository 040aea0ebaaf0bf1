"""Public normals: standard normal numbers that both sides derive from the same Philox words.

The transform is fixed. Words 2i and 2i+1 of a stream, a and b, give normals 2i and 2i+1 by Box and Muller (1958):

    radius   R = sqrt(-2 log((a + 1/2) / 2^32))
    quadrant q = b >> 30, and an angle inside it, x = ((b mod 2^30) + 1/2) / 2^30 * pi/2
    normals  (R cos x, R sin x), turned by q right angles: (C, S), (-S, C), (-C, -S), (S, -C)

The quadrant is taken off in integers, so that no floating-point reduction of the angle enters. Implementations must
agree within 1e-12 absolutely; the largest normal is sqrt(66 log 2) = 6.76.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from sottovoce.randomness.philox import REJECTION_NORMALS, Key, words

__all__ = ["FIXED_POINT", "box_muller", "count_normals", "inner_products", "many_normals", "seed_key", "seed_normals"]

Floats = NDArray[np.float64]

FIXED_POINT = 1 << 30
"""Normals are summed as integers in units of 2^-30, so that sums are exact in any order."""


def box_muller(stream: NDArray[np.uint32]) -> Floats:
    """Normals from an even number of words.

    Examples
    --------
    >>> box_muller(np.array([0x80000000, 0], np.uint32)).round(6)
    array([1.17741, 0.     ])
    """
    radii, angles = stream[0::2].astype(np.float64), stream[1::2]
    radii = np.sqrt(-2.0 * np.log((radii + 0.5) * 2.0**-32))
    inside = ((angles & np.uint32(0x3FFFFFFF)).astype(np.float64) + 0.5) * (2.0**-30 * (np.pi / 2))
    cosine, sine = radii * np.cos(inside), radii * np.sin(inside)
    quadrant = angles >> np.uint32(30)
    out = np.empty(len(stream))
    out[0::2] = np.choose(quadrant, [cosine, -sine, -cosine, sine])
    out[1::2] = np.choose(quadrant, [sine, cosine, -sine, -cosine])
    return out


def seed_key(seed: int) -> Key:
    """The key of a report's 64-bit seed: its low word, then its high word."""
    return seed & 0xFFFFFFFF, seed >> 32


def seed_normals(seed: int, n: int) -> Floats:
    """The first n normals of a report's seed, without compiled code: what a device runs."""
    stream = words(seed_key(seed), n + n % 2, layers=1, rotation=0, purpose=REJECTION_NORMALS)[0]
    return box_muller(stream)[:n]


def many_normals(seeds: NDArray[np.uint64], n: int) -> Floats:
    """The first n normals of every seed, one row per seed."""
    from sottovoce.kernels.compiled.normals import many_normals as compiled

    out = np.empty((len(seeds), -(-n // 4) * 4))
    compiled(np.ascontiguousarray(seeds), out)
    return out[:, :n]


def inner_products(units: Floats, seeds: NDArray[np.uint64]) -> Floats:
    """<row i, normals of seed i> for every row."""
    from sottovoce.kernels.compiled.normals import inner_products as compiled

    out = np.empty(len(units))
    compiled(np.ascontiguousarray(units), np.ascontiguousarray(seeds), out)
    return out


def count_normals(
    everyone: NDArray[np.int64], accepted: NDArray[np.int64], seeds: NDArray[np.uint64], bits: NDArray[np.uint64]
) -> None:
    """Add every seed's normals, in units of 2^-30, to `everyone`, and those with bit 1 to `accepted` too."""
    from sottovoce.kernels.compiled.normals import count_normals as compiled

    compiled(everyone, accepted, np.ascontiguousarray(seeds), np.ascontiguousarray(bits))

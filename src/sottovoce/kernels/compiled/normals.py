"""Public normals of many seeds, from Philox4x32-10; NumPy references are `kernels.normals` and `randomness.philox`."""

from __future__ import annotations

import math

import numpy as np

from sottovoce.kernels.compiled.cached import njit
from sottovoce.randomness.philox import MULTIPLIERS, REJECTION_NORMALS, ROUNDS, WEYL

__all__ = []


_M0, _M1 = np.uint64(MULTIPLIERS[0]), np.uint64(MULTIPLIERS[1])
_W0, _W1 = np.uint64(WEYL[0]), np.uint64(WEYL[1])


@njit(cache=True, nogil=True, inline="always")
def philox4x32(k0, k1, c0, c1, c2, c3):  # type: ignore[no-untyped-def]
    """Four output words, as 64-bit integers below 2**32. All arguments are uint64."""
    for _ in range(ROUNDS):
        p0, p1 = _M0 * c0, _M1 * c2
        c0, c1, c2, c3 = (p1 >> _SHIFT) ^ c1 ^ k0, p1 & _LOW, (p0 >> _SHIFT) ^ c3 ^ k1, p0 & _LOW
        k0, k1 = (k0 + _W0) & _LOW, (k1 + _W1) & _LOW
    return c0, c1, c2, c3


_PURPOSE = np.uint64(REJECTION_NORMALS)
_ZERO = np.uint64(0)
_LOW = np.uint64(0xFFFFFFFF)
_SHIFT = np.uint64(32)
_QUADRANT = np.uint64(30)
_INSIDE = np.uint64(0x3FFFFFFF)
_ANGLE = 2.0**-30 * (math.pi / 2)
_FIXED_POINT = 2.0**30


@njit(cache=True, nogil=True, inline="always")
def _pair(a, b):  # type: ignore[no-untyped-def]
    """Two normals from two words."""
    radius = math.sqrt(-2.0 * math.log((np.float64(a) + 0.5) * 2.0**-32))
    inside = (np.float64(b & _INSIDE) + 0.5) * _ANGLE
    cosine, sine = radius * math.cos(inside), radius * math.sin(inside)
    quadrant = b >> _QUADRANT
    if quadrant == 0:
        return cosine, sine
    if quadrant == 1:
        return -sine, cosine
    if quadrant == 2:
        return -cosine, -sine
    return sine, -cosine


@njit(cache=True, nogil=True)
def fill_normals(seed, out):  # type: ignore[no-untyped-def]
    """The first normals of a seed; the length must be a multiple of four."""
    k0, k1 = seed & _LOW, seed >> _SHIFT
    for block in range(out.shape[0] // 4):
        a, b, c, d = philox4x32(k0, k1, np.uint64(block), _ZERO, _ZERO, _PURPOSE)
        out[4 * block], out[4 * block + 1] = _pair(a, b)
        out[4 * block + 2], out[4 * block + 3] = _pair(c, d)


@njit(cache=True, nogil=True)
def many_normals(seeds, out):  # type: ignore[no-untyped-def]
    """One row of normals a seed."""
    for i in range(seeds.shape[0]):
        fill_normals(seeds[i], out[i])


@njit(cache=True, nogil=True)
def inner_products(units, seeds, out):  # type: ignore[no-untyped-def]
    """out[i] = <units[i], normals of seeds[i]>."""
    size = units.shape[1]
    normals = np.empty(-(-size // 4) * 4)
    for i in range(units.shape[0]):
        fill_normals(seeds[i], normals)
        total = 0.0
        for j in range(size):
            total += units[i, j] * normals[j]
        out[i] = total


@njit(cache=True, nogil=True)
def count_normals(everyone, accepted, seeds, bits):  # type: ignore[no-untyped-def]
    """Sums of all seeds' normals, and of those with bit 1, in units of 2^-30."""
    size = everyone.shape[0]
    normals = np.empty(-(-size // 4) * 4)
    for i in range(seeds.shape[0]):
        fill_normals(seeds[i], normals)
        bit = np.int64(bits[i])
        for j in range(size):
            number = np.int64(np.rint(normals[j] * _FIXED_POINT))
            everyone[j] += number
            accepted[j] += bit * number

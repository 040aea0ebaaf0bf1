"""Compiled passes of the fast Walsh-Hadamard transform.

A level at stride h replaces entries a, b that lie h apart by a + b, a - b; the transform is one level for
each power of two below the length, in any order. Level by level it would read all memory as often as there
are levels. Here four levels at a time are done in registers, twelve while a run of 4096 entries is in the
first-level cache, sixteen while a block of 65536 is in the second. The rest are done two at a time, four
streams wide: more streams a power of two apart share a cache set and evict each other, which costs more than
the passes it would save.
"""

import numpy as np
from numba import float64, int64, types
from numpy.typing import NDArray

from sottovoce.kernels.compiled.cached import njit

__all__ = ["BLOCK", "CHUNK", "one_level", "transform_rows", "two_levels"]

RUN = 1 << 12
BLOCK = 1 << 16
CHUNK = 1 << 9

ARRAY = types.Array(float64, 1, "C")


@njit(inline="always")
def _eight(
    a: float, b: float, c: float, d: float, e: float, f: float, g: float, h: float
) -> tuple[float, float, float, float, float, float, float, float]:
    """Return the transform of eight numbers."""
    a, b, c, d = a + b, a - b, c + d, c - d
    e, f, g, h = e + f, e - f, g + h, g - h
    a, b, c, d = a + c, b + d, a - c, b - d
    e, f, g, h = e + g, f + h, e - g, f - h
    return a + e, b + f, c + g, d + h, a - e, b - f, c - g, d - h


@njit(inline="always")
def _four_levels(x: NDArray[np.float64], h: int) -> None:
    """Do the levels at strides h, 2h, 4h and 8h; inlined so that the vectoriser sees h as a constant."""
    for first in range(0, x.size, 16 * h):
        v = x[first : first + 16 * h]
        for j in range(h):
            a, b, c, d, e, f, g, i = _eight(
                v[j],
                v[j + h],
                v[j + 2 * h],
                v[j + 3 * h],
                v[j + 4 * h],
                v[j + 5 * h],
                v[j + 6 * h],
                v[j + 7 * h],
            )
            k, m, n, o, p, q, r, s = _eight(
                v[j + 8 * h],
                v[j + 9 * h],
                v[j + 10 * h],
                v[j + 11 * h],
                v[j + 12 * h],
                v[j + 13 * h],
                v[j + 14 * h],
                v[j + 15 * h],
            )
            v[j], v[j + h], v[j + 2 * h], v[j + 3 * h] = a + k, b + m, c + n, d + o
            v[j + 4 * h], v[j + 5 * h], v[j + 6 * h], v[j + 7 * h] = e + p, f + q, g + r, i + s
            v[j + 8 * h], v[j + 9 * h], v[j + 10 * h], v[j + 11 * h] = a - k, b - m, c - n, d - o
            v[j + 12 * h], v[j + 13 * h], v[j + 14 * h], v[j + 15 * h] = e - p, f - q, g - r, i - s


@njit(inline="always")
def _two_levels_at(x: NDArray[np.float64], first: int, h: int, width: int) -> None:
    """Do the levels at strides h and 2h for `width` neighbouring columns; slices let LLVM vectorise."""
    p = x[first : first + width]
    q = x[first + h : first + h + width]
    r = x[first + 2 * h : first + 2 * h + width]
    s = x[first + 3 * h : first + 3 * h + width]
    for j in range(width):
        a, b, c, d = p[j] + q[j], p[j] - q[j], r[j] + s[j], r[j] - s[j]
        p[j], q[j], r[j], s[j] = a + c, b + d, a - c, b - d


@njit(inline="always")
def _one_level_at(x: NDArray[np.float64], first: int, h: int, width: int) -> None:
    """Do the level at stride h for `width` neighbouring columns."""
    p = x[first : first + width]
    q = x[first + h : first + h + width]
    for j in range(width):
        p[j], q[j] = p[j] + q[j], p[j] - q[j]


@njit([(ARRAY,)], cache=True, nogil=True)
def _transform(x: NDArray[np.float64]) -> None:
    """Transform one array that fits the second-level cache."""
    h = 1
    if x.size >= RUN:
        h = RUN
        for first in range(0, x.size, RUN):
            run = x[first : first + RUN]
            _four_levels(run, 1)
            _four_levels(run, 16)
            _four_levels(run, 256)
    elif x.size >= 16:
        h = 16
        _four_levels(x, 1)
    while 4 * h <= x.size:
        for first in range(0, x.size, 4 * h):
            _two_levels_at(x, first, h, h)
        h *= 4
    if h < x.size:
        _one_level_at(x, 0, h, h)


@njit([(ARRAY, int64, int64, int64)], cache=True, nogil=True)
def transform_rows(x: NDArray[np.float64], length: int, first: int, last: int) -> None:
    """Transform the runs of `length` (at most BLOCK) entries numbered first to last - 1, each on its own."""
    for row in range(first, last):
        _transform(x[row * length : (row + 1) * length])


@njit([(ARRAY, int64, int64, int64)], cache=True, nogil=True)
def two_levels(x: NDArray[np.float64], h: int, first: int, last: int) -> None:
    """Do the levels at strides h and 2h for the groups of 4 CHUNK entries numbered first to last - 1."""
    across = h // CHUNK
    for group in range(first, last):
        _two_levels_at(x, group // across * (4 * h) + group % across * CHUNK, h, CHUNK)


@njit([(ARRAY, int64, int64, int64)], cache=True, nogil=True)
def one_level(x: NDArray[np.float64], h: int, first: int, last: int) -> None:
    """Do the level at stride h for the groups of 2 CHUNK entries numbered first to last - 1."""
    across = h // CHUNK
    for group in range(first, last):
        _one_level_at(x, group // across * (2 * h) + group % across * CHUNK, h, CHUNK)

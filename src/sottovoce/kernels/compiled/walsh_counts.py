"""The Walsh-Hadamard transform of many small counts, in single precision.

Twice as many numbers fit into a register and into a cache as in `walsh`, whose levels these are. Single precision holds
every integer up to 2^24, and no partial sum of the transform of counts is larger than all of them together.
"""

import numpy as np
from numba import float32, float64, int64, types
from numpy.typing import NDArray

from sottovoce.kernels.compiled import walsh
from sottovoce.kernels.compiled.cached import njit
from sottovoce.kernels.compiled.walsh import BLOCK, CHUNK, RUN, _four_levels, _two_levels_at

__all__ = ["BLOCK", "CHUNK", "LARGEST", "one_level", "scale", "transform_blocks", "two_levels"]

LARGEST = 1 << 24

COUNTS = types.Array(int64, 1, "C", readonly=True)
SINGLE = types.Array(float32, 1, "C")

_PASS = [(SINGLE, int64, int64, int64)]
one_level, two_levels = (
    njit(_PASS, cache=True, nogil=True)(getattr(loop, "py_func", loop)) for loop in (walsh.one_level, walsh.two_levels)
)


@njit(inline="always")
def _first_levels(x: NDArray[np.float32]) -> None:
    """Do the levels at strides 1 and 2: loads that take every fourth entry fill whole registers."""
    for i in range(x.size // 4):
        a, b, c, d = x[4 * i], x[4 * i + 1], x[4 * i + 2], x[4 * i + 3]
        a, b, c, d = a + b, a - b, c + d, c - d
        x[4 * i], x[4 * i + 1], x[4 * i + 2], x[4 * i + 3] = a + c, b + d, a - c, b - d


@njit([(COUNTS, SINGLE, int64, int64)], cache=True, nogil=True)
def transform_blocks(counts: NDArray[np.int64], x: NDArray[np.float32], first: int, last: int) -> int:
    """Write to x the transform of each of the blocks numbered first to last - 1.

    Returns the sum of their counts, or -1 if one is negative or too large; x is then without meaning.
    """
    total, bits = 0, 0
    for start in range(first * BLOCK, last * BLOCK, RUN):
        given, run = counts[start : start + RUN], x[start : start + RUN]
        for i in range(RUN):
            total += given[i]
            bits |= given[i]
            run[i] = np.int32(given[i])  # from 32 bits the conversion is faster; nothing is lost below LARGEST
        _first_levels(run)
        _four_levels(run, 4)
        _four_levels(run, 64)
        _two_levels_at(run, 0, RUN // 4, RUN // 4)
    for start in range(first * BLOCK, last * BLOCK, BLOCK):
        for group in range(start, start + BLOCK, 4 * RUN):
            _two_levels_at(x, group, RUN, RUN)
        _two_levels_at(x, start, 4 * RUN, 4 * RUN)
    return total if 0 <= bits < LARGEST else -1


@njit([(types.Array(float32, 1, "C", readonly=True), float64, types.Array(float64, 1, "C"))], cache=True, nogil=True)
def scale(x: NDArray[np.float32], factor: float, out: NDArray[np.float64]) -> None:
    """Write factor x to `out`."""
    for i in range(x.size):
        out[i] = factor * np.float64(x[i])

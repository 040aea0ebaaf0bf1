"""Philox4x32-10, one counter at a time; the NumPy reference is `randomness.philox`."""

import numpy as np

from sottovoce.kernels.compiled.cached import njit
from sottovoce.randomness.philox import MULTIPLIERS, ROUNDS, WEYL

_M0, _M1 = np.uint64(MULTIPLIERS[0]), np.uint64(MULTIPLIERS[1])
_W0, _W1 = np.uint64(WEYL[0]), np.uint64(WEYL[1])
_LOW = np.uint64(0xFFFFFFFF)
_SHIFT = np.uint64(32)


@njit(cache=True, nogil=True, inline="always")
def philox4x32(k0, k1, c0, c1, c2, c3):  # type: ignore[no-untyped-def]
    """Four output words, as 64-bit integers below 2**32. All arguments are uint64."""
    for _ in range(ROUNDS):
        p0, p1 = _M0 * c0, _M1 * c2
        c0, c1, c2, c3 = (p1 >> _SHIFT) ^ c1 ^ k0, p1 & _LOW, (p0 >> _SHIFT) ^ c3 ^ k1, p0 & _LOW
        k0, k1 = (k0 + _W0) & _LOW, (k1 + _W1) & _LOW
    return c0, c1, c2, c3

"""Walsh-Hadamard transforms of many rows at once, as block Hadamard Response needs."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from sottovoce.kernels.walsh import walsh_hadamard

__all__ = ["walsh_hadamard_rows"]

_LONG_ROW = 1 << 12


def walsh_hadamard_rows(x: NDArray[np.float64]) -> None:
    """Transform every row of a C-contiguous matrix in place; its number of columns is a power of two.

    Long rows go through the blocked kernel one by one; short ones are transformed all together,
    one butterfly stage at a time.
    """
    rows, size = x.shape
    if size >= _LONG_ROW:
        for row in x:
            walsh_hadamard(row)
        return
    half = 1
    while half < size:
        pairs = x.reshape(rows, size // (2 * half), 2, half)
        low, high = pairs[:, :, 0], pairs[:, :, 1]
        low += high
        np.subtract(low, 2 * high, out=high)
        half *= 2

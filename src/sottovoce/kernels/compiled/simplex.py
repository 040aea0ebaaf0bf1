"""Compiled passes of the projection on the simplex.

The threshold tau is a pair of doubles, high + low. An entry's height above it is (entry - high) - low: the
first difference is exact by Sterbenz's lemma where it is small, and low is then all that is missing, so a
height has full relative accuracy even where the entry and tau agree in all their digits. The order of the
operations matters, so nothing here is compiled with fast-math; sums run in independent lanes instead, which
vectorises them. Lanes are emptied after every run of entries: no sum goes through more than 128 + 64 + 32
additions in a row, so over 2^18 nonnegative terms it is off by less than 3e-14 of itself, whatever they are.
"""

import numpy as np
from numba import boolean, float64, types
from numpy.typing import NDArray

from sottovoce.kernels.compiled.cached import njit

__all__ = ["clip", "excess", "gather"]

LANES = 32
RUN = 128 * LANES

# Stated, or Numba would compile everything once more for read-only arrays.
VECTOR = types.Array(float64, 1, "C", readonly=True)
OUTPUT = types.Array(float64, 1, "C")


@njit(inline="always")
def _empty(lanes: NDArray[np.float64], totals: NDArray[np.float64]) -> None:
    """Move what the lanes have gathered into the totals."""
    for j in range(LANES):
        totals[j] += lanes[j]
        lanes[j] = 0.0


@njit(inline="always")
def _height(entry: float, high: float, low: float) -> float:
    """Return what the entry has above high + low, or zero."""
    height = (entry - high) - low
    return height if height > 0.0 else 0.0


@njit(inline="always")
def _residual(entry: float, high: float, low: float) -> float:
    """Return x - (entry - high - low) for the height x.

    Above the threshold that is the rounding error of x, found exactly by Knuth's two-sum for each difference.
    """
    first = entry - high
    height = first - low
    b = entry - first
    error = (entry - (first + b)) + (b - high)
    b = first - height
    error += (first - (height + b)) + (b - low)
    return -error if height > 0.0 else -height


@njit([(VECTOR, float64, float64, boolean)], cache=True, nogil=True)
def excess(raw: NDArray[np.float64], high: float, low: float, look: bool) -> tuple[float, int, float, bool]:
    """Return the sum of the heights above high + low, their number, the largest entry, and whether all are finite.

    The last two only where they are looked for; the largest is that of rows with an entry at `high` or above. If not
    all are finite, nothing else means anything.
    """
    sums, lanes = np.zeros(LANES), np.zeros(LANES)
    counts = np.zeros(LANES, dtype=np.int64)
    largest = np.full(LANES, -np.inf)
    spoilt, run = 0, 0
    whole = raw.size // LANES * LANES
    for first in range(0, whole, LANES):
        row = raw[first : first + LANES]
        small = 0
        for j in range(LANES):
            small += abs(row[j]) < high
        if small == LANES:
            continue
        if run == RUN:
            _empty(lanes, sums)
            run = 0
        run += LANES
        for j in range(LANES):
            height = _height(row[j], high, low)
            lanes[j] += height
            counts[j] += height > 0.0
        if look:
            for j in range(LANES):
                largest[j] = row[j] if row[j] > largest[j] else largest[j]
                spoilt += not abs(row[j]) < np.inf
    _empty(lanes, sums)
    for i in range(whole, raw.size):
        height = _height(raw[i], high, low)
        sums[0] += height
        counts[0] += height > 0.0
        largest[0] = raw[i] if raw[i] > largest[0] else largest[0]
        spoilt += not abs(raw[i]) < np.inf
    return sums.sum(), counts.sum(), largest.max(), spoilt == 0


@njit([(VECTOR, float64, float64, OUTPUT)], cache=True, nogil=True)
def gather(raw: NDArray[np.float64], high: float, low: float, out: NDArray[np.float64]) -> None:
    """Write the entries above high + low, in their order, to `out`, which has room for just these."""
    taken = 0
    for first in range(0, raw.size, LANES):
        row = raw[first : first + LANES]
        near = 0
        for j in range(row.size):
            near += row[j] >= high
        if near == 0:
            continue
        for j in range(row.size):
            if _height(row[j], high, low) > 0.0:
                out[taken] = row[j]
                taken += 1


@njit([(VECTOR, float64, float64, OUTPUT)], cache=True, nogil=True)
def clip(raw: NDArray[np.float64], high: float, low: float, out: NDArray[np.float64]) -> tuple[float, float]:
    """Write the heights x above high + low, or zero, to `out`; return <r, x> and min r, r the residuals.

    Below the threshold x is zero and r is the distance to it: rows that are all farther below than the least
    residual so far add nothing to either.
    """
    products = np.zeros(LANES)
    least, edge = np.full(LANES, np.inf), -np.inf
    for first in range(0, raw.size, LANES):
        row, target = raw[first : first + LANES], out[first : first + LANES]
        near = 0
        for j in range(row.size):
            height = (row[j] - high) - low
            target[j] = height if height > 0.0 else 0.0
            near += height > edge
        if near == 0:
            continue
        for j in range(row.size):
            x, r = _height(row[j], high, low), _residual(row[j], high, low)
            products[j] += x * r if x > 0.0 else 0.0  # r may be infinite where x is zero
            least[j] = r if r < least[j] else least[j]
        if edge < 0.0:
            edge = -max(least.min(), 0.0)
    return products.sum(), least.min()

"""The loop over pairs of values and reports behind the blanket of a channel that is written out."""

import numpy as np
from numba import float64, int64, types, void

from sottovoce.kernels.compiled.cached import njit

__all__ = ["largest_stop_losses"]

_ROWS = types.Array(float64, 2, "C", readonly=True)
_ROW = types.Array(float64, 1, "C", readonly=True)
_OUTPUT = types.Array(float64, 1, "C")


@njit(void(_OUTPUT, _ROWS, _ROW, float64, _ROW, int64, int64), cache=True, nogil=True)
def largest_stop_losses(out, ratios, chances, weight, grid, first, last):  # type: ignore[no-untyped-def]
    """out[j] = max over u in first .. last - 1 and all v of E(ratios[u] - weight ratios[v] - grid[j])_+.

    The grid is even. What lies between two of its points is gathered at the lower one, as a mass and as a mean.
    """
    points = len(grid)
    low, scale = grid[0], (points - 1) / (grid[points - 1] - grid[0])
    mass, mean = np.empty(points), np.empty(points)
    for u in range(first, last):
        for v in range(ratios.shape[0]):
            mass[:] = 0.0
            mean[:] = 0.0
            for y in range(ratios.shape[1]):
                loss = ratios[u, y] - weight * ratios[v, y]
                at = min(max(int((loss - low) * scale), 0), points - 1)
                mass[at] += chances[y]
                mean[at] += chances[y] * loss
            above, total = 0.0, 0.0
            for j in range(points - 1, -1, -1):
                above += mass[j]
                total += mean[j]
                out[j] = max(out[j], total - grid[j] * above)

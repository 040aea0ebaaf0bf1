"""Stop-loss transforms of all pairs of a channel's values, on all cores."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from sottovoce.kernels.threads import for_each_piece

__all__ = ["largest_stop_losses"]

Floats = NDArray[np.float64]

_WORK = 1 << 20
"""Steps of the loop that are worth a piece."""


def largest_stop_losses(ratios: Floats, chances: Floats, weight: float, grid: Floats) -> Floats:
    """Return max over rows u and v of E(ratios[u] - weight ratios[v] - t)_+, for every t of an even grid.

    The expectation is over columns, which have these chances. The grid reaches from the least difference to the
    largest one.

    Examples
    --------
    >>> ratios = np.array([[2.0, 0.0], [0.0, 2.0]])
    >>> largest_stop_losses(ratios, np.array([0.5, 0.5]), 1.0, np.array([-2.0, 0.0, 2.0]))
    array([2., 1., 0.])
    """
    from sottovoce.kernels.compiled.stop_losses import largest_stop_losses as compiled

    rows, columns = ratios.shape
    size = max(1, _WORK // (rows * (columns + len(grid))))
    pieces = -(-rows // size)
    losses = np.zeros((pieces, len(grid)))

    def work(piece: int) -> None:
        first = piece * size
        compiled(losses[piece], ratios, chances, float(weight), grid, first, min(first + size, rows))

    for_each_piece(work, pieces)
    return np.asarray(losses.max(axis=0))

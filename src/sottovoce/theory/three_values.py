"""Limits of p+ - p- from N+ - N-, where each of n reports counts +1, -1 or nothing: a difference of two shares.

Its law depends on p+ + p- too. By Berger and Boos (1994) the p-value of a difference is its largest one over a
confidence region of that sum, and the region's miss is added. Nothing is searched on a grid: the region is divided into
cells, and each cell is bounded from its ends.
"""

from __future__ import annotations

import math
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

__all__ = ["LEAST_MISS", "LEAST_REPORTS", "MOST_REPORTS", "THREE_VALUES", "difference_tail", "lower_limit"]

Floats = NDArray[np.float64]

THREE_VALUES: Final = "Berger and Boos's limits of a difference of two counts, for people drawn from a population"

LEAST_MISS, MOST_REPORTS = 1e-7, 10**9
"""One-sided miss from which, and number of reports up to which, tails are computed to a small part of the miss."""

LEAST_REPORTS: Final = 100
"""With fewer reports the region of p+ + p- is so wide that limits of single shares are as good."""

_CELLS: Final = 256
_HALVINGS: Final = 15

_NEGLIGIBLE: Final = 1e-18
"""Terms of a Fourier sum that are left out."""

_ERROR: Final = 1e-11
"""What is added to a tail: more than what is left out, and than rounding."""


def lower_limit(difference: int, n: int, miss: float, least: float, most: float) -> float:
    """The lower limit of p+ - p-, wrong with probability `miss` at most, if p+ + p- is between `least` and `most`.

    For a cell [u, v] of p+ + p- and a candidate d the chance of N+ - N- >= t is at most that at p+ = (v + d)/2 and
    p- = max(0, (u - d)/2): a larger p+ and a smaller p- than any in the cell, which make N+ - N- grow. This bound grows
    with d, so all candidates below one that it excludes are out, and halving finds the limit.

    Examples
    --------
    >>> round(lower_limit(30, 100, 0.025, 0.45, 0.65), 3), round(-lower_limit(-30, 100, 0.025, 0.45, 0.65), 3)
    (0.14, 0.44)
    """
    edges = np.linspace(least, most, _CELLS + 1)

    def excluded(d: float) -> bool:
        return bool(difference_tail(difference, n, *_extremes(edges, d)).max() <= miss)

    high = difference / n
    away = 2 * math.sqrt(-2 * math.log(miss) * (most + 1 / n) / n) - 2 * math.log(miss) / n
    low = max(-1.0, high - away)
    if not excluded(low):
        low, high = -1.0, low
    for _ in range(_HALVINGS):
        middle = (low + high) / 2
        low, high = (middle, high) if excluded(middle) else (low, middle)
    return low


def _extremes(edges: Floats, d: float) -> tuple[Floats, Floats]:
    """In every cell a p+ and a p- such that N+ - N- is stochastically largest."""
    plus = np.clip((edges[1:] + d) / 2, 0.0, 1.0)
    return plus, np.clip((edges[:-1] - d) / 2, 0.0, 1.0 - plus)


def difference_tail(least: int, n: int, plus: Floats, minus: Floats) -> Floats:
    """P(N+ - N- >= least), at most, for each pair of chances; exact but for an error of 1e-11, which is added.

    The law modulo W is a sum over W frequencies, of which few count: |phi(theta)|^n, phi the characteristic function of
    one report, falls and then rises again in [0, pi]. Only counts from `least` up to where next to nothing is left are
    taken, and W is so large that next to nothing is taken twice.

    Examples
    --------
    >>> difference_tail(1, 2, np.array([0.5]), np.array([0.25])).round(6)  # ++, +0 and 0+
    array([0.5])
    """
    total, mean = plus + minus, plus - minus
    # Bernstein's inequality: beyond `far` from the mean there is less than 1e-15.
    logarithm = 15 * math.log(10)
    far = logarithm * 2 / 3 + np.sqrt((logarithm * 2 / 3) ** 2 + 2 * logarithm * n * (total - mean**2).clip(0))
    top = float((n * mean + far).max())
    taken = max(1, min(n, math.ceil(top)) - least + 1)
    size = min(2 * n + 1, math.ceil(least + taken - float((n * mean - far).min())) | 1)
    taken, half = min(taken, size), size // 2

    def log_size(theta: Any) -> Any:
        """log |phi|^n; the square of |phi| is one less two parts that are not negative."""
        up = 2 * np.sin(theta / 2) ** 2
        lost = 2 * (1 - total) * total * up + (total**2 - mean**2) * np.sin(theta) ** 2
        return n / 2 * np.log1p(-np.minimum(lost, 1 - 1e-300))

    step, limit = 2 * math.pi / size, math.log(_NEGLIGIBLE)
    first = last = 16
    while first < half and (log_size(step * first) > limit).any():
        first *= 2
    if not (log_size(step * half) > limit).any():
        last = 0
    while 0 < last < half and (log_size(step * (half - last)) > limit).any():
        last *= 2
    places = np.unique(np.concatenate([np.arange(1, min(first, half) + 1), np.arange(max(1, half - last), half + 1)]))
    theta = step * places[places <= half]
    angle = np.arctan2(mean[:, None] * np.sin(theta), 1 - total[:, None] * 2 * np.sin(theta / 2) ** 2)
    sizes = np.exp([log_size(one) for one in theta]).T if len(theta) else np.zeros((len(plus), 0))
    waves = np.cos(n * angle - theta * (least + (taken - 1) / 2)) * np.sin(taken * theta / 2) / np.sin(theta / 2)
    tail = (taken + 2 * (sizes * waves).sum(axis=1)) / size
    return np.asarray(np.where(least > n, 0.0, np.clip(tail, 0.0, 1.0)) + _ERROR)

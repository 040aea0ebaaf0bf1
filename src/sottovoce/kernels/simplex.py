"""The threshold of the projection on the simplex, found exactly, and the clipping at it; on all cores.

Results do not depend on the number of cores: pieces have a fixed size, and their sums are added exactly.
"""

from __future__ import annotations

from collections.abc import Callable
from math import fsum, inf
from typing import NamedTuple, TypeVar

import numpy as np
from numpy.typing import NDArray

from sottovoce.kernels.threads import for_each_piece

__all__ = ["Threshold", "clip_at", "simplex_threshold"]

Floats = NDArray[np.float64]
Threshold = tuple[float, float]
"""A number held as the unevaluated sum of two doubles, the second below the last digit of the first."""

Outcome = TypeVar("Outcome")

_PIECE = 1 << 18
_SAMPLE = 1 << 14
# Each of the terms of a sum has a rounding error of at most one part in 2^52.
_ROUNDING = 2.0**-50


class _Heights(NamedTuple):
    """One piece: the sum of its heights above a threshold, their number, its largest entry, if all are finite."""

    total: float
    active: int
    largest: float
    finite: bool


def simplex_threshold(raw: Floats) -> Threshold | None:
    """Return tau such that sum_j max(raw_j - tau, 0) = 1, or None where an entry is infinite or not a number.

    Newton's method on f(tau) = sum_j max(raw_j - tau, 0) - 1, which is convex, decreasing and piecewise
    linear with slope -k(tau), k the number of entries above tau; the step from tau is f/k, which makes it
    Michelot's algorithm [1]_ in the form of residuals. After one step tau never exceeds the solution, so
    entries below it are out for good, and the answer is exact (up to rounding) when k no longer changes.

    By convexity f_i >= f_(i+1) + k_(i+1) f_i/k_i, hence f_(i+1)/f_i + k_(i+1)/k_i <= 1 and f k falls at
    least fourfold with every step. It starts at J^2 or less and ends at 2^-50 or more: no input, however
    adversarial, takes more than log2(J) + 26 steps. A start from a sample makes it a handful, and only the first
    of them reads all entries where few are above: the sample is then solved for twice its mass, so that the
    start is rarely above the solution.

    Parameters
    ----------
    raw : numpy.ndarray
        Contiguous, not empty; trusted. The solution lies between 1 and 1/len(raw) below its largest entry.

    References
    ----------
    .. [1] C. Michelot, A finite algorithm for finding the projection of a point onto the canonical simplex
       of R^n, JOTA 50 (1986).
    """
    start = _start(raw)
    if start is None:
        return None
    heights = _heights(raw, start, look=True)
    if not all(piece.finite for piece in heights):
        return None
    lowest = _sum((max(piece.largest for piece in heights), 0.0), -1.0)
    if start < lowest:
        start, heights = lowest, _heights(raw, lowest)
    return _solve(raw, 1.0, start, heights)


def _start(raw: Floats) -> Threshold | None:
    """Return a threshold below the largest entry and near to the solution, or None if an entry is seen not finite."""
    if raw.size < 4 * _SAMPLE:
        return _sum((float(raw.max()), 0.0), -1.0)
    sample = np.ascontiguousarray(raw[:: raw.size // _SAMPLE])
    if not np.isfinite(sample).all():
        return None
    mass, largest = sample.size / raw.size, float(sample.max())
    for most in (2 * mass, mass):
        start = _sum((largest, 0.0), -most)
        start = _solve(sample, most, start, _heights(sample, start))
        if 8 * sum(piece.active for piece in _heights(sample, start)) <= sample.size:
            break
    return start


def clip_at(raw: Floats, tau: Threshold, out: Floats) -> float:
    """Write max(raw - tau, 0) to `out`, and return its duality gap <g, x> - min_j g_j, g = x - raw.

    The gap is evaluated with raw - tau for raw. For x that sums to one that is the same number, but it does
    not drown in the cancellation of two terms of the size of raw.
    """
    from sottovoce.kernels.compiled.simplex import clip

    def clip_piece(piece: Floats, target: Floats) -> tuple[float, float]:
        product, least = clip(piece, *tau, target)
        return product, least

    outcomes = _over_pieces(clip_piece, raw, out)
    return fsum(product for product, _ in outcomes) - min(least for _, least in outcomes)


def _solve(values: Floats, mass: float, tau: Threshold, heights: list[_Heights]) -> Threshold:
    """Return tau such that the heights above it sum to `mass`; starts from a tau below the largest value."""
    steps, previous = 0, inf
    while True:
        surplus = fsum([*(piece.total for piece in heights), -mass])
        # Past the first step the surplus falls strictly, until nothing but rounding is left of it.
        if abs(surplus) <= _ROUNDING * mass or (steps > 1 and abs(surplus) >= previous):
            return tau
        active = sum(piece.active for piece in heights)
        if surplus > 0 and active <= values.size // 8:
            values = _survivors(values, tau, [piece.active for piece in heights])
        tau = _sum(tau, surplus / active)
        steps, previous, heights = steps + 1, abs(surplus), _heights(values, tau)


def _heights(values: Floats, tau: Threshold, look: bool = False) -> list[_Heights]:
    """Return what every piece has above tau; its largest entry and if all are finite only where looked for."""
    from sottovoce.kernels.compiled.simplex import excess

    return _over_pieces(lambda piece: _Heights(*excess(piece, *tau, look)), values)


def _survivors(values: Floats, tau: Threshold, active: list[int]) -> Floats:
    """Return the entries above tau; piece i has ``active[i]`` of them."""
    from sottovoce.kernels.compiled.simplex import gather

    ends = np.cumsum(active)
    survivors = np.empty(int(ends[-1]))

    def fill(piece: int) -> None:
        end = int(ends[piece])
        gather(_piece(values, piece), *tau, survivors[end - active[piece] : end])

    _for_pieces(fill, values.size)
    return survivors


def _sum(tau: Threshold, step: float) -> Threshold:
    """Return tau + step (Knuth's two-sum, then renormalised)."""
    high, low = tau
    total = high + step
    b = total - high
    low += (high - (total - b)) + (step - b)
    return total + low, low - ((total + low) - total)


def _piece(values: Floats, piece: int) -> Floats:
    return values[piece * _PIECE : (piece + 1) * _PIECE]


def _for_pieces(work: Callable[[int], None], size: int) -> None:
    for_each_piece(work, -(-size // _PIECE))


def _over_pieces(function: Callable[..., Outcome], *arrays: Floats) -> list[Outcome]:
    """Return function(piece of each array) for every piece, in order."""
    outcomes: dict[int, Outcome] = {}

    def do(piece: int) -> None:
        outcomes[piece] = function(*(_piece(array, piece) for array in arrays))

    _for_pieces(do, arrays[0].size)
    return [outcomes[piece] for piece in sorted(outcomes)]

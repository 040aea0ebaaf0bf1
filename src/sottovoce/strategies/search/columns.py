"""Projections of a channel's columns to sum 1 within their bounds: Euclidean and logistic.

Written for the array API: NumPy, CuPy and PyTorch arrays work.
"""

from __future__ import annotations

from typing import Any, Final

from sottovoce.core.extras import full_install

with full_install:
    import array_api_compat

__all__ = ["logistic_columns", "project_columns"]

_STEPS: Final = 60
_SMOOTH_STEPS: Final = 40
_REACH: Final = 200.0
"""Largest shift; beyond it every logistic is 0 or 1 to the last bit."""


def project_columns(target: Any, lower: Any, upper: Any) -> Any:
    """argmin of ||q - target|| over lower <= q <= upper with every column summing to 1.

    The solution is clip(target + shift, lower, upper) with one shift per column, found by Newton steps on a
    piecewise linear function that bisection keeps inside a shrinking interval (Brucker 1984 proves the form).

    Parameters
    ----------
    target
        m x J.
    lower, upper
        m x J or m x 1, with sums over rows that enclose 1; otherwise the sum is as near to 1 as possible.

    Examples
    --------
    >>> import numpy as np
    >>> project_columns(np.array([[0.9], [0.9], [0.0]]), np.full((3, 1), 0.2), np.full((3, 1), 0.5))
    array([[0.4],
           [0.4],
           [0.2]])
    """
    xp = array_api_compat.array_namespace(target, lower, upper)
    left, right = xp.min(lower - target, axis=0), xp.max(upper - target, axis=0)
    shift = xp.zeros_like(left)
    for _ in range(_STEPS):
        moved = target + shift
        excess = xp.sum(xp.clip(moved, lower, upper), axis=0) - 1.0
        if float(xp.max(xp.abs(excess))) <= 1e-15:
            break
        right, left = xp.where(excess > 0, shift, right), xp.where(excess < 0, shift, left)
        free = xp.sum(xp.astype((moved > lower) & (moved < upper), target.dtype), axis=0)
        step = shift - excess / xp.where(free > 0, free, xp.ones_like(free))
        shift = xp.where((step > left) & (step < right), step, (left + right) / 2)
    return xp.clip(target + shift, lower, upper)


def logistic_columns(logits: Any, minima: Any, goal: float) -> tuple[Any, Any, Any] | None:
    """Shares s = 1/(1 + exp(-(logits + shift))) such that minima[o] s[o, u] sums to `goal` in every column.

    The same projection in the geometry of the logistic entropy: bounds are never reached, and the channel
    minima (1 + (e^eps - 1) s) is a smooth function of logits and minima. Returns the shares, the shifts and the sums
    of minima s (1-s); None if there are no such shares.

    Examples
    --------
    >>> import numpy as np
    >>> shares, shift, _ = logistic_columns(np.array([[1.0], [0.0]]), np.array([0.25, 0.25]), 0.25)
    >>> float(np.round(np.sum(0.25 * shares), 12))
    0.25
    """
    xp = array_api_compat.array_namespace(logits, minima)
    if not 0.0 < goal < float(xp.sum(minima)):
        return None
    shift = xp.zeros_like(logits[0, :])
    left, right = shift - _REACH, shift + _REACH
    for _ in range(_SMOOTH_STEPS):
        shares = 1.0 / (1.0 + xp.exp(-xp.clip(logits + shift, -_REACH, _REACH)))
        excess = minima @ shares - goal
        spread = minima @ (shares * (1.0 - shares))
        if float(xp.max(xp.abs(excess))) <= 1e-11 * goal:
            return shares, shift, spread
        right, left = xp.where(excess > 0, shift, right), xp.where(excess < 0, shift, left)
        step = shift - excess / xp.where(spread > 1e-300, spread, xp.ones_like(spread))
        shift = xp.where((step > left) & (step < right), step, (left + right) / 2)
    return None

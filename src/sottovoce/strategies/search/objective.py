"""The objective of the channel search and its gradient: the variance of the best linear reconstruction.

Each call takes three matrix products of m x J by J x J and one inverse, on any array-API library.

Columns of a channel are projected to sum 1 within their bounds: Euclidean and logistic.
"""

from __future__ import annotations

import math
from typing import Any, Final, NamedTuple

from sottovoce.core.extras import full_install

with full_install:
    import array_api_compat

__all__ = ["ChannelObjective", "Point", "logistic_columns", "project_columns"]

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


_ROW_PACE: Final = 0.05
"""Relative step size of minima. At 1 the first steps make half of the rows vanish permanently."""

_MARKED_PACE: Final = 0.2
"""Relative step size of the overall share of large entries."""

_RIDGE: Final = 1e-10
"""Regularises directions that no query uses, relative to the mean eigenvalue; only in the search."""


_UNBIASED: Final = 1e-6


class Point(NamedTuple):
    """A channel of the search: its objective, the gradient, and the state with shifts applied."""

    value: float
    gradient: Any
    state: Any
    minima: Any
    shares: Any
    sizes: Any
    """Squared norms of the reconstruction's centred columns: what each report adds to the answers."""


class ChannelObjective:
    """Weighted mean of the people's noise for channels q[o, u] = z[o] (1 + (e^eps - 1) s[o, u]).

    With weights w over people, d = Q w, x[o, u] = q[o, u]/d[o] - 1 and centred answers C = A - (A w) 1^T, the best
    unbiased reconstruction adds A w + C K^-1 x[o] for report o, where K = x^T diag(d) x + c 1 1^T with any c > 0
    (McKenna, Maity, Mazumdar, Miklau 2020, Theorem 3.10, centred: for feasible Q, x^T d = 0 and K w = c 1, so that
    C K^-1 C^T loses nothing when epsilon is small). User u's noise is
    sum_o q[o, u] ||C K^-1 x[o]||^2 - ||c_u||^2, and its mean under w is tr(C K^-1 C^T) - sum_u w_u ||c_u||^2.

    A state is an m x (J+1) array: logits of s, and in its last column a number t a row. Up to a factor z[o] is
    exp(0.05 t[o]); the factor makes the z-weighted mean of s the logistic of 0.2 mean(t), so that every state is a
    channel at every epsilon.
    """

    def __init__(self, gram: Any, epsilon: float, rows: int, weights: Any) -> None:
        self._xp = array_api_compat.array_namespace(gram, weights)
        self._gram = gram
        self.slope = math.expm1(epsilon)
        self._rows = rows
        self.reweigh(weights)

    def reweigh(self, weights: Any) -> None:
        """Change the weights over people."""
        inner = self._gram @ weights
        self.weights = weights
        self._centred = self._gram - inner[:, None] - inner[None, :] + weights @ inner
        self._norms = self._xp.linalg.diagonal(self._centred)

    def state_of(self, logits: Any, minima: Any) -> Any:
        """The state with these logits and, up to a common factor, these row minima; columns are normalised later."""
        xp = self._xp
        shares = 1.0 / (1.0 + xp.exp(-logits))
        marked = float(xp.sum(minima @ shares) / (xp.sum(minima) * logits.shape[1]))
        marked = min(max(marked, 1e-9), 1.0 - 1e-9)
        heights = xp.log(minima) / _ROW_PACE
        heights = heights - xp.mean(heights) + (math.log(marked) - math.log1p(-marked)) / _MARKED_PACE
        return xp.concat([logits, heights[:, None]], axis=1)

    def point(self, state: Any) -> Point | None:
        """Objective and gradient; None if the state is too extreme."""
        xp, k, w = self._xp, self.slope, self.weights
        logits, heights = state[:, :-1], state[:, -1]
        level = _MARKED_PACE * float(xp.mean(heights))
        marked = 1.0 / (1.0 + math.exp(-min(max(level, -700.0), 700.0)))
        rows = xp.exp(_ROW_PACE * (heights - xp.max(heights)))
        rows = rows / xp.sum(rows)
        minima = rows / (1.0 + k * marked)
        columns = logistic_columns(logits, minima, marked / (1.0 + k * marked))
        if columns is None:
            return None
        shares, shift, spread = columns
        value, along, sizes = self._reconstruct(minima, shares)
        if not (math.isfinite(value) and value > 0):
            return None
        slopes = sizes[:, None] * w - 2.0 * along
        bend = minima[:, None] * (shares * (1.0 - shares))
        slopes = slopes - xp.sum(slopes * bend, axis=0) / xp.where(spread > 0, spread, xp.ones_like(spread))
        by_row = minima * xp.sum(slopes * (1.0 + k * shares), axis=1)
        total = float(xp.sum(by_row))
        common = _MARKED_PACE * total * k * marked * (1.0 - marked) / ((1.0 + k * marked) * self._rows)
        heights_too = _ROW_PACE * (by_row - total * rows) - common
        gradient = xp.concat([k * bend * slopes, heights_too[:, None]], axis=1)
        taken_in = xp.concat([logits + shift, state[:, -1:]], axis=1)
        return Point(value - float(w @ self._norms), gradient, taken_in, minima, shares, sizes)

    def noise(self, minima: Any, shares: Any) -> Any:
        """Every user's noise under the best reconstruction for the present weights; infinite if it is biased."""
        value, _, sizes = self._reconstruct(minima, shares)
        squares = sizes @ (minima[:, None] * (1.0 + self.slope * shares))
        # Directions without information add to the trace but not to the squares.
        biased = not abs(float(self.weights @ squares) - value) <= _UNBIASED * value
        return squares - self._norms + (math.inf if biased else 0.0)

    def _reconstruct(self, minima: Any, shares: Any) -> tuple[float, Any, Any]:
        """tr(C K^-1 C^T), x K^-1 C^T C K^-1, and the squared norms of C K^-1 x[o]."""
        xp, k = self._xp, self.slope
        mean = shares @ self.weights
        scale = 1.0 + k * mean
        x = (shares - mean[:, None]) * (k / scale)[:, None]
        half = x * xp.sqrt(minima * scale)[:, None]
        inner = half.T @ half
        values = inner.shape[0]
        c = float(xp.linalg.trace(inner)) / values
        if not c > 0:
            return math.nan, x, mean
        ones = xp.ones_like(inner)
        inverse = xp.linalg.inv(inner + (c / values) * ones + (_RIDGE * c) * _eye(inner))
        once = inverse @ self._centred
        along = x @ (once @ inverse)
        return float(xp.linalg.trace(once)), along, xp.sum(along * x, axis=1)


def _eye(like: Any) -> Any:
    xp = array_api_compat.array_namespace(like)
    return xp.eye(like.shape[0], dtype=like.dtype, device=array_api_compat.device(like))

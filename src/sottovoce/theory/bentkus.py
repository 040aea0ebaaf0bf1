"""Bentkus's inequality: how far a mean of bounded numbers can be off to one side, given their variance.

X_1, .., X_n independent, none more than B above its expectation, their mean variance at most s^2 (Bentkus 2004, *On
Hoeffding's inequalities*, Theorem 1.1; the laws may differ): for every h < x

    P(sum (X_i - E X_i) >= x) <= E (T - h)_+^2 / (x - h)^2,

T the sum of n numbers that are B with probability s^2/(s^2 + B^2) and -s^2/B otherwise. An exponential is a mixture of
such squares, so this is never more than Bennett's or Bernstein's inequality says; its limit for many numbers is 1.24
times the normal deviation at 95 %.
"""

from __future__ import annotations

import math
from functools import lru_cache
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from sottovoce.core.extras import full_install

__all__ = ["bentkus"]

Floats = NDArray[np.float64]

_PER_OCTAVE: Final = 256
"""s^2/B^2 is rounded up to one of so many numbers between a power of two and the next: 0.14 % of s at most."""

_LEAST, _MOST = -60 * _PER_OCTAVE, 30 * _PER_OCTAVE
"""Limits of the logarithm of s^2/B^2; above, B itself is the bound."""

_HALVINGS: Final = 20
_FARTHEST: Final = 20.0
"""Standard deviations of T, and as many times B, within which the best h is looked for; any h proves something."""

_ROUNDING: Final = 1e-9
"""A margin far above rounding errors, relative to what is added up."""

_STIRLING: Final = 16.0
"""From here on three terms of Stirling's series are exact."""


def bentkus(variance: Any, ahead: Any, n: int, miss: float) -> Floats:
    """The t above which a mean of n numbers is off, to one side, with probability `miss` at most.

    Parameters
    ----------
    variance
        s^2, at least the mean variance of the numbers.
    ahead
        B: no number exceeds its expectation, on that side, by more.

    Examples
    --------
    >>> bentkus(np.array([1.0, 1.0]), np.array([1.0, 5.0]), 500, 0.025).round(4)
    array([0.1088, 0.1168])
    """
    variance, ahead = np.broadcast_arrays(np.asarray(variance, dtype=np.float64), np.asarray(ahead, dtype=np.float64))
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        place = np.ceil(np.log2(variance / ahead / ahead) * _PER_OCTAVE)
    possible = (variance > 0) & (ahead > 0)
    index = np.where(possible, np.clip(place, _LEAST, _MOST + 1), _LEAST).astype(np.int64)
    return np.asarray(np.where(possible, _table(n, miss).at(index) * ahead, 0.0))


@lru_cache(maxsize=64)
def _table(n: int, miss: float) -> _Deviations:
    return _Deviations(n, miss)


class _Deviations:
    """Deviations over B by the rounded logarithm of s^2/B^2: all that they depend on, with n and the miss."""

    def __init__(self, n: int, miss: float) -> None:
        self.n, self.miss = n, miss
        self.known = np.full(_MOST - _LEAST + 2, np.nan)
        self.known[-1] = 1.0

    def at(self, index: NDArray[np.int64]) -> Floats:
        """Those asked for; each is computed once."""
        asked = np.zeros(self.known.size, dtype=np.bool_)
        asked[index - _LEAST] = True
        new = np.flatnonzero(asked & np.isnan(self.known))
        if len(new):
            ratios = np.exp2((new + _LEAST) / _PER_OCTAVE)
            self.known[new] = np.minimum(1.0, _deviations(ratios, self.n, self.miss))
        return np.asarray(self.known[index - _LEAST])


def _deviations(ratios: Floats, n: int, miss: float) -> Floats:
    """t/B for every s^2/B^2.

    T/B = (1 + r) (K - n p) with r the ratio, p = r/(1 + r), and K binomial. Every h proves the deviation
    h + sqrt(E (T - h)_+^2/miss); the least has (E (T - h)_+)^2 = miss E (T - h)_+^2, and the one side falls with h
    relative to the other.
    """
    p = ratios / (1 + ratios)
    sd = np.sqrt(n * p / (1 + ratios))
    low, high = -_FARTHEST * sd, np.minimum(_FARTHEST * (sd + 1), n / (1 + ratios))
    for _ in range(_HALVINGS):
        middle = (low + high) / 2
        first, second = _excess(middle, n, ratios)
        above = first**2 > miss * second
        low, high = np.where(above, middle, low), np.where(above, high, middle)
    second = _excess(low, n, ratios)[1]
    return np.asarray((low + np.sqrt(second / miss)) * (1 + ratios) / n)


def _excess(over: Floats, n: int, ratios: Floats) -> tuple[Floats, Floats]:
    """E (K - n p - over)_+ and E (K - n p - over)_+^2, without differences of large numbers.

    With b the binomial probabilities and A_j = j (1 - p) b(j), E [K - n p; K >= j] = A_j, and by partial summation
    E [(K - n p)^2; K >= j] = (j - n p) A_j + (1 - p) A_{j+1} + n p (1 - p) P(K > j).
    """
    with full_install:
        from scipy.special import betainc

    p, q = ratios / (1 + ratios), 1 / (1 + ratios)
    mean = n * p
    j = np.maximum(np.ceil(mean + over), 0.0)
    inside, further = j <= n, j + 1 <= n
    at, after = np.clip(j, 1.0, n), np.clip(j + 1, 1.0, n)
    tail = np.where(j <= 0, 1.0, np.where(inside, betainc(at, n - at + 1, p), 0.0))
    beyond = np.where(further, betainc(after, n - after + 1, p), 0.0)
    first = np.where(inside & (j > 0), j * q * _chance(at, n, p, q), 0.0)
    second = np.where(further, (j + 1) * q * _chance(after, n, p, q), 0.0)
    squares = (j - mean) * first + q * second + mean * q * beyond
    rounding = _ROUNDING * (1 + over**2) * tail  # what is left far out is small, and may be less than its own errors
    return np.maximum(0.0, first - over * tail), np.maximum(0.0, squares - 2 * over * first + over**2 * tail) + rounding


def _chance(k: Floats, n: int, p: Floats, q: Floats) -> Floats:
    """Binomial probabilities of 1 <= k <= n, for any n (Loader 2000): deviances, and Stirling's errors."""
    rest, away = n - k, k - n * p
    with np.errstate(divide="ignore", invalid="ignore"):
        deviance = k * np.log1p(away / (n * p)) + np.where(rest > 0, rest * np.log1p(-away / (n * q)), 0.0)
        size = np.where(rest > 0, np.sqrt(n / (2 * math.pi * k * rest)), 1.0)
    some = np.maximum(rest, 1.0)
    correction = np.where(rest > 0, _stirling(np.full(1, float(n))) - _stirling(k) - _stirling(some), 0.0)
    return np.asarray(size * np.exp(correction - deviance))


def _stirling(k: Floats) -> Floats:
    """log k! - log(sqrt(2 pi k) (k/e)^k)."""
    with full_install:
        from scipy.special import gammaln

    small = np.minimum(k, _STIRLING)
    exact = gammaln(small + 1) - (small + 0.5) * np.log(small) + small - 0.5 * math.log(2 * math.pi)
    return np.where(k < _STIRLING, exact, 1 / (12 * k) - 1 / (360 * k**3) + 1 / (1260 * k**5))

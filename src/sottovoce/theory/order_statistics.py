"""Means over the largest of several standard normals, by quadrature: what the codebook's constants are made of.

For h independent standard normals g and X the m largest of |g_1|, .., |g_h|,

    E[ sum over X of phi(x) ] = h * integral of phi(x) f(x) P(fewer than m of the other h-1 exceed x) dx,

f the half-normal density. The probability is a regularised incomplete beta function, the integrand is smooth, and
the half-normal tail beyond 14 is below 1e-43, so composite Gauss-Legendre quadrature reaches rounding error.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from sottovoce.core.extras import full_install

__all__ = ["largest_mean", "norm_mean"]

Floats = NDArray[np.float64]

_END = 14.0
_PANELS = 96
_NODES = 24


@lru_cache(maxsize=4)
def _rule(end: float) -> tuple[Floats, Floats]:
    nodes, weights = np.polynomial.legendre.leggauss(_NODES)
    edges = np.linspace(0.0, end, _PANELS + 1)
    half = np.diff(edges)[:, None] / 2
    middle = (edges[1:] + edges[:-1])[:, None] / 2
    return (middle + half * nodes).ravel(), (half * weights).ravel()


def largest_mean(phi: Callable[[Floats], Floats], h: int, m: int, end: float = _END) -> float:
    """E[mean of phi(x) over the m largest of |g_1| .. |g_h|]; raise `end` where phi grows like an exponential.

    Examples
    --------
    >>> round(largest_mean(lambda x: x, 1, 1), 12) == round(math.sqrt(2 / math.pi), 12)
    True
    >>> round(largest_mean(lambda x: x**2, 5, 5), 12)
    1.0
    """
    with full_install:
        from scipy.special import betainc, erf

    x, weights = _rule(end)
    density = math.sqrt(2 / math.pi) * np.exp(-(x**2) / 2)
    among_largest = np.ones_like(x) if m == h else betainc(h - m, m, erf(x / math.sqrt(2)))
    return float(h / m * np.sum(weights * phi(x) * density * among_largest))


def norm_mean(size: int) -> float:
    """E|N(0, I_size)| = sqrt(2) Gamma((size+1)/2)/Gamma(size/2).

    From 64 on by its asymptotic series, whose first omitted term is below 1e-12 there, because a difference of
    two large log-gammas would lose the digits that matter.

    Examples
    --------
    >>> round(norm_mean(2), 6)
    1.253314
    """
    if size < 64:
        return math.sqrt(2) * math.exp(math.lgamma((size + 1) / 2) - math.lgamma(size / 2))
    s = 1 / size
    series = 1 - s / 4 + s**2 / 32 + 5 * s**3 / 128 - 21 * s**4 / 2048 - 399 * s**5 / 8192
    return math.sqrt(size) * series

"""Limits of the chances of very many binomial numbers, of about the same chance: by interpolation."""

from __future__ import annotations

from typing import Any, Final

import numpy as np
from numpy.polynomial.chebyshev import chebpts1, chebval2d, chebvander
from numpy.typing import NDArray

from sottovoce.theory.binomial import limit_given_passing

__all__ = ["limits_of_many"]

Floats = NDArray[np.float64]

_FEW: Final = 4096
"""Different numbers up to which each is solved for."""

_DEVIATION: Final = 7.0
"""Standard errors from the middle up to which limits are interpolated."""

_LEAST: Final = 100.0
"""Successes, and failures, on average, from which on they are."""

_SPAN: Final = 4.0
"""Trials that are so many times fewer than most have a limit of their own."""

_DEGREES: Final = (20, 9)
_AT_ONCE: Final = 1 << 15


def limits_of_many(seen: Any, n: Any, log_probability: float) -> Floats:
    """The chance at which P(B >= seen) has this logarithm, for each; off by 1e-6 of a standard error at most.

    In standard errors from the number seen a limit is smooth in that number and in the root of the trials, so that
    Chebyshev's polynomials of both, from a few hundred limits, give all of them.

    Examples
    --------
    >>> float(limits_of_many(np.array([60]), np.array([100]), np.log(0.025))[0].round(3))
    0.497
    """
    k, trials = (np.asarray(one, dtype=np.float64) for one in (seen, n))
    found = np.empty(len(k))
    inside = _inside(k, trials) if len(k) > _FEW else np.zeros(len(k), dtype=bool)
    if inside.any():
        found[inside] = _interpolated(k[inside], trials[inside], log_probability)
    others = ~inside
    pairs, place = np.unique(np.stack([k[others], trials[others]], axis=1), axis=0, return_inverse=True)
    found[others] = limit_given_passing(pairs[:, 0], 0, pairs[:, 1], log_probability)[place.reshape(-1)]
    return found


def _middle(k: Floats, n: Floats) -> float:
    return float(np.clip(np.median(k / np.maximum(n, 1.0)), 1e-9, 1 - 1e-9))


def _inside(k: Floats, n: Floats) -> NDArray[np.bool_]:
    chance = _middle(k, n)
    least = max(float(n.max()) / _SPAN, _LEAST / min(chance, 1 - chance))
    return np.asarray((n >= least) & (np.abs(_deviations(k, n, chance)) <= _DEVIATION))


def _deviations(k: Floats, n: Floats, chance: float) -> Floats:
    return np.asarray((k - n * chance) / np.sqrt(np.maximum(n, 1.0) * chance * (1 - chance)))


def _interpolated(k: Floats, n: Floats, log_probability: float) -> Floats:
    chance = _middle(k, n)
    roots = np.sqrt(n)
    middle, half = (roots.max() + roots.min()) / 2, max((roots.max() - roots.min()) / 2, 1e-6 * roots.max())
    ours, theirs = (chebpts1(degree + 1) for degree in _DEGREES)
    knots = (middle + half * theirs) ** 2
    spread = np.sqrt(knots * chance * (1 - chance))
    at = knots * chance + _DEVIATION * ours[:, None] * spread
    values = (limit_given_passing(at, 0, np.broadcast_to(knots, at.shape), log_probability) * knots - at) / spread
    left, right = (np.linalg.inv(chebvander(one, degree)) for one, degree in zip((ours, theirs), _DEGREES, strict=True))
    weights = left @ values @ right.T
    deviations, places = _deviations(k, n, chance) / _DEVIATION, (roots - middle) / half
    found = np.empty(len(k))
    for start in range(0, len(k), _AT_ONCE):
        part = slice(start, start + _AT_ONCE)
        found[part] = chebval2d(deviations[part], places[part], weights)
    return np.asarray((k + found * np.sqrt(n * chance * (1 - chance))) / n)

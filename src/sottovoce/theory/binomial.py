"""Tails of binomial numbers, also those too small for a floating-point number, and limits of very many chances."""

from __future__ import annotations

import math
from typing import Any, Final

import numpy as np
from numpy.polynomial.chebyshev import chebpts1, chebval2d, chebvander
from numpy.typing import NDArray

from sottovoce.core.extras import full_install

__all__ = ["borrowed_tail", "least_count", "limit_given_passing", "limits_of_many", "log_tail"]


Floats = NDArray[np.float64]

_SMALLEST: Final = -640.0
"""A tail whose logarithm is below this is summed from its first term."""

_HALVINGS: Final = 52

_MOST_EXACT: Final = 2**40
"""Above this number of trials, one more or less makes no difference."""


def log_tail(least: Any, n: Any, chance: Any) -> Floats:
    """log P(B >= least) for B binomial with n trials; real numbers of trials and successes are interpolated.

    The incomplete beta function, or, where that underflows, the first term over one less the ratio of the next two: an
    upper bound, since the ratios fall.

    Examples
    --------
    >>> log_tail(np.array([0, 3]), 3, 0.5).round(4)
    array([ 0.    , -2.0794])
    >>> float(log_tail(3_000, 10_000, 0.1).round(1))  # the tail itself underflows
    -1541.1
    """
    with full_install:
        from scipy.special import betainc

    k, trials, p = np.broadcast_arrays(*(np.asarray(argument, dtype=np.float64) for argument in (least, n, chance)))
    inside = (k > 0) & (k <= trials)
    some = np.where(inside, k, 1.0)
    rest = np.where(inside, trials - some, 0.0)
    with np.errstate(divide="ignore", under="ignore"):
        logs = np.array(np.log(betainc(some, rest + 1, p)))
    deep = logs < _SMALLEST
    if deep.any():
        logs[deep] = _summed(some[deep], rest[deep], p[deep])
    return np.asarray(np.where(k <= 0, 0.0, np.where(k > trials, -np.inf, logs)))


def _summed(k: Floats, rest: Floats, p: Floats) -> Floats:
    with full_install:
        from scipy.special import gammaln

    with np.errstate(divide="ignore", invalid="ignore"):
        first = gammaln(k + rest + 1) - gammaln(k + 1) - gammaln(rest + 1) + k * np.log(p)
        first = first + np.where(rest > 0, rest * np.log1p(-p), 0.0)
        ratio = np.where(p < 1, rest / (k + 1) * p / (1 - p), 0.0)
    return np.asarray(np.minimum(first - np.log1p(-np.minimum(ratio, 0.999)), _SMALLEST))


def least_count(trials: float, chance: float, tail: float) -> int:
    """The smallest count that a binomial number reaches with at most this probability; one above all if there is none.

    Examples
    --------
    >>> least_count(10, 0.5, 0.05), least_count(2, 0.5, 0.05), least_count(1000, 0.1, 1e-3)
    (9, 3, 131)
    """
    with full_install:
        from scipy.special import ndtri

    n, z = math.floor(trials), -float(ndtri(tail))
    # Cornish and Fisher 1938: the normal quantile, corrected for the skewness of a binomial number.
    guess = n * chance + z * math.sqrt(n * chance * (1 - chance)) + (1 - 2 * chance) * (z * z - 1) / 6 + 0.5
    least = min(max(1, math.ceil(guess)), n + 1)
    if n > _MOST_EXACT:
        return least
    while least <= n and log_tail(least, n, chance) > math.log(tail):
        least += 1
    while least > 1 and log_tail(least - 1, n, chance) <= math.log(tail):
        least -= 1
    return least


def borrowed_tail(
    hits: float, trials: float, rows: int, share: float, buckets: int, chances: tuple[float, float]
) -> float:
    """P(support >= hits) of a value nobody has, if all people have values of one share, in any of K buckets of a row.

    `chances` are those of support of a value nobody has, over all hashes, and what a report of a value in the same
    bucket has more. The number of such values in all rows is Poisson.

    Examples
    --------
    >>> f"{borrowed_tail(560, 1000, 3, 1.0, 50, (0.1, 0.5)):.0e}"  # as if it shared all three buckets
    '3e-05'
    """
    with full_install:
        from scipy.special import gammaln, pdtrc, xlogy

    chance, more = chances
    rate, added = rows / (max(share, 1e-12) * buckets), trials / rows * share * more
    most = int(np.ceil(max(0.0, hits - trials * chance) / max(added, 1e-12) + rate))
    number = np.arange(most)  # with as many as `most` or more, the rest is what chance gives
    mean = np.clip(chance + (number - rate) * added / trials, 0.0, 1.0)
    logs = xlogy(number, rate) - rate - gammaln(number + 1) + log_tail(hits, trials, mean)
    return min(1.0, float(np.exp(logs).sum()) + (float(pdtrc(most - 1, rate)) if most else 1.0))


def limit_given_passing(seen: Any, least: Any, n: Any, log_probability: float) -> Floats:
    """The chance at which P(B >= seen | B >= least) has this logarithm; it grows with the chance.

    With `seen` + 1 and log(1 - miss) this is an upper limit, since P(B <= seen | B >= least) is then `miss`.

    Examples
    --------
    >>> float(limit_given_passing(60, 0, 100, np.log(0.025)).round(3))  # Clopper and Pearson's
    0.497
    >>> float(limit_given_passing(60, 58, 100, np.log(0.025)).round(3))
    0.186
    """
    k, t, trials = np.broadcast_arrays(*(np.asarray(argument, dtype=np.float64) for argument in (seen, least, n)))
    low, high = np.zeros(k.shape), np.ones(k.shape)
    for _ in range(_HALVINGS):
        middle = (low + high) / 2
        with np.errstate(invalid="ignore"):
            below = ~(log_tail(k, trials, middle) - log_tail(t, trials, middle) >= log_probability)
        low, high = np.where(below, middle, low), np.where(below, high, middle)
    return high


_FEW: Final = 4096
"""Different numbers up to which each is solved for."""

_DEVIATION: Final = 7.0
"""Standard errors from the middle up to which limits are interpolated."""

_LEAST: Final = 100.0
"""Mean number of successes, and of failures, from which on limits are interpolated."""

_SPAN: Final = 4.0
"""Trials that are fewer than most by this factor have a limit of their own."""

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
    k, trials = (np.asarray(argument, dtype=np.float64) for argument in (seen, n))
    limits = np.empty(len(k))
    inside = _inside(k, trials) if len(k) > _FEW else np.zeros(len(k), dtype=bool)
    if inside.any():
        limits[inside] = _interpolated(k[inside], trials[inside], log_probability)
    others = ~inside
    pairs, index = np.unique(np.stack([k[others], trials[others]], axis=1), axis=0, return_inverse=True)
    limits[others] = limit_given_passing(pairs[:, 0], 0, pairs[:, 1], log_probability)[index.reshape(-1)]
    return limits


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
    left, right = (
        np.linalg.inv(chebvander(nodes, degree)) for nodes, degree in zip((ours, theirs), _DEGREES, strict=True)
    )
    weights = left @ values @ right.T
    deviations, places = _deviations(k, n, chance) / _DEVIATION, (roots - middle) / half
    limits = np.empty(len(k))
    for start in range(0, len(k), _AT_ONCE):
        part = slice(start, start + _AT_ONCE)
        limits[part] = chebval2d(deviations[part], places[part], weights)
    return np.asarray((k + limits * np.sqrt(n * chance * (1 - chance))) / n)

"""Tails of means of independent numbers: how far a raw answer can be from the truth, proved.

A count of bits is binomial, and Clopper and Pearson's limits are exact (`sottovoce.theory.feldman_cousins` where its
chance has a known range). Any other raw answer is a mean of n independent numbers X with a known range, a known upper
bound on the variance, and a known lower one. The least of three proved deviations is then taken:

* normal, where Berry and Esseen's theorem bounds the error of the normal approximation; that error is taken off the
  level, so nothing is approximate;
* Bentkus's inequality (`sottovoce.theory.bentkus`);
* Hoeffding's, from a sub-Gaussian proxy.

All hold for people drawn from a population and for these very people: the numbers need not have one distribution.
"""

from __future__ import annotations

import math
from typing import Any, Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from sottovoce.core.extras import full_install
from sottovoce.theory.bentkus import bentkus

__all__ = [
    "BENTKUS",
    "BERRY_ESSEEN",
    "HOEFFDING",
    "NORMAL",
    "OWN_CENTRE",
    "Deviation",
    "clopper_pearson",
    "deviation",
    "mean_limit",
]

Floats = NDArray[np.float64]

BERRY_ESSEEN: Final = 0.5583
"""Constant of the theorem for independent summands of different distributions (Shevtsova 2013).

The 0.4690 for equal distributions would not hold for these very people.
"""

OWN_CENTRE: Final = (17 + 7 * math.sqrt(7)) / 27
"""E|X - E X|^3 is at most so many times E|X - m|^3, whatever m is.

Among laws of one mean a two-point law is the worst: with chances p and q = 1 - p, and m where it hurts most, the ratio
is (p^2 + q^2)(sqrt p + sqrt q)^2, which is largest at sqrt(p q) = (sqrt 7 - 1)/6.
"""

NORMAL: Final = "normal, its error bounded by Berry and Esseen's theorem"
BENTKUS: Final = "Bentkus's inequality"
HOEFFDING: Final = "Hoeffding's inequality"

_STEPS: Final = 16
"""Steps in which the range of possible standard deviations is gone through, shorter near the largest."""

_AT_ONCE: Final = 2**16
"""Answers that are worked on together."""

_MOST_COUNTS: Final = 2**14
"""Different counts up to which every limit is computed."""

_FEW, _RATIO, _MARGIN = 1024, 2.0**-9, 1e-6
"""Up to `_FEW` counts, and then in this ratio, limits are computed; margins are relative to the distance."""

_CLOSE: Final = 1e-4
"""Relative error of a limit's miss above which it is computed in another way."""

_HALVINGS: Final = 60

_NEWTON: Final = 6
"""Steps in which a limit of an expectation is found."""

_LARGEST_MISS: Final = 0.25
"""Clopper and Pearson's limits hold for these very people up to this one-sided miss (Hoeffding 1956)."""


class Deviation(NamedTuple):
    """How far a mean can be off to one side, and which inequality says so: an index into `METHODS`."""

    size: Floats
    method: NDArray[np.int64]


METHODS: Final = (NORMAL, BENTKUS, HOEFFDING)


def clopper_pearson(counts: NDArray[np.int64], n: int, miss: float) -> tuple[Floats, Floats]:
    """Limits of the mean chance of n independent bits, each wrong with probability `miss` at most.

    Clopper and Pearson (1934) for equal chances. For different ones, as these very people have, the binomial tail is
    the larger one at distance 1 or more from the mean (Hoeffding 1956, Thm 5), and up to a miss of 1/4 limits lie that
    far out (Greenberg and Mohri 2014), but where less than one success, or failure, is expected: there the chance of
    any is n pi at most, against 1 - (1 - pi)^n. A miss of 1 - exp(-miss) makes up for it.

    Examples
    --------
    >>> low, high = clopper_pearson(np.array([0, 5, 10]), 10, 0.025)
    >>> low.round(3), high.round(3)
    (array([0.   , 0.187, 0.691]), array([0.309, 0.813, 1.   ]))
    """
    each = -math.expm1(-min(miss, _LARGEST_MISS))
    seen, index = np.unique(counts, return_inverse=True)  # a million answers have a few thousand counts
    low = seen / n - _below(seen, n, each)
    high = seen / n + _below(n - seen, n, each)
    return np.maximum(low, 0.0)[index], np.minimum(high, 1.0)[index]


def _below(counts: NDArray[np.int64], n: int, miss: float) -> Floats:
    """How far the lower limit is below counts/n.

    It is a smooth function of the count: where very many are asked for it is computed at some, and interpolated, with a
    margin far above the error of that.
    """
    if len(counts) <= _MOST_COUNTS:
        return _exactly_below(counts, n, miss)
    steps = np.arange(1, int(math.log(n) / _RATIO) + 1)
    few = np.minimum(np.rint(np.exp(_RATIO * steps)), n).astype(np.int64)
    nodes = np.unique(np.concatenate([np.arange(min(n, 2 * _FEW) + 1), few, n - few, [n]]))
    distances = np.interp(counts, nodes, _exactly_below(nodes, n, miss)) * (1 + _MARGIN)
    return np.where(counts > 0, distances, 0.0)


def _exactly_below(counts: NDArray[np.int64], n: int, miss: float) -> Floats:
    """`_below` computed at every count; the limit p solves P(B >= count) = miss for B binomial with chance p.

    Inverses of the incomplete beta function fail for some of the largest numbers of reports, so each is checked, and
    found by bisection where it is wrong.
    """
    with full_install:
        from scipy.special import betainc, betaincinv

    some = np.maximum(counts, 1).astype(np.float64)
    with np.errstate(all="ignore"):
        limit = np.nan_to_num(betaincinv(some, n - some + 1, miss))
        wrong = np.flatnonzero(np.abs(betainc(some, n - some + 1, limit) / miss - 1) > _CLOSE)
    if len(wrong):
        k = some[wrong]
        low, high = np.zeros(len(k)), k / n
        for _ in range(_HALVINGS):
            middle = (low + high) / 2
            above = betainc(k, n - k + 1, middle) > miss
            low, high = np.where(above, low, middle), np.where(above, middle, high)
        limit[wrong] = low
    return np.where(counts > 0, counts / n - limit, 0.0)


def deviation(
    variance: Any,
    floor: Any,
    reach: Any,
    n: int,
    miss: float,
    proxy: Any = None,
    skew: Any = None,
    ahead: Any = None,
    third: Any = None,
) -> Deviation:
    """The least proved t such that a mean of n numbers is off by more, to one side, with probability `miss` at most.

    Parameters
    ----------
    variance, floor
        Bounds of the mean variance of the numbers.
    reach
        No number is farther from its expectation.
    proxy
        tau^2 such that every number is sub-Gaussian with that proxy; None if unknown.
    skew
        A bound on rho/sigma^3 in Berry and Esseen's theorem where more is known than the others say.
    ahead
        No number is farther from its expectation on the side in question; None if not more is known than `reach`.
    third
        A bound on rho, the mean third absolute moment of the numbers about their own expectations; None if unknown.

    Notes
    -----
    rho <= reach sigma^2; and rho <= 4 tau^2 sigma, since a sub-Gaussian fourth moment is at most 16 tau^4. sigma is
    only known to lie between two bounds, so all of that range is gone through in steps: for each the lesser of normal
    and Bentkus, the largest of these for all.

    Examples
    --------
    >>> size, method = deviation(np.array([1.0]), np.array([0.9]), np.array([2.0]), 10**6, 0.025)
    >>> (size * 1000).round(3), METHODS[method[0]]
    (array([1.979]), "normal, its error bounded by Berry and Esseen's theorem")
    """
    given = (variance, floor, reach, proxy, skew, reach if ahead is None else ahead, third)
    arrays = np.broadcast_arrays(*(np.asarray(0.0 if x is None else x, dtype=np.float64) for x in given))
    flat = [array.reshape(-1) for array in arrays]
    size, method = np.empty(flat[0].size), np.empty(flat[0].size, dtype=np.int64)
    for start in range(0, size.size, _AT_ONCE):
        part = slice(start, start + _AT_ONCE)
        known: list[Any] = [None if x is None else array[part] for x, array in zip(given, flat, strict=True)]
        size[part], method[part] = _deviation(n, miss, *known)
    return Deviation(size.reshape(arrays[0].shape), method.reshape(arrays[0].shape))


def _deviation(
    n: int,
    miss: float,
    variance: Floats,
    floor: Floats,
    reach: Floats,
    proxy: Floats | None,
    skew: Floats | None,
    ahead: Floats,
    third: Floats | None,
) -> tuple[Floats, NDArray[np.int64]]:
    with full_install:
        from scipy.special import ndtri

    top = np.sqrt(np.maximum(variance, 0.0))
    low = np.sqrt(np.clip(floor, 0.0, variance.clip(0.0)))
    bottom = np.maximum(low, top * 1e-3)
    with np.errstate(divide="ignore", invalid="ignore"):
        ratio = np.where(bottom > 0, bottom / top, 1.0)
        edges = top * ratio ** (np.arange(_STEPS, -1, -1)[:, None] / _STEPS) ** 2
        first, last = edges[:-1], edges[1:]
        lopsided = np.broadcast_to(reach / first if skew is None else skew, first.shape)
        if proxy is not None and skew is None:
            lopsided = np.minimum(lopsided, 4 * proxy / first**2)
        if third is not None:
            lopsided = np.minimum(lopsided, third / first**3)
        room = miss - BERRY_ESSEEN * np.where(first > 0, lopsided, np.inf) / math.sqrt(n)
        normal = np.where(room > 0, -ndtri(np.maximum(room, 1e-300)) * last / math.sqrt(n), np.inf).clip(0.0)
    sure = bentkus(last**2, ahead, n, miss)
    sizes = np.minimum(normal, sure)
    worst, rows = sizes.argmax(axis=0), np.arange(len(top))
    size, method = sizes[worst, rows], np.where(normal < sure, 0, 1)[worst, rows]
    # Below the first step nothing but Bentkus's inequality is used.
    least = np.where(low < bottom, bentkus(bottom**2, ahead, n, miss), 0.0)
    size, method = np.maximum(size, least), np.where(least > size, 1, method)
    if proxy is not None:
        hoeffding = np.sqrt(-2 * proxy * math.log(miss) / n)
        size, method = np.minimum(size, hoeffding), np.where(hoeffding < size, 2, method)
    return size, method


def mean_limit(mean: Any, largest: Any, n: int, miss: float) -> Floats:
    """An upper limit of the expectation of numbers in [0, largest] whose mean over n was `mean`.

    The largest e with n KL(mean/largest, e/largest) <= log(1/miss), KL the divergence of two bits (Hoeffding 1963,
    Theorem 1; the numbers need not have one distribution).

    Examples
    --------
    >>> mean_limit(np.array([0.1]), 1.0, 10_000, 0.001).round(4)
    array([0.1115])
    """
    with full_install:
        from scipy.special import rel_entr, xlogy

    mean, largest = np.broadcast_arrays(np.asarray(mean, dtype=np.float64), np.asarray(largest, dtype=np.float64))
    w, allowed = (
        np.divide(mean, largest, out=np.ones(mean.shape), where=largest > 0).clip(0.0, 1.0),
        -math.log(miss) / n,
    )
    # Two limits in closed form: Bernstein's with a variance of at most e, and log(1/e) >= 0. The divergence is convex,
    # so Newton's steps from there remain limits.
    with np.errstate(divide="ignore", invalid="ignore"):
        e = np.minimum(
            w + allowed + np.sqrt(allowed * (2 * w + allowed)), 1 - (1 - w) * np.exp((xlogy(w, w) - allowed) / (1 - w))
        )
        for _ in range(_NEWTON):
            divergence = rel_entr(w, e) + rel_entr(1 - w, 1 - e)
            e = e - np.where((w < e) & (e < 1), (divergence - allowed) * e * (1 - e) / (e - w), 0.0).clip(0.0)
    return np.asarray(np.where(w < 1, w + (e - w) * (1 + _MARGIN), 1.0).clip(w, 1.0) * largest)

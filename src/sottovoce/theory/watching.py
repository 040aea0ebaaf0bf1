"""Limits that hold at every number of reports together, however often somebody looks.

A fixed interval is wrong with probability alpha at one look; over all looks it is wrong much more often. What follows
holds at all looks: a process that is 1 at the beginning and whose expectation never grows exceeds 1/alpha at any time
with probability alpha at most (Ville 1939), and a candidate is excluded where its process does. A process is a mixture
of bets that are fixed beforehand, tuned for a number of reports `planned`: no bet, and neither `planned`, may be chosen
by the reports. Every end is found by bisection, on its outer side.

* A count of bits of people from one population: a beta mixture for every candidate (Waudby-Smith, Wu and Ramdas,
  *Nonparametric extensions of randomized response for private confidence sets*).
* Reports of several values, from one population, counted one by one: products of 1 + bet (x - m).
* Numbers with a known range and variance: Bennett's bound on their exponential moments (Hoeffding 1963, Theorem 3),
  which also covers the mean of those so far where people change (Howard et al. 2021, *Time-uniform, nonparametric,
  nonasymptotic confidence sequences*).
* Anything else: a miss for every number of reports, so small that all of them together are alpha.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from sottovoce.core.extras import full_install

__all__ = [
    "PLANNED",
    "Bets",
    "bit_limits",
    "bit_log_process",
    "bounded_limits",
    "bounded_log_process",
    "listed_limits",
    "miss_of_look",
    "outermost",
    "strength",
]

Floats = NDArray[np.float64]
Excluded = Callable[[Floats, Any], NDArray[np.bool_]]

PLANNED: Final = 10_000
"""Number of reports for which bets are tuned: intervals hold for any, and are shortest about there."""

_HALVINGS: Final = 44
"""Steps in which a chance of a bit is found."""

_STEPS: Final = 12
"""Steps in which other ends are found, from a bracket of a few standard errors: farther out by 1/4000 of that."""

_GROWTH: Final = 1.5
_SMALLEST, _LARGEST = 1e-5, 5.0
"""Bets, in standard deviations of their normal law, are a geometric sequence between these."""

_NEAR: Final = 6
"""Bets on each side of the most profitable that are looked at: larger and smaller by up to ten times."""

_ROUNDING: Final = 1e-15
_CLOSEST: Final = 0.99
"""A bet is at most this part of the one that a single report could ruin."""

_LEAST_PART: Final = 1e-4
"""The part of the squared reach that bets are tuned for at least."""

_AT_ONCE: Final = 2**13
"""Ends that are searched for together."""


def strength(planned: float, miss: float) -> float:
    """The strength rho of a mixture that is narrowest at `planned` reports: planned/rho = -W(-miss^2/e) - 1.

    W is the lower branch of Lambert's function (Howard et al. 2021, Section 3.5).

    Examples
    --------
    >>> round(10_000 / strength(10_000, 0.05), 2)
    8.21
    """
    with full_install:
        from scipy.special import lambertw

    return planned / max(1e-3, -float(lambertw(-(miss**2) / math.e, k=-1).real) - 1)


def miss_of_look(n: int, miss: float, planned: float) -> float:
    """The miss of one look at n reports: those of all n = 1, 2, ... sum to `miss` at most.

    planned/(planned + n)^2 falls in n, so its sum is at most its integral from 0, which is one.

    Examples
    --------
    >>> sum(miss_of_look(n, 0.05, 100) for n in range(1, 1_000_000)) < 0.05
    True
    """
    return miss * planned / (planned + n) ** 2


def bit_limits(counts: Any, n: int, miss: float, planned: float = PLANNED) -> tuple[Floats, Floats]:
    """Limits of the chance of a bit that all n = 1, 2, ... bits so far share, at every n together.

    For a candidate q the mixture over Beta(rho q, rho (1 - q)) of the likelihood, over that of q: ln M = sum_{i<S}
    ln(rho + i/q) + sum_{j<n-S} ln(rho + j/(1 - q)) - sum_{k<n} ln(rho + k). Every term is convex in q, and M is at most
    1 at S/n, where the likelihood is largest: what is not excluded is an interval that contains S/n.

    Parameters
    ----------
    counts
        Numbers of ones; they need not be integers.

    Examples
    --------
    >>> low, high = bit_limits(np.array([0, 500, 1000]), 1000, 0.05)
    >>> low.round(3), high.round(3)
    (array([0.   , 0.44 , 0.989]), array([0.011, 0.56 , 1.   ]))
    """
    seen, index = np.unique(np.asarray(counts, dtype=np.float64), return_inverse=True)
    rho, most = strength(planned, miss), -math.log(miss)

    def excluded(q: Floats, some: Any) -> NDArray[np.bool_]:
        return np.asarray(bit_log_process(q, seen[some], n, rho) > most)

    centre = seen / n if n else np.full(len(seen), 0.5)
    ends = [outermost(excluded, centre, np.full(len(seen), end), _HALVINGS) for end in (0.0, 1.0)]
    return ends[0][index], ends[1][index]


def bit_log_process(q: Floats, ones: Floats, n: Any, rho: Any) -> Floats:
    """Ln M of `bit_limits` for candidates q and n bits of which so many are ones, less what rounding may add.

    Convex in q. Infinite for a candidate under which what was seen is impossible.
    """
    with full_install:
        from scipy.special import gammaln

    zeros, inside = n - ones, q.clip(1e-300, 1 - 1e-16)
    log_q, log_p = np.log(inside), np.log1p(-inside)
    log_process = (
        (gammaln(rho * inside + ones) - gammaln(rho * inside) - ones * log_q)
        + (gammaln(rho * (1 - inside) + zeros) - gammaln(rho * (1 - inside)) - zeros * log_p)
        - (gammaln(rho + n) - gammaln(rho))
    )
    rounding = 8 * _ROUNDING * (1 + np.abs(gammaln(rho + n)) - ones * log_q - zeros * log_p)
    impossible = ((q <= 0) & (ones > 0)) | ((q >= 1) & (zeros > 0))
    return np.asarray(np.where(impossible, np.inf, log_process - rounding))


class Bets(NamedTuple):
    """Positive bets and the logarithms of their weights, which sum to a half: the other half is on negative ones."""

    size: Floats
    log_weight: Floats

    @classmethod
    def normal(cls) -> Bets:
        """The standard normal law on a geometric sequence, so that no number of reports is too large for it."""
        z = np.geomspace(_SMALLEST, _LARGEST, 1 + math.ceil(math.log(_LARGEST / _SMALLEST) / math.log(_GROWTH)))
        log_weight = np.log(z) - z**2 / 2
        return cls(z, log_weight - np.log(2 * np.exp(log_weight).sum()))

    def near(self, size: Floats) -> Bets:
        """Some bets about each of these sizes, a row for each: to leave out others can only exclude less."""
        first = np.searchsorted(self.size, size) - _NEAR
        places = first.clip(0, len(self.size) - 2 * _NEAR - 1)[:, None] + np.arange(2 * _NEAR + 1)
        return Bets(self.size[places], self.log_weight[places])


def bounded_limits(
    mean: Floats,
    n: int,
    spread: Callable[[Floats, Any, int], tuple[Floats, Floats]],
    typical: Floats,
    ends: tuple[Floats, Floats],
    miss: float,
    planned: float = PLANNED,
) -> tuple[Floats, Floats]:
    """Limits of the mean expectation of n independent numbers so far, at every n together, one per entry of `mean`.

    With V an upper bound of the variance of a number X of expectation m, and b of X - m, E exp(bet (X - m)) is at most
    that of a number that is b with probability V/(V + b^2) and else -V/b (Bennett 1962; Hoeffding 1963, Theorem 3): for
    a bit, its own. This is the largest moment under a limit of V, so its logarithm is concave in V; and V is concave in
    m. For people of different expectations the sum of logarithms is so at most n times that at their mean: the limits
    cover the mean of those so far, also where people change. For the same reason the candidates that are not excluded
    are an interval, and `mean` is in it.

    Parameters
    ----------
    spread
        V and b of candidates, for some of the entries and on one side: -1 for candidates below the mean, where X - m
        is bounded, 1 for those above, where m - X is. V must be concave in the candidate.
    typical
        A guess of V that bets are tuned for, from the design alone.
    ends
        Limits of the expectation. A mean beyond them is moved to the nearer end: the process is convex in the mean, and
        at most 1 where the mean is the candidate, so nothing more is excluded.

    Examples
    --------
    >>> def bit(q, some, side):
    ...     return q * (1 - q), 1 - q if side < 0 else q
    >>> low, high = bounded_limits(np.array([0.5]), 10_000, bit, np.array([0.25]), (np.zeros(1), np.ones(1)), 0.05)
    >>> low.round(4), high.round(4)
    (array([0.4848]), array([0.5152]))
    """
    bets, rho, most = Bets.normal(), strength(planned, miss), -math.log(miss)
    centre, sides = mean.clip(*ends), []
    # Answers that hardly vary: their bets are limited by the reach.
    least = _LEAST_PART * np.maximum(*(spread(centre, slice(None), side)[1] for side in (-1, 1))) ** 2
    typical = np.maximum(typical, np.maximum(least, 1e-200))
    unit = 1 / np.sqrt(rho * typical)
    for side, end in zip((-1, 1), ends, strict=True):
        about = spread(centre, slice(None), side)[0]
        first = _first_step(about, typical, n, rho, miss)
        near = bets.near(first / np.maximum(about, _LEAST_PART * typical) / unit)

        def excluded(candidate: Floats, some: Any, side: int = side, near: Bets = near) -> NDArray[np.bool_]:
            away, bet = np.abs(centre[some] - candidate), unit[some][:, None] * near.size[some]
            log_process = bounded_log_process(away, n, *spread(candidate, some, side), bet, near.log_weight[some])
            return np.asarray(log_process > most)

        sides.append(outermost(excluded, centre, np.broadcast_to(end, mean.shape), _STEPS, first))
    return sides[0], sides[1]


def bounded_log_process(away: Floats, n: int, variance: Floats, reach: Floats, bet: Floats, weight: Floats) -> Floats:
    """The logarithm of the process of `bounded_limits` for candidates so far from the mean, less what rounding may add.

    Parameters
    ----------
    variance, reach
        V and b at the candidates.
    bet, weight
        Bets, a row for each candidate, and the logarithms of their weights.
    """
    variance, reach = (np.maximum(part, 1e-300)[:, None] for part in (variance, reach))
    total, gain = variance + reach**2, bet * away[:, None]
    with np.errstate(over="ignore"):
        moment = np.log1p(variance / total * np.expm1(bet * total / reach)) - bet * variance / reach
    rounding = _ROUNDING * (1 + gain + bet * reach)
    return _log_sum(weight + n * (gain - moment - rounding))


def listed_limits(
    answers: Floats,
    counts: Any,
    typical: Floats,
    miss: float,
    planned: float = PLANNED,
) -> tuple[Floats, Floats]:
    """Limits of the expectation of numbers from one population, from how often each was reported, at every n together.

    K(m) = sum_k w_k prod_r (1 + bet_k (x_r - m))^N_r with bets below 1/(largest x - least x): the expectation of a
    factor is 1 at the true m. Factors are positive and linear in m, all rising or all falling, so K is convex in m; at
    the mean it is at most 1 (the mean of logarithms is at most the logarithm of the mean).

    Parameters
    ----------
    answers
        x of every answer (rows) and report (columns).
    counts
        How often every report came. They may only grow: reports that are withdrawn void the level.
    typical
        A guess of the variance, from the design alone, that bets are tuned for.

    Examples
    --------
    >>> low, high = listed_limits(np.array([[0.0, 0.5, 1.0]]), np.array([2500, 5000, 2500]), np.array([0.125]), 0.05)
    >>> low.round(4), high.round(4)
    (array([0.4893]), array([0.5107]))
    """
    seen = np.asarray(counts, dtype=np.float64)
    n, bets, rho, most = float(seen.sum()), Bets.normal(), strength(planned, miss), -math.log(miss)
    low, high = answers.min(axis=1), answers.max(axis=1)
    with np.errstate(divide="ignore"):
        largest = _CLOSEST / np.maximum(high - low, 1e-300)
    bet = np.minimum(bets.size / np.sqrt(rho * np.maximum(typical, 1e-200))[:, None], largest[:, None])
    centre, sides = (answers @ seen / max(n, 1.0)).clip(low, high), []
    here = np.square(answers - centre[:, None]) @ seen / max(n, 1.0)
    for side, end in ((-1, low), (1, high)):

        def excluded(candidate: Floats, some: Any, side: int = side) -> NDArray[np.bool_]:
            away = -side * (answers[some] - candidate[:, None])
            logs = np.log1p(bet[some][:, :, None] * away[:, None, :]) @ seen
            return np.asarray(_log_sum(bets.log_weight + logs - _ROUNDING * n) > most)

        sides.append(outermost(excluded, centre, end, _STEPS, _first_step(here, typical, int(n), rho, miss)))
    return sides[0], sides[1]


def _log_sum(logs: Floats) -> Floats:
    top = np.maximum(logs.max(axis=-1), -1e300)
    with np.errstate(divide="ignore"):
        return np.asarray(top + np.log(np.exp(logs - top[..., None]).sum(axis=-1)))


def _first_step(variance: Floats, typical: Floats, n: int, rho: float, miss: float) -> Floats:
    """About how far an end is from the mean: for normal numbers it would be this."""
    strong, known = rho * np.maximum(typical, 1e-200), n * np.maximum(variance, 1e-200)
    with np.errstate(over="ignore"):
        return np.asarray(np.sqrt((known + strong) * (np.log1p(known / strong) - 2 * math.log(miss))) / max(n, 1))


def outermost(excluded: Excluded, inside: Floats, end: Floats, halvings: int, first: Floats | None = None) -> Floats:
    """The last candidate toward `end` that is not excluded, on the outer side; `inside` are not excluded.

    From steps of `first` that double, if given; what is not excluded is an interval.
    """
    inside, outside = inside.astype(np.float64), np.array(np.broadcast_to(end, inside.shape), dtype=np.float64)
    for start in range(0, len(inside), _AT_ONCE):
        some = np.arange(start, min(start + _AT_ONCE, len(inside)))
        some = some[excluded(outside[some], some)]
        if first is not None:
            _bracket(excluded, inside, outside, first, some)
        for _ in range(halvings if len(some) else 0):
            middle = (inside[some] + outside[some]) / 2
            out = excluded(middle, some)
            outside[some], inside[some] = np.where(out, middle, outside[some]), np.where(out, inside[some], middle)
    return outside


def _bracket(excluded: Excluded, inside: Floats, outside: Floats, first: Floats, some: Any) -> None:
    """Move both ends of the brackets nearer, in place."""
    step = first.copy()
    while len(some):
        candidate = inside[some] + np.sign(outside[some] - inside[some]) * step[some]
        within = np.abs(candidate - inside[some]) < np.abs(outside[some] - inside[some])
        some, candidate = some[within], candidate[within]
        out = excluded(candidate, some) if len(some) else np.zeros(0, dtype=np.bool_)
        outside[some[out]], inside[some[~out]] = candidate[out], candidate[~out]
        some = some[~out]
        step[some] *= 2

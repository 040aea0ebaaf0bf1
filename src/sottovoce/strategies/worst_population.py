"""The population for which all answers together vary most.

The total variance of one report is f(p) = sum_u p_u T(u) - |A p - centre|^2, T(u) the second moment of all answers
about the centre for people of value u: concave in the shares p. Frank and Wolfe's method maximises it, with away steps
and an exact line search. A concave function lies below its tangents, so every step certifies what no population
exceeds: f(p) plus the largest slope toward a single value less the mean of the slopes.
"""

from __future__ import annotations

from typing import Final, NamedTuple

import numpy as np

from sottovoce.mechanisms.base import Floats
from sottovoce.strategies.variance import Variance
from sottovoce.workloads import Workload

__all__ = ["Worst", "worst_population"]

_GAP: Final = 1e-3
"""It ends when the certificate is within this share of what is attained."""

_EXACT: Final = 1e-9
"""A gap that is rounding."""

_ROUNDING: Final = 1e-13
"""Relative to the moments, what is left of a difference that is zero."""

_WORK: Final = 2**29
"""Entries of the matrix gone through at most: somebody may be waiting."""

_FEWEST, _MOST = 8, 400
"""Steps, however large or small the matrix is."""


class Worst(NamedTuple):
    """The shares found, what they attain, what no shares exceed, and how far rounding alone sets the two apart."""

    shares: Floats
    attained: float
    bound: float
    rounding: float

    @property
    def variance(self) -> Variance:
        """The upper end, and how far it is from what is attained."""
        if self.bound - self.attained <= _EXACT * self.bound + self.rounding:
            return Variance(max(0.0, self.attained), "exact")
        gap = 1 - self.attained / self.bound
        return Variance(self.bound, "bound", f"upper bound: the worst population was searched for, within {gap:.1g}")


def worst_population(workload: Workload, moments: Floats, centre: Floats | None = None) -> Worst:
    """Maximise sum_u p_u T(u) - |A p - centre|^2 over distributions p.

    Parameters
    ----------
    moments
        T, one number a value.
    centre
        About which the moments are taken; zero unless given.

    Examples
    --------
    >>> from sottovoce.workloads import Identity
    >>> found = worst_population(Identity(4), np.full(4, 3.0))
    >>> found.shares.round(2), round(found.bound, 2)
    (array([0.25, 0.25, 0.25, 0.25]), 2.75)
    """
    queries, values = workload.shape
    about = np.zeros(queries) if centre is None else centre
    p = np.full(values, 1.0 / values)
    y = workload.matvec(p) - about
    best, attained, bound = p, -np.inf, np.inf
    rounding = _ROUNDING * float(np.abs(moments).max())
    for _ in range(max(_FEWEST, min(_MOST, _WORK // (queries * values)))):
        value = float(p @ moments - y @ y)
        slopes = moments - 2 * workload.rmatvec(y)
        mean = float(p @ slopes)
        if value > attained:
            best, attained = p, value
        toward = int(slopes.argmax())
        bound = min(bound, value + float(slopes[toward]) - mean)
        if bound - attained <= max(_GAP * attained, rounding):
            break
        held = np.flatnonzero(p)
        away = int(held[slopes[held].argmin()])
        if slopes[toward] - mean >= mean - slopes[away] or p[away] >= 1:
            direction, longest = -p, 1.0
            direction[toward] += 1
        else:
            direction, longest = p.copy(), float(p[away] / (1 - p[away]))
            direction[away] -= 1
        moved = workload.matvec(direction)
        gain, curve = float(direction @ slopes), float(moved @ moved)
        step = longest if 2 * curve * longest <= gain else gain / (2 * curve)
        p = np.maximum(0.0, p + step * direction)
        if step == longest and longest != 1.0:
            p[away] = 0.0
        p = p / p.sum()
        y = workload.matvec(p) - about
    return Worst(best, attained, bound, rounding)

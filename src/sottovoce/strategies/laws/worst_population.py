"""The population with the largest total variance.

The total variance of one report is f(p) = sum_u p_u T(u) - |A p - centre|^2, T(u) the second moment of all answers
about the centre for people of value u: concave in the shares p. Frank and Wolfe's method maximises it, with away steps
and an exact line search. A concave function lies below its tangents, so every step gives an upper bound for all
populations: f(p) plus the largest slope toward a single value less the mean of the slopes.
"""

from __future__ import annotations

from typing import Final, NamedTuple

import numpy as np

from sottovoce.mechanisms.base import Floats
from sottovoce.strategies.laws.variance import Variance
from sottovoce.workloads import Workload

__all__ = ["Worst", "worst_population"]

_GAP: Final = 1e-3
"""Relative gap between bound and attained value at which the search ends."""

_EXACT: Final = 1e-9
"""A relative gap that is only rounding."""

_ROUNDING: Final = 1e-13
"""Rounding error of a zero difference, relative to the moments."""

_WORK: Final = 2**29
"""Maximum number of matrix entries processed, to limit the time."""

_FEWEST, _MOST = 8, 400
"""Limits on the number of steps."""


class Worst(NamedTuple):
    """The shares found, their variance, an upper bound for all shares, and the rounding error of the two."""

    shares: Floats
    attained: float
    bound: float
    rounding: float

    @property
    def variance(self) -> Variance:
        """The upper bound, with its gap to the attained value."""
        if self.bound - self.attained <= _EXACT * self.bound + self.rounding:
            return Variance(max(0.0, self.attained), "exact")
        gap = 1 - self.attained / self.bound
        return Variance(self.bound, "bound", f"upper bound: the worst population was searched for, within {gap:.1g}")


def worst_population(workload: Workload, moments: Floats, centre: Floats | None = None) -> Worst:
    """Maximise sum_u p_u T(u) - |A p - centre|^2 over distributions p.

    Parameters
    ----------
    moments
        T, one number per value.
    centre
        The point about which the moments are taken; zero by default.

    Examples
    --------
    >>> from sottovoce.workloads import Identity
    >>> worst = worst_population(Identity(4), np.full(4, 3.0))
    >>> worst.shares.round(2), round(worst.bound, 2)
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

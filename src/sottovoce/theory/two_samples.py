"""Tests of no difference between two independent samples of randomized reports.

A test looks at the difference with the variances that both samples have **if** there is none: at one common answer
(the score test). It is asymptotic. Its exact size at 5 % is 0.057 at most from 50 reports of each sample on, up to
epsilon 4; with fewer it is up to 0.065, at 25 against 25 for every epsilon, since counts are whole numbers. With the
variances at each sample's own answer it is up to 0.10 for small samples of unequal size.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from sottovoce.core.extras import full_install

__all__ = ["chi_squared_tail", "common_answer", "holm", "two_sided"]

Floats = NDArray[np.float64]
VarianceAt = Callable[[Floats], Floats]

_HALVINGS: Final = 60
_ROUNDING: Final = 1e-12


def common_answer(
    raw: tuple[Floats, Floats],
    reports: tuple[Floats, Floats],
    variances: tuple[VarianceAt, VarianceAt],
    limits: tuple[Floats, Floats],
) -> Floats:
    """The likeliest answer that both samples share, one per entry: y with n (a - y)/V(y) + m (b - y)/W(y) = 0.

    a and b are the means of n and m reports, and V(y) and W(y) the variances of one report if y is true. For reports of
    two outcomes, V(y) = (y - x0)(x1 - y), this is the maximum of the likelihood. By bisection within the limits; where
    nothing changes its sign, the nearer end.

    Examples
    --------
    >>> def bit(y):
    ...     return y * (1 - y)
    >>> means, sizes = (np.array([0.2, 1.2]), np.array([0.5, 1.1])), (np.full(2, 100.0), np.full(2, 200.0))
    >>> common_answer(means, sizes, (bit, bit), (np.zeros(2), np.ones(2))).round(4)
    array([0.4, 1. ])
    """
    low = np.minimum(*raw).clip(*limits)
    high = np.maximum(*raw).clip(*limits)
    for _ in range(_HALVINGS):
        middle = (low + high) / 2
        first, second = (variance(middle) for variance in variances)
        # Times both variances, so that an answer that is certain divides by nothing.
        slope = reports[0] * (raw[0] - middle) * second + reports[1] * (raw[1] - middle) * first
        low, high = np.where(slope > 0, middle, low), np.where(slope > 0, high, middle)
    return np.asarray((low + high) / 2)


def two_sided(difference: Floats, error: Floats) -> Floats:
    """The p-values of differences with these standard errors: the chance of a normal number as far from zero.

    A difference that is zero but for rounding has p-value 1, also where it is certain.

    Examples
    --------
    >>> two_sided(np.array([1.96, 0.0, 0.5]), np.array([1.0, 0.0, 0.0])).round(3)
    array([0.05, 1.  , 0.  ])
    """
    with full_install:
        from scipy.special import ndtr

    away = np.abs(difference)
    with np.errstate(divide="ignore", invalid="ignore"):
        size = np.where(away > _ROUNDING, away / error, 0.0)
    return np.asarray(2 * ndtr(-size))


def chi_squared_tail(statistic: float, degrees: int) -> float:
    """The chance that a chi-squared number with these degrees of freedom is as large."""
    with full_install:
        from scipy.stats import chi2

    return float(chi2.sf(statistic, degrees)) if degrees else 1.0


def holm(p_values: Any, same: Any = None) -> Floats:
    """P-values adjusted for their number: with those at most 0.05, any false one has probability 0.05 at most.

    The least is multiplied by the number of tests, the next by one less, and so on, and none is less than one before it
    (Holm 1979).

    Parameters
    ----------
    same
        Numbers that are alike for tests of the same hypothesis by the same statistic, such as "yes" and "no": these
        count as one. All are different by default.

    Examples
    --------
    >>> holm([0.01, 0.04, 0.03])
    array([0.03, 0.06, 0.06])
    >>> holm([0.01, 0.01], same=[0, 0])
    array([0.01, 0.01])
    """
    given = np.asarray(p_values, dtype=np.float64)
    if not len(given):
        return given
    _, kept, back = np.unique(np.arange(len(given)) if same is None else same, return_index=True, return_inverse=True)
    tests = given[kept]
    order = np.argsort(tests, kind="stable")
    steps = np.maximum.accumulate(tests[order] * (len(tests) - np.arange(len(tests))))
    adjusted = np.empty(len(tests))
    adjusted[order] = steps.clip(max=1.0)
    return np.asarray(adjusted[back.reshape(-1)])

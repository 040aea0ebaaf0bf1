"""What changed: a straight line through the periods of a curve, and whether anything changed at all.

Periods have different people, so their estimates are independent, and each one's variance is known: weighted least
squares with known variances, normal and chi-square tests, nothing estimated from the scatter of the points.
"""

from __future__ import annotations

import math
from dataclasses import asdict, dataclass
from statistics import NormalDist
from typing import Any, Final, final

from sottovoce.core.errors import NoReportsError
from sottovoce.core.extras import full_install
from sottovoce.mechanisms.base import Floats

__all__ = ["MIN_PERIODS", "Trend", "line_through"]

MIN_PERIODS: Final = 3
"""A line through two points fits always; `difference` compares two periods."""

_NORMAL: Final = NormalDist()
_LEAST_CHANCE: Final = 0.0001
"""P-values below it are said to be below it, as on the dashboard."""


@final
@dataclass(frozen=True)
class Trend:
    """A line through the closed periods of one answer, and two tests.

    Attributes
    ----------
    slope, low, high
        Change per period, with its interval.
    p_value
        Of "the slope is 0", two-sided.
    statistic, degrees, p_value_change
        Of "nothing changed at all", against any change: chi-square of the distances to the common mean.
    periods
        Number of closed periods with reports.
    """

    answer: str
    unit: str
    slope: float
    low: float
    high: float
    level: float
    p_value: float
    statistic: float
    degrees: int
    p_value_change: float
    periods: int

    def to_dict(self) -> dict[str, Any]:
        """All fields as plain values."""
        return asdict(self)

    def __str__(self) -> str:
        unit = f" {self.unit}" if self.unit else ""
        return (
            f"{self.slope:+.4g}{unit} per period, {100 * self.level:g} % from {self.low:.4g} to {self.high:.4g}, "
            f"{_chance(self.p_value)}; that nothing changed at all: {_chance(self.p_value_change)}"
        )


def _chance(p_value: float) -> str:
    """A p-value in words; a very small one is never "0"."""
    return f"p < {_LEAST_CHANCE:.4f}" if p_value < _LEAST_CHANCE else f"p = {p_value:.2g}"


def line_through(
    answer: str, unit: str, periods: Floats, values: Floats, own: Floats, common: Floats, level: float
) -> Trend:
    """The trend of estimates with these variances.

    Parameters
    ----------
    own
        The variance of every estimate at its own value: for the slope's interval.
    common
        The variances if nothing changed: weights, which so do not depend on the errors of single periods, and the
        test that nothing changed.
    """
    with full_install:
        from scipy.stats import chi2

    n = len(values)
    if n < MIN_PERIODS:
        raise NoReportsError(
            f"a trend needs {MIN_PERIODS} closed periods with reports, and there are {n}: wait for more, or compare "
            "two with difference"
        )
    weights = 1 / common
    middle = float(weights @ values / weights.sum())
    away = periods - weights @ periods / weights.sum()
    pull = weights * away / float(weights @ away**2)
    slope = float(pull @ values)
    error = math.sqrt(float(pull**2 @ own))
    half = _NORMAL.inv_cdf((1 + level) / 2) * error
    # By erfc, since the normal distribution's own tail ends at 1e-16.
    p_value = math.erfc(abs(slope) / error / math.sqrt(2))
    statistic = float(weights @ (values - middle) ** 2)
    return Trend(
        answer,
        unit,
        slope,
        slope - half,
        slope + half,
        level,
        p_value,
        statistic,
        n - 1,
        float(chi2.sf(statistic, n - 1)),
        n,
    )

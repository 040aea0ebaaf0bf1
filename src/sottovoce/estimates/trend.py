"""Changes over the periods of a curve: a straight line, a test of any change at all, and a smoothed curve.

Periods have different people, so their estimates are independent, and each one's variance is known: weighted least
squares with known variances, normal and chi-square tests, nothing estimated from the scatter of the points.

A smoothed curve assumes that the true answer is a random walk (the local level model).
Each period's estimate is the true answer plus an error of known variance; from one period to the next the true answer
moves by a normal step. The size of the steps is the one under which the estimates are most probable; the band takes it
as given. Filter and smoother: Kalman 1960; Rauch, Tung and Striebel 1965; started at the first estimate (diffuse).
"""

from __future__ import annotations

import math
from dataclasses import asdict, dataclass
from statistics import NormalDist
from typing import Any, Final, NamedTuple, final

import numpy as np

from sottovoce.core.errors import NoReportsError
from sottovoce.core.extras import full_install
from sottovoce.mechanisms.base import Floats

__all__ = ["MIN_PERIODS", "SmoothPoint", "SmoothedCurve", "Trend", "line_through", "smoothed"]

_MIN_PERIODS: Final = 3
_GRID: Final = 41
"""Step variances tried before the best is refined."""

_REFINED: Final = 40


class SmoothPoint(NamedTuple):
    """The smoothed answer of one period, with its interval under the assumption."""

    period: int
    value: float
    low: float
    high: float


@final
@dataclass(frozen=True)
class SmoothedCurve:
    """The smoothed answers of all periods from the first to the last closed one with reports.

    Attributes
    ----------
    step
        The standard deviation of a step from one period to the next, by maximum likelihood.
    assumption
        What must hold for the band to hold, in words.
    """

    answer: str
    unit: str
    level: float
    step: float
    points: tuple[SmoothPoint, ...]
    assumption: str

    def to_dict(self) -> dict[str, Any]:
        """All fields as plain values."""
        return {
            "answer": self.answer,
            "unit": self.unit,
            "level": self.level,
            "step": self.step,
            "assumption": self.assumption,
            "points": [point._asdict() for point in self.points],
        }


def smoothed(
    answer: str,
    unit: str,
    periods: Floats,
    values: Floats,
    variances: Floats,
    level: float,
    limits: tuple[float, float],
) -> SmoothedCurve:
    """The smoothed curve of estimates with these variances; periods without an estimate are interpolated."""
    if len(values) < _MIN_PERIODS:
        raise NoReportsError(
            f"smoothing needs {_MIN_PERIODS} closed periods with reports, and there are {len(values)}: wait for more"
        )
    # In units of the errors, so that the search is alike for shares and for thousands of euros.
    scale = math.sqrt(float(np.median(variances)))
    gaps = np.diff(periods)
    observed, noise = (values - values[0]) / scale, variances / scale**2
    walk = _likeliest_step(gaps, observed, noise)
    every = np.arange(int(periods[0]), int(periods[-1]) + 1)
    known = np.isin(every, periods.astype(np.int64))
    padded, errors = np.full(len(every), np.nan), np.full(len(every), np.inf)
    padded[known], errors[known] = observed, noise
    means, spreads = _smoother(padded, errors, walk)
    z = NormalDist().inv_cdf((1 + level) / 2)
    means, halves = values[0] + scale * means, z * scale * np.sqrt(spreads)
    least, most = limits
    points = tuple(
        SmoothPoint(
            int(period),
            float(mean),
            min(max(float(mean - half), least), most),
            max(min(float(mean + half), most), least),
        )
        for period, mean, half in zip(every, means, halves, strict=True)
    )
    step = scale * math.sqrt(walk)
    assumption = (
        f"assumes that the true answer moves from period to period by independent normal steps of the same size, "
        f"estimated as {step:.2g}{' ' + unit if unit else ''}; its band holds only if it does, with that size"
    )
    return SmoothedCurve(answer, unit, level, step, points, assumption)


def _likeliest_step(gaps: Floats, values: Floats, noise: Floats) -> float:
    """The variance of a step that maximises the marginal likelihood; 0 if no step is likelier than none."""
    grid = np.append(0.0, np.geomspace(1e-6, 1e4, _GRID))
    likelihoods = [_log_likelihood(gaps, values, noise, step) for step in grid]
    best = int(np.argmax(likelihoods))
    if best == 0:
        return 0.0
    low, high = math.log(grid[max(best - 1, 1)]), math.log(grid[min(best + 1, _GRID)])
    golden = (math.sqrt(5) - 1) / 2
    for _ in range(_REFINED):
        left, right = high - golden * (high - low), low + golden * (high - low)
        if _log_likelihood(gaps, values, noise, math.exp(left)) >= _log_likelihood(
            gaps, values, noise, math.exp(right)
        ):
            high = right
        else:
            low = left
    return math.exp((low + high) / 2)


def _log_likelihood(gaps: Floats, values: Floats, noise: Floats, step: float) -> float:
    """The log likelihood of all estimates but the first, given the first, by the Kalman filter."""
    mean, spread, total = float(values[0]), float(noise[0]), 0.0
    for gap, value, error in zip(gaps.tolist(), values[1:].tolist(), noise[1:].tolist(), strict=True):
        spread += step * gap
        whole = spread + error
        away = value - mean
        total -= (math.log(whole) + away**2 / whole) / 2
        mean += spread / whole * away
        spread *= error / whole
    return total


def _smoother(values: Floats, noise: Floats, step: float) -> tuple[Floats, Floats]:
    """Means and variances of the true answers given all estimates; NaN and infinite noise where there is none."""
    n = len(values)
    means, spreads = np.empty(n), np.empty(n)
    mean, spread = float(values[0]), float(noise[0])
    means[0], spreads[0] = mean, spread
    for at in range(1, n):
        spread += step
        if math.isfinite(noise[at]):
            whole = spread + float(noise[at])
            mean += spread / whole * (float(values[at]) - mean)
            spread *= float(noise[at]) / whole
        means[at], spreads[at] = mean, spread
    for at in range(n - 2, -1, -1):
        ahead = spreads[at] + step
        back = spreads[at] / ahead if ahead else 1.0
        means[at] += back * (means[at + 1] - means[at])
        spreads[at] += back**2 * (spreads[at + 1] - ahead)
    return means, spreads


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

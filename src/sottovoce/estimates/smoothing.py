"""A smoothed curve under a named assumption: the true answer is a random walk (the local level model).

Each period's estimate is the true answer plus an error of known variance; from one period to the next the true answer
moves by a normal step. The size of the steps is the one under which the estimates are most probable; the band takes it
as given. Filter and smoother: Kalman 1960; Rauch, Tung and Striebel 1965; started at the first estimate (diffuse).
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from statistics import NormalDist
from typing import Any, Final, NamedTuple, final

import numpy as np

from sottovoce.core.errors import NoReportsError
from sottovoce.mechanisms.base import Floats

__all__ = ["SmoothPoint", "SmoothedCurve", "smoothed"]

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
    found = [_log_likelihood(gaps, values, noise, step) for step in grid]
    best = int(np.argmax(found))
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
    """Of all estimates but the first, given it: one step of the filter after the other."""
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

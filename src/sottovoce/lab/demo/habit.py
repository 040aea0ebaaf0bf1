"""The demo's fourth story: a habit that changes over twelve months, followed by one report per person."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import asdict, dataclass
from datetime import date
from typing import Any, Final

import numpy as np

from sottovoce.domain import Domain
from sottovoce.estimates.curve import Curve
from sottovoce.lab.simulation.repeats import seeds_of
from sottovoce.questions.shares import Shares
from sottovoce.surveys.survey import Tracking

__all__ = ["MONTHS", "Habit", "HabitMonth", "follow_habit", "state_habit", "true_habit"]

MONTHS: Final = 12
EPSILON: Final = 1.0
HABIT: Final = "yes"
PATH_OPENS: Final = 7
"""The month in which a new cycle path opens."""


@dataclass(frozen=True)
class HabitMonth:
    """One month: the truth, the estimate, its own interval, and the band that holds for all months."""

    label: str
    reports: int
    truth: float
    value: float
    low: float
    high: float
    band_low: float
    band_high: float

    @property
    def hit(self) -> bool:
        """Whether the band contains the truth."""
        return self.band_low <= self.truth <= self.band_high


@dataclass(frozen=True, eq=False)
class Habit:
    """What the curve says, beside the truth.

    Attributes
    ----------
    change, change_low, change_high, true_change
        From the month before the path opened to the month after: an estimate with its interval, and the truth.
    drawn
        The people from operas, and the month that each one's device has drawn.
    """

    tracking: Tracking
    curve: Curve
    months: tuple[HabitMonth, ...]
    change: float
    change_low: float
    change_high: float
    true_change: float
    drawn: tuple[tuple[str, str], ...] = ()

    @property
    def promise(self) -> str:
        """The guarantee for a person's history."""
        return self.tracking.promise

    def to_dict(self) -> dict[str, Any]:
        """Plain values."""
        return {
            "survey": self.tracking.id,
            "title": self.tracking.title,
            "promise": self.promise,
            "months": [{**asdict(month), "hit": month.hit} for month in self.months],
            "change": {
                "value": self.change,
                "low": self.change_low,
                "high": self.change_high,
                "truth": self.true_change,
            },
            "trend": self.curve.trend(HABIT).to_dict(),
            "drawn": dict(self.drawn),
        }


def state_habit(today: date) -> Tracking:
    """One survey for twelve months, from the first day of the next month on."""
    starts = date(today.year + today.month // 12, today.month % 12 + 1, 1)
    return Tracking(
        Shares(Domain.of(["no", HABIT])),
        epsilon=EPSILON,
        every="month",
        starts=starts,
        periods=MONTHS,
        title="Did you cycle to work this month?",
    )


def true_habit(month: int) -> float:
    """An invented habit: a season, and eight in a hundred more from the month in which the path opens.

    Examples
    --------
    >>> round(true_habit(PATH_OPENS) - true_habit(PATH_OPENS - 1), 3)
    0.08
    """
    season = 0.05 * math.sin(2 * math.pi * (month - 3.5) / MONTHS)
    return 0.2 + season + (0.08 if month >= PATH_OPENS else 0.0)


def follow_habit(
    tracking: Tracking,
    people: int,
    seed: int,
    drawn: tuple[tuple[str, str], ...] = (),
    progress: Callable[[int], object] | None = None,
) -> Habit:
    """Simulate the year: everybody has a value in every month, and answers in one of them."""
    people_seed, report_seed = seeds_of(seed, 2)
    readiness = np.random.Generator(np.random.PCG64DXSM(people_seed)).random(people, dtype=np.float32)

    def values(month: int) -> Any:
        return (readiness < true_habit(month)).astype(np.int8)

    labels = np.array(["no", HABIT])
    aggregates = tracking.simulate(lambda month: labels[values(month)], seed=report_seed, progress=progress)
    curve = tracking.estimate(aggregates)
    truth = [float(values(month).mean()) for month in range(1, MONTHS + 1)]
    months = tuple(
        HabitMonth(
            point.label,
            point.n_reports,
            share,
            *(point.value, point.low, point.high, point.band_low, point.band_high),
        )
        for point, share in zip(curve.series(HABIT).points, truth, strict=True)
    )
    later, earlier = PATH_OPENS, PATH_OPENS - 1
    change = curve.difference(later, earlier, HABIT)
    return Habit(
        tracking, curve, months, change.value, change.low, change.high, truth[later - 1] - truth[earlier - 1], drawn
    )

"""Answers that add up what parts of the reports say, each part about something of its own.

Given how many reports are in each part, a raw answer is a sum of independent means, one per part. Written as one mean
over all n reports, a report of a part with m of them counts n/m times: independent numbers of different laws, for which
the inequalities of `sottovoce.theory.tails` hold as they are.
"""

from __future__ import annotations

from typing import Any, Final

import numpy as np

from sottovoce.mechanisms.base import Counts, Floats
from sottovoce.strategies.laws.variance import VarianceCurve
from sottovoce.theory.tails import deviation, mean_limit

__all__ = ["UNKNOWN", "PartsLaw"]

_SPENT: Final = 0.05
"""The part of a miss that goes to each of two limits of the variance that the reports tell."""

UNKNOWN: Final = 1e12
"""The variance of answers that no report is about; their intervals are the whole range."""

_FLAT: Final = -1e-9
"""The bend of a variance that does not depend on the true answer."""


class PartsLaw:
    """Sums over parts of the reports, for every answer or combination."""

    def __init__(self, count: int, n: int, miss: float) -> None:
        self.n, self.miss, self.spent = n, miss, _SPENT * miss
        self.floor, self.reach = np.zeros(count), np.zeros(count)
        self.moment, self.largest = np.zeros(count), np.zeros(count)
        self.moment_variance, self.moment_reach = np.zeros(count), np.zeros(count)
        self.main, self.mean = np.zeros(count), np.zeros(count)
        self.unknown = np.zeros(count, dtype=np.bool_)
        self.limits = 0
        self.tables = np.zeros(count, dtype=np.int64)

    def add_listed(self, reports: int, counts: Counts, answers: Floats, floor: Floats, asked: Any, index: Any) -> None:
        """Add a part whose possible reports are all counted: the mean of X^2 is known from the counts.

        `answers` has a row per combination and a column per report; `floor` is the least variance of X, whatever a
        person's value is.
        """
        scale = self.n / reports
        seen, reach, squares = counts / reports, np.ptp(answers, axis=1), np.square(answers)
        mean, largest = squares @ seen, squares.max(axis=1)
        limit = mean_limit(mean, largest, reports, self.spent / self.limits)
        self.floor[asked] += (scale * floor)[index]
        self.reach[asked] = np.maximum(self.reach[asked], (scale * reach)[index])
        self.moment[asked] += (scale * limit)[index]
        self.largest[asked] += (scale * largest)[index]
        self._add_mean(scale, reports, answers @ seen, mean, largest, reach, asked, index)

    def _add_mean(
        self,
        scale: float,
        reports: int,
        mean: Floats,
        middle: Floats,
        largest: Floats,
        reach: Floats,
        asked: Any,
        index: Any,
    ) -> None:
        """The squared mean of the part that matters most, at least."""
        away = deviation(largest, np.zeros_like(largest), reach, reports, self.spent).size
        square = scale * np.maximum(0.0, np.abs(mean) - away) ** 2
        matters = (scale * middle)[index] > self.main[asked]
        self.mean[asked] = np.where(matters, square[index], self.mean[asked])
        self.main[asked] = np.maximum(self.main[asked], (scale * middle)[index])
        self.tables[asked] += 1

    def curve(self) -> VarianceCurve:
        """n Var at most: the mean of X^2 is itself estimated, and its limit accounted for in the miss."""
        nothing = np.zeros_like(self.moment)
        more = deviation(self.moment_variance, nothing, self.moment_reach, self.n, self.spent).size
        most = np.minimum(self.moment + more, self.largest) - self.mean
        constant = np.where(self.unknown, UNKNOWN, np.maximum(most, self.floor))
        return VarianceCurve(constant, nothing, _FLAT)

    @property
    def left(self) -> float:
        """What is left of the miss."""
        return self.miss - (3 if self.limits else 2) * self.spent

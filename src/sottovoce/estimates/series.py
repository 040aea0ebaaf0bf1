"""One answer of a tracking survey over its periods: which answer is meant, and its points with intervals and band."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import final

import numpy as np

from sottovoce.core.errors import SurveyError
from sottovoce.estimates.asked import ListedQuestion
from sottovoce.estimates.combinations import CombinedAnswer
from sottovoce.estimates.estimate import Estimate
from sottovoce.figures.curve import CurvePoint
from sottovoce.mechanisms.base import Floats
from sottovoce.strategies.laws.variance import Population

__all__ = [
    "AnswerOverTime",
    "PickedAnswer",
    "Series",
    "picked_answer",
    "picked_function",
]

AnswerOverTime = str | int | Callable[[Estimate, float], CombinedAnswer] | None
"""A label; or a function of an estimate and a level; None where there is only one answer to name."""


@final
@dataclass(frozen=True)
class Series:
    """One answer over all periods.

    Attributes
    ----------
    level
        Coverage of each interval, and of the whole band.
    each_level
        The level of one period's interval within the band: level ** (1/K) for K closed periods.
    method
        The inequalities behind the intervals.
    """

    answer: str
    unit: str
    level: float
    each_level: float
    method: str
    points: tuple[CurvePoint, ...]

    def closed(self) -> list[CurvePoint]:
        """The points of closed periods with reports."""
        return [point for point in self.points if point.state == "closed"]


@final
@dataclass(frozen=True, eq=False)
class PickedAnswer:
    """What is followed over time: its name and unit, its interval, and where it is linear its weights."""

    name: str
    unit: str
    of: Callable[[Estimate, float], CombinedAnswer]
    weights: Callable[[Estimate], Floats] | None
    limits: tuple[float, float]
    share: bool = False
    """Whether it is a share of the people, which is shown in per cent."""

    def variance(
        self, estimate: Estimate, found: CombinedAnswer, normal: float, answers: Floats | None = None
    ) -> float:
        """The variance of the raw estimate, if people answered as `answers` say; by default as projected.

        Of a function that is not linear, what its interval amounts to: no less than the variance.
        """
        if self.weights is None:
            return (max(found.high - found.value, found.value - found.low, 0.0) / normal) ** 2
        design = estimate.survey.design
        population = Population(answers=estimate.values if answers is None else answers)
        row = self.weights(estimate)
        return float(np.asarray(design.variance(row[None], population, estimate.n_reports).value)[0])


def picked_answer(question: ListedQuestion, index: int) -> PickedAnswer:
    """One of the listed answers of a question."""
    low, high = (float(np.broadcast_to(end, question.n_answers)[index]) for end in question.answer_range)
    row = np.zeros(question.n_answers)
    row[index] = 1.0

    def one(estimate: Estimate, level: float) -> CombinedAnswer:
        interval = estimate.interval(level)
        ends = float(interval.low[index]), float(interval.high[index])
        return CombinedAnswer(float(estimate.raw[index]), *ends, level, interval.method)

    return PickedAnswer(
        question.label(index), question.unit, one, lambda _: row, (low, high), question.answers_are_shares
    )


def picked_function(function: Callable[[Estimate, float], CombinedAnswer], unit: str) -> PickedAnswer:
    """A function of an estimate and a level, which is named after itself."""
    name = getattr(function, "__name__", "")
    return PickedAnswer("" if name == "<lambda>" else name, unit, _calling(function), None, (-np.inf, np.inf))


def _calling(
    function: Callable[[Estimate, float], CombinedAnswer],
) -> Callable[[Estimate, float], CombinedAnswer]:
    def of(estimate: Estimate, level: float) -> CombinedAnswer:
        found = function(estimate, level)
        if not isinstance(found, CombinedAnswer):
            raise SurveyError(
                "answer must be a function of an estimate and a level that returns a combined answer, such as "
                "lambda estimate, level: estimate.difference('tea', 'coffee', level)"
            ).at("answer")
        return found

    return of

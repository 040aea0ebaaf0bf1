"""One answer of a tracking survey over its periods: which answer is meant, and its points with intervals and band."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import final

import numpy as np

from sottovoce.core.answer import Answer, aligned
from sottovoce.core.errors import SurveyError
from sottovoce.estimates.asked import ListedQuestion
from sottovoce.estimates.combinations import uncut_combination
from sottovoce.estimates.differences import Arm
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

AnswerOverTime = str | int | Callable[[Estimate, float], Answer] | None
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

    def __str__(self) -> str:
        rows = [(point.label, point.value_text, point.interval_text) for point in self.points if point.n_reports]
        return f"{self.answer}\n{aligned(rows)}"

    def __iter__(self) -> Iterator[CurvePoint]:
        return iter(self.points)

    def __len__(self) -> int:
        return len(self.points)

    def closed(self) -> list[CurvePoint]:
        """The points of closed periods with reports."""
        return [point for point in self.points if point.state == "closed"]


@final
@dataclass(frozen=True, eq=False)
class PickedAnswer:
    """An answer that is followed over time: its name, unit and interval, and its weights where it is linear."""

    name: str
    unit: str
    of: Callable[[Estimate, float], Answer]
    weights: Callable[[Estimate], Floats] | None
    limits: tuple[float, float]
    is_share: bool = False
    """Whether it is a share of the people, which is shown in per cent."""
    index: int | None = None
    """Its place among the listed answers, if it is one of them."""
    error: float = 0.0
    """How far it may be from the combination of answers with its weights: half a bin, for a distribution's mean."""
    constant: float = 0.0
    """What is added to the combination of answers with its weights."""

    def arm(self, estimate: Estimate, level: float) -> Arm | None:
        """The answer with an interval that is not cut to what is possible; None where it is not linear."""
        if self.weights is None:
            return None
        answers, at = estimate._combinable, 0 if self.index is None else self.index
        weights = self.weights(estimate)[None] if self.index is None else None
        interval = uncut_combination(answers, weights, level)
        return Arm(
            self.constant + float(interval.raw[at]),
            self.constant + float(interval.low[at]),
            self.constant + float(interval.high[at]),
            self.error + float(np.broadcast_to(interval.bias, interval.raw.shape)[at]),
            interval.method,
        )

    def variance(self, estimate: Estimate, answer: Answer, normal: float, answers: Floats | None = None) -> float:
        """The variance of the raw estimate, if people answered as `answers` say; by default as projected.

        For a function that is not linear it is computed from the interval, and is no less than the variance.
        """
        if self.weights is None:
            return (max(answer.high - answer.raw, answer.raw - answer.low, 0.0) / normal) ** 2
        design = estimate.survey.design
        population = Population(answers=estimate.values if answers is None else answers)
        row = self.weights(estimate)
        return float(np.asarray(design.variance(row[None], population, estimate.n_reports).value)[0])


def picked_answer(question: ListedQuestion, index: int) -> PickedAnswer:
    """One of the listed answers of a question."""
    low, high = (float(np.broadcast_to(end, question.n_answers)[index]) for end in question.answer_range)
    row = np.zeros(question.n_answers)
    row[index] = 1.0

    def answer(estimate: Estimate, level: float) -> Answer:
        return estimate._answer(index, level)

    name, share = question.label(index), question.answers_are_shares
    return PickedAnswer(name, question.unit, answer, lambda _: row, (low, high), share, index)


def picked_function(function: Callable[[Estimate, float], Answer], unit: str) -> PickedAnswer:
    """A function of an estimate and a level, which is named after itself."""
    name = getattr(function, "__name__", "")
    return PickedAnswer("" if name == "<lambda>" else name, unit, _calling(function), None, (-np.inf, np.inf))


def _calling(
    function: Callable[[Estimate, float], Answer],
) -> Callable[[Estimate, float], Answer]:
    def of(estimate: Estimate, level: float) -> Answer:
        answer = function(estimate, level)
        if not isinstance(answer, Answer):
            raise SurveyError(
                "answer must be a function of an estimate and a level that returns an answer, such as "
                "lambda estimate, level: estimate.difference('tea', 'coffee', level)"
            ).at("answer")
        return answer

    return of

"""One answer of a tracking survey over its periods: which answer is meant, and its points with intervals and band."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final, Literal, NamedTuple, final

import numpy as np

from sottovoce.core.errors import SottovoceError, SurveyError
from sottovoce.estimates.combinations import CombinedAnswer, RawAnswers
from sottovoce.estimates.estimate import Estimate
from sottovoce.estimates.numbers import mean_weights
from sottovoce.estimates.words.estimate import WordsEstimate
from sottovoce.mechanisms.base import Floats
from sottovoce.questions.base import Question
from sottovoce.questions.number import Number
from sottovoce.questions.shares import Shares
from sottovoce.questions.words import Words
from sottovoce.strategies.laws.variance import Population

__all__ = ["AnswerOverTime", "CurvePoint", "PeriodState", "Series", "answer_over_time"]

PeriodState = Literal["closed", "open", "empty"]
"""Closed; still being answered; or without a report."""

AnswerOverTime = str | int | Callable[[Estimate, float], CombinedAnswer] | None
"""A label; or a function of an estimate and a level; None where there is only one answer to name."""

MEAN, DEVIATION, MEDIAN = "mean", "standard deviation", "median"
_OF_NUMBERS: Final[dict[str, Callable[[Estimate, float], CombinedAnswer]]] = {
    MEAN: lambda estimate, level: estimate.mean(level=level),
    DEVIATION: lambda estimate, level: estimate.standard_deviation(level),
    MEDIAN: lambda estimate, level: estimate.quantile(0.5, level),
}


class CurvePoint(NamedTuple):
    """One answer in one period.

    Attributes
    ----------
    value
        The raw, unbiased estimate, which may be an impossible number; None without reports.
    low, high
        Its own interval.
    band_low, band_high
        The band, which holds for all closed periods together; None for a period that is not closed.
    """

    period: int
    label: str
    starts: datetime
    state: PeriodState
    n_reports: int
    value: float | None
    low: float | None
    high: float | None
    band_low: float | None
    band_high: float | None

    def to_dict(self) -> dict[str, Any]:
        """Plain values; the start as an ISO date."""
        return self._asdict() | {"starts": self.starts.date().isoformat()}


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


def answer_over_time(question: Question, answer: AnswerOverTime) -> PickedAnswer:
    """The answer that is meant; raises `SurveyError` if it is none of the question's."""
    if callable(answer):
        name = getattr(answer, "__name__", "")
        return PickedAnswer(
            "" if name == "<lambda>" else name, question.unit, _calling(answer), None, (-np.inf, np.inf)
        )
    if isinstance(question, Words):
        return _word(question, answer)
    if isinstance(question, Number) and (answer is None or answer in _OF_NUMBERS):
        name = MEAN if answer is None else str(answer)
        ends = (0.0, question.grid.half) if name == DEVIATION else (question.grid.low, question.grid.high)
        weights = _mean_weights if name == MEAN else None
        return PickedAnswer(name, question.grid.unit, _OF_NUMBERS[name], weights, ends)
    if answer is None and question.n_answers > 1:
        raise SurveyError(
            f"answer must name one of the {question.n_answers:,} answers, for example "
            f"{question.label(0)!r}; or be a function of an estimate and a level"
        ).at("answer")
    index = 0 if answer is None else _index(question, answer)
    low, high = (float(np.broadcast_to(end, question.n_answers)[index]) for end in question.answer_range)
    row = np.zeros(question.n_answers)
    row[index] = 1.0
    label = question.label(index)

    def one(estimate: Estimate, level: float) -> CombinedAnswer:
        interval = estimate.interval(level)
        ends = float(interval.low[index]), float(interval.high[index])
        return CombinedAnswer(float(estimate.raw[index]), *ends, level, interval.method)

    return PickedAnswer(label, question.unit, one, lambda _: row, (low, high), question.answers_are_shares)


def _word(question: Words, answer: str | int | bytes | None) -> PickedAnswer:
    """The share of one word, which is named by itself."""
    code = question.code
    value = code.typed(answer) if isinstance(answer, str) else answer
    if value is None or not code.admits(value):
        raise SurveyError(
            f"answer must be a word of this survey, such as one that an estimate of a period found; allowed: "
            f"{code.allowed}"
        ).at("answer")

    def one(estimate: Estimate, level: float) -> CombinedAnswer:
        assert isinstance(estimate, WordsEstimate)
        found = estimate.of(value, level)
        return CombinedAnswer(found.raw, found.low, found.high, level, estimate.interval(level).method)

    return PickedAnswer(question.shown(value), "", one, None, (0.0, 1.0), share=True)


def _mean_weights(estimate: Estimate) -> Floats:
    return mean_weights(
        RawAnswers(estimate.survey, estimate.n_reports, estimate.raw, estimate.counts, None, estimate.values)
    )


def _index(question: Question, answer: Any) -> int:
    try:
        # A person's value may be a number or a record; its label is a text.
        by_label = isinstance(question, Shares) and isinstance(answer, str)
        return question.workload.find(answer) if by_label else question.find(answer)
    except SottovoceError as error:
        if isinstance(question, Number):
            raise SurveyError(
                f"answer must be {MEAN!r}, {DEVIATION!r}, {MEDIAN!r} or an answer's label; or a function of an "
                "estimate and a level"
            ).at("answer") from None
        raise error.at("answer") from None


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

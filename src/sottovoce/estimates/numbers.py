"""The mean, standard deviation, quantiles and histogram of a number, each with an interval that holds, in its unit.

All are of the clipped numbers, and of combinations of raw answers. What a grid or bins hide is added to the intervals.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import ClassVar, Final, NamedTuple, Protocol, final

import numpy as np

from sottovoce.core.answer import Answer
from sottovoce.core.calls import with_clear_calls
from sottovoce.core.errors import CapacityError, SurveyError
from sottovoce.core.limits import check_number
from sottovoce.domain.number import NumberGrid
from sottovoce.estimates.bins import MOST_CELLS, HistogramBin, histogram_bins, readable_starts, rows_of_cumulative
from sottovoce.estimates.combinations import RawAnswers, combined_interval
from sottovoce.estimates.intervals import Interval, Observed, check_level, uncut_interval
from sottovoce.estimates.listed import ListedEstimate
from sottovoce.estimates.watched import refuse_so_far
from sottovoce.mechanisms.base import Floats
from sottovoce.theory.watching import PLANNED

__all__ = ["NumberEstimate"]

_CENTRES: Final = 4
"""Centres, over the root of the number of reports, about which distances are bounded; fixed before any report."""

_QUARTILES: Final = (0.25, 0.5, 0.75)


class NumberQuestion(Protocol):
    """The question for a number, as far as its estimates need it."""

    @property
    def grid(self) -> NumberGrid: ...

    @property
    def wants(self) -> str: ...

    @property
    def ends(self) -> Floats: ...


@final
@dataclass(frozen=True, eq=False, repr=False)
class NumberEstimate(ListedEstimate):
    """An estimate of a number: its mean and, as far as it was asked for, its spread and its distribution.

    All are of numbers clipped to the survey's ends.
    """

    describes: ClassVar[str] = "a number"

    def mean(self, level: float = 0.95) -> Answer:
        """The mean of a number, in its unit, with its interval; of numbers clipped to the survey's ends."""
        return _mean(self._combinable, level)

    def _lacking(self) -> set[str]:
        asked = _number(self._combinable).wants
        distribution = set() if asked == "distribution" else {"quantile", "histogram"}
        return super()._lacking() | distribution | ({"standard_deviation"} if asked == "mean" else set())

    def mean_weights(self) -> Floats:
        """The weights of the raw answers whose sum is the mean, up to a constant."""
        return _Linear.of(self._combinable, lambda x: x).weights

    def standard_deviation(self, level: float = 0.95) -> Answer:
        """The standard deviation of a number, with its interval; needs wants="spread" or "distribution"."""
        return _standard_deviation(self._combinable, level)

    @with_clear_calls("estimate.quantile(0.5)")
    def quantile(self, q: float, level: float = 0.95) -> Answer:
        """The number that a share q of people is at or below, with its interval; needs wants="distribution".

        Examples
        --------
        >>> import sottovoce as sv
        >>> survey = sv.Survey(sv.number(0, 600, "minutes", wants="distribution"), epsilon=2.0)
        >>> estimate = survey.estimate(survey.simulate(range(600), seed=1))
        >>> median = estimate.quantile(0.5)
        >>> median.low < 300 < median.high
        True
        """
        if self.always == "so far":
            # The bin that holds it would change as people do.
            raise refuse_so_far("a quantile has no interval")
        check_level(level)
        return _quantile(self._combinable, self.values, self._each_side(level), q, level)

    def _each_side(self, level: float) -> Interval:
        """Ends of every answer's interval of which either is wrong with half of the miss at most."""
        if self.always is not None:
            return self.interval((1 + level) / 2)
        observed = Observed(self.survey.design, self.raw, self.n_reports, self.counts, *self.survey.answer_range)
        uncut = uncut_interval(observed, level)
        return Interval(uncut.low - uncut.bias, uncut.high + uncut.bias, uncut.method)

    def histogram(self, level: float = 0.95, merged: bool = False) -> list[HistogramBin]:
        """The share of people in every bin of a number, each with its interval; needs wants="distribution".

        `merged` makes bins so wide that they can be told from the noise of this many reports, as pictures do.
        """
        if not isinstance(merged, bool):
            raise SurveyError("merged must be True or False").at("merged")
        return _histogram(self._combinable, level, merged)

    def _summary(self, most: int) -> tuple[list[Answer], int]:
        """The mean and what else was asked for; the shares at or below each number are further answers."""
        wants = _number(self._combinable).wants
        if wants == "mean":
            return super()._summary(most)
        shown = [self.mean(), self.standard_deviation()]
        if wants == "spread":
            return shown, 0
        return [*shown, *(self.quantile(share) for share in _QUARTILES)], len(self)


def _mean(answers: RawAnswers, level: float) -> Answer:
    """The mean; from a distribution by the middles of the bins, from which numbers are at most half a bin away."""
    check_level(level)
    question = _number(answers)
    linear = _Linear.of(answers, lambda x: x)
    low, high, method = linear.interval(level)
    bin_error = _bin_error(question)
    method += f"; bins are {question.grid.quantity(2 * bin_error)} wide" if bin_error else ""
    low, high = max(low - bin_error, question.grid.low), min(high + bin_error, question.grid.high)
    value = min(max(linear.value, question.grid.low), question.grid.high)
    return _in_unit(question, "mean", value, (low, high), level, method, raw=linear.value)


def _standard_deviation(answers: RawAnswers, level: float) -> Answer:
    """The standard deviation, from the mean square distance to a centre near the mean.

    The mean is in its interval with half of the miss allowed. Of equally spaced centres, whose number depends on that
    of the reports alone, one is nearest to the true mean; the mean square distance to it is a combination of answers
    with an interval of its own, with the other half. So the union over all centres in the mean's interval, and one
    more at each end, holds for that centre, and the standard deviation differs from the root of the mean square
    distance by no more than the mean from the centre.
    """
    check_level(level)
    question = _number(answers)
    if question.wants == "mean":
        raise SurveyError(
            'a survey with wants="mean" has no standard deviation; ask with wants="spread" or wants="distribution"'
        ).at("wants")
    if answers.always == "so far":
        # The centre nearest to their mean would change as people do.
        raise refuse_so_far("a standard deviation has no interval")
    half_level, grid = (1 + level) / 2, question.grid
    mean = _Linear.of(answers, lambda x: x)
    low, high, _ = mean.interval(half_level)
    bin_error = _bin_error(question)
    # At all looks the same centre has to be the nearest one.
    reports = answers.n_reports if answers.always is None else PLANNED
    step = (grid.high - grid.low) / math.ceil(_CENTRES * math.sqrt(reports))
    numbers = range(
        math.floor((low - bin_error - grid.low) / step), math.ceil((high + bin_error - grid.low) / step) + 1
    )
    about = [_Linear.of(answers, _distance_to(grid.low + step * number)) for number in numbers]
    pairs = [line.ends for line in about if line.ends is not None]
    ends = (np.concatenate([pair[0] for pair in pairs]), np.concatenate([pair[1] for pair in pairs])) if pairs else None
    interval = combined_interval(answers, np.stack([line.weights for line in about]), half_level, ends=ends)
    constants = np.array([line.constant for line in about])
    below, above = float((interval.low + constants).min()), float((interval.high + constants).max())
    # Numbers are spread within a cell of width h as if evenly: by h^2/12 in a bin, rounded at random by h^2/6.
    within = (2 * bin_error) ** 2 / 12 if bin_error else grid.spacing**2 / 6
    square = _Linear.of(answers, _distance_to(mean.value)).value - within
    least = math.sqrt(max(0.0, below)) - bin_error - step / 2
    most = math.sqrt(max(0.0, above)) + bin_error
    value = math.sqrt(min(max(0.0, square), grid.half**2))
    limits = max(0.0, least), min(most, grid.half)
    return _in_unit(question, "standard deviation", value, limits, level, interval.method)


def _quantile(answers: RawAnswers, values: Floats, interval: Interval, q: float, level: float) -> Answer:
    """The number that a share q of people is at or below.

    `values` are the projected answers. The bin of the true quantile has a share below its start that is less than q,
    and one at its end that is not: bins whose ends of `interval` say otherwise are excluded. That happens to the true
    one with no more than the miss allowed: only its own two limits matter, the lower one of one answer and the upper
    one of the next, and each is wrong with half of it at most (limits that share the miss would not do).
    """
    check_level(level)
    question = _distribution(answers, "quantiles")
    share = check_number("q", q, 0.0, 1.0, "a share of the people, such as 0.5 for the median")
    ends = question.ends
    # Nobody is below the first bin, and everybody at or below the end of the last.
    possible = (np.append(0.0, interval.low[:-1]) <= share) & (np.append(interval.high[:-1], 1.0) >= share)
    bins = np.flatnonzero(possible) if possible.any() else np.array([_bin_of(values, share)])
    bin_ = _bin_of(values, share)
    before = float(values[bin_ - 1]) if bin_ else 0.0
    inside = (share - before) / max(float(values[bin_]) - before, 1e-300)
    value = float(ends[bin_] + min(max(inside, 0.0), 1.0) * (ends[bin_ + 1] - ends[bin_]))
    method = f"{interval.method}; for each bin's limits; evenly spread within a bin"
    label = "median" if share == 0.5 else f"{100 * share:g} % quantile"
    return _in_unit(question, label, value, (float(ends[bins[0]]), float(ends[bins[-1] + 1])), level, method)


def _histogram(answers: RawAnswers, level: float, merged: bool) -> list[HistogramBin]:
    """The share of every bin, or of bins that were merged, each with an interval at this level."""
    check_level(level)
    question = _distribution(answers, "histogram")
    cells, ends = len(answers.raw), question.ends
    if cells > MOST_CELLS:
        raise CapacityError(f"a histogram has at most {MOST_CELLS:,} bins here; ask with fewer points, or combine some")
    rows, unit = rows_of_cumulative(cells), f" {question.grid.unit}" if question.grid.unit else ""
    starts = readable_starts(answers, cells, rows) if merged else np.arange(cells)

    def named(first: int, last: int) -> str:
        return f"{ends[first]:g} to {ends[last + 1]:g}{unit}"

    return list(histogram_bins(answers, rows, starts, ends, named, level, _clipping(question)))


def _in_unit(
    question: NumberQuestion,
    label: str,
    value: float,
    ends: tuple[float, float],
    level: float,
    method: str,
    raw: float | None = None,
) -> Answer:
    """A figure in the number's unit; of clipped numbers, which its method says."""
    return Answer(
        label=label,
        value=value,
        low=ends[0],
        high=ends[1],
        raw=value if raw is None else raw,
        unit=question.grid.unit,
        method=method + _clipping(question),
        level=level,
    )


class _Linear(NamedTuple):
    """The mean over people of a function of their number: a combination of answers, and a constant."""

    answers: RawAnswers
    weights: Floats
    constant: float
    ends: tuple[Floats, Floats] | None = None
    """The least and the largest value of the function, less the constant: a grid would say less."""

    @classmethod
    def of(cls, answers: RawAnswers, function: Callable[[Floats], Floats]) -> _Linear:
        """The mean of a polynomial of degree one or, where the spread is known, two."""
        question = _number(answers)
        grid = question.grid
        if question.wants == "distribution":
            # A share of a bin is a difference of shares below its ends; all people together are 1.
            values = function(question.ends[1:] - _bin_error(question))
            return cls(answers, np.append(-np.diff(values), 0.0), float(values[-1]))
        at = function(np.array([grid.low, grid.middle, grid.high]))
        square = (at[0] - 2 * at[1] + at[2]) / 2  # in units of halves of the range
        slope = (at[2] - at[0]) / 2 / grid.half
        weights = np.array([slope, square / grid.half][: len(answers.raw)])
        constant = float(at[1] - slope * grid.middle)
        lowest = grid.middle - slope * grid.half**2 / (2 * square) if square else grid.low
        extremes = function(np.array([grid.low, min(max(lowest, grid.low), grid.high), grid.high])) - constant
        return cls(answers, weights, constant, (extremes.min(keepdims=True), extremes.max(keepdims=True)))

    @property
    def value(self) -> float:
        return float(self.weights @ self.answers.raw) + self.constant

    def interval(self, level: float) -> tuple[float, float, str]:
        interval = combined_interval(self.answers, self.weights[None], level, ends=self.ends)
        return float(interval.low[0]) + self.constant, float(interval.high[0]) + self.constant, interval.method


def _distance_to(centre: float) -> Callable[[Floats], Floats]:
    return lambda x: np.asarray((x - centre) ** 2)


def _bin_of(values: Floats, share: float) -> int:
    return min(int(np.searchsorted(values, share)), len(values) - 1)


def _bin_error(question: NumberQuestion) -> float:
    """Half a bin of a distribution; 0 for moments, whose intervals contain what their grid does."""
    return question.grid.half / question.grid.points if question.wants == "distribution" else 0.0


def _clipping(question: NumberQuestion) -> str:
    return f"; of numbers clipped to {question.grid.range_text}"


def _number(answers: RawAnswers) -> NumberQuestion:
    question: NumberQuestion = answers.survey.question
    return question


def _distribution(answers: RawAnswers, what: str) -> NumberQuestion:
    question = _number(answers)
    if question.wants != "distribution":
        raise SurveyError(f'a survey with wants="{question.wants}" has no {what}; ask with wants="distribution"').at(
            "wants"
        )
    return question

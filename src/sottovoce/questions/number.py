"""Number: the mean of people's numbers between two ends, their spread, or their distribution."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, ClassVar, Final, Self, final

import numpy as np
from numpy.typing import ArrayLike, NDArray

from sottovoce.core.answer import Answer
from sottovoce.core.errors import SottovoceError, SurveyError
from sottovoce.domain import Domain, NumberGrid
from sottovoce.domain.number import ATTRIBUTE_POINTS, LARGEST_NUMBER, MAX_POINTS
from sottovoce.domain.number_trials import special_numbers
from sottovoce.domain.trials import NumberedTrials
from sottovoce.estimates.estimate import Estimate
from sottovoce.estimates.numbers import NumberEstimate
from sottovoce.estimates.series import PickedAnswer, picked_answer
from sottovoce.questions.base import Question
from sottovoce.questions.invented import NumberPeople
from sottovoce.questions.parameter import Parameter, clear_question, missing_parameter
from sottovoce.questions.people import People, check_histogram
from sottovoce.questions.queries import Queries
from sottovoce.workloads.base import Workload
from sottovoce.workloads.ranges import Prefix
from sottovoce.workloads.table import Moments

if TYPE_CHECKING:
    from sottovoce.workloads.pictures import NumberFigure, NumberHistogram, Panel

__all__ = ["POINTS", "Number", "number"]

POINTS: Final = {"mean": 65, "distribution": 64, "spread": 32}
"""Every aim, with its usual number of grid points, or bins for a distribution."""

_STRATEGIES: Final = {"mean": ("minimax",), "distribution": Queries.strategies, "spread": ("optimized",)}

_MEAN, _DEVIATION, _MEDIAN = "mean", "standard deviation", "median"
_FOLLOWED: Final[dict[str, Callable[[Any, float], Answer]]] = {
    _MEAN: lambda estimate, level: estimate.mean(level=level),
    _DEVIATION: lambda estimate, level: estimate.standard_deviation(level),
    _MEDIAN: lambda estimate, level: estimate.quantile(0.5, level),
}
"""What can be followed over time besides the answers, in the order of what it takes to know it."""

_QUANTILES: Final = {"lower quartile": 0.25, "median": 0.5, "upper quartile": 0.75}


@clear_question('sv.number(0, 600, "minutes")')
def number(
    low: float,
    high: float,
    unit: str = "",
    *,
    wants: str = "mean",
    points: int | None = None,
    missing: str = "refuse",
) -> Number:
    """The question for the mean of a number between two ends, for its spread, or for its distribution.

    Numbers outside the ends are clipped, on devices and in simulations. A `Decimal` is a number; a `timedelta` is one
    where the unit is seconds, minutes, hours, days or weeks. As an attribute of a record, a number has 3
    grid points unless `points` says otherwise.

    Parameters
    ----------
    unit
        The unit of the number and of the answers.
    wants
        "mean"; "spread" for the mean and the standard deviation; or "distribution" for the curve, quantiles, the
        histogram and the mean, each less precise.
    points
        Grid points, to which devices round at random, or bins of a distribution; as many as suit by default. In a
        record, more points show more of the distribution and cost accuracy of the mean.
    missing
        "refuse" None and NaN, or count them "as <number>", such as "as 0"; in a record an absent field too. It is part
        of the survey, so every device does the same.

    Examples
    --------
    >>> number(0, 600, "minutes").unit
    'minutes'
    """
    question = Number.of(low=low, high=high, unit=unit, wants=wants, points=points, missing=missing)
    return question if points is None else replace(question, points_stated=True)


@final
@dataclass(frozen=True, repr=False)
class Number(Question):
    """The mean of a number; or its mean and spread; or its distribution over equal bins, as shares at or below ends.

    Numbers outside the ends are clipped, on devices and in simulations, since a refusal would reveal something: all
    answers are of the clipped numbers.

    Examples
    --------
    >>> question = Number.of(low=0, high=600, unit="minutes")
    >>> question.n_answers, question.label(0), question.answer_range
    (1, 'mean', (array([0.]), array([600.])))
    >>> Number.of(low=0, high=600, unit="minutes", wants="distribution", points=2).label(0)
    '<= 300 minutes'
    """

    grid: NumberGrid
    wants: str = "mean"
    points_stated: bool = field(default=False, compare=False, repr=False)

    kind: ClassVar[str] = "number"
    called: ClassVar[str] = "A number"
    summary: ClassVar[str] = "the mean of a number, its spread or its distribution"
    parameters: ClassVar[tuple[Parameter, ...]] = (
        Parameter(
            "low",
            "number",
            "the smallest number; smaller ones are clipped",
            "0",
            low=-LARGEST_NUMBER,
            high=LARGEST_NUMBER,
        ),
        Parameter(
            "high",
            "number",
            "the largest number; larger ones are clipped",
            "600",
            low=-LARGEST_NUMBER,
            high=LARGEST_NUMBER,
        ),
        Parameter("unit", "text", "the number's unit", "minutes", default=""),
        Parameter("wants", "choice", "what is to be known of it", "mean", default="mean", choices=tuple(POINTS)),
        Parameter(
            "points",
            "integer",
            "grid points, or bins of a distribution; as many as suit by default",
            "64",
            optional=True,
            low=2,
            high=MAX_POINTS,
        ),
        missing_parameter("as 0"),
    )
    strategies: ClassVar[tuple[str, ...]] = ("minimax", *Queries.strategies)
    projected_on: ClassVar[str] = "hull of the columns"
    on_hull: ClassVar[bool] = True
    held: ClassVar[str] = "the one number that a person answers"

    def __post_init__(self) -> None:
        if not isinstance(self.wants, str) or self.wants not in POINTS:
            raise SurveyError(f"wants must be one of {', '.join(POINTS)}").at("wants")
        if not isinstance(self.grid, NumberGrid):
            raise SurveyError("grid must be a NumberGrid, such as NumberGrid(0, 600)").at("grid")
        # The strategies of this aim, out of those of the kind.
        object.__setattr__(self, "strategies", _STRATEGIES[self.wants])

    @classmethod
    def _of(cls, **given: Any) -> Self:
        wants = given["wants"]
        points = given.get("points", POINTS[wants])
        grid = NumberGrid(given["low"], given["high"], given["unit"], points)
        return cls(grid.with_missing(given["missing"]), wants)

    def as_attribute(self) -> NumberGrid:
        if self.wants != "mean":
            raise SurveyError(
                "a number that is an attribute of a record cannot have wants: leave it out, and give points for more "
                "of its distribution"
            ).at("wants")
        return self.grid if self.points_stated else replace(self.grid, points=ATTRIBUTE_POINTS)

    @classmethod
    def _fields(cls) -> tuple[str, ...]:
        return ("low", "high", "unit", "wants", "points")

    @classmethod
    def _from_statement(cls, statement: dict[str, Any]) -> Self:
        number = {name: field for name, field in statement.items() if name not in ("kind", "wants")}
        return cls(NumberGrid.from_statement(number), statement["wants"])

    @classmethod
    def _optional_fields(cls) -> tuple[str, ...]:
        return ("missing",)

    def _statement(self) -> dict[str, Any]:
        return {**self.grid.to_statement(), "wants": self.wants}

    @cached_property
    def workload(self) -> Workload:
        if self.wants != "distribution":
            return Moments(replace(self.grid, missing=None), spread=self.wants == "spread")
        return Prefix([self.grid.quantity(float(end)) for end in self.ends[1:]])

    @cached_property
    def ends(self) -> NDArray[np.float64]:
        """The ends of a distribution's bins: `low`, one after every bin, `high` the last."""
        ends = self._end(np.arange(self.grid.points + 1))
        ends[-1] = self.grid.high
        return ends

    def _end(self, bins: NDArray[np.int64]) -> NDArray[np.float64]:
        return np.asarray(self.grid.low + ((self.grid.high - self.grid.low) * bins) / self.grid.points)

    @property
    def domain(self) -> Domain | None:
        """None: numbers are not listed. The bins of a distribution are values of the workload."""
        return None

    @property
    def unit(self) -> str:
        return "" if self.answers_are_shares else self.grid.unit

    @property
    def answers_are_shares(self) -> bool:
        return self.wants == "distribution"

    def private_input(self, value: object) -> int:
        """A position, or the number of a bin."""
        position = self.grid.position(value)
        # A bin holds its upper end. Computed for every aim, so that the work tells nothing.
        return int(self._bins(self.grid.clipped([value]))[0]) if self.answers_are_shares else position

    def admits_missing(self, field: str = "") -> bool:
        return self.grid.missing is not None

    def parse(self, text: str) -> object:
        return self.grid.parse(text)

    def people(self, values: Any) -> People:
        numbers = self.grid.clipped(values)
        return People.with_values(self._bins(numbers) if self.answers_are_shares else self.grid.positions_of(numbers))

    def people_of_histogram(self, histogram: ArrayLike) -> People:
        """Simulated people from the number of people at every grid point, or in every bin."""
        listed = People.with_histogram(check_histogram(histogram, self.grid.points))
        if self.answers_are_shares:
            return listed
        steps = (self.grid.positions - 1) // (self.grid.points - 1)
        return People(listed.n, lambda start, stop: steps * listed.between(start, stop))

    def audit_trials(self) -> NumberedTrials:
        """Positions, or bins, and special numbers."""
        numbered = self.grid.points if self.answers_are_shares else self.grid.positions
        return NumberedTrials(numbered, self._possible, special_numbers(self.grid))

    def _possible(self, number: int) -> float:
        """The middle of a bin, or a position's number; a number outside the ends for the first and the last one."""
        last = (self.grid.points if self.answers_are_shares else self.grid.positions) - 1
        part = (number + 0.5) / (last + 1) if self.answers_are_shares else number / last
        return self.grid.low + (part - (number == 0) + (number == last)) * (self.grid.high - self.grid.low)

    def _bins(self, numbers: NDArray[np.float64]) -> NDArray[np.int64]:
        # These are the operations on doubles of the TypeScript client. A bin's end, scaled, may exceed its number
        # (7/100 of 100 does), so numbers are compared with the ends themselves.
        scaled = (numbers - self.grid.low) / (self.grid.high - self.grid.low) * self.grid.points
        near = np.ceil(scaled).astype(np.int64) - 1
        bins = near + (numbers > self._end(near + 1)) - (numbers <= self._end(near))
        return np.asarray(np.clip(bins, 0, self.grid.points - 1))

    def truth_of(self, values: Sequence[Any]) -> Callable[[str, NDArray[np.float64]], float]:
        """The mean of the clipped numbers; other figures are not computed, and are not numbers."""
        numbers = self.grid.clipped(values)
        return lambda name, shares: float(shares @ numbers) if name == "mean" else math.nan

    @property
    def truth_text(self) -> str:
        return f"truth (clipped to {self.grid.range_text})"

    def invented_people(self) -> NumberPeople:
        return NumberPeople(self.grid, self.wants)

    @property
    def values_text(self) -> str:
        return f"a number from {self.grid.low:g} to {self.grid.high:g}; others are clipped"

    @property
    def estimate_class(self) -> type[NumberEstimate]:
        return NumberEstimate

    def _followed(self, answer: str | int | None) -> PickedAnswer:
        """The mean, the standard deviation or the median; or one of the answers."""
        name = _MEAN if answer is None else answer
        if name not in _FOLLOWED:
            try:
                return picked_answer(self, self.find(name))
            except SottovoceError:
                raise SurveyError(
                    f"answer must be {', '.join(map(repr, _FOLLOWED))} or an answer's label; or a function of an "
                    "estimate and a level"
                ).at("answer") from None
        ends = (0.0, self.grid.half) if name == _DEVIATION else (self.grid.low, self.grid.high)
        weights = (lambda estimate: estimate.mean_weights()) if name == _MEAN else None
        half_bin, constant = 0.0, 0.0
        if self.wants == "distribution":
            # Shares below the ends of bins say how far people are below the middle of the last one.
            half_bin = self.grid.half / self.grid.points
            constant = self.grid.high - half_bin
        of, unit = _FOLLOWED[str(name)], self.grid.unit
        return PickedAnswer(str(name), unit, of, weights, ends, error=half_bin, constant=constant)

    def followed_names(self, latest: Estimate | None, most: int) -> list[str]:
        """What follows from the aim, and then the answers."""
        several = {"mean": 1, "spread": 2, "distribution": 3}[self.wants]
        return list(dict.fromkeys([*[*_FOLLOWED][:several], *super().followed_names(latest, most)]))

    def compared_names(self) -> list[str]:
        """The mean; of a distribution also the shares at or below each number."""
        # Everybody is at or below the last one.
        return [_MEAN, *(super().compared_names()[:-1] if self.answers_are_shares else ())]

    def compared(self, answer: str | int) -> PickedAnswer:
        """The mean, or the share at or below a number: a difference of others has no test whose level is known."""
        picked = self._followed(answer)
        if picked.weights is None or (picked.index is not None and not self.answers_are_shares):
            remedy = f"the shares at or below a number, such as {self.label(0)!r}" if self.answers_are_shares else ""
            raise SurveyError(
                f"{picked.name} cannot be compared between two estimates: there is no test of it whose level is known; "
                f"compare the mean{remedy and ' or '}{remedy}"
            ).at("answers")
        return picked

    def panels(self, n_answers: int) -> list[Panel]:
        """A distribution's curve; a mean and a spread have figures instead."""
        from sottovoce.workloads.pictures import Cdf

        if not self.answers_are_shares:
            return []
        title = f"share of people at or below each number{self.grid.unit and f' ({self.grid.unit})'}"
        return [Cdf(title, 0, n_answers, True, list(self.ends[1:].tolist()))]

    def figures(self, estimate: Any, level: float) -> list[NumberFigure]:
        from sottovoce.workloads.pictures import NumberFigure, number_figure

        figures = [number_figure("mean", self.grid, estimate.mean(level=level))]
        if self.wants != "mean":
            deviation = estimate.standard_deviation(level)
            ends = (deviation.value, deviation.low, deviation.high, 0.0, self.grid.half)
            figures.append(NumberFigure("standard deviation", self.grid.unit, *ends))
        if self.answers_are_shares:
            figures += [
                number_figure(name, self.grid, estimate.quantile(share, level)) for name, share in _QUANTILES.items()
            ]
        return figures

    def histogram(self, estimate: Any, level: float) -> NumberHistogram | None:
        from sottovoce.workloads.pictures import number_histogram

        return number_histogram(self.grid.unit, estimate.histogram(level, True)) if self.answers_are_shares else None

    def label(self, index: int) -> str:
        return self.workload.name(index)

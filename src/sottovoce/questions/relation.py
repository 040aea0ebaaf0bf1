"""Relation: a line through people's numbers, how they are correlated, and what one says of another."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from statistics import NormalDist
from typing import TYPE_CHECKING, Any, ClassVar, Final, Self, final

from sottovoce.core.errors import NoReportsError, PlanError, SurveyError
from sottovoce.core.words import figure
from sottovoce.domain.number import NumberGrid
from sottovoce.domain.ranges import RangeDomain
from sottovoce.estimates.estimate import Estimate
from sottovoce.estimates.line import axis_of, slope_unit
from sottovoce.estimates.relation_estimate import RelationEstimate
from sottovoce.estimates.series import PickedAnswer
from sottovoce.questions.base import plain_attributes
from sottovoce.questions.form import FormQuestion, field_from_statement, field_statement
from sottovoce.questions.invented import RelatedPeople
from sottovoce.questions.parameter import Parameter, clear_question
from sottovoce.questions.slope_goal import SlopeGoal, checked_error
from sottovoce.workloads.record_moments import RecordMoments
from sottovoce.workloads.record_tables import Field, checked_fields

if TYPE_CHECKING:
    from sottovoce.workloads.pictures import NumberFigure, Panel

__all__ = ["Relation", "relation"]

_OUTCOME: Final = "outcome"
"""The name of an outcome that has no unit."""

_TWO_SIDED: Final = NormalDist().inv_cdf(0.975)
"""Half the width of a 95 % interval, in standard errors."""

_SLOPE, _EXPLAINED = "slope of ", "R squared"
"""Names of what is followed over time and compared between groups."""

_ENDS: Final = 2
"""Grid points of a number: its two ends. A device computes with the positions between them."""


@clear_question('sv.relation({"age": sv.number(18, 90)}, outcome=sv.number(0, 600, "minutes"))')
def relation(regressors: Mapping[str, Any], outcome: Any) -> Relation:
    """The question for how an outcome depends on other things: slopes, correlations and predictions.

    Each person answers with one record, and sends one report on all of it.

    Parameters
    ----------
    regressors
        Names, each with a number or a list of values: `{"age": number(18, 90), "plan": ["free", "pro"]}`. The values of
        a list are compared with its first one; a range of integers is a number between its ends.
    outcome
        A number, or a list of two values. Its name is the number's unit, or "outcome"; a mapping gives another:
        `{"usage": number(0, 600, "minutes")}`.

    Examples
    --------
    >>> from sottovoce import number
    >>> question = relation({"age": number(18, 90), "plan": ["free", "pro"]}, outcome=number(0, 600, "minutes"))
    >>> question.field_names, question.n_answers
    (('age', 'plan', 'minutes'), 8)
    """
    return Relation.of(regressors=regressors, outcome=outcome)


@final
@dataclass(frozen=True, repr=False)
class Relation(FormQuestion):
    """The means of features and of their products, from which the line of an outcome on all regressors follows.

    Numbers are clipped to their ends, since a refusal would reveal something: all answers are of the clipped numbers.

    Examples
    --------
    >>> question = Relation({"age": NumberGrid(18, 90)}, {"minutes": NumberGrid(0, 600)})
    >>> question.label(2), question.private_input({"age": 54, "minutes": 600}).tolist()
    ('age * age', [32768, 65536])
    """

    regressors: Any
    outcome: Any

    kind: ClassVar[str] = "relation"
    called: ClassVar[str] = "How things are related"
    summary: ClassVar[str] = "a line through people's numbers: slopes, correlations and predictions"
    parameters: ClassVar[tuple[Parameter, ...]] = (
        Parameter("regressors", "fields", "what the outcome may depend on", "age=number:18..90 plan=free,pro"),
        Parameter("outcome", "fields", "the number that depends on it, with its name", "minutes=number:0..600:minutes"),
    )
    goals: ClassVar[tuple[Parameter, ...]] = (
        Parameter("slope_error", "number", "standard error of a slope to reach; instead of an error", "0.5"),
        Parameter("of", "text", "the regressor whose slope it is; the only one by default", "age"),
    )
    strategies: ClassVar[tuple[str, ...]] = ("products",)
    projected_on: ClassVar[str] = "the range of each mean"

    def __post_init__(self) -> None:
        regressors = _checked(self.regressors, "regressors")
        outcome = _checked(self.outcome, "outcome")
        if len(outcome) != 1:
            raise SurveyError(f"outcome has {len(outcome)} fields; give one, such as {{'minutes': number(0, 600)}}").at(
                "outcome"
            )
        name, held = outcome[0]
        if name in dict(regressors):
            raise SurveyError(f"the outcome {name!r} is among the regressors; leave it out there").at("outcome")
        if not isinstance(held, NumberGrid) and held.size != _ENDS:
            raise SurveyError(
                f"the outcome {name!r} has {held.size:,} values; it must be a number, or a list of two values"
            ).at("outcome")
        object.__setattr__(self, "regressors", regressors)
        object.__setattr__(self, "outcome", outcome)
        _ = self.workload.features

    @classmethod
    def _of(cls, **given: Any) -> Self:
        outcome = given["outcome"]
        if not isinstance(outcome, Mapping | tuple):
            unit = getattr(outcome, "unit", "")
            outcome = {unit if isinstance(unit, str) and unit.isidentifier() else _OUTCOME: outcome}
        return cls(given["regressors"], outcome)

    @classmethod
    def _fields(cls) -> tuple[str, ...]:
        return ("regressors", "outcome")

    @classmethod
    def _from_statement(cls, statement: dict[str, Any]) -> Self:
        listed = statement["regressors"]
        if not isinstance(listed, list):
            raise SurveyError("the regressors of a relation must be a list").at("regressors")
        fields = [field_from_statement(field) for field in listed]
        if len(dict(fields)) < len(fields):
            raise SurveyError("two regressors have the same name: every one needs its own").at("regressors")
        question = cls(dict(fields), dict([field_from_statement(statement["outcome"])]))
        if question.to_statement() != statement:
            raise SurveyError("a relation's numbers and ranges must be numbers with their two ends as grid points").at(
                "regressors"
            )
        return question

    def _statement(self) -> dict[str, Any]:
        return {
            "regressors": [field_statement(*field) for field in self.regressors],
            "outcome": field_statement(*self.outcome[0]),
        }

    @property
    def attributes(self) -> tuple[tuple[str, Field], ...]:
        """The fields of a record: the regressors, then the outcome."""
        return (*self.regressors, *self.outcome)

    @cached_property
    def workload(self) -> RecordMoments:
        return RecordMoments(self.attributes)

    def invented_people(self) -> RelatedPeople:
        return RelatedPeople(self.workload)

    @property
    def estimate_class(self) -> type[RelationEstimate]:
        return RelationEstimate

    def label(self, index: int) -> str:
        return self.workload.name(index)

    # --- what is followed over time, compared and shown: slopes, and what the line explains ----------------

    @property
    def _slopes(self) -> list[str]:
        return [f"{_SLOPE}{name}" for name in self.workload.feature_names[:-1]]

    @property
    def figure_names(self) -> list[str]:
        """What estimates show first: the slopes, and what the line explains."""
        return [*self._slopes, _EXPLAINED]

    def _followed(self, answer: str | int | None) -> PickedAnswer:
        """The slope on a regressor, "slope of age", or R squared; or one of the means."""
        names = self.figure_names
        if answer is None and len(self._slopes) == 1:
            answer = names[0]
        if answer not in names:
            try:
                return super()._followed(answer)
            except SurveyError:
                raise SurveyError(
                    f"answer must be one of {', '.join(map(repr, names))}, or the name of a mean such as "
                    f"{self.label(0)!r}; or a function of an estimate and a level"
                ).at("answer") from None
        if answer == _EXPLAINED:
            return PickedAnswer(_EXPLAINED, "", lambda found, level: found.r_squared(level), None, (0.0, 1.0), True)
        name = str(answer).removeprefix(_SLOPE)
        goal = self._slope_goal(None, self.workload.feature_names.index(name))
        return PickedAnswer(
            str(answer), goal.unit, lambda found, level: found.slope(name, level), None, (-math.inf, math.inf)
        )

    def followed_names(self, latest: Estimate | None, most: int) -> list[str]:
        return [*self.figure_names, *super().followed_names(latest, most)][:most]

    def compared_names(self) -> list[str]:
        """The slopes."""
        return self._slopes

    def panels(self, n_answers: int) -> list[Panel]:
        """None: means of products say little by themselves; slopes are figures."""
        return []

    def figures(self, estimate: Any, level: float) -> list[NumberFigure]:
        """Slopes and what the line explains, as far as they are known."""
        from sottovoce.workloads.pictures import NumberFigure

        try:
            line = estimate.line()
        except NoReportsError:
            return []
        found = []
        for slope in line.slopes(level):
            if math.isfinite(slope.low) and math.isfinite(slope.high):
                most = 1.25 * max(abs(slope.low), abs(slope.high))
                name = f"{_SLOPE}{slope.label}"
                found.append(NumberFigure(name, slope.unit, slope.value, slope.low, slope.high, -most, most))
        explained = line.r_squared(level)
        if math.isfinite(explained.value):
            found.append(NumberFigure(_EXPLAINED, "", explained.value, explained.low, explained.high, 0.0, 1.0))
        return found

    # --- plans ----------------------------------------------------------------------------------

    def goal(self, **given: object) -> SlopeGoal:
        """The slope on one regressor, which is named where there are several."""
        slope_error, of = given.get("slope_error"), given.get("of")
        names = self.workload.feature_names[:-1]
        if of is None and len(names) > 1 and slope_error is not None:
            raise PlanError(f"of must name the regressor whose slope is meant: one of {', '.join(names)}").at("of")
        if of is not None and of not in names:
            raise PlanError(f"of must name a regressor: one of {', '.join(names)}").at("of")
        error = None if slope_error is None else checked_error(slope_error)
        return self._slope_goal(error, 0 if of is None else names.index(str(of)))

    def _slope_goal(self, error: float | None, place: int) -> SlopeGoal:
        axis, outcome = axis_of(self.workload, place), axis_of(self.workload, len(self.workload.feature_names) - 1)
        return SlopeGoal(error, place, outcome.half / axis.half, slope_unit(axis, outcome))

    def accuracy(self, design: Any, people: int) -> str:
        """How well every slope will be known."""
        names = self.workload.feature_names[:-1]
        known = []
        for place, name in enumerate(names):
            goal = self._slope_goal(None, place)
            reach = _TWO_SIDED * goal.reached(self, design, people)
            known.append(f"{name} to about ±{figure(reach)} {goal.unit}".rstrip())
        slopes = "; on ".join(known)
        return f"the slope on {slopes} (95 %), for numbers in the middle of their ranges and values that are not rare"


def _checked(given: object, argument: str) -> tuple[tuple[str, Field], ...]:
    """Names and fields; numbers, and ranges of integers, as numbers with their two ends as grid points."""
    try:
        fields = checked_fields(plain_attributes(dict(given) if isinstance(given, tuple) else given))
    except SurveyError as error:
        raise error.at(argument) from None
    return tuple((name, _related(field)) for name, field in fields)


def _related(field: Field) -> Field:
    if isinstance(field, NumberGrid):
        return replace(field, points=_ENDS)
    if isinstance(field, RangeDomain):
        first, last = sorted((field.start, field.start + field.step * (field.size - 1)))
        return NumberGrid(first, last, points=_ENDS, missing=field.missing)
    return field

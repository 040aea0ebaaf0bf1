"""Vector: the mean of people's vectors (Sec. 3 of the paper without a finite domain)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, ClassVar, Final, Self, final

import numpy as np
from numpy.typing import NDArray

from sottovoce.core.errors import SurveyError, ValueOutsideDomainError
from sottovoce.core.limits import MAX_DIMENSION, MAX_RADIUS, MIN_RADIUS, check_dimension, check_radius
from sottovoce.core.words import plural
from sottovoce.domain.typed import parse_numbers
from sottovoce.mechanisms.vector import VectorTrials, as_floats, as_vector, clip_to_ball
from sottovoce.questions.base import Question
from sottovoce.questions.invented import VectorPeople
from sottovoce.questions.parameter import Parameter, clear_question
from sottovoce.questions.people import People
from sottovoce.workloads.ball import Ball

__all__ = ["Vector", "vector"]

Floats = NDArray[np.float64]

_SLACK: Final = 1e-9
"""Relative tolerance for rounding before a vector counts as outside the ball."""


@clear_question("sv.vector(16, 1.0)")
def vector(dimension: int, radius: float = 1.0, *, clip: bool = False, labels: Sequence[str] = ()) -> Vector:
    """The question for the mean of people's vectors, each of norm at most `radius`.

    Parameters
    ----------
    dimension
        Numbers per person; a vector of one number may be given as a number.
    radius
        The largest norm. A device moves a longer vector to the nearest point of the ball, since a refusal would reveal
        something.
    clip
        Whether a simulation does the same; otherwise it refuses such a vector, so that a wrong radius is noticed.
    labels
        Names of the coordinates in estimates. Neither `clip` nor `labels` is part of a survey's JSON.

    Examples
    --------
    >>> vector(2, radius=5.0, labels=["height", "width"]).label(1)
    'width'
    """
    return Vector(dimension, radius, clip, _named(dimension, radius, labels) if len(labels) else None)


def _named(dimension: int, radius: float, labels: Sequence[str]) -> Ball:
    """The ball whose coordinates have these names."""
    expected = check_dimension(dimension)
    texts = [] if isinstance(labels, str) else [label for label in labels if isinstance(label, str) and label]
    if len(labels) != expected or len(set(texts)) != expected:
        many = plural(expected, "different text")
        raise SurveyError(f"labels must be {many}, one for each coordinate").at("labels")
    return Ball(dimension, radius, tuple(texts))


@final
@dataclass(frozen=True, repr=False)
class Vector(Question):
    """The mean over people of a vector of norm at most `radius`: the identity query on a ball.

    A device moves a vector outside the ball to the nearest point of the ball, since a refusal would reveal something.
    A simulation refuses such a vector, so that a wrong radius is noticed, unless `clip` is True.

    `ball` may name the coordinates and narrow their range; like `clip`, it is not part of the JSON.

    Examples
    --------
    >>> question = Vector(3, radius=2.0)
    >>> question.n_answers, question.label(1), question.answer_range
    (3, 'x[1]', (-2.0, 2.0))
    """

    dimension: int
    radius: float = 1.0
    clip: bool = field(default=False, compare=False)
    ball: Ball | None = field(default=None, compare=False)

    kind: ClassVar[str] = "vector"
    called: ClassVar[str] = "A list of numbers"
    summary: ClassVar[str] = "the mean of people's vectors"
    parameters: ClassVar[tuple[Parameter, ...]] = (
        Parameter("dimension", "integer", "numbers per person", "20", low=1, high=MAX_DIMENSION),
        Parameter(
            "radius",
            "number",
            "the largest norm a person's vector may have; longer ones are shortened",
            "5",
            default=1.0,
            in_examples=True,
            low=MIN_RADIUS,
            high=MAX_RADIUS,
        ),
    )
    strategies: ClassVar[tuple[str, ...]] = ("direct",)
    projected_on: ClassVar[str] = "ball"
    held: ClassVar[str] = "the whole vector of a person, all its coordinates together"
    plotted_with_people: ClassVar[bool] = True

    def __post_init__(self) -> None:
        object.__setattr__(self, "dimension", check_dimension(self.dimension))
        object.__setattr__(self, "radius", check_radius(self.radius))
        if self.ball is not None and (self.ball.dimension, self.ball.radius) != (self.dimension, self.radius):
            raise SurveyError("the ball must have the dimension and radius of the question").at("ball")

    @classmethod
    def _of(cls, **given: Any) -> Self:
        return cls(**given)

    @classmethod
    def _fields(cls) -> tuple[str, ...]:
        return ("dimension", "radius")

    @classmethod
    def _from_statement(cls, statement: dict[str, Any]) -> Self:
        return cls(statement["dimension"], statement["radius"])

    def _statement(self) -> dict[str, Any]:
        return {"dimension": self.dimension, "radius": self.radius}

    @cached_property
    def workload(self) -> Ball:
        return Ball(self.dimension, self.radius) if self.ball is None else self.ball

    @property
    def domain(self) -> None:
        return None

    def private_input(self, value: object) -> Floats:
        """Any vector of the right length; the mechanism clips it, since a refusal would reveal something."""
        vector = as_vector(value, self.dimension)
        if vector is None:
            raise ValueOutsideDomainError(f"every value must be a vector of {plural(self.dimension, 'number')}").at(
                "value"
            )
        return vector

    def parse(self, text: str) -> object:
        """Numbers between commas."""
        return parse_numbers(text)

    def check_columns(self, names: Sequence[str]) -> None:
        if len(names) != self.dimension:
            raise SurveyError(
                f"columns names {len(names):,}, and the survey asks for vectors of {self.dimension:,} numbers: name "
                "one column for each, in their order"
            ).at("columns")

    def value_of_columns(self, row: Mapping[str, Any]) -> object:
        return list(row.values())

    def audit_trials(self) -> VectorTrials:
        return VectorTrials(self.dimension, self.radius)

    def people(self, values: Any) -> People:
        vectors = self._vectors(values)
        return People(len(vectors), lambda start, stop: vectors[start:stop])

    def _vectors(self, values: Any) -> Floats:
        numbers = as_floats(values)
        rows = np.empty(0) if numbers is None else numbers
        if self.dimension == 1 and rows.ndim == 1:
            rows = rows[:, None]  # one number a person
        if rows.ndim != 2 or rows.shape[1] != self.dimension or not np.isfinite(rows).all():
            many = plural(self.dimension, "finite number")
            raise ValueOutsideDomainError(f"every value must be a vector of {many}").at("values")
        norms = np.sqrt(np.einsum("ij,ij->i", rows, rows))
        if self.clip:
            return rows if (norms <= self.radius).all() else np.stack([clip_to_ball(r, self.radius) for r in rows])
        if (norms > self.radius * (1 + _SLACK)).any():
            raise ValueOutsideDomainError(
                f"a vector is outside the ball of radius {self.radius:g}; give a larger radius, or clip=True to "
                "move it to the nearest point of the ball, as devices do"
            ).at("values")
        return rows

    def invented_people(self) -> VectorPeople:
        return VectorPeople(self.dimension, self.radius)

    @property
    def values_text(self) -> str:
        return f"a vector of {plural(self.dimension, 'number')} within radius {self.radius:g}"

    @property
    def answers_text(self) -> str:
        return f"Mean of {plural(self.n_answers, 'number')}"

    def in_round(self, seat: Any) -> Vector | None:
        """The mean of one number within the panel's radius."""
        question: Vector | None = seat.mean() if (self.dimension, self.radius) == (1, seat.panel.radius) else None
        return question

    def label(self, index: int) -> str:
        return self.workload.name(index)

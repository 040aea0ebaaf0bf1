"""Invented people whose values cannot be listed: numbers, sets of options, records of several fields, words.

Everybody is drawn independently, and what a perfect estimate would say is known.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import reduce
from typing import Any, ClassVar, Final, Protocol, final

import numpy as np
from numpy.typing import NDArray

from sottovoce.domain import Domain
from sottovoce.domain.number import NumberGrid
from sottovoce.lab.populations.words import WordPeople
from sottovoce.questions.base import Question
from sottovoce.questions.choices import Choices
from sottovoce.questions.number import Number
from sottovoce.questions.records import Records
from sottovoce.questions.words import Words
from sottovoce.workloads.naming import value_at

__all__ = ["FormPeople", "NumberPeople", "SetPeople", "UnlistedPeople", "population_of"]

Floats = NDArray[np.float64]

_SILENT: Final = 0.25
"""Share of people who tick nothing."""


class UnlistedPeople(Protocol):
    """An invented population."""

    words: ClassVar[str]
    """Who they are, in a few words."""

    def draw(self, n: int, rng: np.random.Generator) -> Any:
        """The values of n people, as `Question.people` takes them."""

    def values(self, n: int, rng: np.random.Generator) -> list[Any]:
        """The values of n people, as each gives theirs to a device."""

    @property
    def answers(self) -> Floats:
        """What a perfect estimate would say."""


def population_of(question: Question) -> UnlistedPeople | None:
    """The invented population for a question; None if its values can be listed, or are vectors."""
    match question:
        case Number():
            return NumberPeople(question)
        case Choices():
            return SetPeople(question)
        case Records():
            return FormPeople(question)
        case Words():
            return WordPeople.invented(question)
    return None


@final
@dataclass(frozen=True)
class NumberPeople:
    """Numbers with a long tail: low + (high - low) B, where B has the beta distribution with parameters 2 and 5.

    Examples
    --------
    >>> NumberPeople(Number.of(low=0, high=70)).answers
    array([20.])
    """

    question: Number

    words: ClassVar[str] = "numbers with a long tail"

    def draw(self, n: int, rng: np.random.Generator) -> Floats:
        """The numbers of n people."""
        grid = self.question.grid
        return np.asarray(grid.low + (grid.high - grid.low) * rng.beta(2, 5, n))

    def values(self, n: int, rng: np.random.Generator) -> list[float]:
        """The numbers of n people, one by one."""
        return list(self.draw(n, rng).tolist())

    @property
    def answers(self) -> Floats:
        """The mean; with its spread about the middle; or the share at or below each end of a bin."""
        question, grid = self.question, self.question.grid
        if question.wants == "distribution":
            x = np.arange(1, grid.points + 1) / grid.points
            # B is at most x if at least two of six uniform numbers are.
            return np.asarray(1 - (1 - x) ** 6 - 6 * x * (1 - x) ** 5)
        width = grid.high - grid.low
        mean = grid.low + width * 2 / 7
        variance = width**2 * 10 / (49 * 8)
        return np.array([mean, (variance + (mean - grid.middle) ** 2) / grid.half][: question.n_answers])


@final
@dataclass(frozen=True)
class SetPeople:
    """Sets of at most `most` options: a quarter of the people tick nothing, earlier options are more frequent.

    Of the others, a person's options are those in whose part of a line of length s the points u, u + 1, .. lie, u
    uniform in [0, 1] (systematic sampling): exactly the stated share of people ticks each option, and nobody more than
    ceil(s).

    Examples
    --------
    >>> SetPeople(Choices(["bus", "tram", "bike", "car"], most=2)).answers.round(3)
    array([0.269, 0.19 , 0.156, 0.135])
    """

    question: Choices

    words: ClassVar[str] = "sets, earlier options the more frequent"

    @property
    def _parts(self) -> Floats:
        """The share of each option among those who tick something."""
        weights = 1 / np.sqrt(np.arange(1, self.question.n_answers + 1))
        length = min(self.question.most / 2, 0.9 * weights.sum() / weights[0])
        return np.asarray(length * weights / weights.sum())

    @property
    def answers(self) -> Floats:
        """The share of people who tick each option."""
        return (1 - _SILENT) * self._parts

    def draw(self, n: int, rng: np.random.Generator) -> list[list[Any]]:
        """The options of n people."""
        ends = np.cumsum(self._parts)
        points = rng.random((n, 1)) + np.arange(int(np.ceil(ends[-1])))
        places = np.searchsorted(ends, points, side="right")
        places[rng.random(n) < _SILENT] = len(ends)
        options = self.question.options
        values = [value_at(options, index) for index in range(options.size)]
        return [[values[place] for place in row if place < len(values)] for row in places.tolist()]

    def values(self, n: int, rng: np.random.Generator) -> list[list[Any]]:
        """The options of n people, one by one."""
        return self.draw(n, rng)


@final
@dataclass(frozen=True)
class FormPeople:
    """Records of two kinds of people, half of them each; within a kind, fields are independent.

    Of the first kind, earlier values of a field are more frequent, and numbers are small; of the second, all values are
    as frequent, and numbers are large.

    Examples
    --------
    >>> people = FormPeople(Records({"plan": ["free", "pro"], "minutes": NumberGrid(0, 600)}, tables=1))
    >>> people.answers.round(3)
    array([0.583, 0.417, 0.25 , 0.5  , 0.25 ])
    """

    question: Records

    words: ClassVar[str] = "records of two kinds of people"

    def draw(self, n: int, rng: np.random.Generator) -> dict[str, list[Any]]:
        """The records of n people, one column per field."""
        second = rng.random(n) < 0.5
        return {name: _column(field, second, rng) for name, field in self.question.attributes}

    def values(self, n: int, rng: np.random.Generator) -> list[dict[str, Any]]:
        """The records of n people, one by one."""
        columns = self.draw(n, rng)
        return [dict(zip(columns, row, strict=True)) for row in zip(*columns.values(), strict=True)]

    @property
    def answers(self) -> Floats:
        """The share of each cell of every table."""
        fields = [
            [_cell_shares(field, is_second) for _, field in self.question.attributes] for is_second in (False, True)
        ]
        tables = self.question.workload.tables
        halves = [
            [reduce(np.multiply.outer, [kind[at] for at in table]).ravel() for table in tables] for kind in fields
        ]
        return np.asarray(0.5 * (np.concatenate(halves[0]) + np.concatenate(halves[1])))


def _column(field: Domain | NumberGrid, second: NDArray[np.bool_], rng: np.random.Generator) -> list[Any]:
    """One field of everybody."""
    u, v = rng.random((2, len(second)))
    if isinstance(field, NumberGrid):
        fractions = np.where(second, np.maximum(u, v), np.minimum(u, v))
        return list((field.low + (field.high - field.low) * fractions).tolist())
    ends = [np.cumsum(_cell_shares(field, is_second)) for is_second in (False, True)]
    places = np.where(second, np.searchsorted(ends[1], u), np.searchsorted(ends[0], u))
    values = [value_at(field, index) for index in range(field.size)]
    return [values[place] for place in np.minimum(places, field.size - 1).tolist()]


def _cell_shares(field: Domain | NumberGrid, is_second: bool) -> Floats:
    """The share of each value among people of one kind; of a number, of each grid point after random rounding."""
    if not isinstance(field, NumberGrid):
        weights = np.ones(field.size) if is_second else 1 / np.arange(1, field.size + 1)
        return np.asarray(weights / weights.sum())
    # The smaller of two uniform numbers has the density 2 (1 - x), which rounding at random to a grid keeps at inner
    # points; the larger one has its mirror image.
    step = 1 / (field.points - 1)
    shares = 2 * step * (1 - np.linspace(0, 1, field.points))
    shares[0], shares[-1] = step - step**2 / 3, step**2 / 3
    return shares[::-1].copy() if is_second else shares

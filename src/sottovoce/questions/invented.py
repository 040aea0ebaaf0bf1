"""Invented people for simulations of questions whose values cannot be listed: numbers, sets, records, vectors.

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
from sottovoce.questions.people import People
from sottovoce.workloads.naming import value_at
from sottovoce.workloads.record_moments import RecordMoments
from sottovoce.workloads.record_tables import RecordTables

__all__ = ["FormPeople", "InventedPeople", "ListedAnswers", "NumberPeople", "SetPeople", "VectorPeople"]

Floats = NDArray[np.float64]

_COSINE: Final = 0.6
"""Cosine of the angle between a person's vector and the common direction."""

_SILENT: Final = 0.25
"""Share of people who tick nothing."""


class InventedPeople(Protocol):
    """An invented population, whose true answers are known."""

    words: ClassVar[str]
    """The people, in a few words."""

    @property
    def answers(self) -> Floats:
        """What a perfect estimate would say."""

    @property
    def shares(self) -> dict[str, float] | None:
        """The true share of every answer by its label, where the survey does not list answers; None elsewhere."""

    def draw(self, n: int, rng: np.random.Generator) -> Any:
        """The values of n people, as `Question.people` takes them."""

    def values(self, n: int, rng: np.random.Generator) -> list[Any]:
        """The values of n people, as each gives theirs to a device."""

    def crowd(self, n: int, seed: int) -> People | None:
        """n people whose values are drawn when they are needed, for values too long to be held; None for others."""


class ListedAnswers:
    """What populations share whose answers the survey lists, and whose values are short."""

    @property
    def shares(self) -> None:
        return None

    def crowd(self, n: int, seed: int) -> People | None:
        return None


@final
@dataclass(frozen=True)
class NumberPeople(ListedAnswers):
    """Numbers with a long tail: low + (high - low) B, where B has the beta distribution with parameters 2 and 5.

    Examples
    --------
    >>> NumberPeople(NumberGrid(0, 70), "mean").answers
    array([20.])
    """

    grid: NumberGrid
    wants: str

    words: ClassVar[str] = "numbers with a long tail"

    def draw(self, n: int, rng: np.random.Generator) -> Floats:
        """The numbers of n people."""
        grid = self.grid
        return np.asarray(grid.low + (grid.high - grid.low) * rng.beta(2, 5, n))

    def values(self, n: int, rng: np.random.Generator) -> list[float]:
        """The numbers of n people, one by one."""
        return list(self.draw(n, rng).tolist())

    @property
    def answers(self) -> Floats:
        """The mean; with its spread about the middle; or the share at or below each end of a bin."""
        grid = self.grid
        if self.wants == "distribution":
            x = np.arange(1, grid.points + 1) / grid.points
            # B is at most x if at least two of six uniform numbers are.
            return np.asarray(1 - (1 - x) ** 6 - 6 * x * (1 - x) ** 5)
        width = grid.high - grid.low
        mean = grid.low + width * 2 / 7
        variance = width**2 * 10 / (49 * 8)
        return np.array(
            [mean, (variance + (mean - grid.middle) ** 2) / grid.half][: 2 if self.wants == "spread" else 1]
        )


@final
@dataclass(frozen=True)
class SetPeople(ListedAnswers):
    """Sets of at most `most` options: a quarter of the people tick nothing, earlier options are more frequent.

    Of the others, a person's options are those in whose part of a line of length s the points u, u + 1, .. lie, u
    uniform in [0, 1] (systematic sampling): exactly the stated share of people ticks each option, and nobody more than
    ceil(s).

    Examples
    --------
    >>> SetPeople(Domain.of(["bus", "tram", "bike", "car"]), most=2).answers.round(3)
    array([0.269, 0.19 , 0.156, 0.135])
    """

    options: Domain
    most: int

    words: ClassVar[str] = "sets, earlier options the more frequent"

    @property
    def _parts(self) -> Floats:
        """The share of each option among those who tick something."""
        weights = 1 / np.sqrt(np.arange(1, self.options.size + 1))
        length = min(self.most / 2, 0.9 * weights.sum() / weights[0])
        return np.asarray(length * weights / weights.sum())

    @property
    def answers(self) -> Floats:
        """The share of people who tick each option."""
        return (1 - _SILENT) * self._parts

    def draw(self, n: int, rng: np.random.Generator) -> list[list[Any]]:
        """The options of n people."""
        ends = np.cumsum(self._parts)
        points = rng.random((n, 1)) + np.arange(int(np.ceil(ends[-1])))
        indices = np.searchsorted(ends, points, side="right")
        indices[rng.random(n) < _SILENT] = len(ends)
        values = [value_at(self.options, index) for index in range(self.options.size)]
        return [[values[index] for index in row if index < len(values)] for row in indices.tolist()]

    def values(self, n: int, rng: np.random.Generator) -> list[list[Any]]:
        """The options of n people, one by one."""
        return self.draw(n, rng)


@dataclass(frozen=True)
class RecordPeople(ListedAnswers):
    """Records of two kinds of people, half of them each; within a kind, fields are independent.

    Of the first kind, earlier values of a field are more frequent, and numbers are small; of the second, all values are
    as frequent, and numbers are large.
    """

    words: ClassVar[str] = "records of two kinds of people"

    @property
    def fields(self) -> tuple[tuple[str, Domain | NumberGrid], ...]:
        """Names and fields of a record."""
        raise NotImplementedError

    def draw(self, n: int, rng: np.random.Generator) -> dict[str, list[Any]]:
        """The records of n people, one column per field."""
        second = rng.random(n) < 0.5
        return {name: _column(field, second, rng) for name, field in self.fields}

    def values(self, n: int, rng: np.random.Generator) -> list[dict[str, Any]]:
        """The records of n people, one by one."""
        columns = self.draw(n, rng)
        return [dict(zip(columns, row, strict=True)) for row in zip(*columns.values(), strict=True)]


@final
@dataclass(frozen=True)
class RelatedPeople(RecordPeople):
    """Records whose features are related through the kind of person.

    Examples
    --------
    >>> ends = NumberGrid(0, 600, points=2)
    >>> RelatedPeople(RecordMoments((("x", ends), ("y", ends)))).answers.round(3)
    array([0.   , 0.   , 0.333, 0.111, 0.333])
    """

    moments: RecordMoments

    @property
    def fields(self) -> tuple[tuple[str, Domain | NumberGrid], ...]:
        return self.moments.fields

    @property
    def answers(self) -> Floats:
        """The mean of every feature and product: within a kind, the mean of a product is that of the means."""
        return np.asarray((self._of_kind(is_second=False) + self._of_kind(is_second=True)) / 2)

    def _of_kind(self, *, is_second: bool) -> Floats:
        features = self.moments.features
        means = []
        for place, value in features.listed:
            field = self.moments.fields[place][1]
            # The smaller of two uniform numbers is a third of the way up its range.
            number = 1 / 3 if is_second else -1 / 3
            means.append(number if isinstance(field, NumberGrid) else 2 * _cell_shares(field, is_second)[value] - 1)
        return np.array(
            [means[i] if j < 0 else _SQUARE if i == j else means[i] * means[j] for i, j in features.products]
        )


_SQUARE: Final = 1 / 3
"""The mean square of a number's feature: of the smaller and of the larger of two uniform numbers alike."""


@final
@dataclass(frozen=True)
class FormPeople(RecordPeople):
    """Records whose tables are known.

    Examples
    --------
    >>> fields = {"plan": Domain.of(["free", "pro"]), "minutes": NumberGrid(0, 600)}
    >>> people = FormPeople(RecordTables(tuple(fields.items()), 1))
    >>> people.answers.round(3)
    array([0.583, 0.417, 0.25 , 0.5  , 0.25 ])
    """

    tables: RecordTables

    @property
    def fields(self) -> tuple[tuple[str, Domain | NumberGrid], ...]:
        return self.tables.fields

    @property
    def answers(self) -> Floats:
        """The share of each cell of every table."""
        fields = [[_cell_shares(field, is_second) for _, field in self.tables.fields] for is_second in (False, True)]
        tables = self.tables.tables
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
    indices = np.where(second, np.searchsorted(ends[1], u), np.searchsorted(ends[0], u))
    values = [value_at(field, index) for index in range(field.size)]
    return [values[index] for index in np.minimum(indices, field.size - 1).tolist()]


def _cell_shares(field: Domain | NumberGrid, is_second: bool) -> Floats:
    """The share of each value among people of one kind; for a number, of each grid point after random rounding."""
    if not isinstance(field, NumberGrid):
        weights = np.ones(field.size) if is_second else 1 / np.arange(1, field.size + 1)
        return np.asarray(weights / weights.sum())
    # The smaller of two uniform numbers has the density 2 (1 - x), which rounding at random to a grid keeps at inner
    # points; the larger one has its mirror image.
    step = 1 / (field.points - 1)
    shares = 2 * step * (1 - np.linspace(0, 1, field.points))
    shares[0], shares[-1] = step - step**2 / 3, step**2 / 3
    return shares[::-1].copy() if is_second else shares


@final
@dataclass(frozen=True)
class VectorPeople:
    """Vectors radius U (0.6 e + 0.8 w): U is uniform in [0, 1], e = (1, .., 1)/sqrt(dimension), w orthogonal to e.

    w is a uniformly random unit vector: norms run from 0 to the radius, and the mean is radius 0.5 0.6 e. In one
    dimension, where nothing is orthogonal to e, the vector is radius U e with probability 0.8 and its opposite
    otherwise, which has the same mean.

    Examples
    --------
    >>> VectorPeople(4, 2.0).answers
    array([0.3, 0.3, 0.3, 0.3])
    """

    dimension: int
    radius: float

    words: ClassVar[str] = "vectors around one direction"

    @property
    def answers(self) -> Floats:
        """The mean: three tenths of the radius in the direction (1, .., 1)."""
        return np.full(self.dimension, self.radius * _COSINE / 2 / np.sqrt(self.dimension))

    @property
    def shares(self) -> None:
        return None

    def draw(self, n: int, rng: np.random.Generator) -> Floats:
        """The vectors of n people."""
        return np.asarray(self.crowd(n, int(rng.integers(2**63))).between(0, n))

    def values(self, n: int, rng: np.random.Generator) -> list[Floats]:
        """The vectors of n people, one by one."""
        return list(self.draw(n, rng))

    def crowd(self, n: int, seed: int) -> People:
        """n people, never all held at once."""
        dimension, radius = self.dimension, self.radius
        e = 1 / np.sqrt(dimension)

        def between(start: int, stop: int) -> Floats:
            rng = np.random.Generator(np.random.PCG64DXSM(np.random.SeedSequence(seed, spawn_key=(start,))))
            lengths = radius * rng.random((stop - start, 1))
            if dimension == 1:
                return np.where(rng.random(lengths.shape) < (1 + _COSINE) / 2, lengths, -lengths)
            w = rng.standard_normal((stop - start, dimension))
            w -= w.mean(axis=1, keepdims=True)
            w /= np.linalg.norm(w, axis=1, keepdims=True)
            w *= np.sqrt(1 - _COSINE**2)
            w += _COSINE * e
            w *= lengths
            return w

        return People(n, between)

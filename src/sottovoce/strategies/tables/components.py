"""Tables in components: for every set of attributes, what its table says beyond those of fewer attributes.

A table's cells are sums of components, p_T(c) = sum over S within T of theta_S(c_S) / (sizes of T outside S), where
theta_S sums to zero along every attribute of S (an analysis of variance). Components of different sets are
orthogonal, so least squares over tables that overlap is a weighted mean for every component alone.

Projection on tables that agree: no share is negative, shared margins are equal, every table sums to one.

argmin |x - raw| over such x. Accelerated ascent on the dual: with multipliers m >= 0 for x >= 0, x(m) is the nearest
consistent point to raw + m, and the dual's value bounds the distance from below. What is found is made feasible exactly
by mixing it with the uniform tables, and the gap between the two bounds is its certificate.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import accumulate, combinations
from typing import Any, Final, NamedTuple, final

import numpy as np
from numpy.typing import NDArray

from sottovoce.core.extras import full_install
from sottovoce.mechanisms.base import Floats

__all__ = ["Components", "ConsistentTables", "Table", "TableSet", "contrast_rows", "project_tables", "subsets"]

Table = tuple[int, ...]
"""The positions of a table's attributes, in increasing order."""


def subsets(table: Table) -> Iterator[Table]:
    """All sets of attributes of a table but the empty one."""
    return (part for size in range(1, len(table) + 1) for part in combinations(table, size))


@final
@dataclass(frozen=True)
class TableSet:
    """Some tables, with the numbers of their cells one after the other."""

    sizes: tuple[int, ...]
    tables: tuple[Table, ...]

    def shape(self, table: Table) -> tuple[int, ...]:
        """The sizes of a table."""
        return tuple(self.sizes[attribute] for attribute in table)

    def count(self, table: Table) -> int:
        """The cells of a table; 1 for the empty one."""
        return math.prod(self.shape(table))

    @cached_property
    def starts(self) -> tuple[int, ...]:
        """Where each table's cells begin, and where the last ones end."""
        return tuple(accumulate((self.count(table) for table in self.tables), initial=0))

    @property
    def cells(self) -> int:
        """The cells of all tables."""
        return self.starts[-1]

    @cached_property
    def numbers(self) -> dict[Table, int]:
        """The number of each table."""
        return {table: number for number, table in enumerate(self.tables)}

    def slice(self, table: Table) -> slice:
        """Where a table's cells are."""
        number = self.numbers[table]
        return slice(self.starts[number], self.starts[number + 1])

    def repeat(self, per_table: Sequence[float] | Floats) -> Floats:
        """One number per cell, from one per table."""
        return np.repeat(np.asarray(per_table, dtype=np.float64), np.diff(self.starts))


@final
@dataclass(frozen=True)
class Components:
    """The components of all sets of attributes within some tables, and sparse operators on them."""

    sizes: tuple[int, ...]
    tables: tuple[Table, ...]
    """Tables that are estimated."""

    @cached_property
    def answers(self) -> TableSet:
        """The tables that are estimated."""
        return TableSet(self.sizes, self.tables)

    @cached_property
    def parts(self) -> TableSet:
        """The sets of attributes that have a component."""
        parts = {part for table in self.tables for part in subsets(table)}
        return TableSet(self.sizes, tuple(sorted(parts, key=lambda part: (len(part), part))))

    @cached_property
    def dimensions(self) -> Floats:
        """The degrees of freedom of every component."""
        return np.array(
            [math.prod(self.sizes[attribute] - 1 for attribute in part) for part in self.parts.tables], dtype=float
        )

    def outside(self, table: Table, part: Table) -> int:
        """The product of the sizes of a table's attributes that are not in the part."""
        return math.prod(self.sizes[attribute] for attribute in table if attribute not in part)

    def incidence(self, tables: TableSet) -> Floats:
        """For parts (rows) and tables: 1/outside where the table holds the part, else 0."""
        incidence = np.zeros((len(self.parts.tables), len(tables.tables)))
        for column, table in enumerate(tables.tables):
            for part in subsets(table):
                incidence[self.parts.numbers[part], column] = 1 / self.outside(table, part)
        return incidence

    @cached_property
    def multiplicity(self) -> Floats:
        """How much of the squared error of all answers is one of a component's: the sum of 1/outside over tables."""
        return np.asarray(self.incidence(self.answers).sum(axis=1))

    def synthesis(self, tables: TableSet) -> Any:
        """Sparse: cells of tables, less 1/cells, from components."""
        with full_install:
            from scipy.sparse import csr_array

        rows, columns, entries = [], [], []
        for table in tables.tables:
            first = tables.starts[tables.numbers[table]]
            for part in subsets(table):
                rows.append(first + np.arange(tables.count(table)))
                columns.append(self.parts.starts[self.parts.numbers[part]] + self._cells_of(table, part))
                entries.append(np.full(tables.count(table), 1 / self.outside(table, part)))
        joined = np.concatenate(entries), (np.concatenate(rows), np.concatenate(columns))
        return csr_array(joined, shape=(tables.cells, self.parts.cells))

    def _cells_of(self, table: Table, part: Table) -> NDArray[np.int64]:
        """For every cell of a table, the number of the part's cell that it lies in."""
        numbers = np.arange(self.parts.count(part)).reshape(self.parts.shape(part))
        shape = [self.sizes[attribute] if attribute in part else 1 for attribute in table]
        whole = tuple(self.sizes[attribute] for attribute in table)
        return np.asarray(np.broadcast_to(numbers.reshape(shape), whole).reshape(-1))

    @cached_property
    def _to_answers(self) -> Any:
        return self.synthesis(self.answers)

    @cached_property
    def _from_answers(self) -> Any:
        return self._to_answers.T.tocsr()

    @cached_property
    def uniform(self) -> Floats:
        """The answers where every cell of a table has the same share."""
        return self.answers.repeat([1 / self.answers.count(table) for table in self.tables])

    def contrasts(self, numbers: Floats) -> Floats:
        """Numbers for the cells of all parts, less their means along every attribute; in rows, if there are several.

        The orthogonal projection on components: the identity less the mean, along each attribute in turn.
        """
        rows = np.atleast_2d(numbers)
        contrasts = np.empty_like(rows, dtype=np.float64)
        for part, start, stop in zip(self.parts.tables, self.parts.starts, self.parts.starts[1:], strict=False):
            cube = rows[:, start:stop].reshape(len(rows), *self.parts.shape(part))
            for axis in range(1, cube.ndim):
                cube = cube - cube.mean(axis=axis, keepdims=True)
            contrasts[:, start:stop] = cube.reshape(len(rows), -1)
        return contrasts.reshape(np.shape(numbers))

    def rebuild(self, components: Floats) -> Floats:
        """All answers, from components."""
        return np.asarray(self.uniform + self._to_answers @ components)

    def adjoint(self, weights: Floats) -> Floats:
        """Weights of components, from rows of weights of answers."""
        return self.contrasts(np.asarray((self._from_answers @ weights.T).T))

    def consistent(self, answers: Floats) -> Floats:
        """The nearest answers of tables that agree and sum to one, in L2."""
        means = self.contrasts(self._from_answers @ answers) / self.parts.repeat(self.multiplicity)
        return self.rebuild(means)


def contrast_rows(sizes: tuple[int, ...], table: Table, shared: Table, part: Table, first: slice) -> Floats:
    """For cells of the shared attributes (rows) their contrast along `part`, at every cell of the table.

    `first` are the values of the first shared attribute that are wanted.
    """
    rows: Floats = np.ones((1, 1))
    for attribute in table:
        size = sizes[attribute]
        axis = np.eye(size) - 1 / size if attribute in part else np.ones((size if attribute in shared else 1, size))
        rows = np.asarray(np.kron(rows, axis[first] if attribute in shared[:1] else axis))
    return rows


_STEPS: Final = 5_000
_CLOSE: Final = 1e-10
"""Squared distance to the exact projection, relative to that of the raw answers, at which the search ends."""

_EVERY: Final = 20


class ConsistentTables(NamedTuple):
    """The projected answers; they are within sqrt(gap) of the exact projection."""

    values: Floats
    gap: float


def project_tables(components: Components, raw: Floats) -> ConsistentTables:
    """The nearest tables that agree, without negative shares; `raw` need not agree."""
    start = components.consistent(raw)
    best = _feasible(components, start)
    if (start >= 0).all():
        return ConsistentTables(start, 0.0)
    best_distance = _square(best - raw)
    multipliers = ahead = np.zeros_like(raw)
    bound, momentum = _square(start - raw), 1.0
    for step in range(_STEPS):
        nearest = components.consistent(raw + ahead)
        following = np.maximum(0.0, ahead - nearest)
        if float((ahead - following) @ (following - multipliers)) > 0:  # uphill: start the momentum anew
            momentum, ahead = 1.0, multipliers
            continue
        faster = (1 + np.sqrt(1 + 4 * momentum**2)) / 2
        ahead = following + (momentum - 1) / faster * (following - multipliers)
        multipliers, momentum = following, faster
        if step % _EVERY == 0:
            point = components.consistent(raw + multipliers)
            bound = max(bound, _square(point - raw) - 2 * float(multipliers @ point))
            candidate = _feasible(components, point)
            distance = _square(candidate - raw)
            if distance < best_distance:
                best, best_distance = candidate, distance
            if best_distance - bound <= _CLOSE * max(bound, 1e-12):
                break
    return ConsistentTables(best, max(0.0, best_distance - bound))


def _feasible(components: Components, point: Floats) -> Floats:
    """As little of the uniform tables mixed in as leaves no share negative."""
    even = components.uniform
    with np.errstate(divide="ignore", invalid="ignore"):
        needed = np.where(point < 0, -point / (even - point), 0.0)
    part = float(needed.max(initial=0.0))
    return np.asarray(np.maximum(0.0, point + part * (even - point)))


def _square(vector: Floats) -> float:
    return float(vector @ vector)

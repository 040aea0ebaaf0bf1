"""How tables that devices answer are combined to tables that are asked for: which says what, with which weight."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Final, NamedTuple, final

import numpy as np
from numpy.typing import NDArray

from sottovoce.mechanisms.base import Counts, Floats
from sottovoce.mechanisms.tables import Tables
from sottovoce.strategies.tables.allocation import contrast_noise
from sottovoce.strategies.tables.components import Components, Table, TableSet, contrast_rows, subsets

__all__ = ["Overlap", "TableCombination", "overlaps"]

_BLOCK: Final = 2**21
"""Weights that are held together."""


class Overlap(NamedTuple):
    """What a table that is measured says about cells of a table that is asked for."""

    measured: int
    """The number of the measured table."""
    rows: Floats
    """Weights of the measured cells, one row for every cell of the attributes that the two share."""
    answers: NDArray[np.int64]
    """The numbers of the cells that are asked for, among all answers, in increasing order."""
    row: NDArray[np.int64]
    """The row of each cell."""


@final
@dataclass(frozen=True)
class TableCombination:
    """Every component of the tables that are asked for is the mean of what the measured tables say of it, by precision.

    Attributes
    ----------
    mechanism
        The tables that devices answer, and how often.
    asked
        The tables that are asked for, each by the places of its attributes.
    """

    mechanism: Tables
    asked: tuple[Table, ...]

    @cached_property
    def components(self) -> Components:
        """The components of all tables that are asked for."""
        return Components(self.mechanism.sizes, self.asked)

    @cached_property
    def measured(self) -> TableSet:
        """The tables that devices answer."""
        return TableSet(self.mechanism.sizes, tuple(table.attributes for table in self.mechanism.tables))

    @cached_property
    def noise(self) -> Floats:
        """The variance of one report's estimate of a cell, less the mean over cells, of every measured table."""
        return np.array([contrast_noise(table.mechanism) for table in self.mechanism.tables])

    @cached_property
    def expected_precision(self) -> Floats:
        """Precision of every measured table, per report on any, for the expected number of reports."""
        return np.asarray(self.mechanism.shares / self.noise)

    @cached_property
    def incidence(self) -> Floats:
        return self.components.incidence(self.measured)

    @cached_property
    def _from_measured(self) -> Any:
        return self.components.synthesis(self.measured).T.tocsr()

    def table_estimates(self, counts: Counts) -> tuple[NDArray[np.int64], Floats]:
        """How many reports are on each measured table, and its own estimate, zero where there are none."""
        reports, starts = self.mechanism.reports_on(counts), self.mechanism.starts
        estimates = np.zeros(self.measured.cells)
        for number, table in enumerate(self.mechanism.tables):
            if reports[number]:
                own = counts[starts[number] + 1 : starts[number + 1]]
                estimates[self.measured.slice(table.attributes)] = table.mechanism.estimate(own, int(reports[number]))
        return reports, estimates

    def component_means(self, counts: Counts) -> Floats:
        """Every component by generalised least squares; 0 where no report is about it."""
        reports, estimates = self.table_estimates(counts)
        precision = reports / self.noise
        sums = self.components.contrasts(self._from_measured @ (self.measured.repeat(precision) * estimates))
        known = self.components.parts.repeat(self.incidence @ precision)
        return np.asarray(np.divide(sums, known, out=np.zeros_like(sums), where=known > 0))

    def ratios(self, precision: Floats) -> Floats:
        """Weights of the measured tables (columns) in the mean of every component; 0 where nothing is known."""
        known = self.incidence * precision
        total = known.sum(axis=1, keepdims=True)
        return np.asarray(np.divide(known, total, out=np.zeros_like(known), where=total > 0))

    def overlaps(self, precision: Floats, only: set[int] | None = None) -> Iterator[Overlap]:
        """Pairs of a table that is asked for, or one of `only`, and a measured one that shares attributes with it."""
        return overlaps(self.components, self.measured, self.ratios(precision), only)

    def row_weights(self, weights: Floats, precision: Floats) -> Floats:
        """Weights of all measured cells, one row for every row of weights of answers."""
        ratios, parts = self.ratios(precision), self.components.parts
        wanted = self.components.adjoint(weights)
        cell_weights = np.zeros((len(weights), self.measured.cells))
        for number, table in enumerate(self.measured.tables):
            part_sum = np.zeros((len(weights), *self.measured.shape(table)))
            for part in subsets(table):
                share = ratios[parts.numbers[part], number]
                if share:
                    shape = [self.mechanism.sizes[attribute] if attribute in part else 1 for attribute in table]
                    part_sum += share * wanted[:, parts.slice(part)].reshape(len(weights), *shape)
            cell_weights[:, self.measured.slice(table)] = part_sum.reshape(len(weights), -1)
        return cell_weights

    def shares_of(self, answers: Floats, table: Table) -> Floats:
        """The shares of a measured table, from all answers."""
        asked = next(candidate for candidate in self.components.tables if set(table) <= set(candidate))
        cells = answers[self.components.answers.slice(asked)].reshape(self.components.answers.shape(asked))
        others = tuple(axis for axis, attribute in enumerate(asked) if attribute not in table)
        return np.asarray(cells.sum(axis=others).reshape(-1))


def overlaps(
    components: Components, measured: TableSet, ratios: Floats, only: set[int] | None = None
) -> Iterator[Overlap]:
    """Pairs of a table that is asked for, or one of `only`, and a measured one that shares attributes with it.

    `ratios` are the weights of the measured tables (columns) in the mean of every component.
    """
    for asked, table in enumerate(components.tables):
        if only is not None and asked not in only:
            continue
        for number, other in enumerate(measured.tables):
            shared = tuple(attribute for attribute in table if attribute in other)
            if not shared:
                continue  # it tells the total only, which is known
            weights = [
                (part, ratios[components.parts.numbers[part], number] / components.outside(table, part))
                for part in subsets(shared)
            ]
            if any(weight for _, weight in weights):
                yield from _in_blocks(components, measured, asked, number, shared, weights)


def _in_blocks(
    components: Components,
    measured: TableSet,
    asked: int,
    number: int,
    shared: Table,
    weights: list[tuple[Table, float]],
) -> Iterator[Overlap]:
    """For some values of the first shared attribute at a time, so that memory is bounded."""
    sizes, other = components.sizes, measured.tables[number]
    row = components._cells_of(components.tables[asked], shared)
    each = components.parts.count(shared) // sizes[shared[0]]
    step = max(1, _BLOCK // (each * measured.count(other)))
    for start in range(0, sizes[shared[0]], step):
        first = slice(start, start + step)
        rows = sum(weight * contrast_rows(sizes, other, shared, part, first) for part, weight in weights)
        cells = np.flatnonzero((row >= start * each) & (row < (start + step) * each))
        answers = components.answers.starts[asked] + cells
        yield Overlap(number, np.asarray(rows), answers, row[cells] - start * each)

"""What is known of answers that are combined from several tables: intervals follow from it.

Given how many reports are on each table, a raw answer is a sum of independent means, one per table. Written as one mean
over all n reports, a report on a table with n_T of them counts n/n_T times: independent numbers of different laws, for
which the inequalities of `sottovoce.theory.tails` hold as they are.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from sottovoce.core.errors import MechanismError
from sottovoce.mechanisms.base import Counts, Floats
from sottovoce.mechanisms.projective_geometry import ProjectiveGeometry
from sottovoce.mechanisms.support import SupportMechanism
from sottovoce.mechanisms.symmetric import SymmetricMechanism
from sottovoce.strategies.laws.law import Evidence, ReportLaw, fixed
from sottovoce.strategies.laws.parts import UNKNOWN, PartsLaw
from sottovoce.strategies.laws.spread import Spread
from sottovoce.strategies.tables.combination import TableCombination
from sottovoce.strategies.tables.components import subsets

__all__ = ["law_of_tables", "mean_squares_of_reports", "spread_of_tables"]

COMBINED: Final = "of combined tables: for a population that people are drawn from"
NOBODY: Final = "nobody was asked for some tables: their answers can be anything"


class TableLaw(PartsLaw):
    """Sums over tables, for every answer or combination."""

    def add(
        self, mechanism: SupportMechanism, reports: int, shares: Floats, rows: Floats, asked: Any, index: Any
    ) -> None:
        """Add what one table's reports say; `rows` are weights of its cells, `shares` its own estimate."""
        scale = self.n / reports
        moments, reach = mechanism.second_moments(rows), report_range(mechanism, rows)
        middle = moments.mean(axis=1)
        about = moments - middle[:, None]
        largest = moments.max(axis=1)
        self.floor[asked] += (scale * np.maximum(0.0, moments - rows**2).min(axis=1))[index]
        self.reach[asked] = np.maximum(self.reach[asked], (scale * reach)[index])
        self.moment[asked] += (scale * (middle + about @ shares))[index]
        self.largest[asked] += (scale * largest)[index]
        spread, width = mechanism.second_moments(about), report_range(mechanism, about)
        self.moment_variance[asked] += (scale**3 * spread.max(axis=1))[index]
        self.moment_reach[asked] = np.maximum(self.moment_reach[asked], (scale**2 * width)[index])
        self._add_mean(scale, reports, rows @ shares, middle, largest, reach, asked, index)

    def add_geometry(
        self, mechanism: ProjectiveGeometry, reports: int, counts: Counts, rows: Floats, asked: Any, index: Any
    ) -> None:
        """`add` for a table whose possible reports are all counted.

        Given a person's cell, no report is less likely than the least one, so the variance of X is at least that
        of a uniform report, times the least probability of all.
        """
        answers, least = mechanism.report_answers(rows), float(mechanism.least_probability) * mechanism.cells
        self.add_listed(reports, counts, answers, least * answers.var(axis=1), asked, index)


def table_law(
    combination: TableCombination, weights: Floats | None, counts: Counts | None, n: int, miss: float
) -> TableLaw:
    """The sums for every answer, or for combinations of answers, one per row of weights."""
    if counts is None:
        raise MechanismError("intervals of tables need the counts of all reports")
    reports, estimates = combination.table_estimates(counts)
    precision = reports / combination.noise
    law = TableLaw(combination.components.answers.cells if weights is None else len(weights), n, miss)
    law.unknown = _unknown(combination, weights, combination.incidence @ precision)
    law.limits = sum(isinstance(table.mechanism, ProjectiveGeometry) for table in combination.mechanism.tables)
    for number, rows, asked, index in _blocks(combination, weights, precision):
        table, own = combination.mechanism.tables[number], slice(*combination.mechanism.starts[number : number + 2])
        if isinstance(table.mechanism, ProjectiveGeometry):
            law.add_geometry(table.mechanism, int(reports[number]), counts[own][1:], rows, asked, index)
        else:
            shares = estimates[combination.measured.slice(table.attributes)]
            law.add(table.mechanism, int(reports[number]), shares, rows, asked, index)
    return law


def _blocks(
    combination: TableCombination, weights: Floats | None, precision: Floats
) -> Iterator[tuple[int, Floats, Any, NDArray[np.int64]]]:
    """A measured table, weights of its cells, and the answers that these are for, with each one's row."""
    if weights is None:
        yield from combination.overlaps(precision)
        return
    if ((weights != 0).sum(axis=1) == 1).all() and (weights.sum(axis=1) == 1).all():
        yield from _single_answers(combination, weights.argmax(axis=1), precision)
        return
    cell_weights = combination.row_weights(weights, precision)
    for number, table in enumerate(combination.measured.tables):
        rows = cell_weights[:, combination.measured.slice(table)]
        if rows.any():
            yield number, rows, slice(0, len(weights)), np.arange(len(weights))


def _single_answers(
    combination: TableCombination, answers: NDArray[np.int64], precision: Floats
) -> Iterator[tuple[int, Floats, NDArray[np.int64], NDArray[np.int64]]]:
    """The blocks of combinations that are one answer each: only their own tables are used."""
    starts = np.array(combination.components.answers.starts)
    tables = np.searchsorted(starts, answers, "right") - 1
    for measured, rows, cells, index in combination.overlaps(precision, set(tables.tolist())):
        asked = np.flatnonzero(np.isin(answers, cells))
        if len(asked):
            yield measured, rows, asked, index[np.searchsorted(cells, answers[asked])]


def _unknown(combination: TableCombination, weights: Floats | None, known: Floats) -> NDArray[np.bool_]:
    """Answers, or combinations, with a part that no report is about."""
    parts, answers = combination.components.parts, combination.components.answers
    lost = [part for part, precision in zip(parts.tables, known, strict=True) if precision == 0]
    if weights is None:
        missing = [any(part in lost for part in subsets(table)) for table in answers.tables]
        return answers.repeat(missing) > 0
    unknown = np.zeros(len(weights), dtype=np.bool_)
    if lost:
        wanted = np.abs(combination.components.adjoint(weights))
        for part in lost:
            unknown |= wanted[:, parts.slice(part)].max(axis=1) > 1e-12 * np.abs(weights).max(axis=1)
    return unknown


def single_tables(
    combination: TableCombination, counts: Counts | None
) -> tuple[tuple[Floats, Floats] | None, NDArray[np.int64] | None]:
    """For cells of tables that share no attribute with another one: the two numbers that a report can make of them.

    Only where a report always supports equally many cells: then a table's estimates sum to one, and a cell's answer is
    its own table's estimate. NaN for other cells; None if there are no such cells.
    """
    measured, asked = combination.measured, combination.components.answers
    low, high = np.full((2, asked.cells), np.nan)
    reports, number_of = np.ones(asked.cells, dtype=np.int64), combination.mechanism.reports_on(counts)  # type: ignore[arg-type]
    for number, table in enumerate(combination.mechanism.tables):
        inner = table.mechanism
        alone = not any(set(table.attributes) & set(other) for other in measured.tables if other != table.attributes)
        fixed = isinstance(inner, SymmetricMechanism) and inner.support_size is not None
        if alone and fixed and table.attributes in asked.numbers and number_of[number]:
            cells = asked.slice(table.attributes)
            low[cells], high[cells] = inner.two_outcomes
            reports[cells] = number_of[number]
    return (None, None) if np.isnan(low).all() else ((low, high), reports)


def law_of_tables(combination: TableCombination, weights: Floats | None, evidence: Evidence) -> ReportLaw:
    """A sum over tables; a cell of a table that stands alone is a count of bits."""
    law = table_law(combination, weights, evidence.counts, evidence.n_reports, evidence.miss)
    bits, counted = single_tables(combination, evidence.counts) if weights is None else (None, None)
    exact = bits is not None and not np.isnan(bits[0]).any()
    notes = [NOBODY] * bool(law.unknown.any()) + [COMBINED] * (not exact)
    if bits is not None:
        bits = np.where(law.unknown, np.nan, bits[0]), np.where(law.unknown, np.nan, bits[1])
    left = evidence.miss if exact else law.left
    return ReportLaw(
        fixed(law.curve()),
        law.floor,
        np.where(law.unknown, UNKNOWN, law.reach),
        bits,
        None,
        None,
        left,
        None,
        counted,
        "; ".join(["", *notes]),
        steady=False,
        expected=_expected_parts(combination),
    )


def _expected_parts(combination: TableCombination) -> Floats:
    """The expected part of all reports that is on the own table of each cell; of cells without one, all."""
    asked = combination.components.answers
    parts = np.ones(asked.cells)
    for table, share in zip(combination.mechanism.tables, combination.mechanism.shares.tolist(), strict=True):
        if table.attributes in asked.numbers:
            parts[asked.slice(table.attributes)] = share
    return parts


def spread_of_tables(combination: TableCombination) -> Spread:
    """For the expected number of reports on every table: a device may choose its table, and take it off another.

    Either change moves the mean of one table by at most the range of its reports over their number. It also changes the
    weights by which tables are combined, which moves answers by less, in proportion to what tables disagree by.
    """
    spread = np.zeros(combination.components.answers.cells)
    for measured, rows, cells, index in combination.overlaps(combination.expected_precision):
        table = combination.mechanism.tables[measured]
        range_of_one = report_range(table.mechanism, rows)[index] / combination.mechanism.shares[measured]
        spread[cells] = np.maximum(spread[cells], 2 * range_of_one)
    l2 = float(np.linalg.norm(spread))
    return Spread(spread, l2, l2, False, False, "where every table has the expected number of reports")


def report_range(mechanism: SupportMechanism, rows: Floats) -> Floats:
    """How far apart two reports can put combinations of a table's cells."""
    if isinstance(mechanism, SymmetricMechanism) and mechanism.support_size is not None:
        held = mechanism.support_size
        ordered = np.sort(rows, axis=1)
        most, least = ordered[:, -held:].sum(axis=1), ordered[:, :held].sum(axis=1)
        return np.asarray((most - least) / float(mechanism.signal))
    answers = mechanism.report_answers(rows)
    if answers is None:
        return np.asarray(np.abs(rows).sum(axis=1) / float(mechanism.signal))
    return np.asarray(answers.max(axis=1) - answers.min(axis=1))


def mean_squares_of_reports(mechanism: SupportMechanism, rows: Floats, shares: Floats) -> Floats:
    """E X^2 for people with these shares of a table's cells, X the answer of one report to each row of weights."""
    if not isinstance(mechanism, ProjectiveGeometry):
        return np.asarray(mechanism.second_moments(rows) @ shares)
    # Reports are few enough to be listed: one transform per row instead of two.
    return np.asarray(np.square(mechanism.report_answers(rows)) @ mechanism.report_chances(shares))

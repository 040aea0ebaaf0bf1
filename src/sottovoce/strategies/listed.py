"""Strategies with a finite channel: variances are sums over all values."""

from __future__ import annotations

import abc
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any, Final, final

import numpy as np

from sottovoce.core.errors import CapacityError
from sottovoce.mechanisms.base import Floats
from sottovoce.strategies.coordinates import CoordinateStrategy
from sottovoce.strategies.laws.law import Evidence, ReportLaw
from sottovoce.strategies.laws.listed import MOST_LISTED, Bits, counted_moments, law_of_rows
from sottovoce.strategies.laws.variance import Population, Variance, listed_variance
from sottovoce.workloads import Dense, Workload

__all__ = ["MAX_HELD", "MOST_WORK", "ListedStrategy", "row_blocks"]

MOST_WORK: Final = 2**29
"""Maximum number of multiplications for the second moments of all answers."""

MAX_HELD: Final = 2**25
"""Maximum number of entries of a matrix in memory."""

_BLOCK: Final = 2**20


def row_blocks(workload: Workload) -> Iterator[Floats]:
    """The rows of A in blocks; raises `CapacityError` if there are too many."""
    queries, values = workload.shape
    if queries * values > MAX_HELD:
        raise CapacityError(
            f"the matrix has {queries:,} x {values:,} entries, above the {MAX_HELD:,} for which the variance of "
            "every answer is computed; ask fewer queries, or use another strategy"
        )
    matrix, step = workload.dense(), max(1, _BLOCK // values)
    return (matrix[start : start + step] for start in range(0, queries, step))


@dataclass(frozen=True)
class ListedStrategy(CoordinateStrategy):
    """A finite channel, for which the estimate from every single report is known."""

    workload: Workload

    # --- implemented by strategies ---------------------------------------------------------

    @abc.abstractmethod
    def _second_moments(self, rows: Floats) -> Floats:
        """M(u) for every value u, of combinations whose h are the rows; exact."""

    @abc.abstractmethod
    def _mean_moments(self, rows: Floats, shares: Floats) -> Floats:
        """The mean of M over people with these shares, for combinations whose h are the rows; exact."""

    @property
    @abc.abstractmethod
    def _value_moments(self) -> Floats:
        """T(u) for every value u: the sum of M(u) over all answers."""

    @abc.abstractmethod
    def _report_answers(self, rows: Floats) -> Floats | None:
        """X of every counted report (columns), for combinations whose h are the rows.

        None where reports are not counted one by one.
        """

    def _bounded_law(self, evidence: Evidence) -> ReportLaw:
        """The law of one report where there are too many entries to list."""
        raise CapacityError("the variances of so many answers cannot be listed; ask fewer queries")

    def _own_law(self, evidence: Evidence) -> ReportLaw:
        """The law of every answer of the workload."""
        return self._listed_law(evidence)

    # --- derived -----------------------------------------------------------

    @final
    def _listed(self, rows: Floats, people: Population, answers: Floats | None) -> Floats:
        """N Var of combinations whose h are the rows."""
        if people.shares is not None:
            mean = rows @ people.shares
            return np.asarray(np.maximum(0.0, self._mean_moments(rows, people.shares) - mean**2))
        return listed_variance(rows, self._second_moments(rows), answers)

    @final
    def _combined(self, weights: Floats, people: Population) -> Variance:
        variances = np.empty(len(weights))
        step = max(1, _BLOCK // self.workload.n_values)
        for start in range(0, len(weights), step):
            part = weights[start : start + step]
            rows = np.stack([self.workload.rmatvec(row) for row in part])
            answers = None if people.answers is None else part @ people.answers
            variances[start : start + step] = self._listed(rows, people, answers)
        return Variance(variances, "exact")

    def _each_listed(self, people: Population) -> Variance:
        """Every answer, row by row."""
        variances, start = np.empty(self.workload.n_queries), 0
        for rows in row_blocks(self.workload):
            end = start + len(rows)
            answers = None if people.answers is None else people.answers[start:end]
            variances[start:end] = self._listed(rows, people, answers)
            start = end
        return Variance(variances, "exact")

    # --- the law of one report --------------------------------------------------------------------

    def law(self, weights: Floats | None, evidence: Evidence, ends: tuple[Floats, Floats] | None = None) -> ReportLaw:
        """Combinations are answers to other queries over the same channel."""
        if weights is None:
            return self._own_law(evidence)
        rows = np.stack([self.workload.rmatvec(row) for row in weights])
        combined: Any = replace(self, workload=Dense(rows, self.workload.domain))
        law: ReportLaw = combined.law(None, evidence)
        return law

    @final
    def _listed_law(self, evidence: Evidence, bits: Bits = None) -> ReportLaw:
        """Row by row, from the second moments of every value and from the counts."""
        try:
            blocks = [
                (rows, self._second_moments(rows), self._counted(rows, evidence)) for rows in row_blocks(self.workload)
            ]
        except CapacityError:
            return self._bounded_law(evidence)
        parts = [counted for *_, counted in blocks if counted is not None]
        counted = np.concatenate(parts, axis=1) if len(parts) == len(blocks) else None
        limits = None if counted is None else (counted[-2], counted[-1])
        return law_of_rows(blocks, self.spread.per_answer, bits, evidence, limits, self._counted_answers(evidence))

    def _counted(self, rows: Floats, evidence: Evidence) -> Floats | None:
        answers = None if evidence.limiting is None else self._report_answers(rows)
        return None if answers is None else counted_moments(answers, evidence)

    def _counted_answers(self, evidence: Evidence) -> Floats | None:
        """X of every answer and counted report, for limits that hold at all looks; None where they are many."""
        if not evidence.always or evidence.counts is None:
            return None
        if self.workload.n_queries * max(evidence.counts.size, self.workload.n_values) > MOST_LISTED:
            return None
        return self._report_answers(self.workload.dense())

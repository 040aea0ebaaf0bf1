"""`LinearStrategy`: raw answers that are unbiased and linear in the counts, whatever the population.

What is not said by a strategy follows from a list of all reports, so that a small one need only say how it reads them.
"""

from __future__ import annotations

import abc
import math
from functools import cached_property
from typing import Final, final

import numpy as np

from sottovoce.core.errors import CapacityError
from sottovoce.mechanisms.base import Counts, Floats
from sottovoce.strategies.base import Strategy
from sottovoce.strategies.laws.enumerated import ListedReports
from sottovoce.strategies.laws.law import Evidence, ReportLaw
from sottovoce.strategies.laws.spread import Spread
from sottovoce.strategies.laws.variance import Population, Variance, listed_variance
from sottovoce.strategies.laws.worst_population import Worst, worst_population
from sottovoce.strategies.reading import Projection, Reading, nearest_answers
from sottovoce.theory.bounds import Bound
from sottovoce.theory.offline_bounds import projected_bound
from sottovoce.workloads import Workload

__all__ = ["LinearStrategy"]

_MOST_OBSERVED: Final = 2**22
"""Counts times answers up to which what every report says is listed."""

_FEW: Final = 2**16
"""Entries of the queries up to which variances are bounded answer by answer too."""


class LinearStrategy(Strategy):
    """The raw answers are a mean over the reports: of X, the answers read from one report alone."""

    @abc.abstractmethod
    def raw_answers(self, counts: Counts, n_reports: int) -> Floats:
        """Unbiased answers from counted reports, linear in the counts for a given number of reports."""

    def read(self, counts: Counts, n_reports: int) -> Reading:
        """Raw answers, and those of a distribution that are nearest to them."""
        raw = self.raw_answers(counts, n_reports)
        return Reading(raw, self.nearest(raw))

    def nearest(self, raw: Floats) -> Projection:
        """The possible answers that are nearest to raw ones, in the space of the answers."""
        return nearest_answers(self._finite_workload, raw)

    def observed_covariance(self, rows: Floats, counts: Counts, n_reports: int) -> Floats | None:
        """From X of every report, where each is counted by itself."""
        if self.mechanism.counted_as != "number" or counts.size * self.workload.n_queries > _MOST_OBSERVED:
            return None
        held = np.flatnonzero(counts)
        alone = np.zeros((len(held), counts.size), dtype=counts.dtype)
        alone[np.arange(len(held)), held] = 1
        read = np.stack([rows @ self.raw_answers(report, 1) for report in alone], axis=1)
        part = counts[held] / n_reports
        away = read - (read @ part)[:, None]
        return np.asarray((away * part) @ away.T / max(1, n_reports - 1))

    # --- what follows from a list of reports; replaced where a shorter way is known -----------------

    @property
    def _finite_workload(self) -> Workload:
        if not isinstance(self.workload, Workload):
            raise CapacityError(f"these values cannot be listed: strategy {self.name!r} must say its own variance")
        return self.workload

    @cached_property
    def _reports(self) -> ListedReports:
        values = np.arange(self._finite_workload.n_values)
        return ListedReports.of(self.name, self.mechanism, self.inputs(values), self.raw_answers)

    def _true_answers(self, weights: Floats | None) -> Floats:
        """The true answers of every value to the queries, or to combinations of them."""
        workload = self._finite_workload
        return workload.dense() if weights is None else np.stack([workload.rmatvec(row) for row in weights])

    def _listed_variance(self, weights: Floats | None, people: Population) -> Variance:
        rows, moments = self._true_answers(weights), self._reports.moments(weights)
        if people.shares is not None:
            return Variance(np.maximum(0.0, moments @ people.shares - (rows @ people.shares) ** 2), "exact")
        answers = people.answers if weights is None or people.answers is None else weights @ people.answers
        return Variance(listed_variance(rows, moments, answers), "exact")

    def _each(self, people: Population) -> Variance:
        return self._listed_variance(None, people)

    def _combined(self, weights: Floats, people: Population) -> Variance:
        return self._listed_variance(weights, people)

    @property
    def _value_moments(self) -> Floats:
        """T(u) for every value u: the sum of M(u) over all answers."""
        return self._reports.value_moments

    def _total(self, people: Population) -> Variance:
        if people.answers is None:
            return self._worst_people.variance
        square = float(people.answers @ people.answers)
        if people.shares is not None:
            return Variance(max(0.0, float(people.shares @ self._value_moments) - square), "exact")
        note = "upper bound: the shares of the values are unknown"
        together = max(0.0, float(self._value_moments.max()) - square)
        if self.workload.n_queries * self.workload.n_values > _FEW:
            return Variance(together, "bound", note)
        # Answer by answer it is less where answers are far from zero.
        return Variance(min(together, float(self._each(people).value.sum())), "bound", note)

    @cached_property
    def _worst_people(self) -> Worst:
        return worst_population(self._finite_workload, self._value_moments)

    def worst_population(self) -> Floats | None:
        return self._worst_people.shares

    @cached_property
    @final
    def _value_noise(self) -> Floats:
        """The noise of one report for every value, summed over the queries: T(u) less the squared answers."""
        squares = self.workload._squared_norms(np.arange(self.workload.n_values))
        return np.asarray(self._value_moments - squares)

    @property
    def worst(self) -> float:
        return float(self._value_noise.max())

    @property
    def total(self) -> float:
        return float(self._value_noise.mean())

    @cached_property
    def spread(self) -> Spread:
        return self._reports.spread()

    def law(self, weights: Floats | None, evidence: Evidence, ends: tuple[Floats, Floats] | None = None) -> ReportLaw:
        return self._reports.law(weights, self._true_answers(weights), evidence)

    def answer_maximum(self, n_reports: int) -> float | None:
        """What E max_j <raw - A p, a_j> over all columns a_j of A stays below, without bias; None if unknown."""
        return None

    def _bound(self, n_reports: int) -> Bound:
        """For a projection in the space of the answers, which is never farther from the truth than the raw ones."""
        return projected_bound(
            math.sqrt(self.total_variance(None, n_reports).value),
            self.answer_maximum(n_reports),
            self.workload.diameter,
            bias=self.answer_bias,
            measured=self.measured_bias > 0,
        )

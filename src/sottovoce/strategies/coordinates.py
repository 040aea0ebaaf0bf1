"""Strategies that answer through coordinates: A p = shift + R V p.

V maps a distribution to *coordinates*. A mechanism gives an unbiased estimate of V p whose noise is the same, or nearly
the same, in all directions; answers are R times that. Projecting on the hull of V's columns, in V's space, is then
generalised least squares: the nearest distribution with respect to the noise covariance. Projecting on the hull of A's
columns, in the space of the answers, is never farther from the truth than the raw answers are. A design takes the one
whose proved bound is lower.
"""

from __future__ import annotations

import abc
import math
from typing import Any, final

from sottovoce.core.errors import CapacityError
from sottovoce.mechanisms.base import Counts, Floats
from sottovoce.projections.hull import project_hull
from sottovoce.projections.operator import Operator
from sottovoce.strategies.linear import LinearStrategy
from sottovoce.strategies.reading import Projection, Reading, answers_of, nearest_answers
from sottovoce.theory.bounds import BY_VARIANCE, Bound
from sottovoce.theory.offline_bounds import describe_bias, projected_bound

__all__ = ["CoordinateStrategy"]


class CoordinateStrategy(LinearStrategy):
    """Answers read from the coordinates of a distribution."""

    @property
    @abc.abstractmethod
    def coordinates(self) -> Operator:
        """V, as an operator."""

    @abc.abstractmethod
    def raw_coordinates(self, counts: Counts, n_reports: int) -> Floats:
        """An unbiased estimate of V p."""

    @abc.abstractmethod
    def answers(self, coordinates: Floats) -> Floats:
        """The answers for given coordinates: shift + R v."""

    @abc.abstractmethod
    def column_maximum(self, n_reports: int) -> float | None:
        """What E max_j <raw_coordinates - V p, v_j> over all columns v_j stays below, without bias; None on a ball."""

    @property
    @abc.abstractmethod
    def coordinate_variance(self) -> float:
        """N times an upper bound on the trace of the covariance of `raw_coordinates`, including sampling."""

    @property
    @abc.abstractmethod
    def operator_norm(self) -> float:
        """The largest singular value of R, or a bound on it."""

    @property
    def coordinate_bias(self) -> float:
        """Upper bound on the bias of `raw_coordinates`, in L2; proved."""
        return 0.0

    @property
    def measured_bias(self) -> float:
        """The most that the mean of `raw_coordinates` can be off beyond that, in L2; measured, not proved."""
        return 0.0

    # --- derived ---------------------------------------------------------------

    @property
    def _two_spaces(self) -> bool:
        """Whether projecting in the space of the answers differs from projecting in that of the coordinates."""
        return True

    @final
    def raw_answers(self, counts: Counts, n_reports: int) -> Floats:
        return self.answers(self.raw_coordinates(counts, n_reports))

    @final
    def read(self, counts: Counts, n_reports: int) -> Reading:
        """Raw answers, and the nearest ones in the space that `projects_answers` says."""
        raw = self.raw_coordinates(counts, n_reports)
        projected = self.project(raw, n_reports)
        return Reading(self.answers(raw), projected)

    @final
    def project(self, raw: Floats, n_reports: int) -> Projection:
        """The nearest answers of a distribution to the raw ones, in the space that `projects_answers` says."""
        if self.projects_answers(n_reports):
            return nearest_answers(self.workload, self.answers(raw))
        return self.project_coordinates(raw)

    def project_coordinates(self, raw: Floats) -> Projection:
        """The answers of the distribution whose coordinates are nearest to the raw ones."""
        return answers_of(self.workload, project_hull(self.coordinates, raw))

    @final
    def projects_answers(self, n_reports: int) -> bool:
        """Whether answers are projected in their own space, where the proved bound is lower, or in the coordinates'.

        It depends on the design and the number of reports alone, so that everybody gets the same answers.
        """
        if not self._two_spaces:
            return False
        answers = self._answer_bound(n_reports)
        return answers is not None and answers.value < self._coordinate_bound(n_reports).value

    @final
    def _bound(self, n_reports: int) -> Bound:
        coordinates = self._coordinate_bound(n_reports)
        answers = self._answer_bound(n_reports) if self._two_spaces else None
        return coordinates if answers is None else min(coordinates, answers, key=float)

    @final
    def _nearer_projected(self, n_reports: int) -> bool:
        return not self._two_spaces or self.projects_answers(n_reports)

    @final
    def raw_bound(self, n_reports: int, population: Any = None) -> Bound:
        """From the variance of the coordinates where that of the answers would take too long to compute."""
        try:
            return super().raw_bound(n_reports, population)
        except CapacityError:
            value = self.operator_norm * math.sqrt(self._coordinate_spread(n_reports) / n_reports)
            more = describe_bias(self.answer_bias, self.measured_bias > 0)
            return Bound(value + self.answer_bias, f"{BY_VARIANCE} of the coordinates: |R| sqrt(V / n){more}")

    @property
    @final
    def _bias(self) -> float:
        return self.coordinate_bias + self.measured_bias

    @property
    @final
    def answer_bias(self) -> float:
        """Upper bound on the bias of the raw answers, in L2."""
        return self.operator_norm * self._bias if self._bias else 0.0

    @final
    def _coordinate_spread(self, n_reports: int) -> float:
        return self.sharing_factor(n_reports) * max(0.0, self.coordinate_variance)

    def _coordinate_bound(self, n_reports: int) -> Bound:
        """For a projection in the space of the coordinates."""
        return projected_bound(
            math.sqrt(self._coordinate_spread(n_reports) / n_reports),
            self.column_maximum(n_reports),
            self.workload.diameter,
            operator_norm=self.operator_norm,
            bias=self._bias,
            measured=self.measured_bias > 0,
            hull=self._hull_formula,
        )

    @final
    def _answer_bound(self, n_reports: int) -> Bound | None:
        """For a projection in the space of the answers; None if their variance would take too long to compute."""
        try:
            spread = math.sqrt(self.total_variance(None, n_reports).value)
        except CapacityError:
            return None
        return projected_bound(
            spread,
            self.answer_maximum(n_reports),
            self.workload.diameter,
            bias=self.answer_bias,
            measured=self.measured_bias > 0,
            hull=self._hull_formula,
        )

    @property
    def _hull_formula(self) -> str:
        """The formula of the bound by projection on the hull, with tau^2 the proxy along the columns."""
        return "sqrt(2 tau sqrt(2 log J / n))"

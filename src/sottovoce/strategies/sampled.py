"""Strategies whose reports have uncorrelated noise of the same size in every coordinate, for every value."""

from __future__ import annotations

import abc
import math
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import cached_property
from typing import Any, ClassVar, Final, Self, TypeVar, final

import numpy as np
from numpy.typing import NDArray

from sottovoce.core.errors import MechanismError, NoReportsError, WorkloadError
from sottovoce.mechanisms.base import Counts
from sottovoce.mechanisms.channel import ChannelMechanism
from sottovoce.projections.operator import Operator
from sottovoce.strategies.coordinates import CoordinateStrategy
from sottovoce.strategies.laws.law import Evidence, ReportLaw, fixed
from sottovoce.strategies.laws.rows import combined_ranges, row_ranges
from sottovoce.strategies.laws.variance import Parabola, Population, Variance
from sottovoce.strategies.setting import Setting, Statement
from sottovoce.theory.bounds import maximum_of_proxy
from sottovoce.workloads.base import Workload

__all__ = ["SampledStrategy", "best_tilt"]

_MOST_ENTRIES: Final = 2**20
"""Maximum number of entries of R for which its norm is computed."""

Floats = NDArray[np.float64]
Indices = NDArray[np.int64]
Choice = TypeVar("Choice")


@dataclass(frozen=True)
class SampledStrategy(CoordinateStrategy):
    """A workload A and a mechanism whose reports estimate coordinates V p, with answers = offset + R v.

    One report's estimate of the coordinates has the second moments c^2 I for every value, exactly, c the inverse
    of the mechanism's signal. Hence E(answer_i - offset_i)^2 = c^2 ||R_i||^2 =: m_i for every value, and the
    variances below are exact: with y = A p, n Var(answer_i) = m_i - (y_i - offset_i)^2, sampling of people included;
    and so for every combination of answers.
    """

    workload: Workload
    mechanism: ChannelMechanism

    response: ClassVar[type[Any]]
    """The mechanism's class."""

    # --- implemented by subclasses ---------------------------------------------------------

    @property
    @abc.abstractmethod
    def coordinates(self) -> Operator:
        """V, scaled so that the noise is the same in all directions; the projection is on the hull of its columns."""

    @abc.abstractmethod
    def _raw(self, counts: Counts, n_reports: int) -> Floats:
        """Unbiased estimate of V p."""

    @abc.abstractmethod
    def _answers(self, v: Floats) -> Floats:
        """The answers for given coordinates."""

    @abc.abstractmethod
    def central_moments(self) -> Floats:
        """m_i for every query: E(answer_i - offset_i)^2 of one report, the same for every value."""

    @property
    @abc.abstractmethod
    def moment(self) -> float:
        """The sum of all m_i: no value's variance exceeds it."""

    @abc.abstractmethod
    def _combined_moments(self, weights: Floats) -> Floats:
        """c^2 |R^T w|^2 for every row of weights."""

    @abc.abstractmethod
    def _distance_to_offset(self, weights: Floats | None) -> Any:
        """The least distance of a population's answers from the offset: of every query, or of every row of weights.

        None if there are too many values to list.
        """

    @property
    @abc.abstractmethod
    def _centre_distance(self) -> float:
        """The least ||A p - offset||^2 over populations p."""

    @property
    @abc.abstractmethod
    def _deviation_range(self) -> tuple[float, float]:
        """The least ||a_u - offset||^2 over all values u, and the mean."""

    @abc.abstractmethod
    def _combined_reach(self, weights: Floats, moments: Floats) -> Floats:
        """How far one report can move combinations, whose `_combined_moments` are given, from their offset."""

    @classmethod
    @abc.abstractmethod
    def best(cls, workload: Workload, epsilon: float) -> Self:
        """With the parameters of the least exact `moment`."""

    # --- derived -----------------------------------------------------------

    @classmethod
    @final
    def designs(cls, setting: Setting) -> list[Self]:
        setting.check_mechanism(cls.name, cls.response.name)
        return [cls.best(setting.finite_workload(), setting.epsilon)]

    @classmethod
    @final
    def restore(cls, stated: Statement) -> Self:
        stated.check_mechanism(cls.response)
        workload = stated.finite_workload()
        return cls(workload, cls.response(workload.n_values, stated.epsilon, **stated.parameters))

    @final
    def inputs(self, indices: Indices) -> Indices:
        return indices

    @final
    def column_maximum(self, n_reports: int) -> float:
        """By the proxy c^2 of Hoeffding: a report's <estimate, v_j> is c or -c, whatever level or coefficient."""
        return maximum_of_proxy(self._moment_of_coordinates, self.workload.n_values, n_reports)

    @property
    @final
    def coordinate_variance(self) -> float:
        """c^2 for every coordinate."""
        return self._moment_of_coordinates * self.coordinates.shape[0]

    @property
    @final
    def _moment_of_coordinates(self) -> float:
        signal: Any = self.mechanism
        return float(1 / signal.signal) ** 2

    @cached_property
    @final
    def operator_norm(self) -> float:
        """Exact for few coordinates; else the Frobenius norm of R, sqrt(moment)/c, which is larger."""
        k = self.coordinates.shape[0]
        if k * self.workload.n_queries > _MOST_ENTRIES:
            return math.sqrt(max(0.0, self.moment) / self._moment_of_coordinates)
        rows = np.column_stack([self._answers(unit) - self.offset for unit in np.eye(k)])
        return float(np.linalg.norm(rows, 2))

    @final
    def raw_coordinates(self, counts: Counts, n_reports: int) -> Floats:
        """Unbiased estimate of V p from counted reports."""
        if n_reports < 1:
            raise NoReportsError("there are no reports; collect some first")
        return self._raw(counts, n_reports)

    @final
    def answers(self, v: Floats) -> Floats:
        """offset + R v: the answers for coordinates; exact for those of a distribution."""
        vector = np.asarray(v, dtype=np.float64)
        if vector.shape != self.coordinates.shape[:1]:
            raise WorkloadError(f"expected {self.coordinates.shape[0]:,} coordinates, as raw_coordinates returns them")
        return self._answers(vector)

    @cached_property
    @final
    def offset(self) -> Floats:
        """The answers for zero coordinates; read-only."""
        offset = self._answers(np.zeros(self.coordinates.shape[0]))
        offset.flags.writeable = False
        return offset

    @cached_property
    @final
    def _central_moments(self) -> Floats:
        """Cached: an interval uses variances many times."""
        moments = self.central_moments()
        moments.flags.writeable = False
        return moments

    @final
    def _each(self, people: Population) -> Variance:
        """m - (y - offset)^2, with the possible y nearest to the offset for an unknown population."""
        away = self._distance_to_offset(None) if people.answers is None else people.answers - self.offset
        return Variance(np.maximum(0.0, self._central_moments - away**2), "exact")

    @final
    def _combined(self, weights: Floats, people: Population) -> Variance:
        moments = self._combined_moments(weights)
        if people.answers is not None:
            return Variance(np.maximum(0.0, moments - (weights @ (people.answers - self.offset)) ** 2), "exact")
        away = self._distance_to_offset(weights)
        if away is None:
            return Variance(moments, "bound", "upper bound: there are too many values to list")
        return Variance(np.maximum(0.0, moments - away**2), "exact")

    @final
    def _total(self, people: Population) -> Variance:
        if people.answers is None:
            return Variance(max(0.0, self.moment - self._centre_distance), "exact")
        away = people.answers - self.offset
        return Variance(max(0.0, self.moment - float(away @ away)), "exact")

    @final
    def law(self, weights: Floats | None, evidence: Evidence, ends: tuple[Floats, Floats] | None = None) -> ReportLaw:
        """E(X - offset)^2 is the same for every value."""
        if weights is None:
            offset, moments = self.offset, self._central_moments
            low, high, _ = row_ranges(self.workload)
            reach = self.spread.per_answer / 2
        else:
            offset, moments = weights @ self.offset, self._combined_moments(weights)
            low, high = combined_ranges(self.workload, weights) if ends is None else ends
            reach = self._combined_reach(weights, moments)
        parabola = Parabola(offset, moments, 0.0, 0.0, low - offset, high - offset, True)
        away = np.maximum(np.abs(low - offset), np.abs(high - offset))
        return ReportLaw(fixed(parabola.curve), parabola.floor, reach + away, None, reach**2, None, evidence.miss)

    @property
    @final
    def worst(self) -> float:
        return self.moment - self._deviation_range[0]

    @property
    @final
    def total(self) -> float:
        return self.moment - self._deviation_range[1]

    @final
    def _check_fit(self, serves: Callable[[Workload], bool]) -> None:
        if self.mechanism.domain_size != self.workload.shape[1]:
            raise MechanismError(
                f"the mechanism is for {self.mechanism.domain_size:,} values and the workload over "
                f"{self.workload.shape[1]:,}; use best(workload, epsilon)"
            ).at("mechanism")
        if not serves(self.workload):
            raise WorkloadError(
                f"this strategy cannot use a {self.workload.kind} workload of this size; "
                "check serves(workload) first, or use another strategy"
            ).at("workload")


def best_tilt(make: Callable[[int], Choice], cost: Callable[[Choice], float], limit: int) -> Choice:
    """The choice of least cost over integers from -limit to limit, by shrinking steps; the cost is unimodal."""
    seen: dict[int, tuple[float, Choice]] = {}

    def tried(tilts: Iterable[int]) -> int:
        for tilt in tilts:
            if tilt not in seen:
                made = make(tilt)
                seen[tilt] = cost(made), made
        return min(seen, key=lambda tilt: seen[tilt][0])

    centre = tried([0])
    for step in (8, 4, 2, 1):
        centre = tried(t for t in (centre - step, centre + step) if abs(t) <= limit)
    chosen: Any = seen[centre][1]
    result: Choice = chosen
    return result

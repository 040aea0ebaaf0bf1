"""The histogram strategy: estimate how people are distributed over the values, then multiply by the queries."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import ClassVar, Final, NamedTuple, Self, final

import numpy as np
from numpy.typing import NDArray

from sottovoce.errors import MechanismError, SurveyError, WorkloadError
from sottovoce.mechanisms.base import Counts, Floats
from sottovoce.mechanisms.registry import create, restore
from sottovoce.mechanisms.subset_selection import SubsetSelection
from sottovoce.mechanisms.support import SupportMechanism
from sottovoce.mechanisms.unary import Unary
from sottovoce.strategies.base import Ends, Projection, Setting, Statement, Strategy
from sottovoce.strategies.spectrum import listed, operator_norm, squared_norms
from sottovoce.workloads import Identity, Workload

__all__ = ["SYMMETRIC", "Histogram"]

SYMMETRIC: Final = ("randomized_response", "subset_selection", "unary_optimized", "unary_symmetric")
"""Mechanisms that treat all values alike, so that the covariance of their estimate has four numbers."""


class Moments(NamedTuple):
    """One report's estimate x of the frequencies, from a person of value u, has E[x x^T] =
    same I + all 1 1^T + own (e_u 1^T + 1 e_u^T) + itself e_u e_u^T.
    """

    same: float
    all: float
    own: float
    itself: float


@final
@dataclass(frozen=True)
class Histogram(Strategy):
    """V = I, R = A, with a mechanism that treats all values alike; its noise is exact for every workload.

    A report's estimate is g (s - P0) for the indicator s of the values it supports, g = 1/(P1 - P0). E[s_i s_j] takes
    four values, according to which of i and j are the person's own, and that gives `Moments`.
    """

    workload: Workload
    mechanism: SupportMechanism

    name: ClassVar[str] = "histogram"
    summary: ClassVar[str] = "the whole distribution first, then the queries"

    def __post_init__(self) -> None:
        if self.mechanism.name not in SYMMETRIC:
            raise MechanismError(f"the histogram strategy uses one of {', '.join(SYMMETRIC)}")
        if self.mechanism.domain_size != self.workload.domain.size:
            raise WorkloadError("the mechanism is for another number of values than the workload")

    @classmethod
    def make(cls, setting: Setting) -> Self:
        """With the mechanism of least noise for this workload whose report is small enough."""
        workload, epsilon, max_report_bytes = setting.workload, setting.epsilon, setting.max_report_bytes
        if not listed(workload):
            raise WorkloadError("the matrix has too many entries to add up what its answers would cost")
        found = []
        for name in SYMMETRIC:
            try:
                mechanism = create(name, workload.domain.size, epsilon)
            except MechanismError:
                continue
            if isinstance(mechanism, SupportMechanism) and mechanism.report_bytes <= max_report_bytes:
                found.append(cls(workload, mechanism))
        if not found:
            size = workload.domain.size
            raise MechanismError(f"no mechanism over {size:,} values fits into {max_report_bytes} bytes a report")
        return min(found, key=lambda strategy: (strategy.worst, strategy.mechanism.report_bits))

    @classmethod
    def restore(cls, stated: Statement) -> Self:
        """With any mechanism that treats all values alike."""
        mechanism = restore(stated.mechanism, stated.workload.domain.size, stated.epsilon, stated.parameters)
        if not isinstance(mechanism, SupportMechanism) or stated.delta != 0:
            raise SurveyError("the histogram strategy needs a mechanism that treats all values alike, and delta 0")
        return cls(stated.workload, mechanism)

    def inputs(self, indices: NDArray[np.int64]) -> NDArray[np.int64]:
        """The values."""
        return indices

    @cached_property
    def coordinates(self) -> Workload:
        """Every value's frequency."""
        return Identity(self.workload.domain)

    def raw_coordinates(self, counts: Counts, n_reports: int) -> Floats:
        """The mechanism's estimate of the frequencies."""
        return self.mechanism.estimate(counts, n_reports)

    def answers(self, coordinates: Floats) -> Floats:
        """A times the frequencies."""
        return self.workload.matvec(coordinates)

    def project(self, raw: Floats) -> Projection:
        """The nearest distribution, and its answers."""
        from sottovoce.projections import project_simplex

        found = project_simplex(raw)
        support = np.flatnonzero(found.values)
        return Projection(self.workload.matvec(found.values), found.gap, support, found.values[support])

    @cached_property
    def moments(self) -> Moments:
        """The four numbers."""
        m, J = self.mechanism, self.mechanism.domain_size
        one, zero = float(m._support.own), float(m._support.other)
        scale = 1 / (one - zero) ** 2
        if isinstance(m, Unary):
            own_pair, pair = one * zero, zero * zero
        else:
            k = m.subset_size if isinstance(m, SubsetSelection) else 1
            own_pair = one * (k - 1) / (J - 1)
            # Two others: both among the k-1 beside one's own, or both among the k of a set without it.
            pair = (k - 1) * (one * (k - 2) + (1 - one) * k) / ((J - 1) * (J - 2)) if J > 2 else 0.0
        both, mixed = pair - zero * zero, own_pair - zero * one
        alone, mine = zero - zero * zero, one - 2 * zero * one + zero * zero
        return Moments(
            scale * (alone - both),
            scale * both,
            scale * (mixed - both),
            scale * (mine - alone - 2 * (mixed - both)),
        )

    @cached_property
    def _row_sums(self) -> Floats:
        """A 1."""
        return self.workload.matvec(np.ones(self.workload.domain.size))

    @cached_property
    def _user_noise(self) -> Floats:
        """Noise of one report for every value, summed over the queries."""
        same, all_, own, itself = self.moments
        sums = self._row_sums
        squares = self.workload._squared_norms(np.arange(self.workload.domain.size))
        fixed = same * float(squares.sum()) + all_ * float(sums @ sums)
        return np.asarray(fixed + 2 * own * self.workload.rmatvec(sums) + (itself - 1) * squares)

    @property
    def worst(self) -> float:
        """Exact."""
        return float(self._user_noise.max())

    @property
    def total(self) -> float:
        """Exact."""
        return float(self._user_noise.mean())

    def standard_errors(self, values: Floats, n_reports: int) -> Floats:
        """From the exact variance at its worst entries: E a_i^2 over people is not known, only its range."""
        same, all_, own, itself = self.moments
        low, high = self.workload.answer_range
        squares = np.maximum(np.square(low), np.square(high)) if itself > 0 else 0.0
        moment = (
            same * squared_norms(self.workload)
            + all_ * self._row_sums**2
            + 2 * own * values * self._row_sums
            + itself * squares
        )
        return np.asarray(np.sqrt(np.maximum(0.0, moment - values**2) / n_reports))

    @property
    def proxy(self) -> Ends | None:
        """Not known for sums of frequencies; the mechanism's for the frequencies themselves."""
        return self.mechanism.proxy if isinstance(self.workload, Identity) else None

    @property
    def column_proxy(self) -> float:
        """The mechanism's."""
        return self.mechanism.proxy

    @property
    def coordinate_variance(self) -> float:
        """The mechanism's."""
        return self.mechanism.worst_total_variance

    @cached_property
    def operator_norm(self) -> float:
        """A's largest singular value."""
        return operator_norm(self.workload)

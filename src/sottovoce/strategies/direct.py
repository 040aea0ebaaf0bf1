"""The direct strategy: a vector mechanism applied to the workload's own columns, as the paper does (Sec. 3)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Self, final

import numpy as np
from numpy.typing import NDArray

from sottovoce.mechanisms.base import Counts, Floats
from sottovoce.mechanisms.vector import VectorMechanism
from sottovoce.mechanisms.vector_registry import choose_vector, create_vector, restore_vector
from sottovoce.strategies.base import Ends, Setting, Statement, Strategy
from sottovoce.theory.bounds import Bound
from sottovoce.theory.offline_bounds import bound_of
from sottovoce.workloads import Workload

__all__ = ["Direct"]


@final
@dataclass(frozen=True)
class Direct(Strategy):
    """V = A, R = I. Every answer pays for the longest column; best where the queries are few or all alike."""

    workload: Workload
    mechanism: VectorMechanism

    name: ClassVar[str] = "direct"
    summary: ClassVar[str] = "a vector mechanism on the queries' own columns"

    @classmethod
    def make(cls, setting: Setting) -> Self:
        """With the mechanism named, or the one of least total variance."""
        workload = setting.workload
        stated = workload.n_queries, workload.radius, setting.epsilon, setting.delta
        if setting.mechanism == "auto":
            return cls(workload, choose_vector(*stated, setting.users, setting.max_report_bytes))
        return cls(workload, create_vector(setting.mechanism, *stated, setting.users))

    @classmethod
    def restore(cls, stated: Statement) -> Self:
        """With any vector mechanism."""
        workload, epsilon, delta, name, parameters, _ = stated
        return cls(workload, restore_vector(name, workload.n_queries, workload.radius, epsilon, delta, parameters))

    def inputs(self, indices: NDArray[np.int64]) -> Floats:
        """Columns of A, one a row."""
        return self.workload.columns(indices)

    @property
    def coordinates(self) -> Workload:
        """A itself."""
        return self.workload

    def raw_coordinates(self, counts: Counts, n_reports: int) -> Floats:
        """The mechanism's estimate."""
        return self.mechanism.estimate(counts, n_reports)

    def answers(self, coordinates: Floats) -> Floats:
        """They are the coordinates."""
        return coordinates

    def standard_errors(self, values: Floats, n_reports: int) -> Floats:
        """From the mechanism's variance at its worst: the second moments of the answers are not known."""
        low, high = self.workload.answer_range
        bounds = np.minimum(np.maximum(np.abs(low), np.abs(high)), self.mechanism.radius)
        bounds = np.broadcast_to(bounds, self.workload.n_queries)
        return np.asarray(np.sqrt(self.mechanism.variance(bounds, n_reports)))

    @property
    def proxy(self) -> Ends:
        """The mechanism's."""
        return self.mechanism.proxy

    @property
    def worst(self) -> float:
        """The mechanism's."""
        return self.mechanism.worst_total_variance

    @property
    def total(self) -> float:
        """As the worst: vectors are lifted to one length, so that all values have nearly the same noise."""
        return self.mechanism.worst_total_variance

    @property
    def column_proxy(self) -> float:
        """r^2 tau^2."""
        return self.mechanism.proxy * self.workload.radius**2

    @property
    def coordinate_variance(self) -> float:
        """The mechanism's."""
        return self.mechanism.worst_total_variance

    @property
    def operator_norm(self) -> float:
        """One."""
        return 1.0

    def sharing_factor(self, n_reports: int) -> float:
        """The mechanism's."""
        return self.mechanism.sharing_factor(n_reports)

    @property
    def bias_bound(self) -> Ends:
        """The mechanism's."""
        return self.mechanism.bias_bound

    def bound(self, n_reports: int) -> Bound:
        """The bound for what the paper's protocol ships as."""
        return bound_of(self.mechanism, self.workload.domain.size)(n_reports, self.sharing_factor(n_reports))

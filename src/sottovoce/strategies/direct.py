"""The direct strategy: a vector mechanism applied to the workload's own columns, as the paper does (Sec. 3)."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property
from typing import Any, ClassVar, Self, cast, final

import numpy as np
from numpy.typing import NDArray

from sottovoce.core.errors import MechanismError, WorkloadError
from sottovoce.mechanisms.base import Floats
from sottovoce.mechanisms.registry import candidates, find
from sottovoce.mechanisms.vector import VectorMechanism
from sottovoce.projections.operator import Operator
from sottovoce.strategies.laws.spread import Spread, spread_of_vectors
from sottovoce.strategies.laws.variance import PerAnswer
from sottovoce.strategies.reading import Projection
from sottovoce.strategies.setting import Setting, Statement
from sottovoce.strategies.vectors import VectorStrategy, with_rotations
from sottovoce.theory.bounds import Bound
from sottovoce.theory.offline_bounds import projected_bound
from sottovoce.workloads import Workload
from sottovoce.workloads.ball import Ball
from sottovoce.workloads.base import Body

__all__ = ["Direct"]


@final
@dataclass(frozen=True)
class Direct(VectorStrategy):
    """V = A, R = I. Every answer pays for the longest column; best where the queries are few or all alike.

    On a `Ball` it is the mean of people's vectors that is asked for.

    Examples
    --------
    >>> (design,) = Direct.designs(Setting(Ball(1, 1.0), 1.0, 0.0, 1000, mechanism="binary"))
    >>> design.variance(n_reports=1000).value.round(5), round(design.margin(1000), 3)
    (array([0.00468]), 0.134)
    """

    workload: Workload | Body
    mechanism: VectorMechanism

    name: ClassVar[str] = "direct"
    family: ClassVar[type[VectorMechanism]] = VectorMechanism
    summary: ClassVar[str] = "a vector mechanism on the queries' own columns"

    def __post_init__(self) -> None:
        stated = self.mechanism.dimension, self.mechanism.radius
        if stated != (self.workload.n_queries, self.workload.radius):
            raise WorkloadError("the mechanism has another number of coordinates or another radius").at("mechanism")

    @classmethod
    def designs(cls, setting: Setting) -> list[Self]:
        """With every deployable vector mechanism that can serve."""
        workload = setting.workload
        stated = workload.n_queries, workload.radius, setting.epsilon, setting.delta, setting.people
        if setting.mechanism == "auto":
            mechanisms = candidates(VectorMechanism, *stated)
        else:
            mechanisms = [find(setting.mechanism, VectorMechanism).best(*stated)]
        if not mechanisms:
            raise MechanismError(
                f"no vector mechanism serves {workload.n_queries:,} answers at epsilon {setting.epsilon:g}; ask fewer "
                "queries, or use a larger epsilon or another strategy"
            )
        return [cls(workload, with_rotations(m, setting.people, setting.max_counters)) for m in mechanisms]

    @classmethod
    def restore(cls, stated: Statement) -> Self:
        """With any vector mechanism."""
        workload, epsilon, delta, name, parameters, _ = stated
        kind = find(name, VectorMechanism)
        return cls(workload, kind.restore(parameters, workload.n_queries, workload.radius, epsilon, delta))

    def inputs(self, indices: NDArray[Any]) -> Floats:
        """Columns of A, one per row; on a ball people's vectors themselves."""
        return self.workload.columns(indices)

    @property
    def coordinates(self) -> Operator:
        """A itself; a ball has no list of columns."""
        if isinstance(self.workload, Ball):
            raise MechanismError("the values of a ball cannot be listed; project on the ball itself")
        return cast(Operator, self.workload)

    def answers(self, coordinates: Floats) -> Floats:
        return coordinates

    @property
    def _two_spaces(self) -> bool:
        return False

    def nearest(self, raw: Floats) -> Projection:
        """The coordinates are the answers."""
        return self.project_coordinates(raw)

    def project_coordinates(self, raw: Floats) -> Projection:
        """On the hull of the columns, or on the ball and between its `low` and `high`."""
        if not isinstance(self.workload, Ball):
            return super().project_coordinates(raw)
        from sottovoce.projections.ball import project_ball

        projected = project_ball(raw, self.workload.radius)
        values = (
            projected.values if self.workload.dimension > 1 else np.clip(projected.values, *self.workload.answer_range)
        )
        return Projection.without_people(values, projected.gap)

    @cached_property
    def spread(self) -> Spread:
        return spread_of_vectors(self.mechanism)

    @property
    def _reads_mean(self) -> bool:
        return True

    @property
    def _shift(self) -> None:
        return None

    @property
    def _lengths(self) -> float:
        return 1.0

    def _direction_lengths(self, weights: Floats) -> Floats:
        return np.asarray(np.einsum("ij,ij->i", weights, weights))

    @property
    def _frobenius(self) -> float:
        return float(self.workload.n_queries)

    @property
    def worst(self) -> float:
        return self.mechanism.worst_total_variance

    @property
    def total(self) -> float:
        """Like `worst`: vectors are extended to one length, so all values have nearly the same noise."""
        return self.mechanism.worst_total_variance

    def column_maximum(self, n_reports: int) -> float | None:
        """None on a ball, where only the variance gives a bound."""
        values = self.workload.n_values
        return None if values is None else self.workload.radius * self.mechanism.expected_maximum(values, n_reports)

    @property
    def operator_norm(self) -> float:
        return 1.0

    @property
    def bias_bound(self) -> PerAnswer:
        return self.mechanism.bias_bound

    def _coordinate_bound(self, n_reports: int) -> Bound:
        """In the space of the answers, which is that of the coordinates."""
        return projected_bound(
            math.sqrt(self.total_variance(None, n_reports).value),
            self.column_maximum(n_reports),
            self.workload.diameter,
            bias=self._bias,
            measured=self.measured_bias > 0,
            hull=self._hull_formula,
        )

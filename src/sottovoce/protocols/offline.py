"""Offline queries and means (Sec. 3): counts, unbiased estimate, projection on what can be true."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, ClassVar, Self, final

import numpy as np
from numpy.typing import ArrayLike, NDArray

from sottovoce.aggregate import Aggregate
from sottovoce.errors import SimulationError, SurveyError, ValueOutsideDomainError
from sottovoce.estimate import Estimate, SparseDistribution
from sottovoce.limits import (
    MAX_REPORT_BYTES,
    check_delta,
    check_dimension,
    check_epsilon,
    check_integer,
    check_radius,
)
from sottovoce.mechanisms.vector import VectorMechanism, as_vector, clip_to_ball
from sottovoce.mechanisms.vector_registry import choose_vector, create_vector, restore_vector
from sottovoce.randomness.philox import key_of
from sottovoce.simulation import MAX_PEOPLE, People, check_histogram
from sottovoce.statement import check_fields
from sottovoce.survey import Ends, Survey, mechanism_statement
from sottovoce.theory.offline_bounds import offline_bound
from sottovoce.workloads import Workload
from sottovoce.workloads.statement import workload_from_statement

if TYPE_CHECKING:
    from sottovoce.projections.hull import HullProjection

__all__ = ["MeanSurvey", "QuerySurvey"]

Floats = NDArray[np.float64]

_SLACK = 1e-9
"""How far rounding may carry a vector beyond the radius before it counts as outside."""


def _mechanism(
    name: str, dimension: int, radius: float, epsilon: object, delta: object, users: object, max_report_bytes: object
) -> VectorMechanism:
    stated = dimension, radius, check_epsilon(epsilon), check_delta(delta)
    people = check_integer("users", users, 1, MAX_PEOPLE)
    limit = check_integer("max_report_bytes", max_report_bytes, 1, MAX_REPORT_BYTES)
    return choose_vector(*stated, people, limit) if name == "auto" else create_vector(name, *stated, people)


class _VectorSurvey(Survey):
    """What surveys of queries and of means share: a vector mechanism, keyed by the survey's id."""

    mechanism: VectorMechanism
    delta: float

    @final
    def _derive_key(self) -> None:
        """Public randomness comes from the id, which covers everything else; so it is set last."""
        if hasattr(self.mechanism, "key"):
            keyed = replace(self.mechanism, key=key_of(bytes.fromhex(self.id)))  # type: ignore[call-arg]
            object.__setattr__(self, "mechanism", keyed)

    @final
    def _check_mechanism(self, dimension: int, radius: float) -> None:
        m = self.mechanism
        if (m.dimension, m.radius, m.epsilon, m.delta) != (dimension, radius, self.epsilon, self.delta):
            raise SurveyError("the mechanism is for another dimension, radius, epsilon or delta than the survey states")

    @property
    @final
    def n_answers(self) -> int:
        """One per query or coordinate."""
        return self.mechanism.dimension

    @final
    def standard_errors(self, values: Floats, n_reports: int) -> Floats:
        """From the mechanism's variance at its worst: the second moments of the answers are not known."""
        low, high = self.answer_range
        bounds = np.minimum(np.maximum(np.abs(low), np.abs(high)), self.mechanism.radius)
        bounds = np.broadcast_to(bounds, self.n_answers)
        return np.asarray(np.sqrt(self.mechanism.variance(bounds, n_reports)))

    @property
    @final
    def proxy(self) -> Ends:
        """The mechanism's."""
        return self.mechanism.proxy

    @final
    def explain(self, users: int = 1_000_000) -> str:
        """Why this mechanism, compared with every other that can serve."""
        from sottovoce.theory.offline_planner import compare_vectors, explain_vectors

        m = self.mechanism
        return explain_vectors(compare_vectors(m.dimension, m.radius, m.epsilon, m.delta, users), m.name)


@final
@dataclass(frozen=True, repr=False)
class QuerySurvey(_VectorSurvey):
    """What are the mean answers to a set of linear queries, fixed beforehand?"""

    workload: Workload
    epsilon: float
    delta: float
    mechanism: VectorMechanism
    title: str = ""

    kind: ClassVar[str] = "queries"

    def __post_init__(self) -> None:
        self._check_mechanism(self.workload.n_queries, self.workload.radius)
        self._check_title()
        self._derive_key()

    @classmethod
    def make(
        cls,
        workload: Workload,
        epsilon: float,
        delta: float,
        mechanism: str,
        title: str,
        users: int,
        max_report_bytes: int,
    ) -> Self:
        """See `Survey.queries`."""
        if not isinstance(workload, Workload):
            raise SurveyError("workload must be one of sottovoce.workloads, for example Prefix(1024)")
        chosen = _mechanism(mechanism, workload.n_queries, workload.radius, epsilon, delta, users, max_report_bytes)
        return cls(workload, chosen.epsilon, chosen.delta, chosen, title)

    def _own_fields(self) -> dict[str, Any]:
        return {"workload": self.workload.to_statement(), "delta": self.delta}

    @classmethod
    def _from_statement(cls, statement: dict[str, Any]) -> Self:
        check_fields(statement, {"mechanism", "workload", "delta"})
        workload = workload_from_statement(statement["workload"])
        epsilon, delta = check_epsilon(statement["epsilon"]), check_delta(statement["delta"])
        name, parameters = mechanism_statement(statement["mechanism"])
        mechanism = restore_vector(name, workload.n_queries, workload.radius, epsilon, delta, parameters)
        return cls(workload, epsilon, delta, mechanism, statement["title"])

    def _private_input(self, value: object) -> Floats:
        return self.workload.column(self.workload.domain.index(value))

    def _answering(self, people: People) -> People:
        return People(people.n, lambda start, stop: self.workload.columns(people.between(start, stop)))

    def _people(self, values: Any) -> People:
        return self._answering(People.with_values(self.workload.domain.indices(values)))

    def _people_of_histogram(self, histogram: ArrayLike) -> People:
        return self._answering(People.with_histogram(check_histogram(histogram, self.workload.domain.size)))

    def _estimate(self, aggregate: Aggregate) -> Estimate:
        n, m = aggregate.n_reports, self.mechanism
        raw = m.estimate(aggregate.counts, n)
        projected = self.project(raw)
        bound = offline_bound(
            self.n_answers,
            self.workload.domain.size,
            m.radius,
            m.proxy,
            m.worst_total_variance,
            n,
            sharing=m.sharing_factor(n),
        )
        behind = SparseDistribution(self.workload.domain, projected.support, projected.weights)
        return Estimate(self, n, raw, projected.values, projected.gap, bound, behind)

    def project(self, raw: Floats, *, symmetric: bool = False) -> HullProjection:
        """The nearest answers that some distribution gives (or, as in the paper, some point of A B_1)."""
        from sottovoce.projections.hull import project_hull

        return project_hull(self.workload, raw, symmetric=symmetric)

    @property
    def answer_range(self) -> tuple[Ends, Ends]:
        """What the workload's answers can be."""
        return self.workload.answer_range

    def answer_label(self, index: int) -> str:
        """The query's name."""
        return self.workload.name(index)

    def answer_index(self, name: object) -> int:
        """The query with that name, or number."""
        if isinstance(name, str):
            return self.workload.find(name)
        return check_integer("query number", name, 0, self.n_answers - 1)


@final
@dataclass(frozen=True, repr=False)
class MeanSurvey(_VectorSurvey):
    """What is the mean of everybody's vector?"""

    dimension: int
    radius: float
    epsilon: float
    delta: float
    mechanism: VectorMechanism
    title: str = ""
    clip: bool = field(default=False, compare=False)

    kind: ClassVar[str] = "mean"

    def __post_init__(self) -> None:
        self._check_mechanism(self.dimension, self.radius)
        self._check_title()
        self._derive_key()

    @classmethod
    def make(
        cls,
        dimension: int,
        radius: float,
        epsilon: float,
        delta: float,
        mechanism: str,
        title: str,
        users: int,
        max_report_bytes: int,
        clip: bool,
    ) -> Self:
        """See `Survey.mean`."""
        size, ball = check_dimension(dimension), check_radius(radius)
        chosen = _mechanism(mechanism, size, ball, epsilon, delta, users, max_report_bytes)
        return cls(size, ball, chosen.epsilon, chosen.delta, chosen, title, clip)

    def _own_fields(self) -> dict[str, Any]:
        return {"dimension": self.dimension, "radius": self.radius, "delta": self.delta}

    @classmethod
    def _from_statement(cls, statement: dict[str, Any]) -> Self:
        check_fields(statement, {"mechanism", "dimension", "radius", "delta"})
        dimension, radius = check_dimension(statement["dimension"]), check_radius(statement["radius"])
        epsilon, delta = check_epsilon(statement["epsilon"]), check_delta(statement["delta"])
        name, parameters = mechanism_statement(statement["mechanism"])
        mechanism = restore_vector(name, dimension, radius, epsilon, delta, parameters)
        return cls(dimension, radius, epsilon, delta, mechanism, statement["title"])

    def _private_input(self, value: object) -> Floats:
        """Any vector of the right length: the mechanism clips it, for a refusal would be an answer too."""
        vector = as_vector(value, self.dimension)
        if vector is None:
            raise ValueOutsideDomainError(f"every value must be a vector of {self.dimension} numbers")
        return vector

    def _vectors(self, values: Any) -> Floats:
        try:
            rows = np.asarray(values, dtype=np.float64)
        except (TypeError, ValueError, OverflowError):
            rows = np.empty(0)
        if rows.ndim != 2 or rows.shape[1] != self.dimension or not np.isfinite(rows).all():
            raise ValueOutsideDomainError(f"every value must be a vector of {self.dimension} finite numbers")
        norms = np.sqrt(np.einsum("ij,ij->i", rows, rows))
        if self.clip:
            return rows if (norms <= self.radius).all() else np.stack([clip_to_ball(r, self.radius) for r in rows])
        if (norms > self.radius * (1 + _SLACK)).any():
            raise ValueOutsideDomainError(
                f"a vector lies outside the ball of radius {self.radius:g}; state a larger radius, or clip=True to "
                "have simulated people do what devices do: move it to the nearest point of the ball"
            )
        return rows

    def _people(self, values: Any) -> People:
        vectors = self._vectors(values)
        return People(len(vectors), lambda start, stop: vectors[start:stop])

    def _people_of_histogram(self, histogram: ArrayLike) -> People:
        raise SimulationError("a survey of means has no list of values to count; give values, one vector a person")

    def _estimate(self, aggregate: Aggregate) -> Estimate:
        from sottovoce.projections.ball import project_ball

        n, m = aggregate.n_reports, self.mechanism
        raw = m.estimate(aggregate.counts, n)
        projected = project_ball(raw, self.radius)
        sharing = m.sharing_factor(n)
        bound = offline_bound(self.n_answers, None, m.radius, m.proxy, m.worst_total_variance, n, sharing=sharing)
        return Estimate(self, n, raw, projected.values, projected.gap, bound)

    @property
    def answer_range(self) -> tuple[Ends, Ends]:
        """No entry of a vector of norm r is larger."""
        return -self.radius, self.radius

    def answer_label(self, index: int) -> str:
        """The coordinate's number."""
        return f"x[{index}]"

    def answer_index(self, name: object) -> int:
        """The coordinate with that number or label."""
        number = int(name[2:-1]) if isinstance(name, str) and name[:2] == "x[" and name[2:-1].isdecimal() else name
        return check_integer("coordinate", number, 0, self.dimension - 1)

"""Means (Sec. 3 without a finite domain): counts, unbiased estimate, projection on the ball."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, ClassVar, Self, final

import numpy as np
from numpy.typing import ArrayLike, NDArray

from sottovoce.errors import SimulationError, SurveyError, ValueOutsideDomainError
from sottovoce.estimate import Estimate
from sottovoce.limits import (
    MAX_REPORT_BYTES,
    check_delta,
    check_dimension,
    check_epsilon,
    check_integer,
    check_radius,
)
from sottovoce.mechanisms.base import Counts
from sottovoce.mechanisms.vector import VectorMechanism, as_vector, clip_to_ball
from sottovoce.mechanisms.vector_registry import choose_vector, create_vector, restore_vector, within_counters
from sottovoce.protocols.keyed import keyed
from sottovoce.simulation import MAX_PEOPLE, People
from sottovoce.statement import Attachments, check_fields
from sottovoce.survey import Ends, Survey, mechanism_statement
from sottovoce.theory.bounds import Bound
from sottovoce.theory.offline_bounds import bound_of

__all__ = ["MeanSurvey"]

Floats = NDArray[np.float64]

_SLACK = 1e-9
"""How far rounding may carry a vector beyond the radius before it counts as outside."""


@final
@dataclass(frozen=True, repr=False)
class MeanSurvey(Survey):
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
        m = self.mechanism
        if (m.dimension, m.radius, m.epsilon, m.delta) != (self.dimension, self.radius, self.epsilon, self.delta):
            raise SurveyError("the mechanism is for another dimension, radius, epsilon or delta than the survey states")
        self._check_title()
        object.__setattr__(self, "mechanism", keyed(self.mechanism, self.id))

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
        max_counters: int,
        clip: bool,
    ) -> Self:
        """See `Survey.mean`."""
        size, ball = check_dimension(dimension), check_radius(radius)
        stated = size, ball, check_epsilon(epsilon), check_delta(delta)
        people = check_integer("users", users, 1, MAX_PEOPLE)
        limit = check_integer("max_report_bytes", max_report_bytes, 1, MAX_REPORT_BYTES)
        named = mechanism != "auto"
        chosen = create_vector(mechanism, *stated, people) if named else choose_vector(*stated, people, limit)
        chosen = within_counters(chosen, people, max_counters, limit)
        return cls(size, ball, chosen.epsilon, chosen.delta, chosen, title, clip)

    def _own_fields(self) -> dict[str, Any]:
        return {"dimension": self.dimension, "radius": self.radius, "delta": self.delta}

    @classmethod
    def _from_statement(cls, statement: dict[str, Any], attachments: Attachments) -> Self:
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

    def _estimate(self, counts: Counts, n_reports: int) -> Estimate:
        from sottovoce.projections.ball import project_ball

        raw = self.mechanism.estimate(counts, n_reports)
        projected = project_ball(raw, self.radius)
        return Estimate(self, n_reports, raw, projected.values, projected.gap, self.bound(n_reports))

    def bound(self, n_reports: int) -> Bound:
        """See `offline_bound`."""
        return bound_of(self.mechanism, None)(n_reports, self.sharing_factor(n_reports))

    @property
    def n_answers(self) -> int:
        """One per coordinate."""
        return self.dimension

    def standard_errors(self, values: Floats, n_reports: int) -> Floats:
        """From the mechanism's variance at its worst: the second moments of the coordinates are not known."""
        bounds = np.full(self.dimension, self.radius)
        return np.asarray(np.sqrt(self.mechanism.variance(bounds, n_reports)))

    @property
    def proxy(self) -> Ends:
        """The mechanism's."""
        return self.mechanism.proxy

    def sharing_factor(self, n_reports: int) -> float:
        """The mechanism's."""
        return self.mechanism.sharing_factor(n_reports)

    @property
    def bias_bound(self) -> Ends:
        """The mechanism's."""
        return self.mechanism.bias_bound

    def explain(self, users: int = 1_000_000) -> str:
        """Why this mechanism, compared with every other that can serve."""
        from sottovoce.theory.offline_planner import compare_vectors, explain_vectors

        m = self.mechanism
        return explain_vectors(compare_vectors(m.dimension, m.radius, m.epsilon, m.delta, users), m.name)

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

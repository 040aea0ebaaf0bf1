"""Before the launch of a survey of queries or means: which mechanism, how many people, what epsilon.

Errors are L2 distances between estimated and true answers, in expectation, for the worst population:
`l2_raw` before projection, `l2_bound` after it.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from statistics import NormalDist
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from sottovoce.errors import MechanismError, PlanError
from sottovoce.limits import (
    MAX_EPSILON,
    MAX_REPORT_BYTES,
    check_delta,
    check_dimension,
    check_radius,
)
from sottovoce.mechanisms.vector import VectorMechanism
from sottovoce.mechanisms.vector_registry import fitting_vectors, vector_candidates
from sottovoce.theory.bounds import Bound
from sottovoce.theory.codebook import SHARING
from sottovoce.theory.offline_bounds import bound_of
from sottovoce.theory.planner import explain
from sottovoce.theory.solving import MAX_USERS, Given, Solved, fewest_users, least_epsilon
from sottovoce.workloads import Workload
from sottovoce.workloads.base import check_workload

if TYPE_CHECKING:
    from sottovoce.theory.strategy_planner import PlannedStrategy

__all__ = [
    "OfflinePlan",
    "VectorCandidate",
    "compare_vectors",
    "design_sharing",
    "explain_vectors",
    "plan_mean",
    "plan_queries",
    "widest_margin",
]


@dataclass(frozen=True)
class VectorCandidate:
    """One mechanism's prediction; `margin` is half of the 95 % interval that the survey will give every answer."""

    mechanism: VectorMechanism
    l2_raw: float
    bound: Bound
    margin: float
    fits: bool

    @property
    def name(self) -> str:
        """The mechanism's name."""
        return self.mechanism.name

    @property
    def l2_bound(self) -> float:
        """What the expected error after projection stays below."""
        return self.bound.value

    @property
    def report_bits(self) -> int:
        """Bits a report."""
        return self.mechanism.report_bits

    @property
    def report_bytes(self) -> int:
        """Bytes a report."""
        return self.mechanism.report_bytes

    def to_dict(self) -> dict[str, Any]:
        """Plain values."""
        return {
            "mechanism": self.name,
            "parameters": self.mechanism.parameters(),
            "delta": self.mechanism.delta,
            "l2_raw": self.l2_raw,
            "l2_bound": self.l2_bound,
            "statement": self.bound.statement,
            "margin": self.margin,
            "report_bits": self.report_bits,
            "report_bytes": self.report_bytes,
            "fits": self.fits,
        }


@dataclass(frozen=True)
class OfflinePlan:
    """A survey of queries or means that can be run; the third of epsilon, users and target error follows.

    For queries the figures are those of the direct strategy; `strategies` has every strategy's own.

    Attributes
    ----------
    dimension
        How many queries, or how many coordinates.
    domain_size
        How many values; None for means.
    workload
        The queries; None for means.
    """

    kind: Literal["queries", "mean"]
    dimension: int
    domain_size: int | None
    radius: float
    epsilon: float
    delta: float
    users: int
    target_error: float
    solved_for: Solved
    candidates: tuple[VectorCandidate, ...]
    reason: str
    max_report_bytes: int = MAX_REPORT_BYTES
    workload: Workload | None = None

    @property
    def best(self) -> VectorCandidate:
        """The mechanism to use."""
        return next(c for c in self.candidates if c.fits)

    @cached_property
    def strategies(self) -> tuple[PlannedStrategy, ...]:
        """Every strategy for the queries, the best first; worked out when asked for, which may take a while."""
        from sottovoce.strategies.direct import Direct
        from sottovoce.theory.strategy_planner import PlannedStrategy, plan_strategies

        if self.workload is None:
            return ()
        mechanism, solved = self.best.mechanism, self.solved_for
        direct = PlannedStrategy(
            Direct.name, Direct(self.workload, mechanism), self.epsilon, self.users, self.best.l2_bound
        )
        given = Given(
            None if solved == "epsilon" else self.epsilon,
            None if solved == "users" else self.users,
            None if solved == "error" else self.target_error,
        )
        return plan_strategies(self.workload, given, self.delta, self.max_report_bytes, direct)

    def to_dict(self) -> dict[str, Any]:
        """Plain values."""
        asked: dict[str, Any] = {"dimension": self.dimension}
        if self.kind == "queries":
            asked = {
                "n_queries": self.dimension,
                "domain_size": self.domain_size,
                "strategy": self.strategies[0].name,
                "strategies": [strategy.to_dict() for strategy in self.strategies],
            }
        return {
            "kind": self.kind,
            "radius": self.radius,
            "epsilon": self.epsilon,
            "delta": self.delta,
            "users": self.users,
            "target_error": self.target_error,
            "solved_for": self.solved_for,
            "mechanism": self.best.name,
            "reason": self.reason,
            **asked,
            "candidates": [c.to_dict() for c in self.candidates],
        }


def design_sharing(mechanism: VectorMechanism, users: int) -> float:
    """The factor for shared rotations, at its design value: it wobbles a little as their number is rounded up."""
    factor = mechanism.sharing_factor(users)
    return max(1 + SHARING, factor) if factor > 1 else 1.0


def _raw(mechanism: VectorMechanism, users: int) -> float:
    """The root mean square error before projecting, for the worst population."""
    return math.sqrt(mechanism.worst_total_variance * design_sharing(mechanism, users) / users)


def _bound(mechanism: VectorMechanism, domain_size: int | None, users: int) -> Bound:
    return bound_of(mechanism, domain_size)(users, design_sharing(mechanism, users))


def widest_margin(mechanism: VectorMechanism, users: int) -> float:
    """Half of the 95 % interval of a coordinate that may be anything."""
    variance = float(mechanism.variance(np.array([mechanism.radius]), users)[0])
    return NormalDist().inv_cdf(0.975) * math.sqrt(variance) + mechanism.bias_bound


def compare_vectors(
    dimension: int,
    radius: float,
    epsilon: float,
    delta: float,
    users: int,
    domain_size: int | None = None,
    max_report_bytes: int = MAX_REPORT_BYTES,
) -> tuple[VectorCandidate, ...]:
    """Every deployable mechanism that can serve, the least expected error before projection first.

    Examples
    --------
    >>> [c.name for c in compare_vectors(256, 1.0, epsilon=1.0, delta=1e-6, users=100_000)]
    ['codebook', 'rejection', 'gaussian']
    """
    found = []
    for mechanism in vector_candidates(dimension, radius, epsilon, delta, users):
        found.append(
            VectorCandidate(
                mechanism=mechanism,
                l2_raw=_raw(mechanism, users),
                bound=_bound(mechanism, domain_size, users),
                margin=widest_margin(mechanism, users),
                fits=mechanism.report_bytes <= max_report_bytes,
            )
        )
    return tuple(sorted(found, key=lambda c: (c.l2_raw, c.report_bits)))


def explain_vectors(compared: Sequence[VectorCandidate], chosen: str) -> str:
    """Why the mechanism called `chosen`, in a sentence or two."""
    return explain(compared, chosen)


def plan_queries(
    workload: Workload,
    epsilon: float | None,
    users: int | None,
    target_error: float | None,
    *,
    delta: float = 0.0,
    max_report_bytes: int = MAX_REPORT_BYTES,
) -> OfflinePlan:
    """`sottovoce.plan` for the answers to a workload."""
    check_workload(workload)
    queries, values = workload.shape
    survey = _Asked("queries", check_dimension(queries), values, workload.radius, check_delta(delta), max_report_bytes)
    given = Given.of(epsilon, users, target_error, 2 * workload.radius, "points within the radius")
    try:
        plan = survey.solve(given)
    except PlanError as refusal:
        raise PlanError(f"{refusal}{_reached_otherwise(workload, given, survey)}") from None
    return replace(plan, workload=workload)


def _reached_otherwise(workload: Workload, given: Given, asked: _Asked) -> str:
    """What the best strategy would take where the direct one does not reach the target; empty if none does."""
    from sottovoce.theory.strategy_planner import plan_strategies, unfit

    direct = unfit("direct", "out of reach")
    best = plan_strategies(workload, given, asked.delta, asked.max_report_bytes, direct)[0]
    if not best.fits:
        return ""
    takes = f"{best.users:,} people" if given.users is None else f"epsilon {best.epsilon:.4g}"
    return f". That is the direct strategy; strategy={best.name!r} reaches it with {takes}"


def plan_mean(
    dimension: object,
    radius: object,
    epsilon: float | None,
    users: int | None,
    target_error: float | None,
    *,
    delta: float = 0.0,
    max_report_bytes: int = MAX_REPORT_BYTES,
) -> OfflinePlan:
    """`sottovoce.plan` for the mean of vectors in a ball."""
    size, ball = check_dimension(dimension), check_radius(radius)
    survey = _Asked("mean", size, None, ball, check_delta(delta), max_report_bytes)
    return survey.solve(Given.of(epsilon, users, target_error, 2 * ball, "vectors within the radius"))


@dataclass(frozen=True)
class _Asked:
    """What is asked, apart from epsilon, users and error."""

    kind: Literal["queries", "mean"]
    dimension: int
    domain_size: int | None
    radius: float
    delta: float
    max_report_bytes: int

    def solve(self, given: Given) -> OfflinePlan:
        epsilon, users, target = given.epsilon, given.users, given.target_error
        if users is None and epsilon is not None and target is not None:
            users = self._users_for(epsilon, target)
        elif epsilon is None and users is not None and target is not None:
            epsilon = self._epsilon_for(users, target)
        if epsilon is None or users is None:  # both are set by now; this tells the type checker
            raise PlanError("give exactly two of epsilon, users and target_error")
        compared = compare_vectors(
            self.dimension, self.radius, epsilon, self.delta, users, self.domain_size, self.max_report_bytes
        )
        best = next((c for c in compared if c.fits), None)
        if best is None:
            raise MechanismError(
                f"no mechanism can serve at epsilon {epsilon:g} in {self.max_report_bytes:,} bytes a report; "
                "allow a few more, or a larger epsilon"
            )
        return OfflinePlan(
            kind=self.kind,
            dimension=self.dimension,
            domain_size=self.domain_size,
            radius=self.radius,
            epsilon=epsilon,
            delta=self.delta,
            users=users,
            target_error=best.l2_bound if target is None else target,
            solved_for=given.solved_for,
            candidates=compared,
            reason=explain_vectors(compared, best.name),
            max_report_bytes=self.max_report_bytes,
        )

    def _best(self, epsilon: float, users: int) -> VectorMechanism:
        """The first that fits of what `compare_vectors` would list."""
        fitting = fitting_vectors(self.dimension, self.radius, epsilon, self.delta, users, self.max_report_bytes)
        return min(fitting, key=lambda m: (_raw(m, users), m.report_bits))

    def _users_for(self, epsilon: float, target: float) -> int:
        """The fewest users whose guaranteed error is at most the target, each with the mechanism that suits them."""

        def bound(users: int) -> Bound:
            return _bound(self._best(epsilon, users), self.domain_size, users)

        last = bound(MAX_USERS)
        if last.value > target:
            name = self._best(epsilon, MAX_USERS).name
            raise PlanError(
                f"an error of {target:g} needs more than {MAX_USERS:.0e} people at epsilon {epsilon:g}: the "
                f"bound of {name} ({last.statement}) is still {last.value:.3g}; raise epsilon or the target"
            )
        return fewest_users(lambda users: bound(users).value <= target)

    def _epsilon_for(self, users: int, target: float) -> float:
        """The least epsilon, to three digits, whose guaranteed error is at most the target."""

        def bound(epsilon: float) -> Bound:
            return _bound(self._best(epsilon, users), self.domain_size, users)

        last = bound(MAX_EPSILON)
        if last.value > target:
            raise PlanError(
                f"an error of {target:g} is out of reach with {users:,} people at any epsilon up to {MAX_EPSILON:g}: "
                f"there the bound ({last.statement}) is still {last.value:.3g}; ask more people or raise the target"
            )
        return least_epsilon(lambda epsilon: bound(epsilon).value <= target)

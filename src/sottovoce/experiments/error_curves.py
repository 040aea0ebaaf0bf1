"""How a plan's error falls with the number of people: what bounds it, what is exact, what is measured."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Final

import numpy as np

from sottovoce.experiments.distribution_error import measure
from sottovoce.experiments.offline_error import measure_mean, measure_queries, paper_bound
from sottovoce.theory.bounds import projected_distribution_bound, theorem_4_2
from sottovoce.theory.offline_bounds import bound_of
from sottovoce.theory.offline_planner import OfflinePlan
from sottovoce.theory.planner import Plan
from sottovoce.theory.solving import MAX_USERS
from sottovoce.workloads import Workload

__all__ = ["REPEATS", "Crowds", "ErrorCurves", "Point", "affordable", "crowds_of", "error_curves", "people_simulated"]

REPEATS: Final = 3
"""Simulations of each crowd."""

SEED: Final = 7

MAX_WORK: Final = 2**24
"""People times numbers a person's vector has, in the largest simulated crowd: about a second."""

MAX_CROWD: Final = 10**7

MAX_VALUES: Final = 2**20
"""Domains larger than this are not simulated for a picture."""


@dataclass(frozen=True)
class Point:
    """One simulated crowd's mean errors."""

    users: int
    l2_raw: float
    l2_projected: float


@dataclass(frozen=True)
class Crowds:
    """Numbers of people: `lines` where formulas are evaluated, `points` where people are simulated."""

    lines: tuple[int, ...]
    points: tuple[int, ...]


@dataclass(frozen=True)
class ErrorCurves:
    """Errors against people. A bound of the paper that is not stated for so few is not a number.

    `strategies`, for queries alone, are the errors to expect of every strategy that can serve, by name.
    """

    what: str
    mechanism: str
    epsilon: float
    users: int
    target_error: float
    paper: str
    population: str
    people: tuple[int, ...]
    l2_raw: tuple[float, ...]
    l2_bound: tuple[float, ...]
    l2_bound_paper: tuple[float, ...]
    measured: tuple[Point, ...]
    strategies: dict[str, tuple[float, ...]] = field(default_factory=dict)
    delta: float = 0.0


def affordable(plan: Plan | OfflinePlan) -> int:
    """The largest crowd that a picture simulates for this plan; 0 where the domain is too large."""
    if (plan.domain_size or 0) > MAX_VALUES:
        return 0
    work = max(1, plan.best.report_bytes // 4) if isinstance(plan, Plan) else plan.dimension
    return min(MAX_CROWD, MAX_WORK // work)


def crowds_of(users: int, largest: int) -> Crowds:
    """From a hundredth of the largest crowd that is planned and can be simulated to ten times the plan's.

    Examples
    --------
    >>> crowds_of(10_000, 10**6).points
    (100, 464, 2154, 10000)
    """
    most = min(users, largest) if largest else users
    low, high = max(10, most // 100), min(MAX_USERS, max(100, 10 * users))
    lines = np.unique(np.geomspace(low, high, 81).round().astype(np.int64))
    points = np.unique(np.geomspace(low, max(low, most), 4).astype(np.int64)) if largest else lines[:0]
    return Crowds(tuple(lines.tolist()), tuple(points.tolist()))


def people_simulated(plan: Plan | OfflinePlan) -> int:
    """How many people `error_curves` simulates in all, for a bar of progress."""
    return REPEATS * sum(crowds_of(plan.users, affordable(plan)).points)


def error_curves(
    plan: Plan | OfflinePlan, workload: Workload | None = None, progress: Callable[[int], object] | None = None
) -> ErrorCurves:
    """The curves of the plan's best mechanism; `workload` is the one that was planned for, if any."""
    crowds = crowds_of(plan.users, affordable(plan))
    if isinstance(plan, Plan):
        return _distribution(plan, crowds, progress)
    return _offline(plan, workload, crowds, progress)


def _distribution(plan: Plan, crowds: Crowds, progress: Callable[[int], object] | None) -> ErrorCurves:
    m = plan.best.mechanism
    measured = []
    for n in crowds.points:
        found = measure(plan.domain_size, n, plan.epsilon, m.name, repeats=REPEATS, seed=SEED, progress=progress)
        measured.append(Point(n, found.mean.l2_raw, found.mean.l2_projected))
    bounds = [projected_distribution_bound(m.domain_size, m.proxy, m.worst_total_variance, n) for n in crowds.lines]
    return ErrorCurves(
        what=f"Distribution over {plan.domain_size:,} values",
        mechanism=m.name,
        epsilon=plan.epsilon,
        users=plan.users,
        target_error=plan.target_error,
        paper="Theorem 4.2, as printed",
        population="zipf",
        people=crowds.lines,
        l2_raw=tuple(m.expected_l2(n) for n in crowds.lines),
        l2_bound=tuple(bound.value for bound in bounds),
        l2_bound_paper=tuple(theorem_4_2(m.domain_size, m.epsilon, n).value for n in crowds.lines),
        measured=tuple(measured),
    )


def _offline(
    plan: OfflinePlan, workload: Workload | None, crowds: Crowds, progress: Callable[[int], object] | None
) -> ErrorCurves:
    m = plan.best.mechanism
    measured = []
    for n in crowds.points:
        stated = n, plan.epsilon, m.delta, m.name
        found = (
            measure_mean(plan.dimension, plan.radius, *stated, repeats=REPEATS, seed=SEED, progress=progress)
            if workload is None
            else measure_queries(
                workload, *stated, strategy="direct", repeats=REPEATS, seed=SEED, symmetric=False, progress=progress
            )
        )
        measured.append(Point(n, found.mean.l2_raw, found.mean.l2_projected))
    papers = [paper_bound(m.dimension, plan.domain_size, m.radius, m.epsilon, m.delta, n) for n in crowds.lines]
    ours = bound_of(m, plan.domain_size)
    bounds = [ours(n, m.sharing_factor(n)) for n in crowds.lines]
    queries = f"Answers to {plan.dimension:,} queries over {plan.domain_size or 0:,} values"
    return ErrorCurves(
        what=queries if plan.kind == "queries" else f"Mean of {plan.dimension:,} numbers",
        mechanism=m.name,
        epsilon=plan.epsilon,
        users=plan.users,
        target_error=plan.target_error,
        paper="Theorem 3.2, as printed" if m.delta else "Theorem 3.4, as printed",
        population="zipf" if plan.kind == "queries" else "vectors around one direction",
        people=crowds.lines,
        l2_raw=tuple(math.sqrt(m.worst_total_variance / n) for n in crowds.lines),
        l2_bound=tuple(bound.value for bound in bounds),
        l2_bound_paper=tuple(math.nan if paper is None else paper for paper in papers),
        measured=tuple(measured),
        strategies={} if workload is None else _strategies(plan, crowds.lines),
        delta=m.delta,
    )


def _strategies(plan: OfflinePlan, people: tuple[int, ...]) -> dict[str, tuple[float, ...]]:
    return {
        one.name if plan.solved_for != "epsilon" else f"{one.name}, epsilon {one.epsilon:.3g}": tuple(
            one.strategy.expected_error(n) for n in people
        )
        for one in plan.strategies
        if one.fits and one.strategy is not None
    }

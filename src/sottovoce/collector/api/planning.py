"""From what a page asks to a plan: the third of epsilon, people and error, every way to run it, and curves."""

from __future__ import annotations

from collections.abc import Callable

from sottovoce.collector.api.drafting import wrong
from sottovoce.collector.api.page_structs import Planned, PlannedBest, PlannedCandidate, PlanRequest
from sottovoce.collector.api.plan_curves import curves_of, offered_curves
from sottovoce.collector.failures import Refused
from sottovoce.errors import PlanError
from sottovoce.limits import (
    DEFAULT_REPORT_BYTES,
    DEFAULT_USERS,
    MAX_DIMENSION,
    MAX_EPSILON,
    MAX_REPORT_BYTES,
    check_dimension,
    check_domain_size,
    check_epsilon,
    check_integer,
    check_radius,
)
from sottovoce.mechanisms.binary import Binary
from sottovoce.theory.adaptive_bounds import adaptive_bound, check_rounds, predicted_worst_error
from sottovoce.theory.adaptive_planner import MOST_USERS, plan_adaptive
from sottovoce.theory.offers import DistributionOffers, MeanOffers, Offer, QueryOffers, priced
from sottovoce.theory.offline_planner import OfflinePlan, plan_mean
from sottovoce.theory.planner import Plan, explain, plan
from sottovoce.theory.solving import MAX_USERS, Given, fewest_users, least_epsilon
from sottovoce.workloads.parse import parse_workload

__all__ = ["planned"]

_OWN = {
    "distribution": {"size", "max_report_bytes"},
    "queries": {"workload", "max_report_bytes"},
    "mean": {"dimension", "radius", "max_report_bytes"},
    "adaptive": {"rounds", "radius"},
}
"""What is asked of each kind besides epsilon, people and error."""


def planned(asked: PlanRequest) -> Planned:
    """The plan, or a refusal that names the field, what is allowed, and what to do."""
    _check(asked)
    match asked.kind:
        case "distribution":
            return _distribution(asked)
        case "queries":
            return _queries(asked)
        case "mean":
            return _mean(asked)
        case "adaptive":
            return _adaptive(asked)


def _check(asked: PlanRequest) -> None:
    own = _OWN[asked.kind]
    for field in ("size", "workload", "dimension", "radius", "rounds", "max_report_bytes"):
        if field not in own and getattr(asked, field) is not None:
            message = f"{field} is nothing that a plan of kind {asked.kind} has; leave it out"
            raise Refused(422, "invalid_draft", message, field=field)
    if asked.epsilon is not None:
        with wrong("epsilon"):
            check_epsilon(asked.epsilon)
    if asked.users is not None:
        with wrong("users"):
            check_integer("users", asked.users, 1, MOST_USERS if asked.kind == "adaptive" else MAX_USERS)
    with wrong("radius"):
        check_radius(1.0 if asked.radius is None else asked.radius)


def _needed(asked: PlanRequest, field: str, example: str) -> None:
    if getattr(asked, field) is None:
        message = f"a plan of kind {asked.kind} needs {field}, for example {example}"
        raise Refused(422, "invalid_draft", message, field=field)


def _limit(asked: PlanRequest, default: int) -> int:
    with wrong("max_report_bytes"):
        given = default if asked.max_report_bytes is None else asked.max_report_bytes
        return check_integer("max_report_bytes", given, 1, MAX_REPORT_BYTES)


def _distribution(asked: PlanRequest) -> Planned:
    _needed(asked, "size", "1000")
    limit = _limit(asked, DEFAULT_REPORT_BYTES)
    with wrong("size"):
        size = check_domain_size(asked.size)
    with wrong(_blamed(asked)):
        found = plan(
            size,
            epsilon=asked.epsilon,
            users=asked.users,
            target_error=asked.target_error,
            max_report_bytes=limit,
        )
    note = "errors are proved for the projected estimate; a margin is that of a typical value"
    return _told(found, DistributionOffers(size, limit).at, [note])


def _mean(asked: PlanRequest) -> Planned:
    _needed(asked, "dimension", "20")
    limit, radius = _limit(asked, MAX_REPORT_BYTES), 1.0 if asked.radius is None else asked.radius
    with wrong("dimension"):
        size = check_dimension(asked.dimension)
    with wrong(_blamed(asked)):
        found = plan_mean(size, radius, asked.epsilon, asked.users, asked.target_error, max_report_bytes=limit)
    note = "errors are bounds for all vectors in the ball; a margin is that of every coordinate"
    return _told(found, MeanOffers(size, radius, limit).at, [note])


def _blamed(asked: PlanRequest) -> str | None:
    """Which field is wrong where a plan is refused although each number by itself is allowed."""
    given = [name for name in ("epsilon", "users", "target_error") if getattr(asked, name) is not None]
    if len(given) != 2:
        return None
    return "target_error" if asked.target_error is not None else "max_report_bytes"


def _told(found: Plan | OfflinePlan, at: Callable[[float, int], list[Offer]], notes: list[str]) -> Planned:
    best = found.best
    return Planned(
        solved_for=found.solved_for,
        epsilon=found.epsilon,
        users=found.users,
        target_error=found.target_error,
        rounds=None,
        margin=best.margin,
        best=PlannedBest(best.name, best.report_bytes, best.l2_bound),
        reason=found.reason,
        candidates=[PlannedCandidate(c.name, c.l2_bound, c.margin, c.report_bytes, c.fits) for c in found.candidates],
        curves=offered_curves(at, found.epsilon, found.users),
        notes=notes,
    )


# --- queries ------------------------------------------------------------------------------------


def _queries(asked: PlanRequest) -> Planned:
    _needed(asked, "workload", "prefix:1024")
    limit = _limit(asked, MAX_REPORT_BYTES)
    with wrong("workload"):
        workload = parse_workload(asked.workload or "", files=False, most=MAX_DIMENSION)
    offers = QueryOffers(workload, limit)
    with wrong(_blamed(asked)):
        given = Given.of(
            asked.epsilon, asked.users, asked.target_error, 2 * workload.radius, "points within the radius"
        )
        epsilon, users = _solved(given, offers)
        found = priced(offers.at(epsilon, users), users)
        best = next((one for one in found if one.fits), None)
        if best is None:
            raise PlanError(f"no strategy fits into {limit:,} bytes a report at epsilon {epsilon:g}; allow a few more")
    return Planned(
        solved_for=given.solved_for,
        epsilon=epsilon,
        users=users,
        target_error=best.l2_raw if given.target_error is None else given.target_error,
        rounds=None,
        margin=best.margin,
        best=PlannedBest(best.name, best.report_bytes, best.l2_raw),
        reason=explain(found, best.name),
        candidates=[PlannedCandidate(o.name, o.l2_raw, o.margin, o.report_bytes, o.fits) for o in found],
        curves=offered_curves(offers.at, epsilon, users),
        notes=[
            "errors are those of all answers together before projection, for the worst value",
            f"left out here, for they take a while to find: {', '.join(offers.left_out())}; "
            "'sottovoce plan queries' compares them",
        ],
    )


def _solved(given: Given, offers: QueryOffers) -> tuple[float, int]:
    """Epsilon and people; whichever is not given is the least that reaches the target."""
    epsilon, users, target = given.epsilon, given.users, given.target_error
    if epsilon is not None and users is not None:
        return epsilon, users
    if epsilon is not None and target is not None:
        return epsilon, _fewest(offers, epsilon, target)
    people, aim = users or DEFAULT_USERS, target or 0.0

    def reaches(epsilon: float) -> bool:
        return any(offer.fits and offer.error(people) <= aim for offer in offers.at(epsilon, people))

    if not reaches(MAX_EPSILON):
        raise PlanError(
            f"an error of {aim:g} is out of reach with {people:,} people at any epsilon up to {MAX_EPSILON:g}; ask "
            "more people or raise the target"
        )
    return least_epsilon(reaches), people


def _fewest(offers: QueryOffers, epsilon: float, target: float) -> int:
    def enough(users: int) -> bool:
        return any(offer.fits and offer.error(users) <= target for offer in offers.at(epsilon, users))

    if not enough(MAX_USERS):
        raise PlanError(
            f"an error of {target:g} needs more than {MAX_USERS:.0e} people at epsilon {epsilon:g}; raise epsilon or "
            "the target"
        )
    return fewest_users(enough)


# --- adaptive -----------------------------------------------------------------------------------


def _adaptive(asked: PlanRequest) -> Planned:
    radius = 1.0 if asked.radius is None else asked.radius
    if asked.rounds is not None:
        with wrong("rounds"):
            check_rounds(asked.rounds)
    with wrong("target_error" if asked.target_error is not None else None):
        found = plan_adaptive(asked.rounds, asked.users, asked.epsilon, asked.target_error, radius=radius)
    line, rounds = found.line, found.rounds
    mechanism = Binary(1, radius, found.epsilon, 0.0)

    def proved(epsilon: float, users: int) -> float:
        return adaptive_bound(rounds, radius, epsilon, users).value

    def expected(epsilon: float, users: int) -> float:
        return predicted_worst_error(rounds, radius, epsilon, users)

    lines = {"proved": proved, "expected": expected}
    best = PlannedBest(mechanism.name, mechanism.report_bytes, line.bound)
    return Planned(
        solved_for=found.solved_for,
        epsilon=found.epsilon,
        users=found.users,
        target_error=found.target_error,
        rounds=rounds,
        margin=line.predicted,
        best=best,
        reason=f"everybody answers one of {rounds:,} rounds with one bit: {found.statement}",
        candidates=[PlannedCandidate(best.name, best.l2, line.predicted, best.report_bytes, True)],
        curves=curves_of(lines, found.epsilon, found.users, MOST_USERS),
        notes=[
            "errors are the largest over all rounds, however questions are chosen; a margin is what to expect of it"
        ],
    )

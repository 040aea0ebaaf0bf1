"""Every strategy's part in a plan of queries: what error, how many people or what epsilon each of them comes to."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from sottovoce.errors import CapacityError, SurveyError
from sottovoce.limits import DEFAULT_USERS, MAX_EPSILON
from sottovoce.mechanisms.codebook import Codebook
from sottovoce.strategies.base import Setting, Strategy
from sottovoce.strategies.direct import Direct
from sottovoce.strategies.factorized import RADIUS, FactorizedStrategy
from sottovoce.strategies.optimized import OptimizedStrategy
from sottovoce.strategies.registry import STRATEGIES, compare, create
from sottovoce.theory.solving import MAX_USERS, fewest_users, least_epsilon

if TYPE_CHECKING:
    from sottovoce.theory.offline_planner import OfflinePlan
    from sottovoce.workloads import Workload

__all__ = ["PlannedStrategy", "expected_error", "plan_strategies"]


@dataclass(frozen=True)
class PlannedStrategy:
    """One strategy in a plan.

    Attributes
    ----------
    strategy
        None where there is none; `reason` then says why.
    epsilon, users, error
        The two that were given, and the third as it comes out for this strategy; `error` is `expected_error`. Not a
        number where the strategy cannot be chosen.
    reason
        Why it cannot be chosen; empty if it can.
    """

    name: str
    strategy: Strategy | None
    epsilon: float
    users: float
    error: float
    reason: str = ""

    @property
    def fits(self) -> bool:
        """Whether it can be chosen."""
        return not self.reason

    @property
    def mechanism(self) -> str:
        """The mechanism's name, if there is one."""
        return "" if self.strategy is None else self.strategy.mechanism.name

    @property
    def worst(self) -> float | None:
        """Noise of one report, summed over the queries, for the worst value."""
        return None if self.strategy is None else self.strategy.worst

    @property
    def report_bytes(self) -> int | None:
        """Bytes a report."""
        return None if self.strategy is None else self.strategy.mechanism.report_bytes

    @property
    def fetched_bytes(self) -> int | None:
        """Bytes a device fetches besides the survey's JSON."""
        return None if self.strategy is None else len(self.strategy.attachment or b"")

    def to_dict(self) -> dict[str, Any]:
        """Plain values."""
        return {
            "strategy": self.name,
            "fits": self.fits,
            "reason": self.reason,
            "mechanism": self.mechanism or None,
            "epsilon": self.epsilon,
            "users": None if math.isnan(self.users) else int(self.users),
            "error": self.error,
            "worst_variance": self.worst,
            "report_bytes": self.report_bytes,
            "fetched_bytes": self.fetched_bytes,
        }


def expected_error(strategy: Strategy, users: int) -> float:
    """The L2 error of all answers to expect with so many people, as strategies are compared by it.

    The root mean square of the raw answers' noise for the worst value, or, where that is smaller, what the error after
    projection provably stays below.

    Examples
    --------
    >>> from sottovoce.strategies.haar import HaarStrategy
    >>> from sottovoce.workloads import Prefix
    >>> round(expected_error(HaarStrategy.best(Prefix(128), 1.0), 100_000), 3)
    0.163
    """
    raw = math.sqrt(strategy.worst * strategy.sharing_factor(users) / users)
    return min(raw, strategy.bound(users).value)


def plan_strategies(plan: OfflinePlan, workload: Workload) -> tuple[PlannedStrategy, ...]:
    """Every strategy beside the plan, which is the direct one's; the best first, those that cannot serve last."""
    setting = Setting(workload, plan.epsilon, plan.delta, plan.users, "auto", plan.max_report_bytes)
    if plan.solved_for == "error":
        compared = compare(setting)
        return tuple(
            PlannedStrategy(one.name, one.strategy, plan.epsilon, plan.users, one.error, one.reason)
            if one.fits
            else _unfit(one.name, one.strategy, one.reason)
            for one in compared
        )
    found = _by_users(plan, setting) if plan.solved_for == "users" else _by_epsilon(plan, setting)
    return tuple(sorted(found, key=lambda one: (not one.fits, one.users, one.epsilon, one.error)))


def _unfit(name: str, strategy: Strategy | None, reason: str) -> PlannedStrategy:
    return PlannedStrategy(name, strategy, math.nan, math.nan, math.nan, reason)


def _of_direct(plan: OfflinePlan, strategy: Strategy) -> PlannedStrategy:
    """The plan's own solution."""
    return PlannedStrategy(Direct.name, strategy, plan.epsilon, plan.users, plan.best.l2_bound)


def _by_users(plan: OfflinePlan, setting: Setting) -> list[PlannedStrategy]:
    found = []
    for one in compare(replace(setting, users=min(plan.users, DEFAULT_USERS))):
        if not one.fits or one.strategy is None:
            found.append(_unfit(one.name, one.strategy, one.reason))
        elif one.name == Direct.name:
            found.append(_of_direct(plan, create(Direct.name, setting)))
        else:
            found.append(_fewest(one.strategy, plan.epsilon, plan.target_error))
    return found


def _fewest(strategy: Strategy, epsilon: float, target: float) -> PlannedStrategy:
    """The fewest people for this strategy; rotations are shared by as many of them as in the survey it is made for."""

    def error(users: int) -> float:
        return expected_error(strategy, users)

    if error(MAX_USERS) > target:
        return _unfit(strategy.name, strategy, f"an error of {target:g} needs more than {MAX_USERS:.0e} people")
    users = fewest_users(lambda users: error(users) <= target)
    return PlannedStrategy(strategy.name, strategy, epsilon, users, error(users))


def _by_epsilon(plan: OfflinePlan, setting: Setting) -> list[PlannedStrategy]:
    found = []
    for name in STRATEGIES:
        if name == OptimizedStrategy.name:
            found.append(_unfit(name, None, "a channel is searched for one epsilon: plan with an epsilon to compare it"))
            continue
        try:
            strategy = create(name, setting)
        except (SurveyError, CapacityError) as refusal:
            found.append(_unfit(name, None, str(refusal)))
            continue
        size = strategy.mechanism.report_bytes
        if name == Direct.name:
            found.append(_of_direct(plan, strategy))
        elif size > plan.max_report_bytes:
            found.append(_unfit(name, strategy, f"its report takes {size:,} bytes; {plan.max_report_bytes:,} allowed"))
        else:
            found.append(_least(strategy, _maker(strategy, setting), plan.users, plan.target_error))
    return found


def _maker(strategy: Strategy, setting: Setting) -> Callable[[float], Strategy]:
    """The strategy at another epsilon. Coordinates do not depend on it, and are worked out once."""
    if isinstance(strategy, FactorizedStrategy):
        known, size = strategy, len(strategy.stated.matrix)
        return lambda epsilon: replace(known, mechanism=Codebook.best(size, RADIUS, epsilon, 0.0, setting.users))
    return lambda epsilon: create(strategy.name, replace(setting, epsilon=epsilon))


def _least(strategy: Strategy, at: Callable[[float], Strategy], users: int, target: float) -> PlannedStrategy:
    """The least epsilon, to three digits, for this strategy."""
    try:
        reachable = expected_error(at(MAX_EPSILON), users) <= target
    except SurveyError:
        reachable = False
    if not reachable:
        return _unfit(strategy.name, strategy, f"an error of {target:g} is out of reach at any epsilon")
    epsilon = least_epsilon(lambda epsilon: expected_error(at(epsilon), users) <= target)
    made = at(epsilon)
    return PlannedStrategy(strategy.name, made, epsilon, users, expected_error(made, users))

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
from sottovoce.strategies.registry import STRATEGIES, Compared, compare, create
from sottovoce.theory.solving import MAX_USERS, Given, fewest_users, least_epsilon

if TYPE_CHECKING:
    from sottovoce.workloads import Workload

__all__ = ["PlannedStrategy", "plan_strategies", "unfit"]


@dataclass(frozen=True)
class PlannedStrategy:
    """One strategy in a plan.

    Attributes
    ----------
    strategy
        None where there is none; `reason` then says why.
    epsilon, users, error
        The two that were given, and the third as it comes out for this strategy; `error` is
        `Strategy.expected_error`. Not a number where the strategy cannot be chosen.
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


def plan_strategies(
    workload: Workload, given: Given, delta: float, max_report_bytes: int, direct: PlannedStrategy
) -> tuple[PlannedStrategy, ...]:
    """Every strategy, the best first and those that cannot serve last; `direct` is the direct one's part, solved."""
    epsilon, users, target = given.epsilon, given.users, given.target_error
    setting = Setting(workload, epsilon or 1.0, delta, users or DEFAULT_USERS, "auto", max_report_bytes)
    if users is None and target is not None:
        found = [direct if one.name == Direct.name else _fewest(one, setting, target) for one in compare(setting)]
    elif epsilon is None and target is not None:
        found = [direct if name == Direct.name else _least(name, setting, target) for name in STRATEGIES]
    else:
        found = [
            PlannedStrategy(one.name, one.strategy, setting.epsilon, setting.users, one.error)
            if one.fits
            else unfit(one.name, one.reason, one.strategy)
            for one in compare(setting)
        ]
    return tuple(sorted(found, key=_order))


def _order(one: PlannedStrategy) -> tuple[float, ...]:
    # Nothing can be ordered by what is not a number.
    return (0.0, one.users, one.epsilon, one.error) if one.fits else (1.0,)


def unfit(name: str, reason: str, strategy: Strategy | None = None) -> PlannedStrategy:
    """A strategy that cannot be chosen."""
    return PlannedStrategy(name, strategy, math.nan, math.nan, math.nan, reason)


def _fewest(one: Compared, setting: Setting, target: float) -> PlannedStrategy:
    """The fewest people for a strategy."""
    strategy = one.strategy
    if strategy is None or not one.fits:
        return unfit(one.name, one.reason, strategy)
    known = strategy
    if known.expected_error(MAX_USERS) > target:
        return unfit(one.name, f"an error of {target:g} needs more than {MAX_USERS:.0e} people", known)
    users = fewest_users(lambda users: known.expected_error(users) <= target)
    return PlannedStrategy(one.name, known, setting.epsilon, users, known.expected_error(users))


def _least(name: str, setting: Setting, target: float) -> PlannedStrategy:
    """The least epsilon, to three digits, for a strategy."""
    if name == OptimizedStrategy.name:
        return unfit(name, "a channel is searched for one epsilon: plan with an epsilon to compare it")
    try:
        strategy = create(name, setting)
        at = _maker(strategy, setting)
        reachable = at(MAX_EPSILON).expected_error(setting.users) <= target
    except (SurveyError, CapacityError) as refusal:
        return unfit(name, str(refusal))
    if not reachable:
        return unfit(name, f"an error of {target:g} is out of reach at any epsilon up to {MAX_EPSILON:g}", strategy)
    epsilon = least_epsilon(lambda epsilon: at(epsilon).expected_error(setting.users) <= target)
    made = at(epsilon)
    size = made.mechanism.report_bytes
    if size > setting.max_report_bytes:
        return unfit(name, f"its report takes {size:,} bytes; {setting.max_report_bytes:,} are allowed", made)
    return PlannedStrategy(name, made, epsilon, setting.users, made.expected_error(setting.users))


def _maker(strategy: Strategy, setting: Setting) -> Callable[[float], Strategy]:
    """The strategy at another epsilon. Coordinates do not depend on it, and are worked out once."""
    if isinstance(strategy, FactorizedStrategy):
        known, size = strategy, len(strategy.stated.matrix)
        return lambda epsilon: replace(known, mechanism=Codebook.best(size, RADIUS, epsilon, 0.0, setting.users))
    return lambda epsilon: create(strategy.name, replace(setting, epsilon=epsilon))

"""How a plan's error falls with people and with epsilon, for every design: what a chart of a plan shows."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import Final

import numpy as np

from sottovoce.limits import MAX_EPSILON, MIN_EPSILON
from sottovoce.planning.plan import Plan
from sottovoce.planning.solve import MAX_USERS
from sottovoce.strategies.optimized import OptimizedStrategy
from sottovoce.strategies.options import Option, error_of, fitting

__all__ = ["Curve", "crowds", "curve_by_epsilon", "curve_by_users", "epsilons"]

_USERS: Final = 41
_EPSILONS: Final = 13

_FARTHEST: Final = 4.0
"""How many times the best design's error another's may be for its line to be of use."""


@dataclass(frozen=True)
class Curve:
    """Errors of every design over one axis, by the design's name; not a number where it cannot serve."""

    x: tuple[float, ...]
    lines: dict[str, tuple[float, ...]]


def crowds(users: int) -> list[int]:
    """Numbers of people around the planned one, which is among them.

    Examples
    --------
    >>> crowds(10_000)[0], 10_000 in crowds(10_000), crowds(10_000)[-1]
    (10, True, 1000000)
    """
    low, high = max(1, users // 1000), min(MAX_USERS, 100 * users)
    return sorted({users, *(round(n) for n in np.geomspace(low, max(low, high), _USERS).tolist())})


def epsilons(epsilon: float) -> list[float]:
    """From a tenth to eight, farther where the planned one lies outside; it is among them.

    Examples
    --------
    >>> epsilons(1.0)[0], 1.0 in epsilons(1.0), epsilons(1.0)[-1]
    (0.1, True, 8.0)
    """
    low, high = max(MIN_EPSILON, min(0.1, epsilon / 2)), min(MAX_EPSILON, max(8.0, 2 * epsilon))
    inner = np.geomspace(low, high, _EPSILONS)[1:-1].tolist()
    return sorted({low, high, epsilon, *inner})


def curve_by_users(plan: Plan) -> Curve:
    """The error by which the plan compares, against the number of people."""
    people = crowds(plan.users)
    lines = {}
    for option in plan.options:
        if option.design is not None:
            made = [option.design.for_users(n, plan.setting.max_counters) for n in people]
            errors = [
                error_of(design, n, plan.criterion, plan.population) for design, n in zip(made, people, strict=True)
            ]
            lines[option.name] = tuple(errors)
    return Curve(tuple(float(n) for n in people), lines)


def curve_by_epsilon(plan: Plan) -> Curve:
    """The same against epsilon, of the designs that err at most four times as much as the best.

    The others are far off, and making each of them anew for every epsilon takes long. A searched channel is one point:
    it is searched for one epsilon.
    """
    grid = epsilons(plan.epsilon)
    most = _FARTHEST * plan.best.error(plan.criterion)
    shown = [option for option in plan.options if option.design is not None and option.error(plan.criterion) <= most]
    return Curve(tuple(grid), {option.name: tuple(_at(plan, option, epsilon) for epsilon in grid) for option in shown})


def _at(plan: Plan, option: Option, epsilon: float) -> float:
    """The error of the same strategy and mechanism at another epsilon; not a number where they cannot serve."""
    if epsilon == plan.epsilon:
        return option.error(plan.criterion)
    if option.strategy == OptimizedStrategy.name:
        return math.nan
    setting = replace(plan.setting, epsilon=epsilon, mechanism=option.mechanism)
    errors = [
        error_of(design, plan.users, plan.criterion, plan.population) for design in fitting(setting, (option.strategy,))
    ]
    return min(errors, default=math.nan)

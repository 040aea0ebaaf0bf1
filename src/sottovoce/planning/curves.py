"""The error of every design of a plan as a function of people and of epsilon, for charts."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import Final

import numpy as np

from sottovoce.core.limits import MAX_EPSILON, MIN_EPSILON
from sottovoce.planning.plan import Plan
from sottovoce.planning.solve import MAX_PEOPLE
from sottovoce.strategies.base import Strategy
from sottovoce.strategies.options import Option, error_of, usable_designs

__all__ = ["ErrorCurve", "curve_by_epsilon", "curve_by_people", "epsilon_grid", "people_grid"]

_PEOPLE: Final = 41
_EPSILONS: Final = 13

_FARTHEST: Final = 4.0
"""Designs with more than this many times the best error are not drawn."""


@dataclass(frozen=True)
class ErrorCurve:
    """Errors of every design over one axis, by the design's name; NaN where it cannot serve."""

    x: tuple[float, ...]
    lines: dict[str, tuple[float, ...]]


def people_grid(people: int) -> list[int]:
    """Numbers of people around the planned one, including it.

    Examples
    --------
    >>> people_grid(10_000)[0], 10_000 in people_grid(10_000), people_grid(10_000)[-1]
    (10, True, 1000000)
    """
    low, high = max(1, people // 1000), min(MAX_PEOPLE, 100 * people)
    return sorted({people, *(round(n) for n in np.geomspace(low, max(low, high), _PEOPLE).tolist())})


def epsilon_grid(epsilon: float) -> list[float]:
    """Epsilons from 0.1 to 8, or farther if the planned one is outside, including it.

    Examples
    --------
    >>> epsilon_grid(1.0)[0], 1.0 in epsilon_grid(1.0), epsilon_grid(1.0)[-1]
    (0.1, True, 8.0)
    """
    low, high = max(MIN_EPSILON, min(0.1, epsilon / 2)), min(MAX_EPSILON, max(8.0, 2 * epsilon))
    inner = np.geomspace(low, high, _EPSILONS)[1:-1].tolist()
    return sorted({low, high, epsilon, *inner})


def curve_by_people(plan: Plan) -> ErrorCurve:
    """The error, by the plan's criterion, as a function of the number of people."""
    people = people_grid(plan.people)
    lines = {}
    for option in plan.stated_options:
        if option.design is not None:
            made = [option.design.for_people(n, plan.setting.max_counters) for n in people]
            lines[option.name] = tuple(_errors(plan, option, made, people))
    return ErrorCurve(tuple(float(n) for n in people), lines)


def curve_by_epsilon(plan: Plan) -> ErrorCurve:
    """The error as a function of epsilon, for designs with at most four times the error of the best.

    Making the others for every epsilon would take long. A searched channel is one point: it is for one epsilon.
    """
    grid = epsilon_grid(plan.epsilon)
    most = _FARTHEST * plan.best.error(plan.criterion)
    made = [option for option in plan.stated_options if option.design is not None]
    shown = [option for option in made if option.error(plan.criterion) <= most]
    return ErrorCurve(
        tuple(grid), {option.name: tuple(_at(plan, option, epsilon) for epsilon in grid) for option in shown}
    )


def _at(plan: Plan, option: Option, epsilon: float) -> float:
    """The error of the same strategy and mechanism at another epsilon; NaN if they cannot serve."""
    if epsilon == option.epsilon:
        return option.stated_margin if plan.criterion == "margin" else option.l2
    if option.design is None or option.design.searched:
        return math.nan
    setting = replace(plan.setting, epsilon=epsilon, mechanism=option.mechanism)
    designs = usable_designs(setting, (option.strategy,))
    return min((_errors(plan, option, [design], [plan.people])[0] for design in designs), default=math.nan)


def _errors(plan: Plan, option: Option, designs: list[Strategy], people: list[int]) -> list[float]:
    """The error of a design as made for every number of people.

    Margins are 1.96 standard errors, times what the interval to be printed is wider by where the plan is.
    """
    widening = option.stated_margin / option.margin if plan.criterion == "margin" and option.margin > 0 else 1.0
    made = zip(designs, people, strict=True)
    return [widening * error_of(design, n, plan.criterion, plan.population) for design, n in made]

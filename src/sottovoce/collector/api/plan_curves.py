"""The lines of a plan's chart: the error against the number of people, and against epsilon."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping

import numpy as np

from sottovoce.collector.api.page_structs import Curve, Curves, Series
from sottovoce.errors import SurveyError
from sottovoce.limits import MAX_EPSILON, MIN_EPSILON
from sottovoce.theory.offers import Offer
from sottovoce.theory.solving import MAX_USERS

__all__ = ["crowds", "curves_of", "epsilons", "offered_curves"]

_USERS = 41
_EPSILONS = 17


def crowds(users: int, most: int) -> list[int]:
    """Numbers of people around the planned one, which is among them.

    Examples
    --------
    >>> crowds(10_000, 10**15)[0], 10_000 in crowds(10_000, 10**15), crowds(10_000, 10**15)[-1]
    (10, True, 1000000)
    """
    low, high = max(1, users // 1000), min(most, 100 * users)
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


def curves_of(lines: Mapping[str, Callable[[float, int], float]], epsilon: float, users: int, most: int) -> Curves:
    """Both charts of functions of epsilon and people."""
    people, grid = crowds(users, most), epsilons(epsilon)
    return Curves(
        users=Curve(
            [float(n) for n in people],
            [Series(name, [line(epsilon, n) for n in people]) for name, line in lines.items()],
        ),
        epsilon=Curve(grid, [Series(name, [line(e, users) for e in grid]) for name, line in lines.items()]),
    )


def offered_curves(at: Callable[[float, int], list[Offer]], epsilon: float, users: int) -> Curves:
    """Both charts of every way to run a survey; nothing where one cannot serve."""
    people, grid = crowds(users, MAX_USERS), epsilons(epsilon)
    by_users = [{offer.name: offer.error(n) for offer in _served(at, epsilon, n)} for n in people]
    by_epsilon = [{offer.name: offer.error(users) for offer in _served(at, e, users)} for e in grid]
    names = [offer.name for offer in at(epsilon, users)]
    return Curves(users=_curve([float(n) for n in people], by_users, names), epsilon=_curve(grid, by_epsilon, names))


def _curve(x: list[float], found: list[dict[str, float]], names: list[str]) -> Curve:
    return Curve(x, [Series(name, [errors.get(name, math.nan) for errors in found]) for name in names])


def _served(at: Callable[[float, int], list[Offer]], epsilon: float, users: int) -> list[Offer]:
    try:
        return at(epsilon, users)
    except SurveyError:
        return []

"""Given two of epsilon, people and error, computes the third: the solver of every plan."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable
from dataclasses import dataclass
from numbers import Real
from typing import Final, Literal

from sottovoce.core.errors import PlanError, SurveyError
from sottovoce.core.limits import MAX_EPSILON, MAX_PEOPLE, MIN_EPSILON, as_float, check_epsilon, check_integer

__all__ = [
    "MAX_PEOPLE",
    "Solved",
    "Target",
    "check_target",
    "fewest_people",
    "largest_epsilon",
    "least_epsilon",
    "solve",
]

_FARTHEST: Final = 10**18
"""Up to this many people the solver searches, to say how many a refused plan would need."""

_ROUND: Final = (float(f"{digits}e{power}") for power in range(-9, 0) for digits in range(100, 1000))
_EPSILONS: Final = (*(epsilon for epsilon in _ROUND if MIN_EPSILON <= epsilon < MAX_EPSILON), MAX_EPSILON)
"""Every allowed epsilon of three digits."""

Solved = Literal["error", "people", "epsilon"]

Error = Callable[[float, int], float]
"""The error as a function of epsilon and people."""


@dataclass(frozen=True)
class Target:
    """The name of an error and the value to reach; None if the error is to be computed."""

    name: str
    value: float | None


def check_target(name: str, value: object, largest: float, what: str) -> float:
    """Return the error if it is above 0 and below the largest possible one.

    Examples
    --------
    >>> check_target("margin", 0.01, 1.0, "what answers can differ by")
    0.01
    >>> check_target("margin", 0, 1.0, "what answers can differ by")
    Traceback (most recent call last):
    sottovoce.core.errors.PlanError: margin is 0: it must be a number above 0 and below 1, what answers can differ by
    """
    if not largest > 0:
        raise PlanError(
            f"the answers are the same for every population, so there is no {name} to reach; leave it out"
        ).at(name)
    remedy = f"it must be a number above 0 and below {largest:.4g}, {what}"
    if isinstance(value, bool) or not isinstance(value, Real):
        raise PlanError(f"{name} has type {type(value).__name__}: {remedy}").at(name)
    number = as_float(value)
    if not 0 < number < largest:
        raise PlanError(f"{name} is {number:g}: {remedy}").at(name)
    return number


def solve(error: Error, epsilon: float | None, people: int | None, target: Target) -> tuple[float, int, Solved]:
    """Epsilon, people, and which of the three was computed; exactly two are given.

    Examples
    --------
    >>> solve(lambda epsilon, people: 1 / (epsilon * people**0.5), 1.0, None, Target("margin", 0.01))
    (1.0, 10000, 'people')
    """
    given = {"epsilon": epsilon, "people": people, target.name: target.value}
    named = [name for name, number in given.items() if number is not None]
    if len(named) != 2:
        raise PlanError(
            f"give exactly two of epsilon, people and {target.name} (got {', '.join(named) or 'none'}); the third is "
            "computed"
        )
    strength = None if epsilon is None else check_epsilon(epsilon)
    people = None if people is None else check_integer("people", people, 1, MAX_PEOPLE)
    if strength is not None and people is not None:
        return strength, people, "error"
    aim = 0.0 if target.value is None else target.value
    if strength is not None:
        return strength, _people(error, strength, target.name, aim), "people"
    n = 1 if people is None else people
    if error(MAX_EPSILON, n) > aim:
        raise PlanError(
            f"{target.name} {aim:g} is out of reach with {n:,} people at any epsilon up to {MAX_EPSILON:g}: there it "
            f"is still {error(MAX_EPSILON, n):.3g}; ask more people or allow a larger {target.name}"
        ).at(target.name)
    return least_epsilon(lambda e: error(e, n) <= aim), n, "epsilon"


def _people(error: Error, epsilon: float, name: str, aim: float) -> int:
    """The fewest people, up to the limit."""
    if error(epsilon, MAX_PEOPLE) <= aim:
        return fewest_people(lambda n: error(epsilon, n) <= aim, MAX_PEOPLE)
    remedy = f"raise epsilon, or allow a larger {name}"
    least = error(epsilon, _FARTHEST)
    if aim < least < error(epsilon, _FARTHEST // 100) / 2:
        raise PlanError(f"{name} {aim:g} at epsilon {epsilon:g} needs more than {_FARTHEST:,} people; {remedy}").at(
            name
        )
    if least > aim:
        raise PlanError(
            f"{name} {aim:g} is out of reach at epsilon {epsilon:g}, however many people answer: part of the error "
            f"does not average out; {remedy}"
        ).at(name)
    needed = fewest_people(lambda n: error(epsilon, n) <= aim, _FARTHEST)
    raise PlanError(
        f"{name} {aim:g} at epsilon {epsilon:g} needs {needed:,} people; a plan allows at most {MAX_PEOPLE:,}: {remedy}"
    ).at(name)


def fewest_people(reaches: Callable[[int], bool], most: int = MAX_PEOPLE) -> int:
    """The fewest people that reach the error; `most` people must reach it.

    Examples
    --------
    >>> fewest_people(lambda people: people >= 1234)
    1234
    """
    low, high = 0, 1
    while high < most and not reaches(high):
        low, high = high, min(most, high * 2)
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if reaches(middle) else (middle, high)
    return high


def least_epsilon(reaches: Callable[[float], bool]) -> float:
    """The least epsilon of three digits that reaches the error; `MAX_EPSILON` must reach it.

    An epsilon for which `reaches` raises `SurveyError`, because no mechanism can serve, does not.

    Examples
    --------
    >>> least_epsilon(lambda epsilon: epsilon >= 0.12345)
    0.124
    """

    def serves(epsilon: float) -> bool:
        try:
            return reaches(epsilon)
        except SurveyError:
            return False

    low, high = -1, len(_EPSILONS) - 1
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if serves(_EPSILONS[middle]) else (middle, high)
    return _EPSILONS[high]


def largest_epsilon(
    holds: Callable[[float], bool], known: float, most: float = MAX_EPSILON, tries: int | None = None
) -> float:
    """The largest epsilon of three digits, up to `most`, for which a guarantee holds; it must hold at `known`.

    It ends after `tries` tries, with the largest of them that holds.

    Examples
    --------
    >>> largest_epsilon(lambda epsilon: epsilon <= 4.1279, 0.5)
    4.12
    >>> largest_epsilon(lambda epsilon: True, 0.5, most=2.0)
    2.0
    """
    low, high = bisect_right(_EPSILONS, known) - 1, bisect_right(_EPSILONS, most)
    start, left = low, len(_EPSILONS) if tries is None else tries
    while high - low > 1 and left:
        middle, left = (low + high) // 2, left - 1
        low, high = (middle, high) if holds(_EPSILONS[middle]) else (low, middle)
    return known if low == start else _EPSILONS[low]

"""Two of epsilon, people and error give the third: what the planners of every kind of survey share."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from numbers import Real
from typing import Literal

from sottovoce.errors import PlanError, SurveyError
from sottovoce.limits import MAX_EPSILON, MIN_EPSILON, check_epsilon, check_integer

__all__ = ["MAX_USERS", "Given", "Solved", "fewest_users", "least_epsilon"]

MAX_USERS = 10**15
"""More people than there are; a plan that needs more is refused."""

Solved = Literal["error", "users", "epsilon"]


@dataclass(frozen=True)
class Given:
    """Exactly two of the three, checked."""

    epsilon: float | None
    users: int | None
    target_error: float | None

    @classmethod
    def of(
        cls, epsilon: float | None, users: int | None, target_error: float | None, farthest: float, between: str
    ) -> Given:
        """Checked; no error can be as large as `farthest`, the largest L2 distance of two `between`."""
        named = {"epsilon": epsilon, "users": users, "target_error": target_error}
        given = [name for name, number in named.items() if number is not None]
        if len(given) != 2:
            raise PlanError(
                f"give exactly two of epsilon, users and target_error (got {', '.join(given) or 'none'}); "
                "the third is solved for"
            )
        return cls(
            None if epsilon is None else check_epsilon(epsilon),
            None if users is None else check_integer("users", users, 1, MAX_USERS),
            None if target_error is None else _check_target(target_error, farthest, between),
        )

    @property
    def solved_for(self) -> Solved:
        """The one that is missing."""
        if self.users is None:
            return "users"
        return "epsilon" if self.epsilon is None else "error"


def _check_target(target: object, farthest: float, between: str) -> float:
    if isinstance(target, bool) or not isinstance(target, Real) or not 0 < float(target) < farthest:
        raise PlanError(
            f"target_error must be a number above 0 and below {farthest:.4g}, the largest L2 distance of two {between}"
        )
    return float(target)


def fewest_users(enough: Callable[[int], bool]) -> int:
    """The fewest people that are enough; `MAX_USERS` must be.

    Examples
    --------
    >>> fewest_users(lambda users: users >= 1234)
    1234
    """
    low, high = 0, 1
    while high < MAX_USERS and not enough(high):
        low, high = high, min(MAX_USERS, high * 2)
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if enough(middle) else (middle, high)
    return high


def least_epsilon(enough: Callable[[float], bool]) -> float:
    """The least epsilon, rounded up to three digits, that is enough; `MAX_EPSILON` must be.

    An epsilon at which no mechanism carries a signal, where `enough` raises `SurveyError`, is not.

    Examples
    --------
    >>> round(least_epsilon(lambda epsilon: epsilon >= 0.12345), 6)
    0.124
    """

    def reaches(epsilon: float) -> bool:
        try:
            return enough(epsilon)
        except SurveyError:
            return False

    low, high = MIN_EPSILON, MAX_EPSILON
    while high / low > 1.0005:
        middle = math.sqrt(low * high)
        low, high = (low, middle) if reaches(middle) else (middle, high)
    unit = 10.0 ** (math.floor(math.log10(high)) - 2)
    rounded = math.ceil(high / unit) * unit
    while rounded < MAX_EPSILON and not reaches(rounded):  # the error may rise by a hair where parameters change
        rounded += unit
    return min(MAX_EPSILON, rounded)

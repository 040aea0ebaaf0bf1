"""Before an adaptive survey: how many questions, how many people, what epsilon, what error; three give the fourth."""

from __future__ import annotations

import math
from dataclasses import asdict, dataclass
from numbers import Real
from typing import Any, Final, Literal

from sottovoce.errors import PlanError
from sottovoce.limits import MAX_EPSILON, check_epsilon, check_integer, check_radius
from sottovoce.theory.adaptive_bounds import (
    MAX_ROUNDS,
    adaptive_bound,
    check_rounds,
    predicted_worst_error,
    theorem_5_2,
)
from sottovoce.theory.solving import fewest_users, least_epsilon

__all__ = ["AdaptiveLine", "AdaptivePlan", "error_line", "plan_adaptive"]

Solved = Literal["error", "users", "epsilon", "rounds"]

MOST_USERS: Final = 10**12
"""A plan that needs more people is refused."""


@dataclass(frozen=True)
class AdaptiveLine:
    """What is known, beforehand, of the largest error over so many rounds.

    Attributes
    ----------
    bound
        What its expectation stays below, however questions are chosen.
    predicted
        What it comes to by the exact variance where answers are near 0; not a bound.
    paper
        Theorem 5.2 as printed; None where it says nothing.
    """

    rounds: int
    users_per_round: float
    bound: float
    predicted: float
    paper: float | None


@dataclass(frozen=True)
class AdaptivePlan:
    """An adaptive survey that can be run; the fourth of rounds, users, epsilon and target error follows.

    Attributes
    ----------
    target_error
        What the expected largest error over all rounds stays below.
    lines
        Errors for fewer and for more rounds with the same people; the planned one among them.
    statement
        Which bound it is.
    """

    rounds: int
    users: int
    epsilon: float
    radius: float
    target_error: float
    solved_for: Solved
    statement: str
    lines: tuple[AdaptiveLine, ...]

    @property
    def line(self) -> AdaptiveLine:
        """The planned number of rounds."""
        return next(line for line in self.lines if line.rounds == self.rounds)

    def to_dict(self) -> dict[str, Any]:
        """Plain values."""
        planned = self.line
        return {
            "kind": "adaptive",
            "rounds": self.rounds,
            "users": self.users,
            "users_per_round": planned.users_per_round,
            "epsilon": self.epsilon,
            "radius": self.radius,
            "target_error": self.target_error,
            "solved_for": self.solved_for,
            "linf_bound": planned.bound,
            "linf_predicted": planned.predicted,
            "linf_bound_paper": planned.paper,
            "statement": self.statement,
            "by_rounds": [asdict(line) for line in self.lines],
        }


def error_line(rounds: int, radius: float, epsilon: float, users: int) -> AdaptiveLine:
    """Bound, prediction and the printed theorem for one number of rounds.

    Examples
    --------
    >>> line = error_line(20, 1.0, 1.0, 1_000_000)
    >>> line.predicted < line.bound < line.paper
    True
    """
    try:
        paper = theorem_5_2(rounds, radius, epsilon, users).value
    except PlanError:
        paper = None
    bound = adaptive_bound(rounds, radius, epsilon, users).value
    return AdaptiveLine(rounds, users / rounds, bound, predicted_worst_error(rounds, radius, epsilon, users), paper)


def plan_adaptive(
    rounds: int | None = None,
    users: int | None = None,
    epsilon: float | None = None,
    target_error: float | None = None,
    *,
    radius: float = 1.0,
) -> AdaptivePlan:
    """Solve for the one of rounds, users, epsilon and target error that is not given.

    Parameters
    ----------
    rounds
        How many questions may be asked. Everybody answers one of them, so more questions mean fewer people for each.
    target_error
        What the expected largest error over all rounds must stay below, for every population and however questions
        are chosen.
    radius
        How large a question's values may be.

    Examples
    --------
    >>> plan_adaptive(users=1_000_000, epsilon=1.0, target_error=0.05).rounds
    32
    >>> plan_adaptive(rounds=20, epsilon=1.0, target_error=0.02).solved_for
    'users'
    """
    named = {"rounds": rounds, "users": users, "epsilon": epsilon, "target_error": target_error}
    given = [name for name, number in named.items() if number is not None]
    wrong = (
        f"give exactly three of rounds, users, epsilon and target_error (got {', '.join(given) or 'none'}); the fourth "
        "is solved for"
    )
    if len(given) != 3:
        raise PlanError(wrong)
    r = check_radius(radius)
    d = None if rounds is None else check_rounds(rounds)
    n = None if users is None else check_integer("users", users, 1, MOST_USERS)
    eps = None if epsilon is None else check_epsilon(epsilon)
    target = None if target_error is None else _check_target(target_error, r)
    solved: Solved = "error"
    if n is not None and eps is not None and target is not None:
        d, solved = _most_rounds(n, eps, r, target), "rounds"
    elif d is not None and eps is not None and target is not None:
        n, solved = _fewest_users(d, eps, r, target), "users"
    elif d is not None and n is not None and target is not None:
        eps, solved = _least_epsilon(d, n, r, target), "epsilon"
    if d is None or n is None or eps is None:  # all are set by now; this tells the type checker
        raise PlanError(wrong)
    bound = adaptive_bound(d, r, eps, n)
    lines = tuple(error_line(other, r, eps, n) for other in _rounds_shown(d))
    return AdaptivePlan(d, n, eps, r, bound.value if target is None else target, solved, bound.statement, lines)


def _rounds_shown(planned: int) -> list[int]:
    """From one round to a few times those planned, each about four times the one before."""
    most = min(MAX_ROUNDS, 4 ** (math.ceil(math.log(planned, 4)) + 1))
    return sorted({planned, *(4**k for k in range(9) if 4**k <= most)})


def _check_target(target: object, radius: float) -> float:
    if isinstance(target, bool) or not isinstance(target, Real) or not 0 < float(target) < 2 * radius:
        raise PlanError(
            f"target_error must be a number above 0 and below {2 * radius:.4g}, the largest distance of two answers"
        )
    return float(target)


def _most_rounds(n: int, epsilon: float, r: float, target: float) -> int:
    first = adaptive_bound(1, r, epsilon, n).value
    if first > target:
        raise PlanError(
            f"an error of {target:g} is out of reach with {n:,} people at epsilon {epsilon:g}, even for one question: "
            f"the bound is {first:.3g}; ask more people, or raise epsilon or the target"
        )
    low, high = 1, MAX_ROUNDS + 1
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (middle, high) if adaptive_bound(middle, r, epsilon, n).value <= target else (low, middle)
    return low


def _fewest_users(d: int, epsilon: float, r: float, target: float) -> int:
    last = adaptive_bound(d, r, epsilon, MOST_USERS).value
    if last > target:
        raise PlanError(
            f"an error of {target:g} in {d:,} rounds needs more than {MOST_USERS:.0e} people at epsilon {epsilon:g}: "
            f"the bound is still {last:.3g}; raise epsilon or the target, or ask less"
        )
    return fewest_users(lambda n: n >= MOST_USERS or adaptive_bound(d, r, epsilon, n).value <= target)


def _least_epsilon(d: int, n: int, r: float, target: float) -> float:
    last = adaptive_bound(d, r, MAX_EPSILON, n).value
    if last > target:
        raise PlanError(
            f"an error of {target:g} in {d:,} rounds is out of reach with {n:,} people at any epsilon up to "
            f"{MAX_EPSILON:g}: there the bound is still {last:.3g}; ask more people or less, or raise the target"
        )
    return least_epsilon(lambda epsilon: adaptive_bound(d, r, epsilon, n).value <= target)

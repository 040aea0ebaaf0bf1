"""Planning a panel: of rounds, users, epsilon and error, three are given and the fourth is computed."""

from __future__ import annotations

import math
from dataclasses import asdict, dataclass
from typing import Any, Literal

from sottovoce.core.errors import PlanError
from sottovoce.core.limits import check_epsilon, check_integer, check_radius
from sottovoce.planning.solve import MAX_USERS, Target, check_target, solve
from sottovoce.theory.adaptive_bounds import (
    MAX_ROUNDS,
    adaptive_bound,
    check_rounds,
    predicted_worst_error,
    theorem_5_2,
)

__all__ = ["PanelLine", "PanelPlan", "error_line", "plan_panel"]

Solved = Literal["error", "users", "epsilon", "rounds"]


@dataclass(frozen=True)
class PanelLine:
    """The largest error over a number of rounds.

    Attributes
    ----------
    bound
        Upper bound on its expectation, for any choice of questions.
    predicted
        Its expectation by the exact variance for answers near 0; not a bound.
    paper
        Theorem 5.2 as printed; None where it does not apply.
    """

    rounds: int
    users_per_round: float
    bound: float
    predicted: float
    paper: float | None


@dataclass(frozen=True)
class PanelPlan:
    """A planned panel.

    Attributes
    ----------
    error
        Upper bound on the expected largest error over all rounds.
    lines
        Errors for fewer and more rounds with the same people, including the planned number.
    statement
        Which bound it is.
    """

    rounds: int
    users: int
    epsilon: float
    radius: float
    error: float
    solved_for: Solved
    statement: str
    lines: tuple[PanelLine, ...]

    @property
    def line(self) -> PanelLine:
        """The line of the planned number of rounds."""
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
            "error": self.error,
            "solved_for": self.solved_for,
            "linf_bound": planned.bound,
            "linf_predicted": planned.predicted,
            "linf_bound_paper": planned.paper,
            "statement": self.statement,
            "by_rounds": [asdict(line) for line in self.lines],
        }


def error_line(rounds: int, radius: float, epsilon: float, users: int) -> PanelLine:
    """Bound, prediction and printed theorem for one number of rounds.

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
    return PanelLine(rounds, users / rounds, bound, predicted_worst_error(rounds, radius, epsilon, users), paper)


def plan_panel(
    rounds: int | None = None,
    users: int | None = None,
    epsilon: float | None = None,
    error: float | None = None,
    *,
    radius: float = 1.0,
) -> PanelPlan:
    """Compute the one of rounds, users, epsilon and error that is not given.

    Parameters
    ----------
    rounds
        Maximum number of questions. Everybody answers one of them, so more questions mean fewer people for each.
    error
        Upper bound on the expected largest error over all rounds, for every population and any choice of questions.
    radius
        Largest absolute value of a query.

    Examples
    --------
    >>> plan_panel(users=1_000_000, epsilon=1.0, error=0.05).rounds
    32
    >>> plan_panel(rounds=20, epsilon=1.0, error=0.02).solved_for
    'users'
    """
    r = check_radius(radius)
    aim = None if error is None else check_target("error", error, 2 * r, "the largest distance of two answers")
    solved: Solved = "rounds"
    given = {"rounds": rounds, "users": users, "epsilon": epsilon, "error": aim}
    named = [name for name, number in given.items() if number is not None]
    if len(named) != 3:
        raise PlanError(
            f"give exactly three of rounds, users, epsilon and error (got {', '.join(named) or 'none'}); the fourth is "
            "computed"
        )
    if rounds is None:
        d, n, eps = _most_rounds(users, epsilon, r, aim)
    else:
        d = check_rounds(rounds)
        eps, n, solved = solve(lambda e, m: adaptive_bound(d, r, e, m).value, epsilon, users, Target("error", aim))
    bound = adaptive_bound(d, r, eps, n)
    lines = tuple(error_line(other, r, eps, n) for other in _rounds_shown(d))
    return PanelPlan(d, n, eps, r, bound.value if aim is None else aim, solved, bound.statement, lines)


def _rounds_shown(planned: int) -> list[int]:
    """Powers of four up to a few times the planned number, and the planned number."""
    most = min(MAX_ROUNDS, 4 ** (math.ceil(math.log(planned, 4)) + 1))
    return sorted({planned, *(4**k for k in range(9) if 4**k <= most)})


def _most_rounds(users: object, epsilon: object, r: float, target: float | None) -> tuple[int, int, float]:
    """The maximum number of rounds that reach the error, with the checked users and epsilon."""
    error = 0.0 if target is None else target
    n, e = check_integer("users", users, 1, MAX_USERS), check_epsilon(epsilon)
    first = adaptive_bound(1, r, e, n).value
    if first > error:
        raise PlanError(
            f"error {error:g} is out of reach with {n:,} people at epsilon {e:g}, even for one question: the bound is "
            f"{first:.3g}; ask more people, raise epsilon, or allow a larger error"
        ).at("error")
    low, high = 1, MAX_ROUNDS + 1
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (middle, high) if adaptive_bound(middle, r, e, n).value <= error else (low, middle)
    return low, n, e

"""Planning a panel: of rounds, people, epsilon and error, three are given and the fourth is computed."""

from __future__ import annotations

import math
from dataclasses import asdict, dataclass
from typing import Any, Literal

from sottovoce.core.calls import with_clear_calls
from sottovoce.core.errors import PlanError
from sottovoce.core.limits import check_epsilon, check_integer, check_radius
from sottovoce.core.notebook import facts_html
from sottovoce.core.words import figure, plural
from sottovoce.planning.solve import MAX_PEOPLE, Target, check_target, solve
from sottovoce.surveys.panel import Panel
from sottovoce.theory.adaptive_bounds import (
    MAX_ROUNDS,
    adaptive_bound,
    check_rounds,
    predicted_worst_error,
    theorem_5_2,
)

__all__ = ["PanelLine", "PanelPlan", "error_line", "plan_panel"]

Solved = Literal["error", "people", "epsilon", "rounds"]


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
    people_per_round: float
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
        The name of the bound.
    """

    rounds: int
    people: int
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

    def __str__(self) -> str:
        return (
            f"{plural(self.rounds, 'round')}, {plural(self.people, 'person', 'people')}, epsilon {self.epsilon:.4g}: "
            f"the expected largest error is at most {figure(self.line.bound)}; {self.statement}."
        )

    def __repr__(self) -> str:
        return f"<plan of a panel: {self.rounds:,} rounds, {self.people:,} people, epsilon {self.epsilon:.4g}>"

    def _repr_html_(self) -> str:
        planned = self.line
        facts = {
            "rounds": f"{self.rounds:,}",
            "people": f"{self.people:,}, about {planned.people_per_round:,.0f} in a round",
            "guarantee": f"epsilon {self.epsilon:.4g}",
            "largest error, proved": figure(planned.bound),
            "largest error, expected": figure(planned.predicted),
        }
        return facts_html("plan of a panel", facts)

    def to_dict(self) -> dict[str, Any]:
        """Plain values."""
        planned = self.line
        return {
            "kind": Panel.kind,
            "rounds": self.rounds,
            "people": self.people,
            "people_per_round": planned.people_per_round,
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


def error_line(rounds: int, radius: float, epsilon: float, people: int) -> PanelLine:
    """Bound, prediction and printed theorem for one number of rounds.

    Examples
    --------
    >>> line = error_line(20, 1.0, 1.0, 1_000_000)
    >>> line.predicted < line.bound < line.paper
    True
    """
    try:
        paper = theorem_5_2(rounds, radius, epsilon, people).value
    except PlanError:
        paper = None
    bound = adaptive_bound(rounds, radius, epsilon, people).value
    return PanelLine(rounds, people / rounds, bound, predicted_worst_error(rounds, radius, epsilon, people), paper)


@with_clear_calls("sv.plan_panel(rounds=20, people=1_000_000, epsilon=1.0)", error=PlanError)
def plan_panel(
    *,
    rounds: int | None = None,
    people: int | None = None,
    epsilon: float | None = None,
    error: float | None = None,
    radius: float = 1.0,
) -> PanelPlan:
    """Compute the one of rounds, people, epsilon and error that is not given.

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
    >>> plan_panel(people=1_000_000, epsilon=1.0, error=0.05).rounds
    32
    >>> plan_panel(rounds=20, epsilon=1.0, error=0.02).solved_for
    'people'
    """
    r = check_radius(radius)
    aim = None if error is None else check_target("error", error, 2 * r, "the largest distance of two answers")
    solved: Solved = "rounds"
    given = {"rounds": rounds, "people": people, "epsilon": epsilon, "error": aim}
    named = [name for name, number in given.items() if number is not None]
    if len(named) != 3:
        raise PlanError(
            f"give exactly three of rounds, people, epsilon and error (got {', '.join(named) or 'none'}); the fourth "
            "is computed"
        )
    if rounds is None:
        d, n, eps = _most_rounds(people, epsilon, r, aim)
    else:
        d = check_rounds(rounds)
        eps, n, solved = solve(lambda e, m: adaptive_bound(d, r, e, m).value, epsilon, people, Target("error", aim))
    bound = adaptive_bound(d, r, eps, n)
    lines = tuple(error_line(other, r, eps, n) for other in _rounds_shown(d))
    return PanelPlan(d, n, eps, r, bound.value if aim is None else aim, solved, bound.statement, lines)


def _rounds_shown(planned: int) -> list[int]:
    """Powers of four up to a few times the planned number, and the planned number."""
    most = min(MAX_ROUNDS, 4 ** (math.ceil(math.log(planned, 4)) + 1))
    return sorted({planned, *(4**k for k in range(9) if 4**k <= most)})


def _most_rounds(people: object, epsilon: object, r: float, target: float | None) -> tuple[int, int, float]:
    """The maximum number of rounds that reach the error, with the checked people and epsilon."""
    error = 0.0 if target is None else target
    n, e = check_integer("people", people, 1, MAX_PEOPLE), check_epsilon(epsilon)
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

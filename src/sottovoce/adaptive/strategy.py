"""What all strategies share: a plan before anybody is asked, a panel made by it, and a run over its session."""

from __future__ import annotations

import abc
import math
from collections.abc import Callable
from dataclasses import dataclass, field
from numbers import Real
from typing import Any, final

from sottovoce.adaptive.session import Session
from sottovoce.domain import Domain
from sottovoce.errors import PlanError, SessionError, SurveyError
from sottovoce.limits import DEFAULT_USERS, check_epsilon, check_integer
from sottovoce.planning.solve import MAX_USERS
from sottovoce.surveys.panel import Panel
from sottovoce.theory.bounds import Bound

__all__ = ["Strategy", "StrategyPlan", "attribute_of", "check_share"]


@final
@dataclass(frozen=True)
class StrategyPlan:
    """What a strategy will do and how well, known before it starts.

    Attributes
    ----------
    rounds
        How many questions it asks at most.
    users, epsilon
        What it was planned for.
    error
        The error to expect as a number, and in words what that number is.
    """

    rounds: int
    users: int
    epsilon: float
    error: Bound
    error_of: Callable[[int], float] = field(repr=False, compare=False)

    @property
    def users_per_round(self) -> float:
        """How many people a round has on average."""
        return self.users / self.rounds

    def users_needed(self, target: float) -> int:
        """The fewest people with which the error is at most `target`, rounded up to three digits."""
        wanted = check_share("target", target)
        low, high = 1.0, float(MAX_USERS)
        if self.error_of(MAX_USERS) > wanted:
            raise PlanError(f"no number of people up to {MAX_USERS:,} brings the error to {wanted:g}; allow more of it")
        while high / low > 1.0005:
            middle = math.sqrt(low * high)
            low, high = (low, middle) if self.error_of(round(middle)) <= wanted else (middle, high)
        unit: int = 10 ** max(0, math.floor(math.log10(high)) - 2)
        return math.ceil(high / unit) * unit

    def to_dict(self) -> dict[str, Any]:
        """Everything as plain values."""
        return {
            "rounds": self.rounds,
            "users": self.users,
            "users_per_round": self.users_per_round,
            "epsilon": self.epsilon,
            "error": {"value": self.error.value, "statement": self.error.statement},
        }


class Strategy(abc.ABC):
    """Questions that choose themselves, each after the answers before it."""

    @abc.abstractmethod
    def _forecast(self, domain: Domain, epsilon: float, users: int) -> tuple[int, Bound]:
        """How many questions it asks at most, and the error to expect; raises where the domain does not suit it."""

    @abc.abstractmethod
    def _useless(self, domain: Domain) -> Bound:
        """The error from which on one might as well ask nobody, and why."""

    @abc.abstractmethod
    def run(self, session: Session) -> Any:
        """Ask, and say what was found."""

    @final
    def plan(self, domain: object, epsilon: float, users: int = DEFAULT_USERS) -> StrategyPlan:
        """How many rounds it takes and what error to expect; raises `PlanError` where that would be no answer at all.

        Parameters
        ----------
        domain
            What one person's record can be, as for `Survey.adaptive`.
        epsilon
            The privacy of everybody's one report.
        users
            How many people there are, in all rounds together.
        """
        records, strength = Domain.of(domain), check_epsilon(epsilon)
        people = check_integer("users", users, 1, MAX_USERS)
        rounds, error = self._forecast(records, strength, people)
        plan = StrategyPlan(rounds, people, strength, error, lambda n: self._forecast(records, strength, n)[1].value)
        useless = self._useless(records)
        if error.value >= useless.value:
            raise PlanError(
                f"{people:,} people are too few at epsilon {strength:g}: {error.statement} would be {error.value:.3g}, "
                f"and {useless.statement}; it takes {plan.users_needed(0.999 * useless.value):,} people"
            )
        return plan

    @final
    def panel(self, domain: object, epsilon: float, users: int = DEFAULT_USERS, *, title: str = "") -> Panel:
        """The panel to publish: as many rounds as planned."""
        rounds = self.plan(domain, epsilon, users).rounds
        return Panel(Domain.of(domain), rounds, epsilon, 1.0, title)

    @final
    def _check_rounds(self, session: Session, rounds: int) -> None:
        if session.remaining < rounds:
            raise SessionError(
                f"{type(self).__name__} asks {rounds} questions and the session has {session.remaining} left; "
                f"make a panel with {type(self).__name__}.panel, or of more rounds"
            )


def attribute_of(domain: Domain, name: object) -> Domain:
    """The domain of the attribute of that name."""
    known = dict(Domain.attributes_of(domain))
    if not isinstance(name, str) or name not in known:
        raise SurveyError(f"there is no attribute {name!r}; there are {', '.join(map(repr, known))}")
    return known[name]


def check_share(name: str, number: object) -> float:
    """Return `number` as a float if it lies strictly between 0 and 1."""
    if isinstance(number, bool) or not isinstance(number, Real) or not 0 < float(number) < 1:
        raise SurveyError(f"{name} must be a number above 0 and below 1")
    return float(number)

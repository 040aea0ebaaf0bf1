"""The base of all adaptive strategies: plan, make a panel, run over a session."""

from __future__ import annotations

import abc
import math
from collections.abc import Callable
from dataclasses import dataclass, field
from numbers import Real
from typing import Any, final

from sottovoce.adaptive.session import Session
from sottovoce.core.errors import PlanError, SessionError, SurveyError
from sottovoce.core.limits import DEFAULT_USERS, check_epsilon, check_integer
from sottovoce.domain import Domain
from sottovoce.planning.solve import MAX_USERS
from sottovoce.surveys.panel import Panel
from sottovoce.theory.bounds import Bound

__all__ = ["AdaptiveStrategy", "StrategyPlan", "attribute_of", "check_share"]


@final
@dataclass(frozen=True)
class StrategyPlan:
    """The plan of an adaptive strategy: rounds and expected error.

    Attributes
    ----------
    rounds
        Maximum number of questions.
    users, epsilon
        The given number of people and epsilon.
    error
        The expected error, and which error it is.
    """

    rounds: int
    users: int
    epsilon: float
    error: Bound
    error_of: Callable[[int], float] = field(repr=False, compare=False)

    @property
    def users_per_round(self) -> float:
        """The mean number of people per round."""
        return self.users / self.rounds

    def users_needed(self, target: float) -> int:
        """The fewest people with which the error is at most `target`, rounded up to three digits."""
        wanted = check_share("target", target)
        low, high = 1.0, float(MAX_USERS)
        if self.error_of(MAX_USERS) > wanted:
            raise PlanError(f"an error of {wanted:g} needs more than {MAX_USERS:,} people; allow a larger error")
        while high / low > 1.0005:
            middle = math.sqrt(low * high)
            low, high = (low, middle) if self.error_of(round(middle)) <= wanted else (middle, high)
        unit: int = 10 ** max(0, math.floor(math.log10(high)) - 2)
        return math.ceil(high / unit) * unit

    def to_dict(self) -> dict[str, Any]:
        """All fields as plain values."""
        return {
            "rounds": self.rounds,
            "users": self.users,
            "users_per_round": self.users_per_round,
            "epsilon": self.epsilon,
            "error": {"value": self.error.value, "statement": self.error.statement},
        }


class AdaptiveStrategy(abc.ABC):
    """A strategy that chooses each question from the answers before it."""

    @abc.abstractmethod
    def _forecast(self, domain: Domain, epsilon: float, users: int) -> tuple[int, Bound]:
        """The maximum number of questions and the expected error; raises for an unsuitable domain."""

    @abc.abstractmethod
    def _trivial_error(self, domain: Domain) -> Bound:
        """The error that can be reached without asking anybody, and why."""

    @abc.abstractmethod
    def run(self, session: Session) -> Any:
        """Ask the questions and return the result."""

    @final
    def plan(self, domain: object, epsilon: float, users: int = DEFAULT_USERS) -> StrategyPlan:
        """The number of rounds and the expected error; raises `PlanError` if the error is no better than without data.

        Parameters
        ----------
        domain
            The possible records, as for `Survey.adaptive`.
        epsilon
            The privacy parameter of each report.
        users
            The number of people in all rounds together.
        """
        records, strength = Domain.of(domain), check_epsilon(epsilon)
        people = check_integer("users", users, 1, MAX_USERS)
        rounds, error = self._forecast(records, strength, people)
        plan = StrategyPlan(rounds, people, strength, error, lambda n: self._forecast(records, strength, n)[1].value)
        useless = self._trivial_error(records)
        if error.value >= useless.value:
            raise PlanError(
                f"{people:,} people are too few at epsilon {strength:g}: {error.statement} would be {error.value:.3g}, "
                f"and {useless.statement}; it takes {plan.users_needed(0.999 * useless.value):,} people"
            )
        return plan

    @final
    def panel(self, domain: object, epsilon: float, users: int = DEFAULT_USERS, *, title: str = "") -> Panel:
        """The panel to publish, with the planned number of rounds."""
        rounds = self.plan(domain, epsilon, users).rounds
        return Panel(Domain.of(domain), rounds, epsilon, 1.0, title)

    @final
    def _check_rounds(self, session: Session, rounds: int) -> None:
        if session.remaining < rounds:
            raise SessionError(
                f"{type(self).__name__} asks {rounds} questions and the session has {session.remaining} left; "
                f"make a panel with {type(self).__name__}.panel, or with more rounds"
            )


def attribute_of(domain: Domain, name: object) -> Domain:
    """The domain of the attribute with that name."""
    known = dict(Domain.attributes_of(domain))
    if not isinstance(name, str) or name not in known:
        raise SurveyError(f"unknown attribute {name!r}; the attributes are {', '.join(map(repr, known))}")
    return known[name]


def check_share(name: str, number: object) -> float:
    """Return `number` as a float if it lies strictly between 0 and 1."""
    if isinstance(number, bool) or not isinstance(number, Real) or not 0 < float(number) < 1:
        raise SurveyError(f"{name} must be a number above 0 and below 1")
    return float(number)

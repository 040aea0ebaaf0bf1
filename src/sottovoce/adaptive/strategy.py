"""The base of all adaptive strategies: plan, make a panel, run over a session."""

from __future__ import annotations

import abc
import math
from collections.abc import Callable
from dataclasses import dataclass, field
from numbers import Real
from typing import Any, final

from sottovoce.adaptive.session import Session
from sottovoce.core.calls import with_clear_calls
from sottovoce.core.errors import PlanError, SessionError, SurveyError
from sottovoce.core.limits import DEFAULT_PEOPLE, check_epsilon, check_integer
from sottovoce.domain import Domain
from sottovoce.planning.solve import MAX_PEOPLE
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
    people, epsilon
        The given number of people and epsilon.
    error
        The expected error, and which error it is.
    """

    rounds: int
    people: int
    epsilon: float
    error: Bound
    error_of: Callable[[int], float] = field(repr=False, compare=False)

    @property
    def people_per_round(self) -> float:
        """The mean number of people per round."""
        return self.people / self.rounds

    def people_needed(self, target: float) -> int:
        """The fewest people with which the error is at most `target`, rounded up to three digits."""
        wanted = check_share("target", target)
        low, high = 1.0, float(MAX_PEOPLE)
        if self.error_of(MAX_PEOPLE) > wanted:
            raise PlanError(f"an error of {wanted:g} needs more than {MAX_PEOPLE:,} people; allow a larger error").at(
                "target"
            )
        while high / low > 1.0005:
            middle = math.sqrt(low * high)
            low, high = (low, middle) if self.error_of(round(middle)) <= wanted else (middle, high)
        unit: int = 10 ** max(0, math.floor(math.log10(high)) - 2)
        return math.ceil(high / unit) * unit

    def to_dict(self) -> dict[str, Any]:
        """All fields as plain values."""
        return {
            "rounds": self.rounds,
            "people": self.people,
            "people_per_round": self.people_per_round,
            "epsilon": self.epsilon,
            "error": {"value": self.error.value, "statement": self.error.statement},
        }


class AdaptiveStrategy(abc.ABC):
    """A strategy that chooses each question from the answers before it."""

    @abc.abstractmethod
    def _forecast(self, domain: Domain, epsilon: float, people: int) -> tuple[int, Bound]:
        """The maximum number of questions and the expected error; raises for an unsuitable domain."""

    @abc.abstractmethod
    def _trivial_error(self, domain: Domain) -> Bound:
        """The error that can be reached without asking anybody, and why."""

    @abc.abstractmethod
    def run(self, session: Session) -> Any:
        """Ask the questions and return the result."""

    @final
    @with_clear_calls('Quantile("age").plan({"age": range(100)}, epsilon=1.0, people=100_000)', error=PlanError)
    def plan(self, domain: object, *, epsilon: float, people: int = DEFAULT_PEOPLE) -> StrategyPlan:
        """The number of rounds and the expected error; raises `PlanError` if the error is no better than without data.

        Parameters
        ----------
        domain
            The possible records, as for `Panel`.
        epsilon
            The privacy parameter of each report.
        people
            The number of people in all rounds together.
        """
        records, strength = Domain.of(domain), check_epsilon(epsilon)
        people = check_integer("people", people, 1, MAX_PEOPLE)
        rounds, error = self._forecast(records, strength, people)
        plan = StrategyPlan(rounds, people, strength, error, lambda n: self._forecast(records, strength, n)[1].value)
        useless = self._trivial_error(records)
        if error.value >= useless.value:
            raise PlanError(
                f"{people:,} people are too few at epsilon {strength:g}: {error.statement} would be {error.value:.3g}, "
                f"and {useless.statement}; it takes {plan.people_needed(0.999 * useless.value):,} people"
            ).at("people")
        return plan

    @final
    @with_clear_calls('Quantile("age").panel({"age": range(100)}, epsilon=1.0, people=100_000)', error=PlanError)
    def panel(self, domain: object, *, epsilon: float, people: int = DEFAULT_PEOPLE, title: str = "") -> Panel:
        """The panel to publish, with the planned number of rounds."""
        rounds = self.plan(domain, epsilon=epsilon, people=people).rounds
        return Panel(domain, rounds=rounds, epsilon=epsilon, title=title)

    @final
    def _check_rounds(self, session: Session, rounds: int) -> None:
        if session.remaining < rounds:
            raise SessionError(
                f"{type(self).__name__} asks {rounds} questions and the session has {session.remaining} left; "
                f"make a panel with {type(self).__name__}.panel, or with more rounds"
            ).at("session")


def attribute_of(domain: Domain, name: object) -> Domain:
    """The domain of the attribute with that name."""
    known = dict(Domain.attributes_of(domain))
    if not isinstance(name, str) or name not in known:
        raise SurveyError(f"unknown attribute {name!r}; the attributes are {', '.join(map(repr, known))}").at(
            "attribute"
        )
    return known[name]


def check_share(name: str, number: object) -> float:
    """Return `number` as a float if it lies strictly between 0 and 1."""
    if isinstance(number, bool) or not isinstance(number, Real) or not 0 < float(number) < 1:
        raise SurveyError(f"{name} must be a number above 0 and below 1").at(name)
    return float(number)

"""Plans under a shuffler: every design at the largest local epsilon with which one batch is proved to be as private as
was asked, and the best of them.

Designs gain differently: the blanket of randomized response over few values is larger than that of subset selection.
So each is compared at its own local epsilon, and all at the same central one.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Final

from sottovoce.core.errors import PlanError
from sottovoce.core.limits import MAX_EPSILON, MAX_USERS
from sottovoce.mechanisms.gaussian import Gaussian
from sottovoce.planning.central import Central, CentralGoal
from sottovoce.planning.plan import Plan, unserved
from sottovoce.planning.solve import Solved, Target, fewest_users, largest_epsilon, least_epsilon
from sottovoce.questions.base import Question
from sottovoce.strategies.base import Strategy
from sottovoce.strategies.laws.variance import Population
from sottovoce.strategies.options import Criterion, Option, error_of, evaluate_design, options, ordered, usable_designs
from sottovoce.strategies.registry import find
from sottovoce.strategies.setting import Setting
from sottovoce.surveys.survey import Survey
from sottovoce.theory.shuffling import Shuffled

__all__ = ["plan_shuffled"]

_SEARCHES: Final = 6
"""Channels that are searched for their largest epsilon, each for another one."""


_SAME: Final = 1e-9
"""Relative difference of errors that is no gain."""


def plan_shuffled(
    question: Question,
    setting: Setting,
    target: Target,
    criterion: Criterion,
    goal: CentralGoal,
    *,
    users: int | None,
    population: Population | None = None,
    seats: int = 1,
    factor: float = 1.0,
) -> tuple[Plan, int]:
    """The plan of a survey whose reports are shuffled, and the number of people of all seats; see `solve_plan`.

    Exactly one of `users` and the target's value is given. The people of one seat make a batch, or several.
    """
    if (users is None) == (target.value is None):
        given = f"users and {target.name}" if users is not None else "neither"
        raise PlanError(
            f"give exactly one of users and {target.name} with central_epsilon (got {given}); the other one and the "
            "local epsilon are computed"
        ).at("users")
    if setting.mechanism == Gaussian.name:
        raise PlanError(
            "gaussian has no certificate under a shuffler: its local guarantee has a delta; name a mechanism that is "
            "pure, or auto"
        ).at("mechanism")
    designs = _Designs(question, replace(setting, delta=0.0), criterion, goal, population)
    solved: Solved = "error"
    if users is None:
        solved, aim = "users", (target.value or 0.0) / factor
        people = designs.fewest(aim, target)
    else:
        people = max(1, users // seats)
    found = designs.options(people)
    if not found[0].fits or found[0].design is None:
        raise unserved(question, setting, found)
    best = found[0]
    final = replace(setting, delta=0.0, epsilon=best.epsilon, users=people)
    certificate = Survey(question, found[0].design).amplified(goal.batch(people), goal.delta)
    central = Central(goal, certificate)
    made = Plan(question, best.epsilon, people, solved, criterion, target.value, found, final, population, central)
    return made, seats * people if users is None else users


@dataclass(frozen=True, eq=False)
class _Designs:
    """Every design of a question, each at the largest local epsilon that the goal allows."""

    question: Question
    setting: Setting
    criterion: Criterion
    goal: CentralGoal
    population: Population | None

    def options(self, people: int) -> tuple[Option, ...]:
        """All of them for so many people, the least error first; unusable ones last, with the reason."""
        n = self.goal.batch(people)
        found, refused = [], []
        for one in self._listed(people):
            if one.design is None:
                refused.append(one)
                continue
            epsilon = self._largest(one, lambda design: self.goal.allows(design.mechanism, n), one.epsilon)
            own = replace(self.setting, epsilon=epsilon, users=people)
            design = self._design(one, epsilon, people)
            found.append(one if design is None else evaluate_design(design, own, self.population))
        fit = ordered([one for one in found if one.fits], self.criterion)
        return (*fit, *(one for one in found if not one.fits), *refused)

    def fewest(self, aim: float, target: Target) -> int:
        """The fewest people with whom a design reaches the error.

        More local epsilon means fewer people for the error, and more for the certificate: each design's local epsilon
        is the largest with which the people that its error takes are enough to hide it.
        """
        least = math.inf
        people = max(self.setting.users, self.goal.smallest)
        for one in self._listed(people):
            if one.design is None:
                continue

            def serves(design: Strategy) -> bool:
                users = self._enough(design, aim)
                return users is None or self.goal.allows(design.mechanism, self.goal.batch(users))

            epsilon = self._largest(one, serves, self.goal.known)
            design = self._design(one, epsilon, people)
            users = None if design is None else self._enough(design, aim)
            own = replace(self.setting, epsilon=epsilon)
            if design is not None and users is not None and evaluate_design(design, own, self.population).fits:
                least = min(least, users)
        if math.isinf(least):
            raise PlanError(
                f"{target.name} {target.value:g} is out of reach at central epsilon {self.goal.epsilon:g} with up to "
                f"{MAX_USERS:,} people: raise central_epsilon, or allow a larger {target.name}"
            ).at(target.name)
        return int(least)

    def _enough(self, design: Strategy, aim: float) -> int | None:
        """The fewest people, of one batch at least, with whom the design reaches the error; None if no number does."""

        def error(users: int) -> float:
            made = design.for_users(users, self.setting.max_counters)
            return error_of(made, users, self.criterion, self.population)

        if error(MAX_USERS) > aim:
            return None
        return max(self.goal.smallest, fewest_users(lambda users: error(users) <= aim))

    def _listed(self, people: int) -> tuple[Option, ...]:
        """All designs at the local epsilon that any pure mechanism is allowed."""
        n = self.goal.batch(people)
        common = largest_epsilon(
            lambda epsilon: Shuffled(epsilon, None, n).delta_at(self.goal.epsilon) <= self.goal.delta,
            self.goal.known,
            self.goal.most,
        )
        setting = replace(self.setting, epsilon=common, users=people)
        return options(setting, self.question.strategies, self.criterion, self.population)

    def _largest(self, one: Option, allowed: Callable[[Strategy], bool], known: float) -> float:
        """The largest local epsilon at which a design of this kind is allowed; it is at `known`."""

        def holds(epsilon: float) -> bool:
            design = self._design(one, epsilon, self.setting.users)
            return design is not None and allowed(design)

        found = largest_epsilon(holds, known, self.goal.most, _SEARCHES if find(one.strategy).searched else None)
        needed = self._needed(one, found) if found == MAX_EPSILON else found
        return needed if needed == found or holds(needed) else found

    def _needed(self, one: Option, epsilon: float) -> float:
        """The least local epsilon with the same error: more would be charged to devices for nothing."""
        users = self.setting.users

        def error(at: float) -> float:
            design = self._design(one, at, users)
            return math.inf if design is None else error_of(design, users, self.criterion, self.population)

        most = error(epsilon) * (1 + _SAME)
        return least_epsilon(lambda at: error(at) <= most)

    def _design(self, one: Option, epsilon: float, people: int) -> Strategy | None:
        """The same strategy and mechanism at another epsilon; None if they cannot serve."""
        mechanism = self.setting.mechanism if find(one.strategy).searched else one.mechanism
        setting = replace(self.setting, epsilon=epsilon, users=people, mechanism=mechanism)
        found = usable_designs(setting, (one.strategy,))
        return found[0].for_users(people, self.setting.max_counters) if found else None

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
from sottovoce.core.limits import MAX_EPSILON, MAX_PEOPLE
from sottovoce.estimates.half_width import widening
from sottovoce.mechanisms.gaussian import Gaussian
from sottovoce.planning.central import Central, CentralGoal
from sottovoce.planning.plan import Plan, unserved, with_half_widths
from sottovoce.planning.solve import Solved, Target, fewest_people, largest_epsilon, least_epsilon
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
"""Relative difference of errors below which they count as equal."""


def plan_shuffled(
    question: Question,
    setting: Setting,
    target: Target,
    criterion: Criterion,
    goal: CentralGoal,
    *,
    people: int | None,
    population: Population | None = None,
    seats: int = 1,
    factor: float = 1.0,
) -> tuple[Plan, int]:
    """The plan of a survey whose reports are shuffled, and the number of people of all seats; see `solve_plan`.

    Exactly one of `people` and the target's value is given. The people of one seat make a batch, or several.
    """
    if (people is None) == (target.value is None):
        given = f"people and {target.name}" if people is not None else "neither"
        raise PlanError(
            f"give exactly one of people and {target.name} with central_epsilon (got {given}); the other one and the "
            "local epsilon are computed"
        ).at("people")
    if setting.mechanism == Gaussian.name:
        raise PlanError(
            "gaussian has no certificate under a shuffler: its local guarantee has a delta; name a mechanism that is "
            "pure, or auto"
        ).at("mechanism")
    designs = _Designs(question, replace(setting, delta=0.0), criterion, goal, population)
    solved: Solved = "error"
    if people is None:
        solved, aim = "people", (target.value or 0.0) / factor
        crowd = designs.fewest(aim, target)
    else:
        crowd = max(1, people // seats)
    listed = designs.options(crowd)
    if people is None and criterion == "margin" and target.name == "margin" and listed[0].design is not None:
        # Designs are compared by standard errors; the interval that is printed is wider, by less with more people.
        crowd = designs.fewest(aim / widening(listed[0].design, crowd, population), target)
        listed = designs.options(crowd)
    listed = (*with_half_widths(listed[:1], population), *listed[1:])
    if not listed[0].fits or listed[0].design is None:
        raise unserved(question, setting, listed)
    best = listed[0]
    final = replace(setting, delta=0.0, epsilon=best.epsilon, people=crowd)
    certificate = Survey.of_design(question, listed[0].design).amplified(people=goal.batch(crowd), delta=goal.delta)
    central = Central(goal, certificate)
    made = Plan(question, best.epsilon, crowd, solved, criterion, target.value, listed, final, population, central)
    return made, seats * crowd if people is None else people


@dataclass(frozen=True, eq=False)
class _Designs:
    """Every design of a question, each at the largest local epsilon that the goal allows."""

    question: Question
    setting: Setting
    criterion: Criterion
    goal: CentralGoal
    population: Population | None

    def options(self, people: int) -> tuple[Option, ...]:
        """All options for this number of people, the least error first; unusable ones last, with the reason."""
        n = self.goal.batch(people)
        evaluated, refused = [], []
        for option in self._listed(people):
            if option.design is None:
                refused.append(option)
                continue
            epsilon = self._largest(option, lambda design: self.goal.allows(design.mechanism, n), option.epsilon)
            own = replace(self.setting, epsilon=epsilon, people=people)
            design = self._design(option, epsilon, people)
            evaluated.append(option if design is None else evaluate_design(design, own, self.population))
        fit = ordered([option for option in evaluated if option.fits], self.criterion)
        return (*fit, *(option for option in evaluated if not option.fits), *refused)

    def fewest(self, aim: float, target: Target) -> int:
        """The fewest people with whom a design reaches the error.

        More local epsilon means fewer people for the error, and more for the certificate: each design's local epsilon
        is the largest with which the people that its error takes are enough to hide it.
        """
        least = math.inf
        crowd = max(self.setting.people, self.goal.smallest)
        for option in self._listed(crowd):
            if option.design is None:
                continue

            def serves(design: Strategy) -> bool:
                people = self._enough(design, aim)
                return people is None or self.goal.allows(design.mechanism, self.goal.batch(people))

            epsilon = self._largest(option, serves, self.goal.known)
            design = self._design(option, epsilon, crowd)
            people = None if design is None else self._enough(design, aim)
            own = replace(self.setting, epsilon=epsilon)
            if design is not None and people is not None and evaluate_design(design, own, self.population).fits:
                least = min(least, people)
        if math.isinf(least):
            raise PlanError(
                f"{target.name} {target.value:g} is out of reach at central epsilon {self.goal.epsilon:g} with up to "
                f"{MAX_PEOPLE:,} people: raise central_epsilon, or allow a larger {target.name}"
            ).at(target.name)
        return int(least)

    def _enough(self, design: Strategy, aim: float) -> int | None:
        """The fewest people, of one batch at least, with whom the design reaches the error; None if no number does."""

        def error(people: int) -> float:
            made = design.for_people(people, self.setting.max_counters)
            return error_of(made, people, self.criterion, self.population)

        if error(MAX_PEOPLE) > aim:
            return None
        return max(self.goal.smallest, fewest_people(lambda people: error(people) <= aim))

    def _listed(self, people: int) -> tuple[Option, ...]:
        """All designs at the local epsilon that any pure mechanism is allowed."""
        n = self.goal.batch(people)
        common = largest_epsilon(
            lambda epsilon: Shuffled(epsilon, None, n).delta_at(self.goal.epsilon) <= self.goal.delta,
            self.goal.known,
            self.goal.most,
        )
        setting = replace(self.setting, epsilon=common, people=people)
        return options(setting, self.question.strategies, self.criterion, self.population)

    def _largest(self, option: Option, allowed: Callable[[Strategy], bool], known: float) -> float:
        """The largest local epsilon at which a design of this kind is allowed; it is at `known`."""

        def holds(epsilon: float) -> bool:
            design = self._design(option, epsilon, self.setting.people)
            return design is not None and allowed(design)

        largest = largest_epsilon(holds, known, self.goal.most, _SEARCHES if find(option.strategy).searched else None)
        needed = self._needed(option, largest) if largest == MAX_EPSILON else largest
        return needed if needed == largest or holds(needed) else largest

    def _needed(self, option: Option, epsilon: float) -> float:
        """The least local epsilon with the same error: more would be charged to devices for nothing."""
        people = self.setting.people

        def error(at: float) -> float:
            design = self._design(option, at, people)
            return math.inf if design is None else error_of(design, people, self.criterion, self.population)

        most = error(epsilon) * (1 + _SAME)
        return least_epsilon(lambda at: error(at) <= most)

    def _design(self, option: Option, epsilon: float, people: int) -> Strategy | None:
        """A design with the option's strategy and mechanism at another epsilon; None if they cannot serve."""
        mechanism = self.setting.mechanism if find(option.strategy).searched else option.mechanism
        setting = replace(self.setting, epsilon=epsilon, people=people, mechanism=mechanism)
        designs = usable_designs(setting, (option.strategy,))
        return designs[0].for_people(people, self.setting.max_counters) if designs else None

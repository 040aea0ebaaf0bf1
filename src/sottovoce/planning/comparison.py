"""A plan of two surveys whose estimates are compared: how many people show a difference, or which difference they show.

The variances of two groups of different people add. A difference of z + z' standard errors is significant at 5 % with
the power asked for, where z = 1.96 and z' is the normal quantile of the power: for groups of equal size n it takes
n = (z + z')^2 (V + W)/difference^2 people in each, with V and W the variances of one report of each.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from statistics import NormalDist
from typing import Any, Final, final

import numpy as np

from sottovoce.core.errors import CapacityError, PlanError
from sottovoce.core.limits import check_integer, check_number
from sottovoce.core.notebook import facts_html
from sottovoce.core.words import figure, plural
from sottovoce.planning.plan import Plan
from sottovoce.planning.solve import MAX_PEOPLE, Solved
from sottovoce.strategies.base import Strategy
from sottovoce.strategies.laws.variance import Population
from sottovoce.surveys.groups import Groups
from sottovoce.surveys.relay import Relay
from sottovoce.surveys.survey import Survey

__all__ = ["ComparisonPlan", "DifferenceGoal"]

_NORMAL: Final = NormalDist()
_TWO_SIDED: Final = _NORMAL.inv_cdf(0.975)

_POWER: Final = 0.8
_LEAST_POWER: Final = 0.05
"""A test at 5 % has this power by chance alone."""

_MOST_RATIO: Final = 1000.0


@final
@dataclass(frozen=True, eq=False)
class DifferenceGoal:
    """A difference of one answer between two groups is to be seen.

    Attributes
    ----------
    difference
        The smallest that is to be seen; None if it is computed.
    power
        The probability with which it is significant at 5 %, two-sided.
    ratio
        People in the second group for each one in the first.
    populations
        The populations of both groups; None for the worst case.
    """

    difference: float | None
    power: float = _POWER
    ratio: float = 1.0
    populations: tuple[Population, Population] | None = None

    @classmethod
    def of(
        cls,
        difference: float | None,
        power: object = None,
        groups: object = None,
        ratio: object = None,
        populations: tuple[Population, Population] | None = None,
    ) -> DifferenceGoal:
        """The checked goal; the difference is checked by the planner, which knows the range of the answers."""
        if groups is not None:
            check_integer("groups", groups, 2, 2)
        chance = _POWER if power is None else check_number("power", power, 0.0, 1.0, "a probability, such as 0.8")
        if not _LEAST_POWER < chance < 1:
            raise PlanError(
                f"power is {chance:g}: it must be a number above {_LEAST_POWER:g}, which a test has by chance, and "
                "below 1"
            ).at("power")
        per_person = 1.0
        if ratio is not None:
            what = "people in the second group for each one in the first"
            per_person = check_number("ratio", ratio, 1 / _MOST_RATIO, _MOST_RATIO, what)
        return cls(difference, chance, per_person, populations)

    @property
    def target(self) -> float | None:
        """The difference that a plan must reach."""
        return self.difference

    def sizes(self, first: int) -> tuple[int, int]:
        """The people of both groups, from those of the first."""
        return first, max(1, math.ceil(first * self.ratio - 1e-9))

    def first_of(self, people: object) -> int:
        """The people of the first group, from those of both."""
        both = check_integer("people", people, 2, MAX_PEOPLE)
        return min(both - 1, max(1, round(both / (1 + self.ratio))))

    def reached(self, question: Any, design: Strategy, first: int) -> float:
        """The smallest difference of the least certain answer that is seen with so many people in the first group.

        Infinite where it takes too long to compute.
        """
        try:
            return self._reached(design, first)
        except CapacityError:
            return math.inf

    def _reached(self, design: Strategy, first: int) -> float:
        bias = float(np.max(design.bias_bound + design.measured_answer_bias(None)))
        strength = _TWO_SIDED + _NORMAL.inv_cdf(self.power)
        if self.populations is None or self.populations[0] is self.populations[1]:
            whom = None if self.populations is None else self.populations[0]
            errors = [(design.margin(n, whom) - bias) / _TWO_SIDED for n in self.sizes(first)]
            return strength * math.hypot(*errors) + 2 * bias
        pairs = zip(self.populations, self.sizes(first), strict=True)
        variances = sum(np.asarray(design.variance(None, people, n).value) for people, n in pairs)
        return strength * math.sqrt(float(np.max(variances))) + 2 * bias


@final
@dataclass(frozen=True, eq=False)
class ComparisonPlan:
    """Two planned surveys, one for each group, that ask the same question.

    Attributes
    ----------
    group
        The plan of the first group's survey; the second has the same design.
    goal
        The difference, the power, and how many people the second group has for each one in the first.

    Examples
    --------
    >>> import sottovoce as sv
    >>> found = sv.plan(["no", "yes"], epsilon=1.0, difference=0.08, population=[[0.55, 0.45], [0.47, 0.53]])
    >>> found.groups, found.people
    ((2868, 2868), 5736)
    >>> print(sv.plan(["no", "yes"], epsilon=1.0, people=20_000, groups=2))
    20,000 people, 10,000 in each of 2 groups, epsilon 1: a difference of 4.29 points of a share is seen ...
    """

    group: Plan
    goal: DifferenceGoal

    @property
    def groups(self) -> tuple[int, int]:
        """The people of both groups."""
        return self.goal.sizes(self.group.people)

    @property
    def people(self) -> int:
        """The people of both groups together."""
        return sum(self.groups)

    @property
    def difference(self) -> float:
        """The smallest difference of the least certain answer that is seen."""
        return self.goal.reached(self.group.question, self.group.design, self.group.people)

    @property
    def power(self) -> float:
        """The probability with which that difference is significant, at 5 % and two-sided."""
        return self.goal.power

    @property
    def epsilon(self) -> float:
        """The privacy parameter of both surveys."""
        return self.group.epsilon

    @property
    def delta(self) -> float:
        """The delta of both surveys; 0 for pure epsilon-LDP."""
        return self.group.delta

    @property
    def solved_for(self) -> Solved:
        """The computed quantity: "people", "epsilon" or "error", which is the difference."""
        return self.group.solved_for

    @property
    def margin(self) -> float:
        """The margin of the worst answer of the first group (95 %)."""
        return self.group.margin

    def survey(
        self, title: str, relay: Relay | None = None, groups: Mapping[str, Sequence[str]] | Groups | None = None
    ) -> Survey:
        """One survey with public `groups`; without them the survey of one group, whose title is to be its own."""
        return self.group.survey(title, relay, groups)

    def to_dict(self) -> dict[str, Any]:
        """Plain values: the fields of the plan of the first group, with the people of both, and what comparing adds."""
        return {
            **self.group.to_dict(),
            "kind": "comparison",
            "target": self.goal.target,
            "people": self.people,
            "groups": list(self.groups),
            "ratio": self.goal.ratio,
            "difference": self.difference,
            "power": self.power,
        }

    def __str__(self) -> str:
        return f"{self.result} {self.group.design_text}"

    @property
    def result(self) -> str:
        """The people, the guarantee, the difference and the accuracy of one group, in two sentences."""
        question, (first, second) = self.group.question, self.groups
        noun = "a share" if question.answers_are_shares else "an answer"
        sizes = (
            f"{first:,} in each of 2 groups" if first == second else f"{first:,} in one group and {second:,} in another"
        )
        seen = f"a difference of {question.amount(self.difference)} of {noun} is seen"
        which = "each group" if first == second else "the first group"
        return (
            f"{plural(self.people, 'person', 'people')}, {sizes}, {self.group.promise}: {seen} with a power of "
            f"{figure(100 * self.power)} % (one answer, at 5 %, two-sided). In {which} {self.group.accuracy}."
        )

    def __repr__(self) -> str:
        kind, (first, second) = self.group.question.kind, self.groups
        return f"<plan of comparing {kind}: {first:,} and {second:,} people, epsilon {self.epsilon:.4g}>"

    def _repr_html_(self) -> str:
        own = {"people": f"{self.people:,}: {self.groups[0]:,} and {self.groups[1]:,}", "accuracy": self.result}
        return facts_html(f"plan of comparing {self.group.question.kind}", self.group._facts() | own)

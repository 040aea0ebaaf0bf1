"""A plan of a tracking survey: everybody answers in one period of a window, at the full epsilon.

A period has the people of a window, divided by its periods, so its error is that of one survey with that many people.
Beside it stands what it would take if everybody answered in every period, at an epsilon divided by the periods.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from datetime import date
from functools import cached_property
from statistics import NormalDist
from typing import Any, Final, final

from sottovoce.core.errors import PlanError
from sottovoce.core.limits import MIN_EPSILON
from sottovoce.core.notebook import facts_html
from sottovoce.core.words import guarantee, in_windows, plural
from sottovoce.planning.plan import Plan, solve_plan
from sottovoce.planning.solve import Solved, Target
from sottovoce.strategies.options import Criterion
from sottovoce.surveys.calendar import Calendar
from sottovoce.surveys.relay import Relay
from sottovoce.surveys.survey import Tracking

__all__ = ["CHANGE_PER_MARGIN", "EveryPeriod", "TrackingPlan", "TrackingTarget"]

_POWER: Final = 0.8
_NORMAL: Final = NormalDist()

CHANGE_PER_MARGIN: Final = math.sqrt(2) * (1 + _NORMAL.inv_cdf(_POWER) / _NORMAL.inv_cdf(0.975))
"""The smallest change between two periods that is seen, over the margin of one of them.

People of two periods are different people, so variances add: the difference has sqrt(2) times the standard error. A
change of 1.96 + 0.84 of these is significant at 5 % in 80 of 100 surveys.
"""

TrackingTarget = str
"""The goal of a plan: "margin", "l2" or "change"; empty if the error was computed."""


@final
@dataclass(frozen=True)
class EveryPeriod:
    """The plan's accuracy if everybody answered in every period, with epsilon divided by the number of periods.

    Attributes
    ----------
    epsilon
        The epsilon of one answer.
    margin
        The margin of a period with as many people as the plan has; None if no design can serve.
    people
        The number of people that the plan's own error would take; None if no allowed number does.
    times
        `people` divided by the people of the plan.
    reason
        Why `margin` or `people` is None; otherwise empty.
    """

    epsilon: float
    margin: float | None
    people: int | None
    times: float | None
    reason: str = ""

    def to_dict(self) -> dict[str, Any]:
        """Plain values."""
        return {
            "epsilon": self.epsilon,
            "margin": self.margin,
            "people": self.people,
            "times": self.times,
            "reason": self.reason,
        }


@final
@dataclass(frozen=True, eq=False)
class TrackingPlan:
    """A planned tracking survey: two of epsilon, people and error were given, and the third is computed.

    Attributes
    ----------
    period
        The plan of one period: a survey with the people of one period.
    people
        People in all. About as many of them draw each period as the plan of a period has.
    window
        Periods in which everybody answers once; epsilon is per window.
    periods
        Periods in all; None for a survey without an end.
    target
        The goal: "margin", "l2" or "change"; empty if the error was computed.

    Examples
    --------
    >>> import sottovoce as sv
    >>> found = sv.plan(["yes", "no"], periods=52, epsilon=1.0, people=1_000_000)
    >>> found.period.people, round(found.margin, 4), round(found.change, 4)
    (19230, 0.0153, 0.0309)
    >>> found.every_period.people, round(found.every_period.times, 1)
    (44419833, 44.4)
    """

    period: Plan
    people: int
    window: int
    periods: int | None
    target: TrackingTarget = ""

    @property
    def windows(self) -> int | None:
        """How often everybody answers; None without an end."""
        return None if self.periods is None else self.periods // self.window

    @property
    def epsilon(self) -> float:
        """The privacy parameter of one window."""
        return self.period.epsilon

    @property
    def delta(self) -> float:
        """The delta of one window; 0 for pure epsilon-LDP."""
        return self.period.delta

    @property
    def epsilon_in_all(self) -> float | None:
        """The loss over all windows, which adds up; None without an end."""
        return None if self.windows is None else self.windows * self.epsilon

    @property
    def solved_for(self) -> Solved:
        """The computed quantity: "people", "epsilon" or "error"."""
        return self.period.solved_for

    @property
    def criterion(self) -> Criterion:
        """The error by which designs were compared."""
        return self.period.criterion

    @property
    def margin(self) -> float:
        """The margin of the worst answer of one period (95 %)."""
        return self.period.margin

    @property
    def l2(self) -> float:
        """The expected L2 error of all answers of one period."""
        return self.period.l2

    @property
    def change(self) -> float:
        """The smallest change of the worst answer between two periods that is seen: at 95 %, with a power of 80 %."""
        return CHANGE_PER_MARGIN * self.period.best.margin

    @cached_property
    def every_period(self) -> EveryPeriod:
        """The cost of answering in every period, with the best design at that epsilon."""
        epsilon = self.epsilon / self.window
        if epsilon < MIN_EPSILON:
            return EveryPeriod(
                epsilon, None, None, None, f"an epsilon of {epsilon:.2g} per answer is below {MIN_EPSILON:.2g}"
            )
        plan = self.period
        setting = replace(plan.setting, epsilon=epsilon, delta=plan.setting.delta / self.window, people=self.people)
        nothing = Target(self.criterion, None)
        aim = Target(self.criterion, plan.best.error(self.criterion))

        def solved(target: Target, people: int | None) -> tuple[Plan, int]:
            return solve_plan(
                plan.question,
                setting,
                target,
                self.criterion,
                epsilon=epsilon,
                people=people,
                population=plan.population,
            )

        try:
            margin = solved(nothing, self.people)[0].margin
        except PlanError as error:
            return EveryPeriod(epsilon, None, None, None, str(error))
        try:
            people = solved(aim, None)[1]
        except PlanError as error:
            return EveryPeriod(epsilon, margin, None, None, str(error))
        return EveryPeriod(epsilon, margin, people, people / self.people)

    def survey(
        self,
        every: str | int,
        starts: date | str,
        grace: int | None = None,
        title: str = "",
        relay: Relay | None = None,
    ) -> Tracking:
        """The planned survey, once it is known how long periods are and when the first one starts."""
        renews = None if self.windows == 1 else self.window
        calendar = Calendar.of(every=every, starts=starts, periods=self.periods, renews=renews, grace=grace)
        return Tracking.of_survey(self.period.survey(title, relay), calendar)

    def to_dict(self) -> dict[str, Any]:
        """Plain values: the fields of the plan of one period, with the people of all, and what tracking adds."""
        return {
            **self.period.to_dict(),
            "kind": "tracking",
            "target_name": self.target or None,
            "people": self.people,
            "people_per_period": self.period.people,
            "periods": self.periods,
            "window": self.window,
            "windows": self.windows,
            "epsilon_in_all": self.epsilon_in_all,
            "change": self.change,
            "every_period": self.every_period.to_dict(),
        }

    def __str__(self) -> str:
        return " ".join((self._people, self._accuracy, self._beside))

    def __repr__(self) -> str:
        kind, periods = self.period.question.kind, "without an end" if self.periods is None else f"{self.periods:,}"
        return f"<plan of tracking {kind}: {self.people:,} people, periods {periods}, epsilon {self.epsilon:.4g}>"

    def _repr_html_(self) -> str:
        own = {"people": f"{self.people:,}, about {self.period.people:,} in a period", "accuracy": self._accuracy}
        return facts_html(f"plan of tracking {self.period.question.kind}", self.period._facts() | own)

    @property
    def _people(self) -> str:
        promise = self.period.promise
        people, each = plural(self.people, "person", "people"), f"about {self.period.people:,} in each"
        if self.windows == 1:
            return f"{people}, {each} of {self.window:,} periods, {promise}{self._stop} in all."
        added = (
            "which adds up without an end"
            if self.windows is None
            else f"and so {self._which}epsilon {self.epsilon_in_all:g} over all {self.periods:,}"
        )
        twice = f"{self._which}{guarantee(2 * self.epsilon, 2 * self.delta)}"
        said = in_windows(f"{promise}{self._stop}", twice, f"{self.window:,} periods")
        return f"{people}, {each} period, {said}, {added}."

    @property
    def _stop(self) -> str:
        """Keeps what follows apart from the words about a shuffler."""
        return "" if self.period.central is None else ";"

    @property
    def _which(self) -> str:
        return "" if self.period.central is None else "local "

    @property
    def _accuracy(self) -> str:
        question = self.period.question
        noun = "share" if question.answers_are_shares else "answer"
        return (
            f"In every period each {noun} is known to about ±{question.amount(self.margin)} (95 %); between two "
            f"periods a change of {question.amount(self.change)} is seen (at 95 %, with a power of 80 %)."
        )

    @property
    def _beside(self) -> str:
        beside = self.every_period
        start = f"Answering every period at {self._which}epsilon {beside.epsilon:.3g}"
        if beside.people is None or beside.times is None:
            return f"{start} would not do: {beside.reason}."
        return f"{start} would take {beside.people:,} people for the same error, {beside.times:,.3g} times as many."

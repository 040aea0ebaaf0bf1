"""A plan of a tracking survey: everybody answers in one period of a window, at the full epsilon.

A period has as many people as a window has, divided by its periods, so its error is that of one survey with so many.
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
from sottovoce.core.words import figure, plural
from sottovoce.planning.plan import Plan, solve_plan
from sottovoce.planning.solve import Solved, Target
from sottovoce.strategies.options import Criterion
from sottovoce.surveys.calendar import Calendar
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
"""What a plan was asked to reach: "margin", "l2" or "change"; empty if the error was computed."""


@final
@dataclass(frozen=True)
class EveryPeriod:
    """The same accuracy if everybody answered in every period: epsilon is divided by the number of periods.

    Attributes
    ----------
    epsilon
        Of one answer.
    margin
        The margin of a period with as many people as the plan has; None if no design can serve.
    users
        How many people the plan's own error would take; None if no number allowed does.
    times
        That number over the plan's.
    reason
        Why there is no number; empty if there is.
    """

    epsilon: float
    margin: float | None
    users: int | None
    times: float | None
    reason: str = ""

    def to_dict(self) -> dict[str, Any]:
        """Plain values."""
        return {
            "epsilon": self.epsilon,
            "margin": self.margin,
            "users": self.users,
            "times": self.times,
            "reason": self.reason,
        }


@final
@dataclass(frozen=True, eq=False)
class TrackingPlan:
    """A planned tracking survey: two of epsilon, users and error were given, and the third is computed.

    Attributes
    ----------
    period
        The plan of one period: a survey with the people of one period.
    users
        People in all. About as many of them draw each period as the plan of a period has.
    window
        Periods in which everybody answers once; epsilon is per window.
    periods
        Periods in all; None for a survey without an end.
    target
        What was to be reached: "margin", "l2" or "change"; empty if the error was computed.

    Examples
    --------
    >>> import sottovoce as sv
    >>> found = sv.plan(["yes", "no"], periods=52, epsilon=1.0, users=1_000_000)
    >>> found.period.users, round(found.margin, 4), round(found.change, 4)
    (19230, 0.0153, 0.0309)
    >>> found.every_period.users, round(found.every_period.times, 1)
    (44419833, 44.4)
    """

    period: Plan
    users: int
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
        """What was computed: "users", "epsilon" or "error"."""
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
        return CHANGE_PER_MARGIN * self.margin

    @cached_property
    def every_period(self) -> EveryPeriod:
        """What answering every period would take, by the best design at that epsilon."""
        epsilon = self.epsilon / self.window
        if epsilon < MIN_EPSILON:
            return EveryPeriod(
                epsilon, None, None, None, f"an epsilon of {epsilon:.2g} per answer is below {MIN_EPSILON:.2g}"
            )
        plan = self.period
        setting = replace(plan.setting, epsilon=epsilon, delta=plan.setting.delta / self.window, users=self.users)
        nothing = Target(self.criterion, None)
        aim = Target(self.criterion, plan.best.error(self.criterion))

        def solved(target: Target, users: int | None) -> tuple[Plan, int]:
            return solve_plan(
                plan.question,
                setting,
                target,
                self.criterion,
                epsilon=epsilon,
                users=users,
                population=plan.population,
            )

        try:
            margin = solved(nothing, self.users)[0].margin
        except PlanError as error:
            return EveryPeriod(epsilon, None, None, None, str(error))
        try:
            users = solved(aim, None)[1]
        except PlanError as error:
            return EveryPeriod(epsilon, margin, None, None, str(error))
        return EveryPeriod(epsilon, margin, users, users / self.users)

    def survey(self, every: str | int, starts: date | str, grace: int | None = None, title: str = "") -> Tracking:
        """The planned survey, once it is known how long periods are and when the first one starts."""
        renews = None if self.windows == 1 else self.window
        calendar = Calendar.of(every=every, starts=starts, periods=self.periods, renews=renews, grace=grace)
        return Tracking(self.period.survey(title), calendar)

    def to_dict(self) -> dict[str, Any]:
        """Plain values: the fields of the plan of one period, with the people of all, and what tracking adds."""
        return {
            **self.period.to_dict(),
            "kind": "tracking",
            "target_name": self.target or None,
            "users": self.users,
            "users_per_period": self.period.users,
            "periods": self.periods,
            "window": self.window,
            "windows": self.windows,
            "epsilon_in_all": self.epsilon_in_all,
            "change": self.change,
            "every_period": self.every_period.to_dict(),
        }

    def __str__(self) -> str:
        return " ".join((self._people, self._accuracy, self._beside))

    @property
    def _people(self) -> str:
        promise = self.period.promise
        people, each = plural(self.users, "person", "people"), f"about {self.period.users:,} in each"
        if self.windows == 1:
            return f"{people}, {each} of {self.window:,} periods, {promise}{self._stop} in all."
        added = (
            "which adds up without an end"
            if self.windows is None
            else f"and so {self._which}epsilon {self.epsilon_in_all:g} over all {self.periods:,}"
        )
        return f"{people}, {each} period, {promise}{self._stop} in every {self.window:,} periods, {added}."

    @property
    def _stop(self) -> str:
        """Keeps what follows apart from the words about a shuffler."""
        return "" if self.period.central is None else ";"

    @property
    def _which(self) -> str:
        return "" if self.period.central is None else "local "

    @property
    def _accuracy(self) -> str:
        one = "share" if self.period.question.answers_are_shares else "answer"
        return (
            f"In every period each {one} is known to about ±{self._amount(self.margin)} (95 %); between two periods a "
            f"change of {self._amount(self.change)} is seen (at 95 %, with a power of 80 %)."
        )

    @property
    def _beside(self) -> str:
        beside = self.every_period
        start = f"Answering every period at {self._which}epsilon {beside.epsilon:.3g}"
        if beside.users is None or beside.times is None:
            return f"{start} would not do: {beside.reason}."
        return f"{start} would take {beside.users:,} people for the same error, {beside.times:,.3g} times as many."

    def _amount(self, number: float) -> str:
        """In percentage points or in the unit of the answers."""
        question = self.period.question
        if question.answers_are_shares:
            points = figure(100 * number)
            return f"{points} point" if points == "1" else f"{points} points"
        return f"{figure(number)} {question.unit}".rstrip()

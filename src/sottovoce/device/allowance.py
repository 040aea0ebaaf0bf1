"""The privacy budget of a device: exact sums, and limits for one survey, for all together and for a stretch of days."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import date
from fractions import Fraction
from numbers import Real
from typing import Any, final

from sottovoce.core.entries import as_integer
from sottovoce.core.errors import BudgetError
from sottovoce.core.limits import MAX_WINDOW_DAYS
from sottovoce.core.words import plural
from sottovoce.device.store import RecordedAnswer

__all__ = ["Allowance", "exact", "left", "recent", "total"]


def total(amounts: Iterable[float]) -> Fraction:
    """The exact sum of decimal numbers: three times 0.1 is 0.3.

    Examples
    --------
    >>> total([0.1] * 3) == exact(0.3), 0.1 + 0.1 + 0.1 == 0.3
    (True, False)
    """
    return sum((exact(amount) for amount in amounts), Fraction(0))


def exact(amount: float) -> Fraction:
    """The shortest decimal of a number, as it is in a survey's JSON."""
    return Fraction(repr(float(amount)))


def left(budget: float, amounts: Iterable[float]) -> float:
    """The part of a budget that is left after these amounts."""
    return max(0.0, float(exact(budget) - total(amounts)))


def recent(spent: Iterable[tuple[str, float]], today: str, days: int) -> list[float]:
    """The amounts that count for the `days` days that end today, of (day, amount) in the order of spending.

    A clock may have been wrong. A day in the future or unknown counts, and a day before that of an earlier amount is
    taken as that: a clock that fell back does not make an amount older than it is. Only a clock that runs ahead now, or
    was behind from the first answer on, frees amounts early.

    Examples
    --------
    >>> recent([("2027-01-03", 1.0), ("2027-01-04", 2.0), ("1970-01-01", 3.0), ("", 4.0)], "2027-01-10", 7)
    [2.0, 3.0, 4.0]
    """
    amounts: list[float] = []
    latest = date.min
    for day, amount in spent:
        try:
            now, then = date.fromisoformat(today), date.fromisoformat(day)
        except ValueError:
            amounts.append(amount)
            continue
        if then <= now:
            latest = max(latest, then)
        if then > now or (now - latest).days < days:
            amounts.append(amount)
    return amounts


@final
@dataclass(frozen=True)
class Allowance:
    """Limits on epsilon and delta, of one survey (caps) and of all surveys together (budgets), on epsilon within any
    `window_days` days, and on the number of answers; all are finite.
    """

    cap: float
    budget: float
    delta_cap: float
    delta_budget: float
    max_answers: int
    window_budget: float
    window_days: int

    def __post_init__(self) -> None:
        for name, amount in vars(self).items():
            if isinstance(amount, bool) or not isinstance(amount, Real) or not 0 <= float(amount) < math.inf:
                raise BudgetError(f"{name} must be a finite number, 0 or more").at(name)
        if as_integer(self.max_answers) is None:
            raise BudgetError("max_answers must be an integer, 0 or more").at("max_answers")
        if not 1 <= (as_integer(self.window_days) or 0) <= MAX_WINDOW_DAYS:
            raise BudgetError(f"window_days must be an integer from 1 to {MAX_WINDOW_DAYS:,}").at("window_days")

    def check(self, survey: Any, answers: Sequence[RecordedAnswer], day: str) -> tuple[float, float]:
        """The epsilon and delta of the survey, if they are within the limits after these answers, on that day.

        Depends on the survey, the ledger and the date only, so a refusal reveals nothing about the person's value.
        """
        epsilon, delta = survey.epsilon, getattr(survey, "delta", 0.0)
        if epsilon > self.cap:
            raise BudgetError(
                f"the survey asks for epsilon {epsilon:g}; this device allows {self.cap:g} per survey"
            ).at("cap")
        if delta > self.delta_cap:
            raise BudgetError(
                f"the survey asks for delta {delta:g}; this device allows {self.delta_cap:g} per survey"
            ).at("delta_cap")
        for name, cost, budget, before in (
            ("epsilon", epsilon, self.budget, [answer.epsilon for answer in answers]),
            ("delta", delta, self.delta_budget, [answer.delta for answer in answers]),
        ):
            if total([*before, cost]) > exact(budget):
                raise BudgetError(
                    f"the survey asks for {name} {cost:g}; this device has {left(budget, before):.4g} of its budget of "
                    f"{budget:g} left"
                ).at("budget" if name == "epsilon" else "delta_budget")
        lately = recent(((answer.day, answer.epsilon) for answer in answers), day, self.window_days)
        if total([*lately, epsilon]) > exact(self.window_budget):
            raise BudgetError(
                f"the survey asks for epsilon {epsilon:g}; this device has {left(self.window_budget, lately):.4g} of "
                f"{self.window_budget:g} left for any {plural(self.window_days, 'day')}; answer later, or raise "
                "window_budget (--window-budget)"
            ).at("window_budget")
        if len(answers) >= self.max_answers:
            raise BudgetError(
                f"this device has given {plural(len(answers), 'answer')} and its limit is {self.max_answers:,}; raise "
                "max_answers (--max-answers) to allow more"
            )
        return epsilon, delta

"""The privacy budget of a device: limits for one survey, for all together, and for any stretch of days."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from numbers import Real
from typing import Any, final

from sottovoce.core.entries import as_integer
from sottovoce.core.errors import BudgetError
from sottovoce.core.limits import MAX_WINDOW_DAYS
from sottovoce.core.words import plural
from sottovoce.device.amounts import exact, left, recent, total
from sottovoce.device.store import RecordedAnswer

__all__ = ["Allowance"]


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
                raise BudgetError(f"{name} must be a finite number, 0 or more")
        if as_integer(self.max_answers) is None:
            raise BudgetError("max_answers must be an integer, 0 or more")
        if not 1 <= (as_integer(self.window_days) or 0) <= MAX_WINDOW_DAYS:
            raise BudgetError(f"window_days must be an integer from 1 to {MAX_WINDOW_DAYS:,}")

    def check(self, survey: Any, answers: Sequence[RecordedAnswer], day: str) -> tuple[float, float]:
        """The epsilon and delta of the survey, if they are within the limits after these answers, on that day.

        Depends on the survey, the ledger and the date only, so a refusal reveals nothing about the person's value.
        """
        epsilon, delta = survey.epsilon, getattr(survey, "delta", 0.0)
        if epsilon > self.cap:
            raise BudgetError(f"the survey asks for epsilon {epsilon:g}; this device allows {self.cap:g} per survey")
        if delta > self.delta_cap:
            raise BudgetError(f"the survey asks for delta {delta:g}; this device allows {self.delta_cap:g} per survey")
        for name, cost, budget, before in (
            ("epsilon", epsilon, self.budget, [answer.epsilon for answer in answers]),
            ("delta", delta, self.delta_budget, [answer.delta for answer in answers]),
        ):
            if total([*before, cost]) > exact(budget):
                raise BudgetError(
                    f"the survey asks for {name} {cost:g}; this device has {left(budget, before):.4g} of its budget of "
                    f"{budget:g} left"
                )
        lately = recent(((answer.day, answer.epsilon) for answer in answers), day, self.window_days)
        if total([*lately, epsilon]) > exact(self.window_budget):
            raise BudgetError(
                f"the survey asks for epsilon {epsilon:g}; this device has {left(self.window_budget, lately):.4g} of "
                f"{self.window_budget:g} left for any {plural(self.window_days, 'day')}; answer later, or raise "
                "window_budget (--window-budget)"
            )
        if len(answers) >= self.max_answers:
            raise BudgetError(
                f"this device has given {plural(len(answers), 'answer')} and its limit is {self.max_answers:,}; raise "
                "max_answers (--max-answers) to allow more"
            )
        return epsilon, delta

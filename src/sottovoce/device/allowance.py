"""The privacy budget of a device: limits for one survey and for all together."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from numbers import Real
from typing import Any, final

from sottovoce.core.entries import as_integer
from sottovoce.core.errors import BudgetError
from sottovoce.core.words import plural
from sottovoce.device.ledger import exact, left, total
from sottovoce.device.store import RecordedAnswer

__all__ = ["Allowance"]


@final
@dataclass(frozen=True)
class Allowance:
    """Limits on epsilon and delta, of one survey (caps) and of all surveys together (budgets), and on the number of
    answers; all are finite.
    """

    cap: float
    budget: float
    delta_cap: float
    delta_budget: float
    max_answers: int

    def __post_init__(self) -> None:
        for name, amount in vars(self).items():
            if isinstance(amount, bool) or not isinstance(amount, Real) or not 0 <= float(amount) < math.inf:
                raise BudgetError(f"{name} must be a finite number, 0 or more")
        if as_integer(self.max_answers) is None:
            raise BudgetError("max_answers must be an integer, 0 or more")

    def check(self, survey: Any, answers: Sequence[RecordedAnswer]) -> tuple[float, float]:
        """The epsilon and delta of the survey, if they are within the limits after these answers.

        Depends on the survey and the ledger only, so a refusal reveals nothing about the person's value.
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
        if len(answers) >= self.max_answers:
            raise BudgetError(
                f"this device has given {plural(len(answers), 'answer')} and its limit is {self.max_answers:,}; raise "
                "max_answers (--max-answers) to allow more"
            )
        return epsilon, delta

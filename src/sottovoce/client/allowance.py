"""What a device's owner allows: so much in one survey, so much in a life."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from numbers import Real
from typing import Any, final

from sottovoce.client.ledger import exact, left, total
from sottovoce.client.store import Answer
from sottovoce.errors import BudgetError

__all__ = ["Allowance"]


@final
@dataclass(frozen=True)
class Allowance:
    """Caps of one survey, budgets of a life; none of them infinite, for that would be no promise."""

    cap: float
    budget: float
    delta_cap: float
    delta_budget: float

    def __post_init__(self) -> None:
        for name, amount in vars(self).items():
            if isinstance(amount, bool) or not isinstance(amount, Real) or not 0 <= float(amount) < math.inf:
                raise BudgetError(f"{name} must be a number from 0 on, and not infinite")

    def check(self, survey: Any, answers: Sequence[Answer]) -> tuple[float, float]:
        """The epsilon and delta that answering costs, if the owner allows it after these answers.

        Looks at the survey and the ledger only: a refusal tells nothing about the person's value.
        """
        epsilon, delta = survey.epsilon, getattr(survey, "delta", 0.0)
        if epsilon > self.cap:
            raise BudgetError(f"the survey asks for epsilon {epsilon:g}; this device allows {self.cap:g} a survey")
        if delta > self.delta_cap:
            raise BudgetError(f"the survey asks for delta {delta:g}; this device allows {self.delta_cap:g} a survey")
        for name, cost, budget, before in (
            ("epsilon", epsilon, self.budget, [answer.epsilon for answer in answers]),
            ("delta", delta, self.delta_budget, [answer.delta for answer in answers]),
        ):
            if total([*before, cost]) > exact(budget):
                raise BudgetError(
                    f"the survey asks for {name} {cost:g}; this device has {left(budget, before):.4g} of {budget:g} "
                    "left for its life"
                )
        return epsilon, delta

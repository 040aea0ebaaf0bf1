"""The central guarantee that a plan is asked for under a shuffler, and the one that its design is proved to have."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Final, Self, final

from sottovoce.core.errors import PlanError
from sottovoce.core.limits import (
    DEFAULT_CAP,
    MAX_EPSILON,
    MAX_PEOPLE,
    MIN_EPSILON,
    check_central_delta,
    check_integer,
    check_number,
)
from sottovoce.core.words import both_guarantees, guarantee
from sottovoce.mechanisms import Mechanism
from sottovoce.surveys.amplified import Amplified
from sottovoce.surveys.relay import LEAST_BATCH
from sottovoce.theory.shuffling import Shuffled

__all__ = ["Central", "CentralGoal"]

_WITHIN: Final = 1 - 3e-5
"""The search aims this much lower, so that a certificate found by bisection does not end above the goal."""

_AT_LIMIT: Final = 0.99


@final
@dataclass(frozen=True)
class CentralGoal:
    """The central guarantee of one batch that a plan must reach, and the largest local epsilon allowed.

    Attributes
    ----------
    epsilon
        The epsilon of the shuffled reports of one batch.
    delta
        The delta that belongs to `epsilon`.
    least
        People in the smallest batch; None if all people are in one.
    most
        The largest local epsilon.
    """

    epsilon: float
    delta: float
    least: int | None
    most: float

    @classmethod
    def of(cls, epsilon: float, delta: float, least: int | None, most: float | None) -> Self:
        """A goal of checked numbers."""
        meaning = "what the shuffled reports of one batch may reveal of one person"
        return cls(
            check_number("central_epsilon", epsilon, MIN_EPSILON, MAX_EPSILON, meaning),
            check_central_delta(delta),
            None if least is None else check_integer("least", least, LEAST_BATCH, MAX_PEOPLE),
            MAX_EPSILON if most is None else most,
        )

    @property
    def known(self) -> float:
        """A local epsilon that reaches it without a shuffler."""
        return min(self.epsilon, self.most)

    @property
    def smallest(self) -> int:
        """The fewest people that can be planned."""
        return LEAST_BATCH if self.least is None else self.least

    def batch(self, people: int) -> int:
        """The fewest of these people that one batch can hold."""
        if people < self.smallest:
            raise PlanError(
                f"people is {people:,}: below {self.smallest:,} people in one batch a shuffler forwards nothing; plan "
                "more people, or a smaller batch"
            ).at("people")
        return people if self.least is None else self.least

    def allows(self, mechanism: Mechanism, n: int) -> bool:
        """Whether the bound for n people in a batch is proved for this mechanism."""
        if mechanism.epsilon <= self.epsilon:
            return True
        return Shuffled(mechanism.epsilon, mechanism.blanket(), n).delta_at(_WITHIN * self.epsilon) <= self.delta


@final
@dataclass(frozen=True)
class Central:
    """The goal, and the certificate of the very design that was planned."""

    goal: CentralGoal
    certificate: Amplified

    @property
    def promise(self) -> str:
        """Both guarantees, each with what it rests on."""
        certificate = self.certificate
        return both_guarantees(certificate.local_epsilon, certificate.epsilon, certificate.delta)

    @property
    def asked(self) -> str:
        """The central guarantee that was asked for."""
        return f"central {guarantee(self.goal.epsilon, self.goal.delta)}"

    @property
    def limit_note(self) -> str:
        """A sentence if the limit of the local epsilon binds, and not the goal; otherwise empty."""
        local, reached = self.certificate.local_epsilon, self.certificate.epsilon
        if local < _AT_LIMIT * self.goal.most or reached > _AT_LIMIT * self.goal.epsilon:
            return ""
        return f"Local epsilon {local:g} is the largest allowed, so the central guarantee is better than asked for."

    @property
    def device_note(self) -> str:
        """A sentence if devices refuse the local epsilon by default; otherwise empty."""
        if self.certificate.local_epsilon <= DEFAULT_CAP:
            return ""
        return (
            f"Devices refuse a local epsilon above {DEFAULT_CAP:g} by default; a plan with epsilon "
            f"{DEFAULT_CAP:g} stays within that limit."
        )

    def to_dict(self) -> dict[str, Any]:
        """Plain values: the goal, the certificate, and both guarantees in words."""
        return {
            **self.certificate.to_dict(),
            "target": self.goal.epsilon,
            "promise": self.promise,
            "notes": [note for note in (self.limit_note, self.device_note) if note],
        }

"""What a shuffler makes of a survey's local guarantee: the central epsilon of one batch, with proof."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Any, Self, final

from sottovoce.core.errors import SurveyError
from sottovoce.core.limits import MAX_USERS, check_central_delta, check_integer
from sottovoce.core.progress import steps
from sottovoce.core.words import both_guarantees
from sottovoce.mechanisms import Mechanism
from sottovoce.strategies.base import Strategy
from sottovoce.surveys.amplification import plot_amplified
from sottovoce.surveys.relay import LEAST_BATCH
from sottovoce.surveys.terms import Terms
from sottovoce.theory.shuffling import Method, Shuffled

__all__ = ["Amplified", "amplified"]


@final
@dataclass(frozen=True)
class Amplified:
    """The guarantee of n shuffled reports for each person among them: any value of theirs instead of any other.

    Attributes
    ----------
    local_epsilon
        Of one report by itself. It holds whoever colludes, and is what a device charges to its ledger.
    epsilon
        Of all n reports together as a multiset: an upper bound, proved.
    delta
        Of the same guarantee.
    lower
        A lower bound: at this delta nothing below can be proved, because a concrete test would refute it. 0 where none
        is known.
    n
        Honest answers that reach the collector in one batch.
    method
        By what epsilon is proved: "blanket", the mechanism's own channel; "clones", a bound for every mechanism;
        "local", where shuffling so few adds nothing.
    """

    local_epsilon: float
    epsilon: float
    lower: float
    delta: float
    n: int
    method: Method
    shuffled: Shuffled = field(repr=False, compare=False)
    design: Strategy | None = field(default=None, repr=False, compare=False)

    @classmethod
    def of(cls, mechanism: Mechanism, n: int, delta: float) -> Self:
        """The certificate of a mechanism; the numbers are checked."""
        if isinstance(n, int) and not isinstance(n, bool) and n < LEAST_BATCH:
            raise SurveyError(
                f"n is {n}: it must be {LEAST_BATCH} or more, the honest answers in one batch; one report alone is "
                "shuffled with nothing, and has the local epsilon"
            ).at("n")
        people, chance = check_integer("n", n, LEAST_BATCH, MAX_USERS), check_central_delta(delta)
        if mechanism.delta:
            raise SurveyError(
                f"the mechanism {mechanism.name} is (epsilon, delta)-LDP, and what shuffling adds is proved for pure "
                "epsilon-LDP only: choose a mechanism without delta"
            ).at("mechanism")
        shuffled = Shuffled(mechanism.epsilon, mechanism.blanket(), people)
        found = shuffled.certificate(chance)
        return cls(mechanism.epsilon, found.epsilon, found.lower, chance, people, found.method, shuffled)

    @property
    def assumption(self) -> str:
        """What the central guarantee rests on, in two sentences."""
        return (
            f"It holds if whoever shuffles does not collude with the collector, and if every batch has at least "
            f"{self.n:,} answers of people who do not collude with the collector either. A device goes on charging the "
            "local epsilon, which needs neither."
        )

    def delta_at(self, epsilon: float) -> float:
        """The delta that is proved at another central epsilon."""
        return self.shuffled.delta_at(epsilon)

    def plot(self, ax: Any = None) -> Any:
        """Central against local epsilon, for a few sizes of a batch, on a matplotlib axes; returns the axes.

        Beside the survey's own bound stand that of any mechanism of the same local epsilon, and the lower bound.
        """
        if self.design is None:
            raise SurveyError("a picture shows a design at other epsilons: take the certificate of a survey")
        return plot_amplified(self.design, self.n, self.delta, ax)

    def to_dict(self) -> dict[str, Any]:
        """Plain values for JSON."""
        names = ("local_epsilon", "epsilon", "lower", "delta", "n", "method", "assumption")
        return {name: getattr(self, name) for name in names}

    def __str__(self) -> str:
        return f"{both_guarantees(self.local_epsilon, self.epsilon, self.delta)}, {self.n:,} honest answers in a batch"


def amplified(survey: Terms, n: int | None, delta: float | None) -> Amplified:
    """The certificate of a survey; n and delta are those of its relay if they are not given."""
    if survey.seat is not None:
        survey.seat.panel.amplified(n, delta)
    if survey.relay is not None:
        n = survey.relay.least if n is None else n
        delta = survey.relay.delta if delta is None else delta
    if n is None:
        raise SurveyError("n must be given, the honest answers in one batch: the survey states no relay").at("n")
    if delta is None:
        raise SurveyError("delta must be given, for example 1e-6: the survey states no relay").at("delta")
    with steps("computing the certificate"):
        return replace(Amplified.of(survey.mechanism, n, delta), design=survey.design)

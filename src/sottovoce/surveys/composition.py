"""Several shuffled surveys, or windows of a tracking survey: the central guarantee of all that one person answers."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, Final, final

from sottovoce.core.calls import with_clear_calls
from sottovoce.core.errors import SurveyError
from sottovoce.core.limits import check_central_delta, check_integer
from sottovoce.core.words import both_guarantees, plural
from sottovoce.surveys.amplified import Amplified
from sottovoce.theory.composition import composed_epsilon

__all__ = ["Composed", "compose"]

MAX_PARTS: Final = 10**6
"""Reports of one person that are composed at most."""


@final
@dataclass(frozen=True)
class Composed:
    """The guarantee of everything that a person answers, in several shuffled batches.

    Attributes
    ----------
    local_epsilon
        The sum of the local ones: it holds against any collusion, and is what a device charges to its ledger.
    epsilon
        The epsilon of all batches together: an upper bound, proved.
    delta
        The delta that belongs to `epsilon`.
    parts
        The number of reports of one person.
    n
        Honest answers in the smallest of the batches.
    """

    local_epsilon: float
    epsilon: float
    delta: float
    parts: int
    n: int

    @property
    def assumption(self) -> str:
        """The assumptions of the central guarantee, in two sentences."""
        return (
            "It holds if no shuffler colludes with the collector, and if every batch has the number of honest answers "
            "that its own certificate states. A device goes on charging the local epsilons, which need neither."
        )

    def to_dict(self) -> dict[str, Any]:
        """Plain values for JSON."""
        names = ("local_epsilon", "epsilon", "delta", "parts", "n", "assumption")
        return {name: getattr(self, name) for name in names}

    def __str__(self) -> str:
        both = both_guarantees(self.local_epsilon, self.epsilon, self.delta)
        return f"{both}, {plural(self.parts, 'report')} of a person"


@with_clear_calls("sv.compose(survey.amplified(people=100_000, delta=1e-6), delta=1e-6, times=4)")
def compose(certificates: Amplified | Iterable[Amplified], *, delta: float, times: int = 1) -> Composed:
    """The central guarantee of a person who has one report in each of these batches.

    Later surveys may depend on the answers to earlier ones. The result is never above basic composition, and never
    above the sum of the local epsilons.

    Parameters
    ----------
    certificates
        One result of `survey.amplified`, or several.
    delta
        The delta of all together; those of the certificates are not used.
    times
        Repeats all of them, for example the number of windows of a tracking survey.

    Examples
    --------
    A person answers once in each of four windows, and the epsilon of all four is less than four times that of one:

    >>> import sottovoce as sv
    >>> survey = sv.Survey(sv.shares(100), epsilon=4.0, mechanism="randomized_response")
    >>> window = survey.amplified(people=100_000, delta=1e-6)
    >>> year = sv.compose(window, delta=1e-6, times=4)
    >>> year.parts, year.local_epsilon
    (4, 16.0)
    >>> window.epsilon < year.epsilon < 2.2 * window.epsilon
    True
    """
    listed = [certificates] if isinstance(certificates, Amplified) else list(certificates)
    if not listed or not all(isinstance(each, Amplified) for each in listed):
        raise SurveyError("certificates must be what survey.amplified(...) returns: one, or a list of them").at(
            "certificates"
        )
    repeated = check_integer("times", times, 1, MAX_PARTS // len(listed))
    chance = check_central_delta(delta)
    counts = Counter(each.shuffled for each in listed)
    epsilon = composed_epsilon([(shuffled, number * repeated) for shuffled, number in counts.items()], chance)
    return Composed(
        local_epsilon=math.fsum(each.local_epsilon for each in listed) * repeated,
        epsilon=epsilon,
        delta=chance,
        parts=len(listed) * repeated,
        n=min(each.n for each in listed),
    )

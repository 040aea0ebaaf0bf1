"""Several shuffled surveys, or windows of a tracking survey: the central guarantee of all that one person answers."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, Final, final

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
        The sum of the local ones: it holds whoever colludes, and is what a device charges to its ledger.
    epsilon
        Of all batches together: an upper bound, proved.
    delta
        Of the same guarantee.
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
        """What the central guarantee rests on, in two sentences."""
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


def compose(certificates: Amplified | Iterable[Amplified], delta: float, times: int = 1) -> Composed:
    """The central guarantee of a person who has one report in each of these batches.

    Later surveys may depend on the answers to earlier ones. The result is never above basic composition, and never
    above the sum of the local epsilons.

    Parameters
    ----------
    certificates
        What `survey.amplified` returned: one, or several.
    delta
        Of all together; the certificates' own play no part.
    times
        Repeats all of them, for example the number of windows of a tracking survey.

    Examples
    --------
    Four windows, in each of which a person answers once, are not four times as much:

    >>> import sottovoce as sv
    >>> window = sv.Survey.distribution(100, 4.0, mechanism="randomized_response").amplified(100_000, 1e-6)
    >>> year = sv.compose(window, delta=1e-6, times=4)
    >>> year.parts, year.local_epsilon
    (4, 16.0)
    >>> window.epsilon < year.epsilon < 2.2 * window.epsilon
    True
    """
    found = [certificates] if isinstance(certificates, Amplified) else list(certificates)
    if not found or not all(isinstance(each, Amplified) for each in found):
        raise SurveyError("certificates must be what survey.amplified(n, delta) returns: one, or a list of them")
    repeated = check_integer("times", times, 1, MAX_PARTS // len(found))
    chance = check_central_delta(delta)
    counts = Counter(each.shuffled for each in found)
    epsilon = composed_epsilon([(shuffled, number * repeated) for shuffled, number in counts.items()], chance)
    return Composed(
        local_epsilon=math.fsum(each.local_epsilon for each in found) * repeated,
        epsilon=epsilon,
        delta=chance,
        parts=len(found) * repeated,
        n=min(each.n for each in found),
    )

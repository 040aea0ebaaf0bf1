"""The exact channel of a mechanism's device code, by running it on every outcome of its randomness.

No sampling and no trust in formulas: the real `randomize` and `encode` are run once for
every sequence of draws, each draw's exact probability is multiplied up, and the bytes that
come out are tallied. What is audited is what leaves the device.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Iterator
from fractions import Fraction
from typing import TYPE_CHECKING

from sottovoce.randomness import ONE

if TYPE_CHECKING:
    from sottovoce.mechanisms import ChannelMechanism

__all__ = ["Channel", "Enumerator", "device_channel", "device_row", "outcomes_of", "stated_channel", "worst_ratio"]

Channel = dict[int, dict[bytes, Fraction]]
"""For every value, the exact probability of every encoded report."""


class Enumerator:
    """A `Source` that replays a prefix of choices and takes the first outcome of every later draw.

    `advance` moves to the next sequence of outcomes, like an odometer, until none is left.
    """

    def __init__(self) -> None:
        self._choices: list[tuple[int, list[Fraction]]] = []
        self._position = 0

    @property
    def probability(self) -> Fraction:
        """Exact probability of the sequence of outcomes just taken."""
        result = Fraction(1)
        for outcome, probabilities in self._choices[: self._position]:
            result *= probabilities[outcome]
        return result

    @property
    def outcomes(self) -> int:
        """How many outcomes the draws taken so far have together."""
        return math.prod(len(probabilities) for _, probabilities in self._choices)

    def advance(self) -> bool:
        """Go to the next sequence; False when all have been taken."""
        del self._choices[self._position :]
        self._position = 0
        while self._choices:
            outcome, probabilities = self._choices.pop()
            if outcome + 1 < len(probabilities):
                self._choices.append((outcome + 1, probabilities))
                return True
        return False

    def _take(self, probabilities: list[Fraction]) -> int:
        if self._position == len(self._choices):
            self._choices.append((0, probabilities))
        outcome = self._choices[self._position][0]
        self._position += 1
        return outcome

    def below(self, n: int) -> int:
        """Each of 0 .. n-1 in turn, probability 1/n."""
        return self._take([Fraction(1, n)] * n)

    def bernoulli(self, threshold: int) -> bool:
        """True, then False, with their exact probabilities."""
        chance = Fraction(threshold, ONE)
        return self._take([chance, 1 - chance]) == 0


def _outcomes(mechanism: ChannelMechanism, value: int) -> Iterator[tuple[bytes, Fraction]]:
    source = Enumerator()
    while True:
        report = mechanism.encode(mechanism.randomize(value, source))
        yield report, source.probability
        if not source.advance():
            return


def outcomes_of(mechanism: ChannelMechanism) -> int:
    """How many sequences of draws one value has: the product of the draws' outcomes, which never depend on it."""
    source = Enumerator()
    mechanism.randomize(0, source)
    return source.outcomes


def device_row(mechanism: ChannelMechanism, value: int) -> dict[bytes, Fraction]:
    """The exact probability of every report that the device code can send for one value."""
    tally: dict[bytes, Fraction] = defaultdict(Fraction)
    for report, probability in _outcomes(mechanism, value):
        tally[report] += probability
    return {report: p for report, p in tally.items() if p}


def device_channel(mechanism: ChannelMechanism) -> Channel:
    """The channel of the device code itself. Only for small domains: the work is every outcome.

    Examples
    --------
    >>> from sottovoce.mechanisms import create
    >>> channel = device_channel(create("randomized_response", 3, 1.0))
    >>> sorted(channel[0]), sum(channel[0].values())
    ([b'\\x00', b'\\x01', b'\\x02'], Fraction(1, 1))
    """
    return {value: device_row(mechanism, value) for value in range(mechanism.domain_size)}


def stated_channel(mechanism: ChannelMechanism) -> Channel:
    """The channel as `probability` states it, over all `outputs`."""
    channel: Channel = {}
    for value in range(mechanism.domain_size):
        stated = ((mechanism.encode(r), mechanism.probability(r, value)) for r in mechanism.outputs())
        channel[value] = {report: p for report, p in stated if p}
    return channel


def worst_ratio(channel: Channel) -> Fraction | None:
    """The largest ratio of two values' probabilities of one report; None when it is infinite.

    For pure LDP over a finite set of outputs the worst event is a single output, so nothing else
    need be looked at.
    """
    reports = set().union(*channel.values())
    worst = Fraction(1)
    for report in reports:
        column = [channel[value].get(report, Fraction(0)) for value in channel]
        if min(column) == 0:
            return None
        worst = max(worst, max(column) / min(column))
    return worst

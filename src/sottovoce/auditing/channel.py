"""The exact channel of a mechanism's device code, by running it on every outcome of its randomness.

No sampling and no trust in formulas: the real `randomize` and `encode` are run once for
every sequence of draws, each draw's exact probability is multiplied up, and the bytes that
come out are tallied. What is audited is what leaves the device.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Callable, Sequence
from fractions import Fraction
from typing import TYPE_CHECKING, NamedTuple

from sottovoce.randomness import ONE, Source

if TYPE_CHECKING:
    from sottovoce.mechanisms import ChannelMechanism

__all__ = [
    "Channel",
    "Enumerator",
    "Pair",
    "device_channel",
    "device_row",
    "row_of",
    "stated_channel",
    "worst_pair",
    "worst_ratio",
]

Channel = dict[int, dict[bytes, Fraction]]
"""For every value, the exact probability of every encoded report."""


class Enumerator:
    """A `Source` that replays a prefix of choices and takes the first outcome of every later draw.

    `advance` moves to the next sequence of outcomes, like an odometer, until none is left.
    """

    def __init__(self) -> None:
        self._choices: list[tuple[int, int, Sequence[int], int]] = []
        """Of each draw: its outcome, how many it has, and the weights of all over their sum; none if all are alike."""
        self._position = 0

    @property
    def weight(self) -> tuple[int, int]:
        """Exact probability of the sequence of outcomes just taken: numerator and denominator, not reduced."""
        over = under = 1
        for outcome, _, weights, total in self._choices[: self._position]:
            over *= weights[outcome] if weights else 1
            under *= total
        return over, under

    @property
    def probability(self) -> Fraction:
        """Exact probability of the sequence of outcomes just taken."""
        return Fraction(*self.weight)

    @property
    def outcomes(self) -> int:
        """How many outcomes the draws taken so far have together."""
        return math.prod(count for _, count, _, _ in self._choices)

    def advance(self) -> bool:
        """Go to the next sequence; False when all have been taken."""
        del self._choices[self._position :]
        self._position = 0
        while self._choices:
            outcome, count, weights, total = self._choices.pop()
            if outcome + 1 < count:
                self._choices.append((outcome + 1, count, weights, total))
                return True
        return False

    def _take(self, count: int, weights: Sequence[int], total: int) -> int:
        if self._position == len(self._choices):
            self._choices.append((0, count, weights, total))
        outcome = self._choices[self._position][0]
        self._position += 1
        return outcome

    def below(self, n: int) -> int:
        """Each of 0 .. n-1 in turn, probability 1/n."""
        return self._take(n, (), n)

    def bernoulli(self, threshold: int) -> bool:
        """True, then False, with their exact probabilities."""
        return self._take(2, (threshold, ONE - threshold), ONE) == 0


def row_of(run: Callable[[Source], bytes]) -> dict[bytes, Fraction]:
    """The exact probability of every report that a device, holding one value, can send."""
    source = Enumerator()
    tally: dict[bytes, dict[int, int]] = defaultdict(lambda: defaultdict(int))
    """Numerators by denominator: in integers, since fractions would be reduced once for every outcome."""
    while True:
        report = run(source)
        over, under = source.weight
        tally[report][under] += over
        if not source.advance():
            break
    row = {
        report: sum((Fraction(over, under) for under, over in sums.items()), Fraction())
        for report, sums in tally.items()
    }
    return {report: p for report, p in row.items() if p}


def device_row(mechanism: ChannelMechanism, value: int) -> dict[bytes, Fraction]:
    """The exact probability of every report that the device code can send for one value."""
    return row_of(lambda source: mechanism.encode(mechanism.randomize(value, source)))


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


class Pair(NamedTuple):
    """Two values and the report whose chances under them are furthest apart."""

    likely: int
    unlikely: int
    report: bytes
    chances: tuple[Fraction, Fraction]

    @property
    def ratio(self) -> Fraction | None:
        """How many times as likely; None where it is impossible for one of them."""
        high, low = self.chances
        return high / low if low else None

    def __str__(self) -> str:
        high, low = map(float, self.chances)
        return (
            f"values {self.likely} and {self.unlikely}: the report {self.report.hex()[:48]} has probability {high:.6g} "
            f"under the first and {low:.6g} under the second"
        )


def worst_pair(channel: Channel) -> Pair:
    """The two values and the report with the largest ratio of probabilities; an impossible one comes first.

    For pure LDP over a finite set of outputs the worst event is a single output, so nothing else
    need be looked at.
    """
    values = list(channel)
    worst = Pair(values[0], values[0], b"", (Fraction(1), Fraction(1)))
    for report in set().union(*channel.values()):
        column = [channel[value].get(report, Fraction(0)) for value in values]
        high, low = max(column), min(column)
        # Is high/low above the worst ratio so far? Without a division, for either may be by 0.
        if high * worst.chances[1] > worst.chances[0] * low:
            worst = Pair(values[column.index(high)], values[column.index(low)], report, (high, low))
    return worst


def worst_ratio(channel: Channel) -> Fraction | None:
    """The largest ratio of two values' probabilities of one report; None when it is infinite."""
    return worst_pair(channel).ratio

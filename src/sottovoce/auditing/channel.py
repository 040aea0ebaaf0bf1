"""The exact channel of a mechanism's device code, by running it on every outcome of its randomness.

No sampling and no trust in formulas: the real `randomize` and `encode` are run once for
every sequence of draws, each draw's exact probability is multiplied up, and the bytes that
come out are tallied. What is audited is what leaves the device.
"""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING, NamedTuple

from sottovoce.randomness.scripts import row_of

if TYPE_CHECKING:
    from sottovoce.mechanisms import ChannelMechanism

__all__ = [
    "Channel",
    "Pair",
    "device_channel",
    "device_row",
    "stated_channel",
    "worst_pair",
    "worst_ratio",
]

Channel = dict[int, dict[bytes, Fraction]]
"""For every value, the exact probability of every encoded report."""


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

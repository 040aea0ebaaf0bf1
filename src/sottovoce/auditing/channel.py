"""The exact channel of a mechanism's device code, by running it on every outcome of its randomness.

No sampling and no trust in formulas: the real `randomize` and `encode` are run once for
every sequence of draws, each draw's exact probability is multiplied up, and the bytes that
come out are tallied. What is audited is what leaves the device.
"""

from __future__ import annotations

from collections.abc import Iterable
from fractions import Fraction
from typing import Any, NamedTuple, Protocol, cast

from sottovoce.mechanisms.base import Mechanism
from sottovoce.randomness import Source, within_epsilon
from sottovoce.randomness.scripts import row_of

__all__ = [
    "Channel",
    "Pair",
    "device_channel",
    "device_row",
    "stated_channel",
    "worst_pair",
    "worst_ratio",
    "wrong_miniature",
]

Channel = dict[int, dict[bytes, Fraction]]
"""The exact probability of every encoded report, for every value."""


class ExactLaw(Protocol):
    """What is needed of a mechanism whose every probability is known."""

    def miniature_inputs(self) -> Iterable[Any]: ...

    def outputs(self) -> Iterable[Any]: ...

    def randomize(self, value: Any, source: Source) -> Any: ...

    def encode(self, report: Any) -> bytes: ...

    def probability(self, report: Any, value: Any) -> Fraction: ...

    def privacy_ratio(self) -> Fraction: ...


def device_row(mechanism: ExactLaw, value: Any) -> dict[bytes, Fraction]:
    """The exact probability of every report that the device code can send for one value."""
    return row_of(lambda source: mechanism.encode(mechanism.randomize(value, source)))


def device_channel(mechanism: ExactLaw) -> Channel:
    """The channel of the device code itself. Only for miniatures: the work is every outcome.

    Examples
    --------
    >>> from sottovoce.mechanisms import create
    >>> channel = device_channel(create("randomized_response", 3, 1.0))
    >>> sorted(channel[0]), sum(channel[0].values())
    ([b'\\x00', b'\\x01', b'\\x02'], Fraction(1, 1))
    """
    return {number: device_row(mechanism, value) for number, value in enumerate(mechanism.miniature_inputs())}


def stated_channel(mechanism: ExactLaw) -> Channel:
    """The channel as `probability` states it, over all `outputs`."""
    channel: Channel = {}
    reports = [(mechanism.encode(report), report) for report in mechanism.outputs()]
    for number, value in enumerate(mechanism.miniature_inputs()):
        stated = ((encoded, mechanism.probability(report, value)) for encoded, report in reports)
        channel[number] = {encoded: p for encoded, p in stated if p}
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


class WrongMiniature(NamedTuple):
    """A miniature whose device has not exactly the stated channel, and its worst pair."""

    small: Mechanism
    pair: Pair

    @property
    def words(self) -> str:
        """The miniature and the pair that shows the fault."""
        return f"the miniature {self.small} has not its stated probabilities: {self.pair}"


def wrong_miniature(mechanism: Mechanism, *, attained: bool = False) -> WrongMiniature | None:
    """A miniature whose device, run on every outcome, has not exactly the stated channel; None if there is none.

    Miniatures take every branch of the device code between them. The stated ratio must hold, and be `attained` where
    that is claimed, and the stated probability of every report must equal brute force to the last bit; that is why
    they are believed at other sizes.
    """
    for small in mechanism.own_miniatures():
        law = cast(ExactLaw, small)
        channel, ratio = device_channel(law), law.privacy_ratio()
        pair = worst_pair(channel)
        right = pair.ratio is not None and (pair.ratio == ratio if attained else pair.ratio <= ratio)
        if not right or channel != stated_channel(law) or not within_epsilon(ratio, small.epsilon):
            return WrongMiniature(small, pair)
    return None

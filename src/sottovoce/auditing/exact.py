"""The exact channel of a device that is small enough to be run on every outcome of its draws."""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction
from typing import Any, Final

from sottovoce.auditing.channel import Channel, Pair, device_channel, device_row, stated_channel, worst_pair
from sottovoce.auditing.subject import Subject
from sottovoce.core.errors import ReportError
from sottovoce.mechanisms.channel import ChannelMechanism
from sottovoce.mechanisms.reference import ChannelReference
from sottovoce.randomness import Source
from sottovoce.randomness.scripts import row_of

__all__ = ["MOST_RUNS", "outcomes", "pair_among", "wrong_miniature", "wrong_pair"]

MOST_RUNS: Final = 100_000
"""Runs up to which a device is run on every outcome, for every value."""


def outcomes(reference: ChannelReference) -> int:
    """How many sequences of draws one value has."""
    return math.prod(request if request > 0 else 2 for request in reference.requests(0))


def wrong_miniature(mechanism: ChannelMechanism) -> tuple[ChannelMechanism, Pair] | None:
    """A miniature whose device, run on every outcome, has not exactly the stated channel, and its worst pair.

    Miniatures take every branch of the device code between them. The closed form of `privacy_ratio`, and the stated
    probability of every report, must equal brute force to the last bit; that is why they are believed at other sizes.
    """
    for small in type(mechanism).miniatures(mechanism.epsilon):
        channel = device_channel(small)
        pair = worst_pair(channel)
        if pair.ratio != small.privacy_ratio() or channel != stated_channel(small):
            return small, pair
    return None


def wrong_pair(subject: Subject[ChannelMechanism]) -> Pair | None:
    """The worst pair of a device that is run on every outcome for every value; None if it does what it states.

    Every report must have its stated probability exactly, and no ratio may be above the stated one.
    """
    channel: Channel = {}
    as_stated = True
    for number in range(subject.size or 0):
        value = subject.value(number)
        channel[number] = row_of(_running(subject.report, value))
        as_stated &= channel[number] == _stated_row(subject, subject.input(value), channel[number])
    pair = worst_pair(channel)
    right = as_stated and pair.ratio is not None and pair.ratio <= subject.mechanism.privacy_ratio()
    return None if right else pair


def pair_among(mechanism: ChannelMechanism, values: list[int]) -> Pair:
    """Which of these inputs of the mechanism are told apart best, and by which report."""
    return worst_pair({value: device_row(mechanism, value) for value in values})


def _running(run: Callable[[Any, Source], bytes], value: Any) -> Callable[[Source], bytes]:
    return lambda source: run(value, source)


def _stated_row(subject: Subject[ChannelMechanism], value: int, row: dict[bytes, Fraction]) -> dict[bytes, Fraction]:
    """The stated probabilities of these reports; nothing where they are not all, or one is no report at all."""
    m = subject.mechanism
    try:
        stated = {report: m.probability(m.decode(subject.payload(report)), value) for report in row}
    except ReportError:
        return {}
    return stated if sum(stated.values()) == 1 else {}

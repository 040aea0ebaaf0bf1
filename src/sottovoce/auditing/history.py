"""Is a whole history private? The exact loss of everything a device sends over all periods, over all histories.

A history is one value per period, which may change at will. The device is run on every outcome of its draws for every
history, and what it sends over all periods is one transcript. For pure differential privacy the worst event is one
transcript, so the largest ratio of its probabilities under two histories is the loss: exact, in fractions.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import product
from typing import final

from sottovoce.auditing.channel import worst_pair
from sottovoce.mechanisms.channel import ChannelMechanism
from sottovoce.randomness import Source, epsilon_of
from sottovoce.randomness.scripts import row_of

__all__ = ["History", "HistoryDevice", "HistoryLoss", "all_histories", "audit_histories", "seat_device"]

History = tuple[int, ...]
"""A person's value in every period."""

HistoryDevice = Callable[[History, Source], bytes]
"""A device: everything that it sends over all periods, as bytes, for one history and its draws."""


@final
@dataclass(frozen=True)
class HistoryLoss:
    """The two histories that a transcript tells apart best.

    Attributes
    ----------
    ratio
        How many times as likely the transcript is under the first history; None if it is impossible under the second.
    histories
        The number of histories that were compared.
    transcript
        The transcript: all that the device sent.
    """

    ratio: Fraction | None
    likely: History
    unlikely: History
    transcript: bytes
    histories: int

    @property
    def epsilon(self) -> float:
        """The loss of the whole history; infinite if the transcript is impossible under the other."""
        return math.inf if self.ratio is None else epsilon_of(self.ratio)


def all_histories(n_values: int, periods: int) -> list[History]:
    """Every history: the values may change from any one to any other in every period."""
    return list(product(range(n_values), repeat=periods))


def audit_histories(device: HistoryDevice, histories: Iterable[History]) -> HistoryLoss:
    """The exact loss of a device over these histories.

    Examples
    --------
    One seat of three, drawn whatever the values are: the loss of the whole history is that of one report.

    >>> from sottovoce.mechanisms import create
    >>> mechanism = create("randomized_response", 2, 1.0)
    >>> loss = audit_histories(seat_device(mechanism, seats=3), all_histories(2, 3))
    >>> loss.histories, loss.ratio == mechanism.privacy_ratio()
    (8, True)
    """
    listed = list(histories)
    channel = {number: row_of(_running(device, history)) for number, history in enumerate(listed)}
    pair = worst_pair(channel)
    return HistoryLoss(pair.ratio, listed[pair.likely], listed[pair.unlikely], pair.report, len(listed))


def seat_device(mechanism: ChannelMechanism, seats: int) -> HistoryDevice:
    """The device of a tracking survey: in every window one seat, and in that period one report.

    A history longer than one window has several. Seats are drawn here as from uniform bits; a device derives them from
    its secret, which is the same to everybody who does not know it.
    """

    def run(history: History, source: Source) -> bytes:
        sent = bytearray()
        for first in range(0, len(history), seats):
            seat = source.below(seats)
            report = mechanism.randomize(history[first + seat], source)
            sent += bytes([seat]) + mechanism.encode(report)
        return bytes(sent)

    return run


def _running(device: HistoryDevice, history: Sequence[int]) -> Callable[[Source], bytes]:
    return lambda source: device(tuple(history), source)

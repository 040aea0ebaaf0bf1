"""The reference for a mechanism of another package: its own stated probabilities are all that is known of it."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from functools import cached_property
from typing import Any, ClassVar, Protocol

from sottovoce.mechanisms.reference import ChannelReference, Draws, Rows, Values
from sottovoce.randomness import ONE, Source
from sottovoce.randomness.scripts import Enumerator, Request, ScriptedSource

__all__ = ["StatedReference"]


class StatedChannel(Protocol):
    """What is known of a channel of another package: its device, and the probabilities that it states."""

    @property
    def domain_size(self) -> int: ...

    @property
    def epsilon(self) -> float: ...

    def miniatures(self, epsilon: float) -> Sequence[StatedChannel]: ...

    def randomize(self, value: int, source: Source) -> Any: ...

    def decode(self, payload: bytes) -> Any: ...

    def probability(self, report: Any, value: int) -> Fraction: ...

    def privacy_ratio(self) -> Fraction: ...


class StatedReference(ChannelReference):
    """What `probability` states, and the requests that the device makes for its first value.

    A report cannot be less likely than one way to draw it. Where all ways to draw a report are equally likely, as they
    are on every miniature of most mechanisms, its probability is a whole multiple of each.
    """

    independent: ClassVar[bool] = False

    def __init__(self, mechanism: StatedChannel) -> None:
        super().__init__(mechanism.domain_size)
        self.mechanism = mechanism

    @cached_property
    def _asked(self) -> list[Request]:
        source = ScriptedSource([])
        self.mechanism.randomize(0, source)
        return source.asked

    @cached_property
    def _whole(self) -> bool:
        """Whether on every miniature each report's probability is a whole multiple of every way to draw it."""
        small = self.mechanism.miniatures(self.mechanism.epsilon)
        return all(_whole_multiples(one, value) for one in small for value in range(one.domain_size))

    def requests(self, value: int) -> list[Request]:
        return self._asked

    def payloads(self, values: Values, draws: Draws) -> Rows:
        raise NotImplementedError("the bytes that a mechanism of another package must send are not known")

    def ratio(self) -> Fraction:
        return self.mechanism.privacy_ratio()

    def first_wrong(
        self, values: Values, draws: Draws, asked: Sequence[list[Request]], sent: Sequence[bytes]
    ) -> tuple[int, str] | None:
        """A run that asks for other integers, or another number of coins, or is likelier than its report."""
        pattern = [max(request, 0) for request in self._asked]
        for run, (value, requests, report) in enumerate(zip(values.tolist(), asked, sent, strict=True)):
            if [max(request, 0) for request in requests] != pattern:
                return run, "asks for other draws than for its first value"
            way = _chance(requests, draws[run].tolist())
            stated = self.mechanism.probability(self.mechanism.decode(report), value)
            if stated < way or (self._whole and way and (stated / way).denominator != 1):
                return run, f"sends {report.hex()[:48]}, whose stated probability does not allow these draws"
        return None


def _whole_multiples(mechanism: StatedChannel, value: int) -> bool:
    source = Enumerator()
    while True:
        report = mechanism.randomize(value, source)
        way = source.probability
        if way and (mechanism.probability(report, value) / way).denominator != 1:
            return False
        if not source.advance():
            return True


def _chance(requests: Sequence[Request], outcomes: Sequence[int]) -> Fraction:
    over = under = 1
    for request, outcome in zip(requests, outcomes, strict=True):
        over *= 1 if request > 0 else -request if outcome else ONE + request
        under *= request if request > 0 else ONE
    return Fraction(over, under)

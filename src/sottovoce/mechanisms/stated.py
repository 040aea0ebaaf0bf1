"""The reference for a mechanism of another package: its own stated probabilities are all that is known of it."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from fractions import Fraction
from functools import cached_property
from typing import Any, ClassVar, Protocol

from sottovoce.domain.trials import Trials
from sottovoce.mechanisms.reference import (
    ChannelReference,
    DeviceRun,
    Draws,
    ExactReference,
    Rows,
    Values,
    in_hex,
)
from sottovoce.randomness import ONE, Source
from sottovoce.randomness.scripts import Enumerator, Request, ScriptedSource

__all__ = ["StatedReference", "StatedSampledReference"]


class StatedLaw(Protocol):
    """What is known of a mechanism of another package: its device, and the probabilities that it states."""

    @property
    def epsilon(self) -> float: ...

    def miniatures(self, epsilon: float) -> Sequence[StatedLaw]: ...

    def miniature_inputs(self) -> Iterable[Any]: ...

    def randomize(self, value: Any, source: Source) -> Any: ...

    def decode(self, payload: bytes) -> Any: ...

    def probability(self, report: Any, value: Any) -> Fraction: ...

    def privacy_ratio(self) -> Fraction: ...


class _Ways:
    """Whether runs are ways to draw a report that its stated probability allows.

    A report cannot be less likely than one way to draw it. Where all ways to draw a report are equally likely, as they
    are on every miniature of most mechanisms, its probability is a whole multiple of each.
    """

    def __init__(self, mechanism: StatedLaw, first: Any) -> None:
        self.mechanism, source = mechanism, ScriptedSource([])
        mechanism.randomize(first, source)
        self.asked = source.asked
        self._pattern = [max(request, 0) for request in source.asked]

    @cached_property
    def _whole(self) -> bool:
        """Whether on every miniature each report's probability is a whole multiple of every way to draw it."""
        small = self.mechanism.miniatures(self.mechanism.epsilon)
        return all(_whole_multiples(miniature, value) for miniature in small for value in miniature.miniature_inputs())

    def wrong(self, value: Any, asked: Sequence[Request], played: Sequence[int], sent: bytes) -> str:
        """A run that asks for other integers, or another number of coins, or is likelier than its report."""
        if [max(request, 0) for request in asked] != self._pattern:
            return "asks for other draws than for its first value"
        way, stated = _chance(asked, played), self.mechanism.probability(self.mechanism.decode(sent), value)
        if stated < way or (self._whole and way and (stated / way).denominator != 1):
            return f"sends {in_hex(sent)}, whose stated probability does not allow these draws"
        return ""


class StatedReference(ChannelReference):
    """What `probability` states of numbered values, and the requests that the device makes for the first."""

    independent: ClassVar[bool] = False

    def __init__(self, mechanism: StatedLaw, values: int) -> None:
        super().__init__(values)
        self.mechanism = mechanism

    @cached_property
    def _ways(self) -> _Ways:
        return _Ways(self.mechanism, 0)

    def requests(self, value: int) -> list[Request]:
        return self._ways.asked

    def payloads(self, values: Values, draws: Draws) -> Rows:
        raise NotImplementedError("the bytes that a mechanism of another package must send are not known")

    def ratio(self) -> Fraction:
        return self.mechanism.privacy_ratio()

    def first_wrong(
        self, values: Values, draws: Draws, asked: Sequence[list[Request]], sent: Sequence[bytes]
    ) -> tuple[int, str] | None:
        for run, value in enumerate(values.tolist()):
            if words := self._ways.wrong(value, asked[run], draws[run].tolist(), sent[run]):
                return run, words
        return None


class StatedSampledReference(ExactReference):
    """What `probability` states of values without numbers, and the requests that the device makes for the first."""

    independent: ClassVar[bool] = False

    def __init__(self, mechanism: StatedLaw, trials: Trials, size: int, noun: str) -> None:
        super().__init__(trials, size, mechanism.epsilon, mechanism.privacy_ratio())
        self.mechanism, self.noun = mechanism, noun

    @cached_property
    def _ways(self) -> _Ways:
        return _Ways(self.mechanism, next(iter(self.trials.edges())).value)

    def requests(self, outcomes: Sequence[int]) -> list[Request]:
        return self._ways.asked

    def payloads(self, inputs: Sequence[Any], played: Sequence[list[int]]) -> list[bytes]:
        raise NotImplementedError("the bytes that a mechanism of another package must send are not known")

    def first_wrong(self, runs: Sequence[DeviceRun]) -> str:
        faults = (self._ways.wrong(tuple(run.input), run.asked, run.played, run.sent) for run in runs)
        return next((f"{run.name}: the device {words}" for run, words in zip(runs, faults, strict=True) if words), "")


def _whole_multiples(mechanism: StatedLaw, value: Any) -> bool:
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

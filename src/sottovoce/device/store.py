"""The durable state of a device: trusted keys, drawn rounds, recorded answers.

`record` draws at most once per survey, whatever threads, processes and crashes there are, and its result is on disk.
"""

from __future__ import annotations

import abc
import threading
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import Final, Literal, TypeAlias, final

from sottovoce.core.words import plural

__all__ = ["AnswerState", "DeviceStore", "MemoryStore", "RecordedAnswer"]

AnswerState: TypeAlias = Literal["unsent", "sent", "refused"]

STATES: Final[tuple[AnswerState, ...]] = ("unsent", "sent", "refused")


@dataclass(frozen=True)
class RecordedAnswer:
    """A drawn report, its recipient and its cost. It does not contain the value."""

    question: str
    """Id of the survey, or of the panel that a round belongs to."""
    survey: str
    """Id of the survey that the report belongs to; for a panel the round's."""
    collector: str
    key: bytes = field(repr=False)
    """The key that signed the survey."""
    title: str
    epsilon: float
    delta: float
    day: str
    """The date by the device's clock, for information only."""
    report_id: bytes = field(repr=False)
    report: bytes = field(repr=False)
    state: AnswerState = "unsent"


class DeviceStore(abc.ABC):
    """Safe to use from several threads. A method that raises `LedgerError` has changed nothing."""

    @abc.abstractmethod
    def pinned(self, collector: str) -> bytes | None:
        """The pinned key of this collector."""

    @abc.abstractmethod
    def pin(self, collector: str, key: bytes) -> bytes:
        """Pin a key unless there is one already; returns the pinned key."""

    @abc.abstractmethod
    def seat(self, question: str, draw: Callable[[], int]) -> int:
        """The device's round in a panel; drawn if there is none, then kept forever."""

    @abc.abstractmethod
    def answer(self, question: str) -> RecordedAnswer | None:
        """The recorded answer to a question."""

    @abc.abstractmethod
    def answers(self) -> list[RecordedAnswer]:
        """All recorded answers, oldest first."""

    @abc.abstractmethod
    def record(self, question: str, draw: Callable[[Sequence[RecordedAnswer]], RecordedAnswer]) -> RecordedAnswer:
        """The recorded answer; if there is none, the result of `draw` for all answers so far, durable on return.

        No other thread or process records anything while `draw` runs. If it raises, or its result cannot be stored,
        nothing has changed.
        """

    @abc.abstractmethod
    def mark(self, question: str, state: AnswerState) -> None:
        """Change an answer's state, unless it is "sent"."""

    @abc.abstractmethod
    def move(self, question: str, collector: str) -> None:
        """Change the address of an answer that is "unsent"."""


@final
class MemoryStore(DeviceStore):
    """A store in memory, for simulated devices only."""

    def __init__(self) -> None:
        self._lock = threading.RLock()
        self._keys: dict[str, bytes] = {}
        self._seats: dict[str, int] = {}
        self._answers: dict[str, RecordedAnswer] = {}

    def __repr__(self) -> str:
        return f"<MemoryStore of {plural(len(self._answers), 'answer')}>"

    def pinned(self, collector: str) -> bytes | None:
        """See `DeviceStore`."""
        return self._keys.get(collector)

    def pin(self, collector: str, key: bytes) -> bytes:
        """See `DeviceStore`."""
        return self._keys.setdefault(collector, key)

    def seat(self, question: str, draw: Callable[[], int]) -> int:
        """See `DeviceStore`."""
        with self._lock:
            if question not in self._seats:
                self._seats[question] = draw()
            return self._seats[question]

    def answer(self, question: str) -> RecordedAnswer | None:
        """See `DeviceStore`."""
        return self._answers.get(question)

    def answers(self) -> list[RecordedAnswer]:
        """See `DeviceStore`."""
        with self._lock:
            return list(self._answers.values())

    def record(self, question: str, draw: Callable[[Sequence[RecordedAnswer]], RecordedAnswer]) -> RecordedAnswer:
        """See `DeviceStore`."""
        with self._lock:
            if question not in self._answers:
                self._answers[question] = draw(list(self._answers.values()))
            return self._answers[question]

    def mark(self, question: str, state: AnswerState) -> None:
        """See `DeviceStore`."""
        with self._lock:
            kept = self._answers.get(question)
            if kept is not None and kept.state != "sent":
                self._answers[question] = replace(kept, state=state)

    def move(self, question: str, collector: str) -> None:
        """See `DeviceStore`."""
        with self._lock:
            kept = self._answers.get(question)
            if kept is not None and kept.state == "unsent":
                self._answers[question] = replace(kept, collector=collector)

"""What a device writes down for good: keys it trusts, rounds it has drawn, answers it has given.

One promise matters: `record` draws at most once for a survey, however many threads, processes and crashes there are,
and what it returns is on disk.
"""

from __future__ import annotations

import abc
import threading
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import Final, Literal, TypeAlias, final

from sottovoce.plural import counted

__all__ = ["Answer", "AnswerState", "DeviceStore", "MemoryStore"]

AnswerState: TypeAlias = Literal["unsent", "sent", "refused"]

STATES: Final[tuple[AnswerState, ...]] = ("unsent", "sent", "refused")


@dataclass(frozen=True)
class Answer:
    """A report that was drawn, for whom, and what it cost. Holds no value: nobody can tell one from it."""

    question: str
    """Id of what was asked once and for all: the survey, or the panel a round belongs to."""
    survey: str
    """Id of the survey the report is of; for a round the round's."""
    collector: str
    key: bytes = field(repr=False)
    """Whose signature the survey bore."""
    title: str
    epsilon: float
    delta: float
    day: str
    """As the device's clock had it, for people to read; nothing depends on it."""
    report_id: bytes = field(repr=False)
    report: bytes = field(repr=False)
    state: AnswerState = "unsent"


class DeviceStore(abc.ABC):
    """Safe to use from several threads. Methods raise `LedgerError`, and have then changed nothing."""

    @abc.abstractmethod
    def pinned(self, collector: str) -> bytes | None:
        """The key that this collector's surveys must be signed with."""

    @abc.abstractmethod
    def pin(self, collector: str, key: bytes) -> bytes:
        """Trust a key from now on, unless one stands already; returns the one that stands."""

    @abc.abstractmethod
    def seat(self, question: str, draw: Callable[[], int]) -> int:
        """The round this device has in a panel; drawn if there is none, then kept for ever."""

    @abc.abstractmethod
    def answer(self, question: str) -> Answer | None:
        """What was answered."""

    @abc.abstractmethod
    def answers(self) -> list[Answer]:
        """All that was ever answered, oldest first."""

    @abc.abstractmethod
    def record(self, question: str, draw: Callable[[Sequence[Answer]], Answer]) -> Answer:
        """The answer that stands; if there is none, what `draw` makes of all answers so far, durable on return.

        No other thread or process records anything between `draw` being called and its answer being kept. If it
        raises, or its answer cannot be kept, nothing has changed.
        """

    @abc.abstractmethod
    def mark(self, question: str, state: AnswerState) -> None:
        """Change an answer's state; one that was sent stays so."""

    @abc.abstractmethod
    def move(self, question: str, collector: str) -> None:
        """Send an answer to another address from now on; one that is not "unsent" stays as it is."""


@final
class MemoryStore(DeviceStore):
    """Forgets everything with the process: for simulated devices, never for a person's."""

    def __init__(self) -> None:
        self._lock = threading.RLock()
        self._keys: dict[str, bytes] = {}
        self._seats: dict[str, int] = {}
        self._answers: dict[str, Answer] = {}

    def __repr__(self) -> str:
        return f"<MemoryStore of {counted(len(self._answers), 'answer')}>"

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

    def answer(self, question: str) -> Answer | None:
        """See `DeviceStore`."""
        return self._answers.get(question)

    def answers(self) -> list[Answer]:
        """See `DeviceStore`."""
        with self._lock:
            return list(self._answers.values())

    def record(self, question: str, draw: Callable[[Sequence[Answer]], Answer]) -> Answer:
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

"""The durable state of a device: its secret, trusted keys, recorded answers, joined surveys, and the logs it has seen.

`MemoryStore` keeps it in memory, for simulated devices.
"""

from __future__ import annotations

import abc
import secrets
import threading
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Final, Literal, TypeAlias, final

from sottovoce.core.errors import LedgerError
from sottovoce.core.words import plural

__all__ = ["SECRET_BYTES", "AnswerState", "DeviceStore", "JoinedSurvey", "LogConflict", "MemoryStore", "RecordedAnswer"]


AnswerState: TypeAlias = Literal["unsent", "sent", "refused"]

STATES: Final[tuple[AnswerState, ...]] = ("unsent", "sent", "refused")

SECRET_BYTES: Final = 32


@dataclass(frozen=True)
class RecordedAnswer:
    """A drawn report, its recipient and its cost. It does not contain the value."""

    question: str
    """Id of the survey, or of the panel or tracking survey that a round or period belongs to."""
    survey: str
    """Id of the survey that the report belongs to; for a panel the round's, for a tracking survey the period's."""
    collector: str
    key: bytes = field(repr=False)
    """The key that signed the survey."""
    title: str
    epsilon: float
    delta: float
    day: str
    """The date by the device's clock; empty if the clock was out of range."""
    report_id: bytes = field(repr=False)
    report: bytes = field(repr=False)
    state: AnswerState = "unsent"
    window: int = 1
    """Window of a tracking survey that renews; 1 for everything else."""
    renews: bool = False
    """Whether the survey asks again in later windows."""
    period: str = ""
    """Label of the period; empty if the survey has no periods."""
    closes: str = ""
    """The time at which the period closes, in ISO format; empty if the survey has no periods."""
    relay: str = ""
    """Address of the relay that the survey states, through which alone the report is sent; empty if it states none."""


@dataclass(frozen=True)
class JoinedSurvey:
    """A tracking survey that this device takes part in, as it was verified: its periods are found without a network."""

    question: str
    collector: str
    key: bytes = field(repr=False)
    """The key that signed the survey."""
    statement: bytes = field(repr=False)
    attachments: Mapping[str, bytes] = field(repr=False)


@dataclass(frozen=True)
class LogConflict:
    """Two signed heads of one collector's log that contradict each other: evidence, for its owner to show to others."""

    collector: str
    key: bytes = field(repr=False)
    """The key that signed both."""
    remembered: str
    found: str
    day: str
    """The date by the device's clock when the second was shown."""


class DeviceStore(abc.ABC):
    """Safe to use from several threads. A method that raises `LedgerError` has changed nothing."""

    @abc.abstractmethod
    def secret(self) -> bytes:
        """The random secret of this device, drawn once with the store and kept forever: all its seats follow from it.

        A store that is restored from an old backup therefore takes the same seats.
        """

    @abc.abstractmethod
    def pinned(self, collector: str) -> bytes | None:
        """The pinned key of this collector."""

    @abc.abstractmethod
    def pin(self, collector: str, key: bytes) -> bytes:
        """Pin a key unless there is one already; returns the pinned key."""

    @abc.abstractmethod
    def checkpoint(self, key: bytes) -> str | None:
        """The latest signed head of the log of the collector with this key."""

    @abc.abstractmethod
    def remember(self, key: bytes, before: str | None, after: str) -> bool:
        """Replace the head `before`; False, with nothing changed, if another head is the latest by now."""

    @abc.abstractmethod
    def keep_conflict(self, conflict: LogConflict) -> None:
        """Keep evidence for ever; a pair of heads is kept once."""

    @abc.abstractmethod
    def conflicts(self) -> list[LogConflict]:
        """All evidence, oldest first."""

    @abc.abstractmethod
    def drawn_seat(self, question: str) -> int | None:
        """The round of a panel that an earlier version of the store drew; it stays. None for all others."""

    @abc.abstractmethod
    def answer(self, question: str, window: int = 1) -> RecordedAnswer | None:
        """The recorded answer to a question in a window."""

    @abc.abstractmethod
    def answers(self) -> list[RecordedAnswer]:
        """All recorded answers, oldest first."""

    @abc.abstractmethod
    def record(
        self, question: str, window: int, draw: Callable[[Sequence[RecordedAnswer]], RecordedAnswer]
    ) -> RecordedAnswer:
        """The recorded answer; if there is none, the result of `draw` for all answers so far, durable on return.

        No other thread or process records anything while `draw` runs. If it raises, or its result cannot be stored,
        nothing has changed.
        """

    @abc.abstractmethod
    def mark(self, question: str, window: int, state: AnswerState) -> None:
        """Change an answer's state, unless it is "sent"."""

    @abc.abstractmethod
    def move(self, question: str, collector: str) -> None:
        """Change the address of the answers that are "unsent", and of the joined survey."""

    @abc.abstractmethod
    def join(self, survey: JoinedSurvey) -> None:
        """Keep a survey, unless it is kept already."""

    @abc.abstractmethod
    def leave(self, question: str) -> None:
        """Forget a joined survey, and since when; its answers stay."""

    @abc.abstractmethod
    def joined(self) -> list[JoinedSurvey]:
        """All joined surveys, oldest first."""

    @abc.abstractmethod
    def take_part(self, question: str, moment: datetime) -> datetime:
        """Note when this device first took part in a tracking survey, unless that is noted; returns what is noted."""

    @abc.abstractmethod
    def since(self, question: str) -> datetime | None:
        """When this device first took part in a tracking survey; None if that is not noted."""

    @abc.abstractmethod
    def set_renewals(self, question: str, *, refused: bool) -> None:
        """Note whether the owner refuses to answer this question in more than one window."""

    @abc.abstractmethod
    def refuses_renewals(self, question: str) -> bool:
        """Whether the owner refuses to answer this question in more than one window."""


@final
class MemoryStore(DeviceStore):
    """A store in memory, for simulated devices only.

    Parameters
    ----------
    secret
        The device's secret, 32 bytes, so that a simulation takes known seats; drawn if there is none.
    """

    def __init__(self, secret: bytes | None = None) -> None:
        self._secret = secrets.token_bytes(SECRET_BYTES) if secret is None else bytes(secret)
        if len(self._secret) != SECRET_BYTES:
            raise LedgerError(f"a device's secret has {SECRET_BYTES} bytes")
        self._lock = threading.RLock()
        self._keys: dict[str, bytes] = {}
        self._answers: dict[tuple[str, int], RecordedAnswer] = {}
        self._joined: dict[str, JoinedSurvey] = {}
        self._since: dict[str, datetime] = {}
        self._refused: set[str] = set()
        self._checkpoints: dict[bytes, str] = {}
        self._conflicts: list[LogConflict] = []

    def __repr__(self) -> str:
        return f"<MemoryStore of {plural(len(self._answers), 'answer')}>"

    def secret(self) -> bytes:
        """See `DeviceStore`."""
        return self._secret

    def pinned(self, collector: str) -> bytes | None:
        """See `DeviceStore`."""
        return self._keys.get(collector)

    def pin(self, collector: str, key: bytes) -> bytes:
        """See `DeviceStore`."""
        return self._keys.setdefault(collector, key)

    def checkpoint(self, key: bytes) -> str | None:
        """See `DeviceStore`."""
        return self._checkpoints.get(key)

    def remember(self, key: bytes, before: str | None, after: str) -> bool:
        """See `DeviceStore`."""
        with self._lock:
            if self._checkpoints.get(key) != before:
                return False
            self._checkpoints[key] = after
            return True

    def keep_conflict(self, conflict: LogConflict) -> None:
        """See `DeviceStore`."""
        with self._lock:
            if not any(
                (known.remembered, known.found) == (conflict.remembered, conflict.found) for known in self._conflicts
            ):
                self._conflicts.append(conflict)

    def conflicts(self) -> list[LogConflict]:
        """See `DeviceStore`."""
        with self._lock:
            return list(self._conflicts)

    def drawn_seat(self, question: str) -> int | None:
        """See `DeviceStore`: no version in memory ever drew one."""
        return None

    def answer(self, question: str, window: int = 1) -> RecordedAnswer | None:
        """See `DeviceStore`."""
        return self._answers.get((question, window))

    def answers(self) -> list[RecordedAnswer]:
        """See `DeviceStore`."""
        with self._lock:
            return list(self._answers.values())

    def record(
        self, question: str, window: int, draw: Callable[[Sequence[RecordedAnswer]], RecordedAnswer]
    ) -> RecordedAnswer:
        """See `DeviceStore`."""
        with self._lock:
            if (question, window) not in self._answers:
                self._answers[question, window] = draw(list(self._answers.values()))
            return self._answers[question, window]

    def mark(self, question: str, window: int, state: AnswerState) -> None:
        """See `DeviceStore`."""
        with self._lock:
            kept = self._answers.get((question, window))
            if kept is not None and kept.state != "sent":
                self._answers[question, window] = replace(kept, state=state)

    def move(self, question: str, collector: str) -> None:
        """See `DeviceStore`."""
        with self._lock:
            for key, kept in self._answers.items():
                if kept.question == question and kept.state == "unsent":
                    self._answers[key] = replace(kept, collector=collector)
            if question in self._joined:
                self._joined[question] = replace(self._joined[question], collector=collector)

    def join(self, survey: JoinedSurvey) -> None:
        """See `DeviceStore`."""
        self._joined.setdefault(survey.question, survey)

    def leave(self, question: str) -> None:
        """See `DeviceStore`."""
        with self._lock:
            self._joined.pop(question, None)
            self._since.pop(question, None)

    def joined(self) -> list[JoinedSurvey]:
        """See `DeviceStore`."""
        with self._lock:
            return list(self._joined.values())

    def take_part(self, question: str, moment: datetime) -> datetime:
        """See `DeviceStore`."""
        return self._since.setdefault(question, moment)

    def since(self, question: str) -> datetime | None:
        """See `DeviceStore`."""
        return self._since.get(question)

    def set_renewals(self, question: str, *, refused: bool) -> None:
        """See `DeviceStore`."""
        (self._refused.add if refused else self._refused.discard)(question)

    def refuses_renewals(self, question: str) -> bool:
        """See `DeviceStore`."""
        return question in self._refused

"""A device's store in memory, for simulated devices."""

from __future__ import annotations

import secrets
import threading
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import final

from sottovoce.core.errors import LedgerError
from sottovoce.core.words import plural
from sottovoce.device.store import SECRET_BYTES, AnswerState, DeviceStore, JoinedSurvey, LogConflict, RecordedAnswer

__all__ = ["MemoryStore"]


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
            if not any((one.remembered, one.found) == (conflict.remembered, conflict.found) for one in self._conflicts):
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
            for place, kept in self._answers.items():
                if kept.question == question and kept.state == "unsent":
                    self._answers[place] = replace(kept, collector=collector)
            if question in self._joined:
                self._joined[question] = replace(self._joined[question], collector=collector)

    def join(self, survey: JoinedSurvey) -> None:
        """See `DeviceStore`."""
        self._joined.setdefault(survey.question, survey)

    def leave(self, question: str) -> None:
        """See `DeviceStore`."""
        self._joined.pop(question, None)

    def joined(self) -> list[JoinedSurvey]:
        """See `DeviceStore`."""
        with self._lock:
            return list(self._joined.values())

    def set_renewals(self, question: str, *, refused: bool) -> None:
        """See `DeviceStore`."""
        (self._refused.add if refused else self._refused.discard)(question)

    def refuses_renewals(self, question: str) -> bool:
        """See `DeviceStore`."""
        return question in self._refused

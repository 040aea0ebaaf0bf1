"""Devices of a tracking survey over all its periods: the package's own, with their requests put together in batches."""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Callable
from datetime import UTC, datetime
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sottovoce.core.errors import ServiceError
from sottovoce.device import Device, MemoryStore
from sottovoce.device.fetch import Published
from sottovoce.device.store import RecordedAnswer
from sottovoce.device.turns import derive_seat
from sottovoce.formats.wire import encode_batch
from sottovoce.surveys.survey import Tracking

__all__ = ["Desk", "Fleet"]

_ADDRESS = "https://collector.example"

_LATE, _NEVER, _STRAY = 0.03, 0.02, 0.01
"""Shares of devices that wake up after their period's end, after it has closed, and in a period that is not theirs."""

_BATCH = 1000

_TRIES = 20
"""Most times that a report is sent again within a period."""


class Desk:
    """The collector as devices see it: what was fetched and verified once, its time, and which reports have arrived."""

    url = _ADDRESS

    def __init__(self, found: Published, clock: Callable[[], float]) -> None:
        self.found, self.clock = found, clock
        self.arrived: set[bytes] = set()
        """Report ids whose acknowledgement has come back."""

    def survey(self, *_: object) -> Published:
        """The survey."""
        return self.found

    def check_key(self, *_: object) -> None:
        """Verified when the survey was fetched."""

    def log_proof(self, *_: object) -> None:
        """It keeps no log of surveys."""

    def time(self) -> datetime:
        """The collector's time."""
        return datetime.fromtimestamp(self.clock(), UTC)

    def send(self, _: str, report_id: bytes, __: bytes) -> None:
        """Whether the fleet has an acknowledgement for it."""
        if report_id not in self.arrived:
            raise ServiceError("no acknowledgement has come back")
        self.arrived.discard(report_id)

    def close(self) -> None:
        """Nothing is open."""


class Fleet:
    """All devices, each asleep as its secret until it wakes up.

    Parameters
    ----------
    send
        Posts a batch to a period; False if no acknowledgement came back.
    """

    def __init__(
        self, desk: Desk, tracking: Tracking, devices: int, seed: int, send: Callable[[str, bytes], bool]
    ) -> None:
        self._desk, self._tracking, self._seed, self._send = desk, tracking, seed, send
        self._rng = np.random.default_rng(seed)
        self._stores: dict[int, MemoryStore] = {}
        self._woken: dict[int, int] = {}
        """The latest period in which each device that is remembered woke up."""
        self._unsent: dict[int, MemoryStore] = {}
        self.counts: Counter[str] = Counter()
        self.drawn: dict[str, set[bytes]] = {}
        """Ids of the reports that devices have drawn, by the period's id."""
        self.most_spent = 0.0
        self._plan = self._planned(devices)

    def _planned(self, devices: int) -> dict[int, NDArray[np.int64]]:
        """By period: the devices that wake up in it, for whatever reason."""
        calendar = self._tracking.calendar
        last = calendar.periods or 0
        wakes: dict[int, list[int]] = {number: [] for number in range(1, last + 3)}
        habits = self._rng.random((devices, calendar.windows or 1))
        for device in range(devices):
            secret = self._secret(device)
            for window in range(1, (calendar.windows or 1) + 1):
                seat = derive_seat(secret, self._tracking.id, window, calendar.seats)
                period, habit = calendar.first_of(window) + seat - 1, habits[device, window - 1]
                late = 2 if habit < _NEVER else 1 if habit < _NEVER + _LATE else 0
                wakes[period + late].append(device)
                if habit > 1 - _STRAY:
                    wakes[int(self._rng.integers(1, last + 1))].append(device)
        return {number: np.array(found, dtype=np.int64) for number, found in wakes.items()}

    def live(self, number: int) -> None:
        """A period of the fleet's life: whoever wakes up answers what is due, and sends until that is acknowledged."""
        for start in range(0, len(self._plan[number]), _BATCH):
            for device in self._plan[number][start : start + _BATCH].tolist():
                self._wake(device)
                self._woken[device] = number
            self._deliver()
        for _ in range(_TRIES):
            if self._unsent:
                self._deliver()
        if (self._tracking.calendar.windows or 1) == 1:
            # Until its period has closed a device must know that it has answered.
            self._forget(number - 1)

    def finish(self) -> None:
        """Look at every ledger that is left."""
        self._forget((self._tracking.calendar.periods or 0) + 3)

    def _secret(self, device: int) -> bytes:
        return hashlib.sha256(f"{self._seed} {device}".encode()).digest()

    def _device(self, store: MemoryStore) -> Device:
        desk: Any = self._desk
        return Device(store, budget=self._budget, connect=lambda _: desk, clock=self._desk.time)

    @property
    def _budget(self) -> float:
        return self._tracking.epsilon * (self._tracking.calendar.windows or 1)

    def _wake(self, device: int) -> None:
        store = self._stores.setdefault(device, MemoryStore(self._secret(device)))
        before = len(store.answers())

        def value(period: Any) -> int:
            return int(device + period.number) % 2

        receipt = self._device(store).answer(_ADDRESS, self._tracking.id, value, send=False)
        self.counts["drawn" if len(store.answers()) > before else f"woken: {receipt.state}"] += 1
        for answer in store.answers()[before:]:
            self.drawn.setdefault(answer.survey, set()).add(answer.report_id)
            self._unsent[device] = store

    def _deliver(self) -> None:
        """Post what is unsent, by period; whoever has an acknowledgement afterwards notes it in its ledger."""
        waiting: dict[str, list[RecordedAnswer]] = {}
        for store in self._unsent.values():
            for answer in store.answers():
                if answer.state == "unsent":
                    waiting.setdefault(answer.survey, []).append(answer)
        for survey_id, answers in waiting.items():
            body = encode_batch(survey_id, [(answer.report_id, answer.report) for answer in answers])
            self.counts["posted"] += len(answers)
            if self._send(survey_id, body):
                self._desk.arrived.update(answer.report_id for answer in answers)
        for device, store in list(self._unsent.items()):
            if all(receipt.state == "sent" for receipt in self._device(store).flush()):
                del self._unsent[device]

    def _forget(self, before: int) -> None:
        """Look at the ledgers of devices that last woke up before this period, and let them go."""
        for device in [device for device, number in self._woken.items() if number < before]:
            self._look(self._stores.pop(device))
            del self._woken[device]

    def _look(self, store: MemoryStore) -> None:
        answers = store.answers()
        windows = Counter(answer.window for answer in answers)
        self.counts["ledgers"] += 1
        self.counts["sent"] += sum(answer.state == "sent" for answer in answers)
        self.counts["over_budget"] += sum(answer.epsilon for answer in answers) > self._budget
        self.counts["twice_in_a_window"] += max(windows.values(), default=0) > 1
        self.most_spent = max(self.most_spent, sum(answer.epsilon for answer in answers))

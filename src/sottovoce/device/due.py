"""The periods that a device can answer now: a queue that an application polls, with or without a network."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from typing import final

from sottovoce.core.errors import LedgerError
from sottovoce.device.clock import Clock, read_clock
from sottovoce.device.fetch import read_survey
from sottovoce.device.preparing import own_seats
from sottovoce.device.store import DeviceStore, JoinedSurvey
from sottovoce.device.turns import answerable_turns
from sottovoce.surveys.calendar import Period
from sottovoce.surveys.survey import Tracking

__all__ = ["Due", "Joined"]


@final
@dataclass(frozen=True)
class Due:
    """A period of a joined survey that this device can answer now and has not."""

    survey: Tracking
    collector: str
    period: Period


@final
class Joined:
    """The surveys that a device has joined, read from its store; each is parsed once."""

    def __init__(self, store: DeviceStore, mechanisms: Collection[str]) -> None:
        self._store, self._mechanisms = store, mechanisms
        self._read: dict[str, Tracking] = {}

    def due(self, clock: Clock) -> list[Due]:
        """The periods that can be answered now, by the device's own clock, in the order in which it joined."""
        moment, answers = read_clock(clock), self._store.answers()
        return [
            Due(tracking, kept.collector, period)
            for kept in self._store.joined()
            for tracking in [self._tracking(kept)]
            for period in answerable_turns(
                tracking.calendar,
                own_seats(self._store, tracking),
                {answer.window for answer in answers if answer.question == kept.question},
                moment,
                refuses_renewals=self._store.refuses_renewals(kept.question),
            )
        ]

    def _tracking(self, kept: JoinedSurvey) -> Tracking:
        if kept.question not in self._read:
            found = read_survey(kept.statement, dict(kept.attachments), self._mechanisms)
            if not isinstance(found, Tracking) or found.id != kept.question:
                raise LedgerError("the device's store holds a joined survey that is not what it joined; leave it")
            self._read[kept.question] = found
        return self._read[kept.question]

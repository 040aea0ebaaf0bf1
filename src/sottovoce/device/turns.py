"""The period of a tracking survey that a device answers; its seat, the calendar and clocks alone decide it.

The seat follows from a secret that the device drew once, so it is uniform, independent of every value, the same after a
restart or a restored backup, and unknown to everybody else until the device reports. A device answers a period by its
own clock, and only if the collector's agrees within a day.
"""

from __future__ import annotations

import hashlib
import hmac
from collections.abc import Callable, Collection, Iterator
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from itertools import count
from typing import Final, Literal, TypeAlias, final

from sottovoce.core.errors import ClockError
from sottovoce.core.text import one_line
from sottovoce.device.store import DeviceStore
from sottovoce.surveys.calendar import Calendar, Period

__all__ = [
    "Clock",
    "Turn",
    "TurnState",
    "Turns",
    "calendar_file",
    "check_clocks",
    "day_of",
    "derive_seat",
    "phase",
    "read_clock",
    "seat_in",
    "system_clock",
]


Clock: TypeAlias = Callable[[], datetime]
"""Gives the time with its zone; may raise `OverflowError`, `OSError` or `ValueError` if it is out of range."""

_TOLERANCE: Final = timedelta(days=1)


def system_clock() -> datetime:
    """The time of this machine."""
    return datetime.now(UTC)


def read_clock(clock: Clock) -> datetime:
    """The time by a clock, in UTC; `ClockError` if it is out of range."""
    try:
        return clock().astimezone(UTC)
    except (OverflowError, OSError, ValueError):
        pass
    raise ClockError("this device's clock is out of range: set it; nothing was answered")


def day_of(clock: Clock) -> str:
    """The date in UTC; empty if the clock is out of range."""
    try:
        return read_clock(clock).date().isoformat()
    except ClockError:
        return ""


def check_clocks(own: datetime, collector: datetime) -> None:
    """Raise `ClockError` unless both clocks agree within a day.

    A wrong clock would answer about another period than the person means, or find its own period closed for ever.
    """
    if abs(own - collector) > _TOLERANCE:
        raise ClockError(
            f"this device's clock says {own:%Y-%m-%d %H:%M} UTC, the collector's {collector:%Y-%m-%d %H:%M} UTC: set "
            "it; nothing was answered"
        )


_LABEL: Final = b"sottovoce seat\0"
_DRAWS: Final = 2**64


def derive_seat(secret: bytes, panel_id: str, window: int, seats: int) -> int:
    """The seat from 1 to `seats` in a window: uniform, by rejection, over the HMACs of the secret.

    Examples
    --------
    >>> derive_seat(bytes(32), "ab" * 32, 1, 1)
    1
    >>> sorted({derive_seat(bytes(32), "ab" * 32, window, 4) for window in range(1, 100)})
    [1, 2, 3, 4]
    """
    message = _LABEL + bytes.fromhex(panel_id) + window.to_bytes(8, "big")
    accepted = _DRAWS // seats * seats
    for attempt in count():
        block = hmac.new(secret, message + attempt.to_bytes(4, "big"), hashlib.sha256).digest()
        drawn = int.from_bytes(block[:8], "big")
        if drawn < accepted:
            return 1 + drawn % seats
    raise AssertionError("unreachable")


def seat_in(store: DeviceStore, panel_id: str, window: int, seats: int) -> int:
    """This device's seat; one that an earlier version of its store drew stays."""
    drawn = store.drawn_seat(panel_id) if window == 1 else None
    return derive_seat(store.secret(), panel_id, window, seats) if drawn is None else drawn


TurnState: TypeAlias = Literal["waiting", "due", "missed", "answered", "declined"]

Seats: TypeAlias = Callable[[int], int]
"""The seat in each window."""


@final
@dataclass(frozen=True)
class Turn:
    """A device's own period in one window, and what is to be done about it."""

    state: TurnState
    period: Period
    after: Period | None
    """Its own period in the next window that it will answer, if there is one."""


def phase(period: Period, moment: datetime) -> Literal["waiting", "due", "missed"]:
    """Whether a period has not begun, can be answered, or has closed."""
    return "waiting" if moment < period.start else "due" if moment < period.closes else "missed"


@final
@dataclass(frozen=True)
class Turns:
    """What decides about a device's turns in one survey; nothing depends on a value, or on what a collector says."""

    calendar: Calendar
    seats: Seats
    answered: Collection[int]
    """Windows that were answered."""
    refuses_renewals: bool
    since: datetime
    """When the device joined: of windows that had ended it owes nothing."""

    def due(self, moment: datetime) -> Iterator[Period]:
        """The device's own periods that can be answered now and are not, the one that closes first first."""
        for window in self.calendar.windows_at(moment):
            mine = self._own(window)
            declined = self.refuses_renewals and self._others(window)
            if window not in self.answered and not declined and self._phase(mine, moment) == "due":
                yield mine

    def at(self, moment: datetime) -> Turn:
        """The turn at a moment: a period to answer now, if there is one; else that of the latest window."""
        due = next(self.due(moment), None)
        window = self._latest(moment) if due is None else due.window
        mine = self._own(window)
        others = self._others(window)
        will_renew = not self.refuses_renewals or not (others or window in self.answered or due is not None)
        after = self._own(window + 1) if will_renew and self.calendar.has_window(window + 1) else None
        if due is not None:
            return Turn("due", mine, after)
        if window in self.answered:
            return Turn("answered", mine, after)
        if self.refuses_renewals and others:
            return Turn("declined", mine, None)
        return Turn(self._phase(mine, moment), mine, after)

    def _others(self, window: int) -> bool:
        return any(other != window for other in self.answered)

    def _phase(self, mine: Period, moment: datetime) -> Literal["waiting", "due", "missed"]:
        """The phase of a period; a window that had ended when the device joined is missed."""
        ended = self.calendar.end(mine.window * self.calendar.window)
        return "missed" if ended <= self.since else phase(mine, moment)

    def _own(self, window: int) -> Period:
        return Period(self.calendar, self.calendar.first_of(window) + self.seats(window) - 1)

    def _latest(self, moment: datetime) -> int:
        """The latest window that has begun; the first before the start, the last after the end."""
        current = self.calendar.windows_at(moment)
        if current:
            return current[-1]
        return 1 if moment < self.calendar.start(1) or self.calendar.windows is None else self.calendar.windows


_LONGEST: Final = 75
"""Octets of a line, after which it is folded."""


def calendar_file(survey_id: str, title: str, collector: str, period: Period, stamp: datetime) -> str:
    """One event that lasts for the period, with a reminder at its beginning; `stamp` is when the file was made.

    The UID depends on the survey and period alone, so a calendar that reads the file twice shows one event.
    """
    name = one_line(title) or "a survey"
    description = (
        f"This device's turn: {period.label}. It can be answered until {period.closes:%Y-%m-%d %H:%M} UTC. "
        f"Survey {survey_id}, asked by {one_line(collector)}"
    )
    lines = [
        "BEGIN:VCALENDAR",
        "VERSION:2.0",
        "PRODID:-//sottovoce//device//EN",
        "BEGIN:VEVENT",
        f"UID:{survey_id}-{period.number}@sottovoce",
        f"DTSTAMP:{stamp.astimezone(UTC):%Y%m%dT%H%M%SZ}",
        f"DTSTART;VALUE=DATE:{period.start:%Y%m%d}",
        f"DTEND;VALUE=DATE:{period.end:%Y%m%d}",
        f"SUMMARY:{_escaped(f'Answer {name}')}",
        f"DESCRIPTION:{_escaped(description)}",
        "TRANSP:TRANSPARENT",
        "BEGIN:VALARM",
        "ACTION:DISPLAY",
        "TRIGGER:PT9H",
        f"DESCRIPTION:{_escaped(f'Answer {name}')}",
        "END:VALARM",
        "END:VEVENT",
        "END:VCALENDAR",
    ]
    return "".join(f"{_folded(line)}\r\n" for line in lines)


def _escaped(text: str) -> str:
    """TEXT of RFC 5545, Sec. 3.3.11."""
    return text.replace("\\", "\\\\").replace(";", "\\;").replace(",", "\\,").replace("\n", "\\n")


def _folded(line: str) -> str:
    """The line in parts of at most 75 octets that split no character (Sec. 3.1)."""
    parts, part, length = [], "", 0
    for char in line:
        size = len(char.encode())
        if length + size > _LONGEST:
            parts.append(part)
            part, length = " ", 1
        part, length = part + char, length + size
    return "\r\n".join([*parts, part])

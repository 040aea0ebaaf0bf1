"""Whose turn it is: the period of a tracking survey that a device answers, by the calendar and a clock alone.

A device has one seat in every window, and therefore one period. Nothing here depends on a value, or on anything that a
collector says.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator
from dataclasses import dataclass
from datetime import datetime
from typing import Literal, TypeAlias, final

from sottovoce.surveys.calendar import Calendar, Period

__all__ = ["Turn", "TurnState", "answerable_turns", "find_turn", "phase"]

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


def answerable_turns(
    calendar: Calendar, seats: Seats, answered: Collection[int], moment: datetime, *, refuses_renewals: bool
) -> Iterator[Period]:
    """The device's own periods that can be answered now and are not, the one that closes first first."""
    for window in calendar.windows_at(moment):
        mine = _own(calendar, seats, window)
        declined = refuses_renewals and any(other != window for other in answered)
        if window not in answered and not declined and phase(mine, moment) == "due":
            yield mine


def find_turn(
    calendar: Calendar, seats: Seats, answered: Collection[int], moment: datetime, *, refuses_renewals: bool
) -> Turn:
    """The turn of the device at a moment: a period to answer now, if there is one; else that of the latest window."""
    due = next(answerable_turns(calendar, seats, answered, moment, refuses_renewals=refuses_renewals), None)
    window = _latest(calendar, moment) if due is None else due.window
    mine = _own(calendar, seats, window)
    others = any(other != window for other in answered)
    will_renew = not refuses_renewals or not (others or window in answered or due is not None)
    is_last = calendar.windows is not None and window >= calendar.windows
    after = _coming(calendar, seats, window + 1) if will_renew and not is_last else None
    if due is not None:
        return Turn("due", mine, after)
    if window in answered:
        return Turn("answered", mine, after)
    if refuses_renewals and others:
        return Turn("declined", mine, None)
    return Turn(phase(mine, moment), mine, after)


def _own(calendar: Calendar, seats: Seats, window: int) -> Period:
    return Period(calendar, calendar.first_of(window) + seats(window) - 1)


def _coming(calendar: Calendar, seats: Seats, window: int) -> Period | None:
    """The device's period in a later window; None if that lies beyond all dates."""
    try:
        mine = _own(calendar, seats, window)
        return mine if mine.start < mine.closes else None
    except (OverflowError, ValueError):
        return None


def _latest(calendar: Calendar, moment: datetime) -> int:
    """The latest window that has begun; the first before the start, the last after the end."""
    current = calendar.windows_at(moment)
    if current:
        return current[-1]
    return 1 if moment < calendar.start(1) or calendar.windows is None else calendar.windows

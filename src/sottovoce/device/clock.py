"""The clocks: a device answers a period by its own clock, and only if the collector's agrees within a day."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from typing import Final, TypeAlias

from sottovoce.core.errors import ClockError

__all__ = ["Clock", "check_clocks", "day_of", "read_clock", "system_clock"]

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

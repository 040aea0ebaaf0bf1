"""The database's clock, and the doubt whether a clock was set wrong."""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable
from typing import Final, Protocol, final

from sottovoce.service.running.outage import Outage

__all__ = ["MAX_APART", "ClockGuard", "StoreClock"]

_APART: Final = 60.0
"""Seconds between two clocks that are worth a line in the log; the shortest epoch is as long."""

_log: Final = logging.getLogger("sottovoce.collector")


class _Tells(Protocol):
    def now(self) -> float:
        """Seconds since 1970, by the database's clock."""


@final
class StoreClock:
    """This machine's clock, moved by its difference from the database's as it was measured last.

    Asking for the time costs nothing and never waits for the database.

    Examples
    --------
    >>> from types import SimpleNamespace
    >>> clock = StoreClock(SimpleNamespace(now=lambda: 8000.0), lambda: 1000.0)
    >>> clock.measure()
    >>> clock()
    8000.0
    """

    def __init__(self, store: _Tells, own: Callable[[], float] | None = None) -> None:
        self._store = store
        self._own = own or time.time
        self._difference = 0.0
        self._outage = Outage(_log, "this machine's clock is not the database's, whose time reports are given")

    def __call__(self) -> float:
        return self._own() + self._difference

    def measure(self) -> None:
        """Ask the database; raises what it raises, and the difference then stays what it was."""
        before = self._own()
        database_time = self._store.now()
        difference = database_time - (before + self._own()) / 2
        self._difference = difference
        if abs(difference) < _APART:
            self._outage.worked()
        elif not self._outage.lasts:
            side = "behind" if difference > 0 else "ahead"
            self._outage.failed(f"it is {abs(difference):,.0f} s {side}; set it by NTP")


MAX_APART: Final = 3600.0
"""Seconds by which two clocks may differ, and a clock may jump."""

_PROVED: Final = 3600.0
"""Seconds after which a clock that was set is believed: by then somebody would have set it back."""


def _running() -> float:
    """Seconds that the machine has run, asleep or not."""
    return time.clock_gettime(getattr(time, "CLOCK_BOOTTIME", time.CLOCK_MONOTONIC))


@final
class ClockGuard:
    """Doubts the database's clock while something speaks against it. Safe to use from several threads.

    Parameters
    ----------
    own
        This machine's clock, in seconds since 1970.
    running
        Seconds that this machine has run; nobody can set it.

    Examples
    --------
    >>> guard = ClockGuard(lambda: 1000.0, lambda: 0.0)
    >>> guard.doubt(1500.0)
    >>> guard.doubt(1e9)
    "the database's clock is 277,778 h ahead of this machine's; set both by NTP"
    """

    def __init__(self, own: Callable[[], float] | None = None, running: Callable[[], float] = _running) -> None:
        self._own, self._running = own or time.time, running
        self._lock = threading.Lock()
        # When the machine started by its own clock: the same at all times while nobody sets it.
        self._believed = self._own() - running()
        self._claimed, self._since = self._believed, 0.0

    def doubt(self, database_time: float) -> str | None:
        """Why this time of the database is not believed, with the remedy; None if it is."""
        own = self._own()
        if abs(database_time - own) > MAX_APART:
            side = "ahead of" if database_time > own else "behind"
            return f"the database's clock is {_hours(database_time - own)} {side} this machine's; set both by NTP"
        return self._jump(own)

    def _jump(self, own: float) -> str | None:
        running = self._running()
        started = own - running
        with self._lock:
            if abs(started - self._believed) <= MAX_APART:
                self._believed = self._claimed = started
                return None
            if abs(started - self._claimed) > MAX_APART:
                self._claimed, self._since = started, running
            if running - self._since >= _PROVED:
                self._believed = started
                return None
            jump = started - self._believed
        return (
            f"this machine's clock was set {'forward' if jump > 0 else 'back'} by {_hours(jump)}; it is believed when "
            "it has stood for an hour, or at once after a restart of the service"
        )


def _hours(seconds: float) -> str:
    return f"{abs(seconds) / 3600:,.0f} h"

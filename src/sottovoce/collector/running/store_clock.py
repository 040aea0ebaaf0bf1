"""The time that epochs come from: the database's, so that several services agree whatever their own clocks say."""

from __future__ import annotations

import logging
import time
from collections.abc import Callable
from typing import Final, Protocol, final

from sottovoce.service.running.outage import Outage

__all__ = ["StoreClock"]

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
        told = self._store.now()
        difference = told - (before + self._own()) / 2
        self._difference = difference
        if abs(difference) < _APART:
            self._outage.worked()
        elif not self._outage.lasts:
            side = "behind" if difference > 0 else "ahead"
            self._outage.failed(f"it is {abs(difference):,.0f} s {side}; set it by NTP")

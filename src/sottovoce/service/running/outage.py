"""Waiting for something that fails: said once for each change, and tried again after longer and longer pauses."""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable
from secrets import SystemRandom
from typing import Final, final

__all__ = ["Outage", "Repeats", "pause_after"]

_AGAIN: Final = 300.0
"""Seconds after which the log says that an outage lasts."""

_MOST_REASONS: Final = 8
"""Most reasons that are logged for one outage; a reason may hold a number that changes each time."""

_MOST_LINES: Final = 64
"""Most lines that are remembered, so that memory stays bounded."""

_draw: Final = SystemRandom().random


def pause_after(
    failures: int, shortest: float = 0.05, longest: float = 5.0, draw: Callable[[], float] = _draw
) -> float:
    """Seconds to wait after this many failures in a row: twice as long each time, less up to a half by chance.

    Chance keeps those who wait for one database from coming back to it all at once.

    Examples
    --------
    >>> [pause_after(failures, draw=lambda: 0.0) for failures in (1, 2, 3, 20)]
    [0.05, 0.1, 0.2, 5.0]
    >>> pause_after(20, draw=lambda: 1.0)
    2.5
    """
    return min(shortest * 2.0 ** min(failures - 1, 60), longest) * (1 - draw() / 2)


@final
class Outage:
    """A logger of an outage: it says that something fails, every five minutes that it lasts, and that it ended.

    Safe to use from several threads.

    Parameters
    ----------
    logger
        The logger of the lines.
    what
        What cannot be done; each line begins with it.
    level
        The level of the lines that report failures.

    Examples
    --------
    >>> outage = Outage(logging.getLogger("example"), "reports cannot be stored")
    >>> outage.failed("the disk is full"), outage.lasts
    (None, True)
    >>> outage.worked(), outage.lasts
    (None, False)
    """

    def __init__(
        self,
        logger: logging.Logger,
        what: str,
        level: int = logging.WARNING,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._logger, self._what, self._level, self._clock = logger, what, level, clock
        self._lock = threading.Lock()
        self._began = self._said = 0.0
        self._reasons: set[str] = set()

    @property
    def lasts(self) -> bool:
        """Whether the latest attempt has failed."""
        return bool(self._reasons)

    def failed(self, reason: str) -> None:
        """An attempt has failed."""
        with self._lock:
            now = self._clock()
            if not self._reasons:
                self._began = self._said = now
                self._reasons.add(reason)
                self._logger.log(self._level, "%s: %s", self._what, reason)
            elif now - self._said >= _AGAIN:
                self._said = now
                self._logger.log(self._level, "%s, for %s now: %s", self._what, _span(now - self._began), reason)
            elif reason not in self._reasons and len(self._reasons) < _MOST_REASONS:
                self._reasons.add(reason)
                self._logger.log(self._level, "%s: %s", self._what, reason)

    def worked(self) -> None:
        """An attempt has succeeded."""
        if not self._reasons:
            return
        with self._lock:
            if self._reasons:
                self._reasons.clear()
                self._logger.warning("%s: over, after %s", self._what, _span(self._clock() - self._began))


@final
class Repeats:
    """A logger that writes a repeated line once in five minutes. Safe to use from several threads."""

    def __init__(self, logger: logging.Logger, level: int, clock: Callable[[], float] = time.monotonic) -> None:
        self._logger, self._level, self._clock = logger, level, clock
        self._lock = threading.Lock()
        self._said: dict[str, tuple[float, int]] = {}

    def say(self, line: str) -> None:
        """Log it, unless it was logged of late."""
        with self._lock:
            now = self._clock()
            at, held_back = self._said.get(line, (-_AGAIN, 0))
            if now - at < _AGAIN:
                self._said[line] = at, held_back + 1
                return
            if len(self._said) >= _MOST_LINES:
                self._said.clear()
            self._said[line] = now, 0
            more = f"{held_back:,} more of the same since it was said last; " if held_back else ""
            self._logger.log(self._level, "%s%s", more, line)


def _span(seconds: float) -> str:
    """A length of time, for people.

    Examples
    --------
    >>> _span(3.2), _span(600)
    ('3 s', '10 min')
    """
    return f"{seconds:.0f} s" if seconds < 120 else f"{seconds / 60:.0f} min"

"""A limit on reports per second, by a token bucket per survey."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from typing import Final

__all__ = ["Throttle"]

_BURST: Final = 1.0
"""Seconds' worth of reports that a survey may take at once after a rest."""

_TIDY_AT: Final = 1024
"""Buckets from which on the idle ones are forgotten; an idle bucket is as good as a new one."""

_ROUNDING: Final = 1e-9


class Throttle:
    """A limit of `reports_per_second` for each survey in the long run, and of a second's worth at once.

    A batch larger than that is taken when the survey has rested for a second, and paid for afterwards: who waits as
    long as `admit` says is not turned away for ever. The clock is one that cannot be set; were it to jump nonetheless,
    a jump back gives nothing and a jump ahead no more than a second's worth.

    Examples
    --------
    >>> now = [0.0]
    >>> throttle = Throttle(100, clock=lambda: now[0])
    >>> throttle.admit("ages", 100), round(throttle.admit("ages", 50), 3), throttle.admit("towns", 50)
    (0.0, 0.5, 0.0)
    >>> now[0] = 0.5
    >>> throttle.admit("ages", 50)
    0.0
    """

    def __init__(self, reports_per_second: float, clock: Callable[[], float] = time.monotonic) -> None:
        self._rate = reports_per_second
        self._clock = clock
        self._buckets: dict[str, tuple[float, float]] = {}
        self._lock = threading.Lock()

    def admit(self, survey: str, n: int) -> float:
        """0.0 when `n` more reports may be taken, which are then noted as taken; else the seconds to wait.

        A rate of 0 means no limit.
        """
        if not self._rate:
            return 0.0
        cost = n / self._rate
        with self._lock:
            now = self._clock()
            then, owed = self._buckets.get(survey, (now, 0.0))
            owed = max(0.0, owed - max(0.0, now - then))
            wait = owed + min(cost, _BURST) - _BURST
            if wait > _ROUNDING:
                self._buckets[survey] = now, owed
                return wait
            if survey not in self._buckets and len(self._buckets) >= _TIDY_AT:
                self._buckets = {name: (at, debt) for name, (at, debt) in self._buckets.items() if at + debt > now}
            self._buckets[survey] = now, owed + cost
            return 0.0

"""Surveys whose counting stands still: the report that has waited longest is the same as a while ago."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from typing import Final, final

__all__ = ["Standstill"]

_SECONDS: Final = 60.0
"""After which waiting is standing still; a dead worker's survey is free again before, by default after 30 s."""


@final
class Standstill:
    """Compares the oldest waiting entries of surveys with those of earlier looks.

    Examples
    --------
    >>> now = [0.0]
    >>> standstill = Standstill(clock=lambda: now[0])
    >>> standstill.look({1: 500, 2: 501})
    0
    >>> now[0] = 61.0
    >>> standstill.look({1: 500, 2: 777})
    1
    """

    def __init__(self, seconds: float = _SECONDS, clock: Callable[[], float] = time.monotonic) -> None:
        self._seconds, self._clock = seconds, clock
        self._since: dict[tuple[int, int], float] = {}

    def look(self, oldest: Mapping[int, int]) -> int:
        """How many surveys stand still now, by the numbers of their oldest waiting entries."""
        now = self._clock()
        self._since = {entry: self._since.get(entry, now) for entry in oldest.items()}
        return sum(now - since >= self._seconds for since in self._since.values())

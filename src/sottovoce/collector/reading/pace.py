"""How fast bodies for analysts pass through the process that takes reports: fast, but never all of its time."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Final, final

__all__ = ["ANSWER_BYTES", "Pace"]

_BYTES_A_SECOND: Final = 32 * 2**20
"""Of all bodies together, while reports come in: about a tenth of the event loop's time."""

ANSWER_BYTES: Final = 2**18
"""As much work as passing on so many bytes is everything else about an answer that another process gives."""

_AHEAD: Final = 0.005
"""Seconds of that rate which may pass at once: an event loop cannot sleep for less than a fraction of them."""


_QUIET_SECONDS: Final = 1.0
"""After so long without a report nobody waits."""


@final
class Pace:
    """Turns of everybody who passes on a part; `progress` tells something that changes when reports come in."""

    def __init__(self, progress: Callable[[], object], rate: float = _BYTES_A_SECOND):
        self._progress = progress
        self._rate = rate
        self._seen = progress()
        self._changed_at = float("-inf")
        self._free_at = 0.0

    async def turn(self, length: int) -> None:
        """Come back when a part of that length may be passed on."""
        now = asyncio.get_running_loop().time()
        if (seen := self._progress()) != self._seen:
            self._seen, self._changed_at = seen, now
        if now - self._changed_at > _QUIET_SECONDS:
            return
        self._free_at = max(self._free_at, now - _AHEAD) + length / self._rate
        if self._free_at > now:
            await asyncio.sleep(self._free_at - now)

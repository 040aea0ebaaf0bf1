"""When a device tries again: later and later, not all devices at once, and never sooner than it was told."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TypeVar, final

from sottovoce.client.deadline import left
from sottovoce.client.http import TOO_SLOW
from sottovoce.errors import ServiceError
from sottovoce.randomness import os_source

__all__ = ["Patience", "is_passing"]

T = TypeVar("T")

_PARTS = 2**20


def is_passing(error: ServiceError) -> bool:
    """Whether the same request may succeed soon: no connection, too many at once, or the collector's own trouble."""
    if error.code == TOO_SLOW:
        return False  # whoever has used up all the time of one request is not given that of another
    return error.status in (0, 408, 425, 429) or error.status >= 500


@final
@dataclass(frozen=True)
class Patience:
    """How often and how long a device tries within one call; what is still unsent then stays for `Device.flush`.

    After attempt k, counted from 0, it waits a time uniform below first * 2**k seconds, and at most `longest`; on top
    of what the collector says with Retry-After, so that devices told the same do not come back at once. Told to wait
    longer than `longest`, or beyond what `deadline.within` leaves, it gives up for this call.
    """

    attempts: int = 4
    first: float = 0.5
    longest: float = 30.0
    sleep: Callable[[float], object] = field(default=time.sleep, repr=False)

    def ask(self, request: Callable[[], T]) -> T:
        """What the request returns; it is repeated while `is_passing` of its error."""
        for attempt in range(self.attempts - 1):
            try:
                return request()
            except ServiceError as error:
                if not is_passing(error) or (error.retry_after or 0.0) > self.longest:
                    raise
                told = error.retry_after or 0.0
                wait = told + min(self.longest, self.first * 2**attempt) * os_source().below(_PARTS) / _PARTS
                if wait >= left():
                    raise
            self.sleep(wait)
        return request()

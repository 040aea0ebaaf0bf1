"""Retries with exponential, randomized delays, never sooner than the collector asked for."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TypeVar, final

from sottovoce.core.errors import ServiceError
from sottovoce.device.deadline import left
from sottovoce.device.http import BAD_CERTIFICATE, TOO_SLOW
from sottovoce.randomness import os_source

__all__ = ["Patience", "is_transient"]

T = TypeVar("T")

_PARTS = 2**20


def is_transient(error: ServiceError) -> bool:
    """Whether a retry may succeed: no connection, too many requests, or a failure of the collector."""
    if error.code in (TOO_SLOW, BAD_CERTIFICATE):
        return False  # a request that used up its time is not repeated, and a certificate stays what it is
    return error.status in (0, 408, 425, 429) or error.status >= 500


@final
@dataclass(frozen=True)
class Patience:
    """How requests are retried within one call; a report that is unsent then waits for `Device.flush`.

    After attempt k, counted from 0, it waits a time uniform below first * 2**k seconds and at most `longest`, on top of
    the collector's Retry-After, so that devices do not return all at once. It gives up if Retry-After exceeds `longest`
    or the wait exceeds what `deadline.within` leaves.
    """

    attempts: int = 4
    first: float = 0.5
    longest: float = 30.0
    sleep: Callable[[float], object] = field(default=time.sleep, repr=False)

    def ask(self, request: Callable[[], T]) -> T:
        """The result of the request, which is repeated while its error `is_transient`."""
        for attempt in range(self.attempts - 1):
            try:
                return request()
            except ServiceError as error:
                if not is_transient(error) or (error.retry_after or 0.0) > self.longest:
                    raise
                wait = (error.retry_after or 0.0) + min(self.longest, self.first * 2**attempt) * os_source().below(
                    _PARTS
                ) / _PARTS
                if wait >= left():
                    raise
            self.sleep(wait)
        return request()

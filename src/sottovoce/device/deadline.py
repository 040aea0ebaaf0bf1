"""Deadlines that are set around a call and obeyed by everything inside it.

Deadlines nest, and the earliest one counts.
"""

from __future__ import annotations

import contextlib
import math
import time
from collections.abc import Iterator
from contextvars import ContextVar
from typing import Final

__all__ = ["left", "within"]

_ENDS: Final[ContextVar[float]] = ContextVar("ends", default=math.inf)


@contextlib.contextmanager
def within(seconds: float) -> Iterator[None]:
    """Limit the time of the block, in this thread; an earlier deadline stays.

    Examples
    --------
    >>> with within(60.0), within(3600.0):
    ...     left() <= 60.0
    True
    >>> left()
    inf
    """
    before = _ENDS.set(min(_ENDS.get(), time.monotonic() + seconds))
    try:
        yield
    finally:
        _ENDS.reset(before)


def left() -> float:
    """Seconds until the deadline; 0 or less once it has passed, infinite without one."""
    return _ENDS.get() - time.monotonic()

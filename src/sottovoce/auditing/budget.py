"""The time for which an audit may run its device, and its progress."""

from __future__ import annotations

import time
from collections.abc import Callable

__all__ = ["Budget"]


class Budget:
    """Processor seconds for runs; `tell` is called with the runs done since the last call.

    Examples
    --------
    >>> budget = Budget(60.0)
    >>> budget.spend(1000)
    >>> budget.left, budget.runs
    (True, 1000)
    """

    def __init__(self, seconds: float, tell: Callable[[int], object] | None = None) -> None:
        self.seconds = seconds
        self.runs = 0
        self._began = time.process_time()
        self._tell = tell

    @property
    def left(self) -> bool:
        """Whether there is time for more runs."""
        return self.used < 1

    @property
    def used(self) -> float:
        """The share of the time that is over."""
        return (time.process_time() - self._began) / self.seconds

    def spend(self, runs: int) -> None:
        """Count runs that were made."""
        self.runs += runs
        if self._tell is not None:
            self._tell(runs)

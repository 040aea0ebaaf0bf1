"""The time for which an audit may run its device, and its progress."""

from __future__ import annotations

import time
from collections.abc import Callable

__all__ = ["Budget"]


class Budget:
    """Processor seconds for runs; `tell` is called with the runs done since the last call.

    Parameters
    ----------
    runs
        The random runs after which it is enough; None for as many as there is time for.

    Examples
    --------
    >>> budget = Budget(60.0, runs=2000)
    >>> budget.spend(1000)
    >>> budget.left, budget.wants(1000), budget.wants(2000)
    (True, True, False)
    """

    def __init__(self, seconds: float, tell: Callable[[int], object] | None = None, *, runs: int | None = None) -> None:
        self.seconds = seconds
        self._enough = runs
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

    def wants(self, done: int, least: int = 0) -> bool:
        """Whether there should be random runs after `done` ones: at least `least`, or those that were paid for."""
        return self.left and (self._enough is None or done < max(self._enough, least))

    def of_runs(self, runs: int) -> Budget:
        """A budget of the same time from now on that also ends after this number of random runs."""
        return Budget(self.seconds, self._tell, runs=runs)

    def part(self, parts: int = 1) -> Budget:
        """One of equal parts of the time, or all of it, from now on."""
        return Budget(self.seconds / parts, self._tell, runs=self._enough)

    def spend(self, runs: int) -> None:
        """Count runs that were made."""
        if self._tell is not None:
            self._tell(runs)

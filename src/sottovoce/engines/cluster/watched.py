"""Run a Spark action with progress, cancellation, and a time limit without workers.

The action runs in its own thread; the caller's thread looks at it, calls `progress`, and cancels the jobs when it is
interrupted. Spark itself waits forever when its last worker is gone.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from time import monotonic
from typing import Any, Final, TypeVar

from sottovoce.core.errors import ServiceError
from sottovoce.engines.base import Progress
from sottovoce.engines.cluster.errors import translating_errors
from sottovoce.engines.cluster.watching import OnDriver, OverConnect, Watching, work_of

__all__ = ["PATIENCE", "watched"]

PATIENCE: Final = 120.0
"""Seconds without any worker after which a job is cancelled."""

_LOOK_EVERY: Final = 0.2
_ONE_STEP: Final = ("counting",)

T = TypeVar("T")


def watched(
    session: Any,
    action: Callable[[], T],
    progress: Progress | None,
    patience: float = PATIENCE,
    steps: Sequence[str] = (),
) -> T:
    """The action's result; errors of Spark are translated.

    Parameters
    ----------
    steps
        Names of the action's stages in their order; where there are more stages, the last name stays.

    Raises
    ------
    ServiceError
        If no worker has been there for `patience` seconds, or the cluster fails.
    """
    with translating_errors():
        seen, told = _seen(session), _TaskCount(progress, steps or _ONE_STEP)
        if seen is None:
            result = action()
        else:
            try:
                result = _looked_at(seen, action, told, _Patience(seen, patience))
            finally:
                seen.end()
        told.finish()
        return result


def _seen(session: Any) -> Watching | None:
    """A way to look at what the session runs; None over a Spark Connect that is older than Spark 4."""
    if getattr(session, "sparkContext", None) is not None:
        return OnDriver(session)
    return OverConnect(session) if hasattr(type(session), "registerProgressHandler") else None


def _looked_at(seen: Watching, action: Callable[[], T], told: _TaskCount, patience: _Patience) -> T:
    results: list[T] = []
    failures: list[BaseException] = []
    done = threading.Event()

    def run() -> None:
        try:
            seen.begin()
            results.append(action())
        except BaseException as error:
            failures.append(error)
        finally:
            done.set()

    thread = seen.thread(run)
    thread.start()
    try:
        while not done.wait(_LOOK_EVERY):
            told.look(seen)
            patience.look()
    except BaseException:
        seen.stop()
        raise
    thread.join()
    if failures:
        raise failures[0]
    return results[0]


class _TaskCount:
    """What `progress` has been told: tasks done, of those that Spark has planned so far, and the running step."""

    def __init__(self, progress: Progress | None, steps: Sequence[str]) -> None:
        self._progress, self._steps = progress, steps
        self._last = (-1, 1, "")

    def look(self, seen: Watching) -> None:
        """Tell it what is new."""
        if self._progress is None:
            return
        work = work_of(seen.jobs())
        total = max(work.total, self._last[1])
        # A lost worker's tasks are done again: what was told does not go back.
        self._tell(
            max(min(work.done, total), self._last[0], 0), total, self._steps[min(work.stages, len(self._steps) - 1)]
        )

    def finish(self) -> None:
        """Tell it the end."""
        self._tell(self._last[1], self._last[1], self._steps[-1])

    def _tell(self, *now: Any) -> None:
        if self._progress is not None and now != self._last:
            self._last = now
            self._progress(*now)


class _Patience:
    """Raises if there has been no worker for too long."""

    def __init__(self, seen: Watching, seconds: float) -> None:
        self._seen, self._seconds = seen, seconds
        self._since = monotonic()

    def look(self) -> None:
        if self._seen.workers() != 0:
            self._since = monotonic()
        elif monotonic() - self._since > self._seconds:
            raise ServiceError(
                f"Spark has had no worker for {self._seconds:g} seconds, and nothing was counted: start workers, or "
                "ask for executors that fit into those there are (spark.executor.memory, spark.executor.cores)",
                code="no_workers",
            )

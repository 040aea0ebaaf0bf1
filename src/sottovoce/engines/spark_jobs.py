"""Run a Spark action with progress, cancellation, and a time limit without workers.

The action runs in its own thread under a job group; the caller's thread polls it, calls `progress`, and cancels the
jobs when it is interrupted. Spark itself waits forever when its last worker is gone.
"""

from __future__ import annotations

import threading
import uuid
from collections.abc import Callable
from time import monotonic
from typing import Any, Final, TypeVar

from sottovoce.core.errors import ServiceError
from sottovoce.engines.base import Progress
from sottovoce.engines.spark_errors import translating_errors

__all__ = ["PATIENCE", "watched"]

PATIENCE: Final = 120.0
"""Seconds without any worker after which a job is cancelled."""

_LOOK_EVERY: Final = 0.2

T = TypeVar("T")


def watched(session: Any, action: Callable[[], T], progress: Progress | None, patience: float = PATIENCE) -> T:
    """The action's result; errors of Spark are translated.

    Raises
    ------
    ServiceError
        If no worker has been there for `patience` seconds, or the cluster fails.
    """
    context = getattr(session, "sparkContext", None)
    with translating_errors():
        return action() if context is None else _Watch(context, patience).over(action, progress)


class _Watch:
    def __init__(self, context: Any, patience: float) -> None:
        self._context, self._patience = context, patience
        self._group = f"sottovoce-{uuid.uuid4()}"
        self._remote = not context.master.startswith("local")
        self._last_seen = monotonic()
        self._told = (-1, -1)

    def over(self, action: Callable[[], T], progress: Progress | None) -> T:
        from pyspark import InheritableThread

        results: list[T] = []
        failures: list[BaseException] = []
        done = threading.Event()

        def run() -> None:
            try:
                self._context.setJobGroup(self._group, "counting reports", interruptOnCancel=True)
                results.append(action())
            except BaseException as error:
                failures.append(error)
            finally:
                done.set()

        thread = InheritableThread(target=run, daemon=True)
        thread.start()
        try:
            while not done.wait(_LOOK_EVERY):
                self._tell(progress)
                self._anybody()
        except BaseException:
            self._context.cancelJobGroup(self._group)
            raise
        thread.join()
        if failures:
            raise failures[0]
        self._tell(progress, finished=True)
        return results[0]

    def _tell(self, progress: Progress | None, finished: bool = False) -> None:
        """Report tasks done, of those that Spark has planned so far."""
        if progress is None:
            return
        tracker = self._context.statusTracker()
        tasks = completed = 0
        for job in tracker.getJobIdsForGroup(self._group):
            info = tracker.getJobInfo(job)
            stages = [tracker.getStageInfo(stage) for stage in (info.stageIds if info else ())]
            tasks += sum(stage.numTasks for stage in stages if stage)
            completed += sum(min(stage.numCompletedTasks, stage.numTasks) for stage in stages if stage)
        tasks = max(tasks, self._told[1], 1)
        told = (tasks, tasks) if finished else (max(min(completed, tasks), self._told[0], 0), tasks)
        if told != self._told:
            self._told = told
            progress(*told)

    def _anybody(self) -> None:
        """Raise if there has been no worker for too long."""
        if not self._remote:
            return
        # The driver is always among them.
        there = len(self._context._jsc.sc().statusTracker().getExecutorInfos()) - 1
        if there > 0:
            self._last_seen = monotonic()
        elif monotonic() - self._last_seen > self._patience:
            raise ServiceError(
                f"Spark has had no worker for {self._patience:g} seconds, and nothing was counted: start workers for "
                f"{self._context.master}, or ask for executors that fit into those there are "
                "(spark.executor.memory, spark.executor.cores)",
                code="no_workers",
            )

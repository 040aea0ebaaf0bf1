"""Run a Spark action with progress, cancellation, and a time limit without workers.

The action runs in its own thread; the caller's thread looks at it, calls `progress`, and cancels the jobs when it is
interrupted. Spark itself waits forever when its last worker is gone. What can be seen and stopped of an
action goes through the driver's context, or over Spark Connect.
"""

from __future__ import annotations

import threading
import uuid
from collections.abc import Callable, Iterable, Sequence
from time import monotonic
from typing import Any, Final, NamedTuple, Protocol, TypeVar

from sottovoce.core.errors import ServiceError
from sottovoce.engines.base import Progress
from sottovoce.engines.cluster.errors import translating_errors

__all__ = ["PATIENCE", "OnDriver", "OverConnect", "StageWork", "Watching", "Work", "watched", "work_of"]


class StageWork(NamedTuple):
    """A stage of a Spark job."""

    tasks: int
    done: int


class Work(NamedTuple):
    """What all jobs of an action have done."""

    done: int
    total: int
    stages: int
    """Stages that are finished."""


def work_of(jobs: Iterable[Sequence[StageWork]]) -> Work:
    """Add up the jobs of an action, without the stages that Spark skips.

    Adaptive execution runs every stage as a job, which lists the stages before it again under new numbers: those never
    begin. So a job's work begins at its first stage with a finished task, or is its last stage where there is none.
    """
    done = total = stages = 0
    for job in jobs:
        first = next((number for number, stage in enumerate(job) if stage.done), len(job) - 1)
        counted = job[max(first, 0) :]
        total += sum(stage.tasks for stage in counted)
        done += sum(min(stage.done, stage.tasks) for stage in counted)
        stages += sum(0 < stage.tasks <= stage.done for stage in counted)
    return Work(done, total, stages)


class Watching(Protocol):
    """One action that is watched."""

    def thread(self, run: Callable[[], None]) -> threading.Thread:
        """The thread for the action."""

    def begin(self) -> None:
        """Called in that thread before the action: makes it one that can be seen and stopped."""

    def jobs(self) -> list[list[StageWork]]:
        """The jobs so far, each with its stages in their order."""

    def workers(self) -> int | None:
        """Number of executors; None where it cannot be known, or where the driver does the work."""

    def stop(self) -> None:
        """Cancel the action's jobs."""

    def end(self) -> None:
        """Look no more."""


class OnDriver:
    """A session whose driver is a Java process of this one's."""

    def __init__(self, session: Any) -> None:
        self._context = session.sparkContext
        self._group = f"sottovoce-{uuid.uuid4()}"

    def thread(self, run: Callable[[], None]) -> threading.Thread:
        """One with the caller's local properties."""
        from pyspark import InheritableThread

        thread: threading.Thread = InheritableThread(target=run, daemon=True)
        return thread

    def begin(self) -> None:
        """Make a job group."""
        self._context.setJobGroup(self._group, "counting reports", interruptOnCancel=True)

    def jobs(self) -> list[list[StageWork]]:
        """The jobs by Spark's status tracker."""
        tracker = self._context.statusTracker()
        infos = [tracker.getJobInfo(job) for job in sorted(tracker.getJobIdsForGroup(self._group))]
        stages = [[tracker.getStageInfo(stage) for stage in sorted(info.stageIds)] for info in infos if info]
        return [[StageWork(stage.numTasks, stage.numCompletedTasks) for stage in job if stage] for job in stages]

    def workers(self) -> int | None:
        """Executors; the driver is always among those that Spark lists."""
        if self._context.master.startswith("local"):
            return None
        return len(self._context._jsc.sc().statusTracker().getExecutorInfos()) - 1

    def stop(self) -> None:
        """Cancel the job group."""
        self._context.cancelJobGroup(self._group)

    def end(self) -> None:
        """Nothing is held."""


class OverConnect:
    """A session over Spark Connect: the server sends the stages of every operation each two seconds."""

    def __init__(self, session: Any) -> None:
        self._session = session
        self._tag = f"sottovoce-{uuid.uuid4()}"
        self._tags = {self._tag}
        self._thread: threading.Thread | None = None
        self._arrived: dict[int, int] = {}
        self._stages: dict[int, StageWork] = {}
        session.registerProgressHandler(self._take)

    def _take(self, stages: Any, inflight_tasks: int, operation_id: str | None, done: bool) -> None:
        """Called by the session, in the thread of the operation; only that of the action counts."""
        if threading.current_thread() is not self._thread:
            return
        news = len(set(self._arrived.values()))
        for stage in list(stages or ()):
            self._arrived.setdefault(stage.stage_id, news)
            self._stages[stage.stage_id] = StageWork(stage.num_tasks, stage.num_completed_tasks)

    def thread(self, run: Callable[[], None]) -> threading.Thread:
        """A plain thread; the caller's tags are kept for it."""
        self._tags |= self._session.getTags()
        self._thread = threading.Thread(target=run, daemon=True)
        return self._thread

    def begin(self) -> None:
        """Tag the thread's operations."""
        for tag in self._tags:
            self._session.addTag(tag)

    def jobs(self) -> list[list[StageWork]]:
        """Stages that arrived together are those of a job: which are whose is not sent."""
        arrived, stages = dict(self._arrived), dict(self._stages)
        jobs: dict[int, list[StageWork]] = {}
        for number in sorted(stages):
            jobs.setdefault(arrived[number], []).append(stages[number])
        return list(jobs.values())

    def workers(self) -> int | None:
        """The server does not say."""
        return None

    def stop(self) -> None:
        """Interrupt the operations of the tag."""
        self._session.interruptTag(self._tag)

    def end(self) -> None:
        """Take the handler away."""
        self._session.removeProgressHandler(self._take)


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
        seen, count = _seen(session), _TaskCount(progress, steps or _ONE_STEP)
        if seen is None:
            result = action()
        else:
            try:
                result = _looked_at(seen, action, count, _Patience(seen, patience))
            finally:
                seen.end()
        count.finish()
        return result


def _seen(session: Any) -> Watching | None:
    """A way to look at what the session runs; None over a Spark Connect that is older than Spark 4."""
    if getattr(session, "sparkContext", None) is not None:
        return OnDriver(session)
    return OverConnect(session) if hasattr(type(session), "registerProgressHandler") else None


def _looked_at(seen: Watching, action: Callable[[], T], count: _TaskCount, patience: _Patience) -> T:
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
            count.look(seen)
            patience.look()
    except BaseException:
        seen.stop()
        raise
    thread.join()
    if failures:
        raise failures[0]
    return results[0]


class _TaskCount:
    """The last call of `progress`: tasks done, of those that Spark has planned so far, and the running step."""

    def __init__(self, progress: Progress | None, steps: Sequence[str]) -> None:
        self._progress, self._steps = progress, steps
        self._last = (-1, 1, "")

    def look(self, seen: Watching) -> None:
        """Call `progress` if anything is new."""
        if self._progress is None:
            return
        work = work_of(seen.jobs())
        total = max(work.total, self._last[1])
        # A lost worker's tasks are done again, but progress does not go back.
        self._tell(
            max(min(work.done, total), self._last[0], 0), total, self._steps[min(work.stages, len(self._steps) - 1)]
        )

    def finish(self) -> None:
        """Call `progress` with the end."""
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

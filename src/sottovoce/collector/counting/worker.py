"""A counting process: counts while reports wait, sleeps when none do, survives an unavailable database.

The target of a `multiprocessing` process, or a program's own loop. SIGTERM ends it after the step in progress; the
death of the process that started it does too, so that no worker is left behind.
"""

from __future__ import annotations

import contextlib
import logging
import math
import multiprocessing
import multiprocessing.connection
import os
import signal
import threading
import time
from collections.abc import Iterator
from types import FrameType
from typing import TYPE_CHECKING, Final, Protocol, final

from sottovoce.collector.store.base import StoreSettings
from sottovoce.core.errors import StoreError, StoreFullError, StoreUnavailableError
from sottovoce.service.running.outage import Outage, pause_after

if TYPE_CHECKING:
    from sottovoce.collector.store import Store

__all__ = ["WorkerSettings", "run_worker"]

_LOG: Final = logging.getLogger(__name__)

_SHORTEST_PAUSE: Final = 0.05
_LONGEST_PAUSE: Final = 1.0
"""Seconds between looks at an empty waiting list; doubled from one to the other."""

_FEW: Final = 1 << 14
"""Reports of a step below which a short pause follows: a step costs about as much for one as for thousands."""

_BETWEEN_TIDYING: Final = 10.0
"""Seconds between looks for epochs that are over, while nothing waits."""

_BETWEEN_FORGETTING: Final = 10.0
"""Seconds after which traces of counted reports are dropped from the database's own log, even while more come in; so
are those of deleted surveys, which a worker does not hear about."""

_LONGEST_OUTAGE_PAUSE: Final = 5.0
"""Seconds between attempts while the database is unavailable or full, at most."""

_MOST_FAILURES: Final = 8
"""After this many failures in a row, some twelve seconds, the database is opened anew."""


class StopSign(Protocol):
    """What `threading.Event` and `multiprocessing.Event` have in common, as far as it is needed here."""

    def is_set(self) -> bool:
        """Whether to stop."""


class WorkerSettings(StoreSettings, Protocol):
    """What a worker needs of the service's settings."""

    @property
    def lease_seconds(self) -> float:
        """How long a survey stays a worker's without a sign of life."""

    @property
    def time_precision(self) -> int:
        """Seconds in an epoch."""

    @property
    def max_counters(self) -> int:
        """The `max_counters` of `Aggregator`."""


@final
class _Bell:
    """A pause that a signal ends at once. A pipe, since a signal handler must not touch locks."""

    def __init__(self, stop: StopSign | None) -> None:
        self._stop = stop
        self._parent = multiprocessing.parent_process()
        self._reader, self._writer = os.pipe()
        os.set_blocking(self._writer, False)
        self._rung = False

    def ring(self, signum: int = 0, frame: FrameType | None = None) -> None:
        """Stop; a signal handler."""
        self._rung = True
        with contextlib.suppress(BlockingIOError):
            os.write(self._writer, b"\0")

    def stopped(self) -> bool:
        """Whether somebody rang, `stop` is set, or the parent is gone."""
        return self._rung or (self._stop is not None and self._stop.is_set()) or not self._parent_lives()

    def pause(self, seconds: float) -> None:
        """Sleep, unless it is time to stop."""
        ends: list[int] = [self._reader]
        if self._parent is not None:
            ends.append(self._parent.sentinel)
        multiprocessing.connection.wait(ends, seconds)

    def close(self) -> None:
        """Give the pipe back."""
        os.close(self._reader)
        os.close(self._writer)

    def _parent_lives(self) -> bool:
        return self._parent is None or self._parent.is_alive()


@contextlib.contextmanager
def _listening(stop: StopSign | None) -> Iterator[_Bell]:
    """A bell that SIGTERM and SIGINT ring, where signals can be heard at all."""
    bell = _Bell(stop)
    heard = (signal.SIGTERM, signal.SIGINT) if threading.current_thread() is threading.main_thread() else ()
    before = [(number, signal.signal(number, bell.ring)) for number in heard]
    try:
        yield bell
    finally:
        for number, handler in before:
            signal.signal(number, handler)
        bell.close()


def run_worker(settings: WorkerSettings, stop: StopSign | None = None, holder: str = "worker") -> None:
    """Count until SIGTERM or `stop`.

    Parameters
    ----------
    settings
        The settings of the service.
    stop
        Looked at between steps and pauses. Between processes SIGTERM is the better way: a `multiprocessing.Event`
        stays locked for everybody if one process is killed while it looks.
    holder
        The worker's name in the store.
    """
    outage = Outage(_LOG, "counting waits for the database", logging.ERROR)
    with _listening(stop) as bell:
        while not bell.stopped():
            try:
                _count(settings, holder, bell, outage)
            except StoreError as error:
                outage.failed(str(error))
                bell.pause(pause_after(_MOST_FAILURES, _SHORTEST_PAUSE, _LONGEST_OUTAGE_PAUSE))


def _count(settings: WorkerSettings, holder: str, bell: _Bell, outage: Outage) -> None:
    """Open the store and count in it until it is time to stop, or the store fails."""
    from sottovoce.collector.counting.aggregator import Aggregator
    from sottovoce.collector.store import open_as_set
    from sottovoce.collector.store.records import epoch_of

    store = open_as_set(settings)
    aggregator = Aggregator(
        store,
        holder,
        lease_seconds=settings.lease_seconds,
        # Not the system's folder for temporary files, which often is memory. A process that only works may have none.
        folder=settings.data if settings.data.is_dir() else None,
        max_counters=settings.max_counters,
        epoch=lambda: epoch_of(store.now(), settings.time_precision),
    )
    with contextlib.closing(store), contextlib.closing(aggregator), _moving(settings, store, holder):
        pause, failures = _SHORTEST_PAUSE, 0
        tidied = forgotten = -math.inf
        dirty = True
        while not bell.stopped():
            try:
                taken = aggregator.step()
                now = time.monotonic()
                if not taken and now - tidied > _BETWEEN_TIDYING:
                    dirty |= aggregator.tidy()
                    tidied = now
                if (dirty and not taken) or now - forgotten > _BETWEEN_FORGETTING:
                    dirty, forgotten = not store.forget(), now
                dirty |= taken > 0
            except (StoreUnavailableError, StoreFullError) as error:
                # What the aggregator knows stays good; only a database that replaced another is opened anew.
                if failures == _MOST_FAILURES:
                    raise
                outage.failed(str(error))
                failures += 1
                bell.pause(pause_after(failures, _SHORTEST_PAUSE, _LONGEST_OUTAGE_PAUSE))
                continue
            failures = 0
            outage.worked()
            if taken:
                pause = _SHORTEST_PAUSE
            if taken < _FEW:
                bell.pause(pause)
            if not taken:
                pause = min(2 * pause, _LONGEST_PAUSE)


def _moving(settings: WorkerSettings, store: Store, holder: str) -> contextlib.AbstractContextManager[None]:
    """Segments move to object storage meanwhile, if there is one."""
    if store.objects is None:
        return contextlib.nullcontext()
    from sottovoce.collector.counting.moving import SegmentMover, moving
    from sottovoce.collector.store.records import epoch_of

    return moving(
        SegmentMover(
            store,
            store.objects,
            holder,
            lambda: epoch_of(store.now(), settings.time_precision),
            lease_seconds=settings.lease_seconds,
            max_counters=settings.max_counters,
        )
    )

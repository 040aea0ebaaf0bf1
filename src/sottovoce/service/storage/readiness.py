"""Whether reports can be stored, from what became of the latest of them and from a probe that keeps nothing.

However often somebody asks, there is one probe at a time, and its result serves everybody for a second. While the
database is unavailable, reports are refused at once between attempts that come less and less often.
"""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Callable, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Final, Protocol, final

from sottovoce.core.errors import StoreError, StoreFullError, StoreUnavailableError
from sottovoce.service.running.outage import Outage, pause_after
from sottovoce.service.storage.committer import Appends, Arrival, Closed

__all__ = ["Checkable", "Readiness", "reason_of"]

_AGE: Final = 1.0
"""Seconds for which the result of a probe is used."""

_PATIENCE: Final = 5.0
"""Seconds after which a probe that has not ended is a reason by itself."""

_DOUBT: Final = 10.0
"""Seconds for which a group that met damage counts even where a probe succeeds, which may not meet it."""

_AT_ONCE: Final = 2
"""Failures in a row after which the next group is still tried at once."""

_LONGEST_REST: Final = 2.0

_log: Final = logging.getLogger("sottovoce.collector")


class Checkable(Protocol):
    """What is needed of a store."""

    def check(self, *, thorough: bool = False) -> None:
        """Raise unless a report could be stored."""


@final
class Readiness:
    """What the service knows of its store. Safe to use from several threads and event loops.

    Parameters
    ----------
    store
        The store of reports.
    hangs
        Whether a group of reports is being written that does not end.
    what
        The name of what is stored, for the log.
    """

    def __init__(
        self,
        store: Checkable,
        hangs: Callable[[], bool],
        clock: Callable[[], float] = time.monotonic,
        *,
        what: str = "reports",
    ) -> None:
        self._store, self._hangs, self._clock = store, hangs, clock
        self._outage = Outage(_log, f"{what} cannot be stored", logging.ERROR)
        self._thread = ThreadPoolExecutor(1, "sottovoce-probe")
        self._probe: Future[None] | None = None
        self._probe_began = self._probe_ended = -_AGE
        self._found: StoreError | None = None
        self._failed: StoreError | None = None
        self._failed_at = self._rests_until = 0.0
        self._failures = 0

    def watching(self, appends: Appends) -> Appends:
        """The store for the committer, with the fate of every group noted."""
        return _Watched(self, appends)

    def watching_at_once(self, keep: Callable[[Arrival], bool]) -> Callable[[Arrival], bool]:
        """`keep` for reports outside the groups; it keeps none while the latest group has failed."""
        return lambda arrival: self._failed is None and keep(arrival)

    async def fault(self) -> StoreError | None:
        """Why reports cannot be stored now; None while they can."""
        if self._hangs():
            return self._no_answer()
        probe = self._latest_probe()
        if probe is not None and not probe.done():
            left = self._probe_began + _PATIENCE - self._clock()
            if left > 0:
                await asyncio.wait([asyncio.wrap_future(probe)], timeout=left)
            if not probe.done():
                return self._no_answer()
        return self._found or self._failed

    def close(self) -> None:
        """End the thread."""
        self._thread.shutdown(wait=True, cancel_futures=True)

    # --- groups of reports ------------------------------------------------------------------

    def rest(self) -> None:
        """Raise while the database is given time to come back."""
        if self._failures > _AT_ONCE and self._clock() < self._rests_until:
            raise StoreUnavailableError("the database is unavailable, and is tried again in a moment")

    def group_failed(self, error: StoreError) -> None:
        """The latest group was not stored."""
        self._failed, self._failed_at = error, self._clock()
        self._failures = self._failures + 1 if isinstance(error, StoreUnavailableError) else 0
        if self._failures > _AT_ONCE:
            self._rests_until = self._failed_at + pause_after(self._failures - _AT_ONCE, longest=_LONGEST_REST)
        self._outage.failed(str(error))

    def group_stored(self) -> None:
        """The latest group is durable."""
        if self._failed is not None or self._outage.lasts:
            self._failed, self._failures = None, 0
            self._settle()

    # --- probes -----------------------------------------------------------------------------

    def _latest_probe(self) -> Future[None] | None:
        """The probe whose result is used, begun if there is none of late."""
        if (self._probe is None or self._probe.done()) and self._clock() - self._probe_ended >= _AGE:
            self._probe_began = self._clock()
            self._probe = self._thread.submit(self._look)
        return self._probe

    def _look(self) -> None:
        failed, failure = self._failed, None
        try:
            # After a failure only a real commit shows that the disk takes reports again.
            self._store.check(thorough=failed is not None)
        except StoreError as error:
            failure = error
        except Exception as error:
            failure = StoreError("the database failed in an unforeseen way")
            failure.__cause__ = error
        if failure is not None:
            self._outage.failed(str(failure))
        elif failed is not None and failed is self._failed and self._is_over(failed):
            self._failed, self._failures = None, 0
        self._found, self._probe_ended = failure, self._clock()
        self._settle()

    def _no_answer(self) -> StoreError:
        fault = StoreUnavailableError("the database does not answer")
        self._outage.failed(str(fault))
        return fault

    def _is_over(self, failed: StoreError) -> bool:
        """Whether a commit that succeeded outweighs a group that failed before."""
        passes = isinstance(failed, StoreFullError | StoreUnavailableError)
        return passes or self._clock() - self._failed_at >= _DOUBT

    def _settle(self) -> None:
        if self._found is None and self._failed is None:
            self._outage.worked()


@final
class _Watched:
    def __init__(self, readiness: Readiness, appends: Appends):
        self._readiness, self._appends = readiness, appends

    def append(self, arrivals: Sequence[Arrival]) -> list[Closed | None]:
        """The store's, unless it rests."""
        self._readiness.rest()
        try:
            verdicts = self._appends.append(arrivals)
        except StoreError as error:
            self._readiness.group_failed(error)
            raise
        self._readiness.group_stored()
        return verdicts


def reason_of(fault: StoreError) -> str:
    """The kind of a fault in fixed words: what the database itself says is for the log.

    Examples
    --------
    >>> reason_of(StoreFullError("/var/lib/private is full"))
    'the disk is full, or max_database_bytes is reached: make room; the log says more'
    """
    if isinstance(fault, StoreFullError):
        return "the disk is full, or max_database_bytes is reached: make room; the log says more"
    if isinstance(fault, StoreUnavailableError):
        return "the database is unavailable or locked; the log says more"
    return "the database takes no reports, and may be damaged; the log says more and what to do"

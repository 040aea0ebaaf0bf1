"""What every handler needs: the settings, the store, the key, and threads in which the store may be waited for."""

from __future__ import annotations

import asyncio
import json
import threading
import time
from collections import OrderedDict
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any, Final, Generic, TypeVar, cast, final

from litestar.connection import ASGIConnection

from sottovoce.collector.api.page_structs import Picture, Planned
from sottovoce.collector.api.structs import Envelope
from sottovoce.collector.committer import Committer
from sottovoce.collector.epoch import epoch_of
from sottovoce.collector.failures import Refused
from sottovoce.collector.intake import Intake
from sottovoce.collector.metrics import Metrics, Watched
from sottovoce.collector.settings import Settings
from sottovoce.collector.slow_work import SlowWork
from sottovoce.collector.store.base import Store, SurveyRecord
from sottovoce.collector.stored import survey_of
from sottovoce.collector.throttle import Throttle
from sottovoce.errors import StoreUnavailableError
from sottovoce.signing import SigningKey, to_base64url
from sottovoce.surveys.estimate import Estimate
from sottovoce.surveys.panel import Panel
from sottovoce.surveys.statement import is_digest
from sottovoce.surveys.survey import Survey

__all__ = ["Kept", "Service", "service_of"]

P = TypeVar("P")
K = TypeVar("K")

_STORE_THREADS: Final = 8

_STORE_SECONDS: Final = 20.0
"""How long a request waits for the store; a locked database is given up earlier, one that hangs never by itself."""

_ESTIMATE_THREADS: Final = 2
"""Estimates at a time: one of a large survey takes a core and much memory."""

_MOST_ESTIMATES: Final = 64
_MOST_TABLES: Final = 8
"""Requests that may wait for these threads; most estimates take milliseconds, tables of a million answers seconds."""

_SURVEYS_KEPT: Final = 64
_ESTIMATES_KEPT: Final = 32
_PICTURES_KEPT: Final = 32
_PLANS_KEPT: Final = 256

_ANSWERS_LISTED: Final = 2**17
"""Answers in all estimates, and in all pictures, that are kept as lists: each takes some hundred bytes."""

_ANSWERS_MADE: Final = 2**21
"""Answers in all estimates that are kept as arrays: each takes some ten bytes."""


@final
class Kept(Generic[K, P]):
    """The last few results of something slow, up to a total size; safe to use from several threads.

    Examples
    --------
    >>> kept: Kept[str, str] = Kept(most=3, room=10)
    >>> for name, size in (("a", 4), ("b", 4), ("c", 4), ("d", 11)):
    ...     _ = kept.put(name, name.upper(), size)
    >>> [kept.get(name) for name in "abcd"]
    [None, 'B', 'C', None]
    """

    def __init__(self, most: int, room: int = 0):
        self._most = most
        self._room = room
        self._found: OrderedDict[K, tuple[P, int]] = OrderedDict()
        self._size = 0
        self._lock = threading.Lock()

    def __len__(self) -> int:
        return len(self._found)

    def get(self, name: K) -> P | None:
        """What is kept under that name, if anything."""
        with self._lock:
            if name not in self._found:
                return None
            self._found.move_to_end(name)
            return self._found[name][0]

    def put(self, name: K, result: P, size: int = 0) -> P:
        """Keep a result in place of an earlier one of that name, unless it is larger than all the room there is.

        Those that were not asked for longest are forgotten for it.
        """
        with self._lock:
            self._size -= self._found.pop(name, (result, 0))[1]
            if size <= self._room:
                self._found[name] = result, size
                self._size += size
            while len(self._found) > self._most or self._size > self._room:
                self._size -= self._found.popitem(last=False)[1][1]
        return result

    def clear(self) -> None:
        """Forget all of them."""
        with self._lock:
            self._found.clear()
            self._size = 0


@final
class Service:
    """One running collector, as its handlers see it."""

    def __init__(self, settings: Settings, store: Store, key: SigningKey):
        self.settings = settings
        self.store = store
        self.key = key
        self.public = to_base64url(key.public)
        self.metrics = Metrics()
        self.intake = Intake(store, settings.max_batch_reports, settings.time_precision)
        self.committer = Committer(Watched(store, self.metrics), settings.queue_reports)
        self.throttle = Throttle(settings.max_reports_per_second)
        self.metrics.watch_queue(lambda: self.committer.depth)
        # Of every survey the latest only: who takes one looks at its number of reports.
        self.estimates: Kept[tuple[str, float], dict[str, Any]] = Kept(_ESTIMATES_KEPT, _ANSWERS_LISTED)
        self.made: Kept[str, Estimate] = Kept(_ESTIMATES_KEPT, _ANSWERS_MADE)
        self.pictures: Kept[tuple[str, float, int], Picture] = Kept(_PICTURES_KEPT, _ANSWERS_LISTED)
        self.plans: Kept[bytes, Planned] = Kept(_PLANS_KEPT)
        self._surveys: Kept[str, Survey | Panel] = Kept(_SURVEYS_KEPT)
        self._attached: Kept[str, list[str]] = Kept(_SURVEYS_KEPT * 16)
        self._store_threads = ThreadPoolExecutor(_STORE_THREADS, "sottovoce-store")
        self._slow = SlowWork("estimate", _ESTIMATE_THREADS, _MOST_ESTIMATES)
        self.tables = SlowWork("table", 1, _MOST_TABLES)

    def stop_working(self) -> None:
        """Drop slow work that waits, and end tables that are being written; whoever asked is told to ask again."""
        self._slow.stop()
        self.tables.stop()

    async def finish(self) -> None:
        """Write what is queued, answer everybody, then let the threads end; the store is its owner's to close."""
        await asyncio.to_thread(self._close)

    def _close(self) -> None:
        self.stop_working()
        self.committer.close()
        self._slow.close()
        self.tables.close()
        self._store_threads.shutdown(wait=True)

    # --- waiting without blocking -----------------------------------------------------------

    async def ask(self, function: Callable[..., P], *arguments: Any) -> P:
        """The result of something that waits for the store, though not for ever."""
        waiting = asyncio.get_running_loop().run_in_executor(self._store_threads, function, *arguments)
        try:
            async with asyncio.timeout(_STORE_SECONDS):
                return await waiting
        except TimeoutError:
            raise StoreUnavailableError("the database does not answer; try again later") from None

    async def work(self, function: Callable[..., P], *arguments: Any) -> P:
        """The result of something that computes for long; only a few at a time, and few wait."""
        return await self._slow.run(function, *arguments)

    # --- surveys ----------------------------------------------------------------------------

    def epoch(self) -> int:
        """Now, in the coarse time that may be kept."""
        return epoch_of(time.time(), self.settings.time_precision)

    def record(self, survey_id: str) -> SurveyRecord:
        """The survey of that id; what cannot be an id is as unknown as what is none."""
        record = self.store.survey(survey_id) if is_digest(survey_id) else None
        if record is None:
            message = "there is no survey of that id here; /v1/surveys lists those that there are"
            raise Refused(404, "unknown_survey", message)
        if record.state == "deleted":
            raise Refused(410, "survey_deleted", f"survey {record.id[:12]} has been deleted, with all its reports")
        return record

    def survey(self, record: SurveyRecord) -> Survey | Panel:
        """The survey behind a record; it never changes, so that it is read once."""
        return self._surveys.get(record.id) or self._surveys.put(record.id, survey_of(self.store, record))

    def answered(self, record: SurveyRecord) -> Survey:
        """The same, of one that people answer themselves."""
        survey = self.survey(record)
        if isinstance(survey, Panel):
            raise Refused(
                409,
                "survey_adaptive",
                f"survey {record.id[:12]} is adaptive and has no reports of its own; ask for one of its rounds, "
                f"listed at /v1/surveys/{record.id}/rounds",
            )
        return survey

    def adaptive(self, record: SurveyRecord) -> Panel:
        """The same, of one that has rounds."""
        survey = self.survey(record)
        if not isinstance(survey, Panel):
            raise Refused(409, "survey_not_adaptive", f"survey {record.id[:12]} is not adaptive: it has no rounds")
        return survey

    def counted(self, record: SurveyRecord) -> int:
        """How many of its reports have been counted."""
        return sum(segment.n for segment in self.store.segments(record.id))

    def forget_estimates(self) -> None:
        """Make every estimate anew: the counts of some survey are others, of as many reports."""
        self.estimates.clear()
        self.made.clear()
        self.pictures.clear()

    def envelope(self, record: SurveyRecord) -> Envelope:
        """A survey as devices fetch it."""
        return Envelope(
            record.id,
            record.canonical.decode(),
            to_base64url(record.signature),
            self.public,
            self._attachments(record),
            "open" if record.state == "open" else "sealed",
        )

    def _attachments(self, record: SurveyRecord) -> list[str]:
        kept = self._attached.get(record.id)
        if kept is not None:
            return kept
        digest = json.loads(record.canonical).get("design", {}).get("digest")
        return self._attached.put(record.id, [] if digest is None else [digest])


def service_of(connection: ASGIConnection[Any, Any, Any, Any]) -> Service:
    """The service a request came to."""
    return cast(Service, connection.app.state["service"])

"""What every handler needs: the settings, the store, the key, and threads that wait for the store."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any, Final, TypeVar, final

from sottovoce.collector.api.admission import check_token, no_token, presented_token, require
from sottovoce.collector.intake.checking import Intake
from sottovoce.collector.intake.survey_cache import SurveyCache
from sottovoce.collector.metrics import Metrics, TimedStore
from sottovoce.collector.pages.files import load_files
from sottovoce.collector.reading.streams import Streams
from sottovoce.collector.sealing.keys import SealingKeys
from sottovoce.collector.sealing.opening import Opening
from sottovoce.collector.settings import Settings
from sottovoce.collector.store.base import Store
from sottovoce.collector.store.records import SurveyRecord, TokenRecord, epoch_of
from sottovoce.collector.surveys.clock import ClockGuard, StoreClock
from sottovoce.collector.surveys.keeper import PeriodKeeper, clock_refusal
from sottovoce.collector.surveys.listing import SurveyList
from sottovoce.collector.surveys.log import SurveyLog
from sottovoce.collector.surveys.published import PublishedSurvey
from sottovoce.core.errors import StoreUnavailableError
from sottovoce.core.signing import SigningKey, to_base64url
from sottovoce.estimates.estimate import Estimate
from sottovoce.protocol.drafts import Planned
from sottovoce.protocol.surveys import CentralGuarantee, Envelope
from sottovoce.service.http.application import Elsewhere
from sottovoce.service.http.request import Deadlines, Request
from sottovoce.service.http.slow_work import LruCache, SlowWork
from sottovoce.service.refusal import Refusal
from sottovoce.service.running.throttle import Throttle
from sottovoce.service.running.watch import Watch
from sottovoce.service.storage.committer import Committer
from sottovoce.service.storage.readiness import Readiness
from sottovoce.surveys.panel import Panel
from sottovoce.surveys.statement import is_digest
from sottovoce.surveys.survey import Survey, Tracking

__all__ = ["CURVE_BYTES", "Service"]

P = TypeVar("P")

_STORE_THREADS: Final = 8

_STORE_SECONDS: Final = 20.0
"""How long a request waits for the store; a locked database is given up earlier, one that hangs never by itself."""

_BETWEEN_CLOCKS: Final = 10.0
"""Seconds between looks at the database's clock."""

_ESTIMATE_THREADS: Final = 2
"""Estimates at a time: one of a large survey takes a core and much memory."""

_MOST_ESTIMATES: Final = 64
_MOST_TABLES: Final = 8
_MOST_SEARCHES: Final = 64
"""Requests that may wait for these threads; most estimates take milliseconds, tables of a million answers and searches
for words seconds."""

_MOST_PLANS: Final = 256
_MOST_CERTIFICATES: Final = 1024

_MOST_CURVES: Final = 32
CURVE_BYTES: Final = 2**27
"""Memory for estimates by period, all curves together."""


@final
class Service:
    """One running collector, as its handlers see it."""

    streams: Streams

    answer_device: Callable[..., Awaitable[Callable[..., Awaitable[None]]]]
    """The response to a request that came inside a sealed message."""

    elsewhere: Elsewhere | None = None
    """The process that answers analysts; None if this one does."""

    def __init__(self, settings: Settings, store: Store, key: SigningKey):
        self.settings = settings
        self.store = store
        self.key = key
        self.public = to_base64url(key.public)
        self.sealing = SealingKeys(settings.data, key)
        self.log = SurveyLog(settings.data, key, store)
        self.opening = Opening()
        self.metrics = Metrics()
        self.surveys = SurveyCache(store)
        self.clock = StoreClock(store)
        self.watch = Watch()
        self.watch.every(_BETWEEN_CLOCKS, self.clock.measure, "the database's clock cannot be read")
        self.watch.start()
        self.listed = SurveyList(store)
        self._guard = ClockGuard()
        self.keeper = PeriodKeeper(store, key, settings.time_precision, self.clock, self._guard.doubt)
        self.intake = Intake(
            self.surveys,
            settings.max_batch_reports,
            settings.time_precision,
            self.clock,
            self.keeper.find,
            self._check_clock,
        )
        self.readiness = Readiness(store, lambda: self.committer.hangs)
        timed = TimedStore(store, self.metrics)
        self.committer = Committer(
            self.readiness.watching(timed),
            settings.queue_reports,
            at_once=self.readiness.watching_at_once(timed.append_at_once),
        )
        self.deadlines = Deadlines()
        self.throttle = Throttle(settings.max_reports_per_second)
        self.metrics.watch_queue(lambda: self.committer.depth)
        self.plans: LruCache[bytes, Planned] = LruCache(_MOST_PLANS)
        self.certificates: LruCache[str, CentralGuarantee] = LruCache(_MOST_CERTIFICATES)
        self.period_estimates: LruCache[str, dict[int, Estimate]] = LruCache(_MOST_CURVES, CURVE_BYTES)
        self.files = load_files()
        self._store_threads = ThreadPoolExecutor(_STORE_THREADS, "sottovoce-store")
        self.estimating = SlowWork("estimate", _ESTIMATE_THREADS, _MOST_ESTIMATES)
        self.tables = SlowWork("table", 1, _MOST_TABLES)
        self.searching = SlowWork("search", 1, _MOST_SEARCHES)
        self.note_estimate: Callable[[float], object] = self.metrics.estimate_seconds.observe

    def _check_clock(self) -> None:
        """Refuse what depends on the time while it is in doubt; asks nobody."""
        if (reason := self._guard.doubt(self.clock())) is not None:
            raise clock_refusal(reason)

    def stop_working(self) -> None:
        """End streams, drop slow work that waits, and end tables that are being written; clients then ask again."""
        if self.elsewhere is not None:
            self.elsewhere.stop()
        self.streams.close()
        self.estimating.stop()
        self.searching.stop()
        self.tables.stop()

    async def finish(self) -> None:
        """Write what is queued, answer everybody, then let the threads end; the store is its owner's to close."""
        await asyncio.to_thread(self._close)

    def _close(self) -> None:
        self.stop_working()
        self.watch.close()
        self.opening.close()
        self.committer.close()
        self.estimating.close()
        self.searching.close()
        self.tables.close()
        self.readiness.close()
        self._store_threads.shutdown(wait=True)

    # --- waiting without blocking -----------------------------------------------------------

    async def wait_for_store(self, function: Callable[..., P], *arguments: Any) -> P:
        """The result of something that waits for the store, though not for ever."""
        waiting = asyncio.get_running_loop().run_in_executor(self._store_threads, function, *arguments)
        try:
            async with asyncio.timeout(_STORE_SECONDS):
                return await waiting
        except TimeoutError:
            raise StoreUnavailableError("the database does not answer; try again later") from None

    async def compute(self, function: Callable[..., P], *arguments: Any) -> P:
        """The result of something that computes for long; only a few at a time, and few wait."""
        return await self.estimating.run(function, *arguments)

    async def admit(self, request: Request, scopes: tuple[str, ...]) -> TokenRecord:
        """The token of a request, if it opens one of these scopes."""
        token = presented_token(request)
        record = None if token is None else await self.wait_for_store(check_token, self.store, token)
        if record is None:
            raise no_token(request)
        require(record, *scopes)
        return record

    # --- surveys ----------------------------------------------------------------------------

    def epoch(self) -> int:
        """Now, in the coarse time that may be kept."""
        return epoch_of(self.clock(), self.settings.time_precision)

    def record(self, survey_id: str) -> SurveyRecord:
        """The survey of that id; what cannot be an id is as unknown as what is none."""
        record = self.store.survey(survey_id) if is_digest(survey_id) else None
        if record is None:
            message = "no survey has that id; /v1/surveys lists all surveys"
            raise Refusal(404, "unknown_survey", message)
        if record.state == "deleted":
            raise Refusal(410, "survey_deleted", f"survey {record.id[:12]} has been deleted, with all its reports")
        return record

    def survey(self, record: SurveyRecord) -> PublishedSurvey:
        """The survey behind a record."""
        return self.surveys.load(record).survey

    def answerable(self, record: SurveyRecord) -> Survey:
        """The survey behind a record; a refusal unless people answer it itself."""
        survey = self.survey(record)
        if isinstance(survey, Tracking):
            raise Refusal(
                409,
                "survey_tracking",
                f"survey {record.id[:12]} is answered period by period and has no reports of its own; ask for its "
                f"curve, or for one of its periods, listed at /v1/surveys/{record.id}/periods",
            )
        if isinstance(survey, Panel):
            raise Refusal(
                409,
                "survey_panel",
                f"survey {record.id[:12]} is a panel and has no reports of its own; ask for one of its rounds, "
                f"listed at /v1/surveys/{record.id}/rounds",
            )
        return survey

    def panel(self, record: SurveyRecord) -> Panel:
        """The panel behind a record; a refusal for other surveys."""
        survey = self.survey(record)
        if not isinstance(survey, Panel):
            raise Refusal(409, "survey_not_panel", f"survey {record.id[:12]} is not a panel: it has no rounds")
        return survey

    def tracking(self, record: SurveyRecord) -> Tracking:
        """The tracking survey behind a record; a refusal for other surveys."""
        survey = self.survey(record)
        if not isinstance(survey, Tracking):
            message = f"survey {record.id[:12]} has no calendar, and so neither periods nor a curve"
            raise Refusal(409, "survey_not_tracking", message)
        return survey

    def n_counted(self, record: SurveyRecord) -> int:
        """How many of its reports have been counted, those of all its groups together."""
        if record.has_groups:
            return sum(entry.counted for entry in self.store.standing_rounds(record.id))
        return sum(segment.n for segment in self.store.segments(record.id))

    def n_waiting(self, record: SurveyRecord) -> int:
        """How many of its reports have not been counted yet, those of all its groups together."""
        if record.has_groups:
            return sum(entry.waiting for entry in self.store.standing_rounds(record.id))
        return self.store.waiting(record.id)

    def envelope(self, record: SurveyRecord) -> Envelope:
        """A survey as devices fetch it."""
        return Envelope(
            record.id,
            record.canonical.decode(),
            to_base64url(record.signature),
            self.public,
            [*self.survey(record).attachments],
            "open" if record.state == "open" else "sealed",
        )

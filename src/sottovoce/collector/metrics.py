"""Metrics for Prometheus. No label contains a survey, a title or anything of a request."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Mapping, Sequence
from typing import Final, final

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram, generate_latest

from sottovoce.collector.store.base import Store
from sottovoce.service.running.metrics import COMMIT_SECONDS, TimelessRegistry
from sottovoce.service.storage.committer import Arrival, Closed

__all__ = ["Metrics", "Standstill", "TimedStore"]

_ESTIMATE_SECONDS: Final = (0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0)

_TOTALS_SECONDS: Final = 5.0
"""How old the totals over all surveys may be: asking for them often costs the store no more."""


@final
class Metrics:
    """One registry of its own, so that two services in one process do not mix."""

    def __init__(self) -> None:
        self.registry: CollectorRegistry = TimelessRegistry()
        registry = self.registry
        self._requests = Counter(
            "sottovoce_requests",
            "Requests answered, by the address's template and status.",
            ("route", "status"),
            registry=registry,
        )
        self._accepted = Counter("sottovoce_reports_accepted", "Reports made durable.", registry=registry)
        self._refused = Counter(
            "sottovoce_reports_refused", "Reports or whole bodies refused, by reason.", ("code",), registry=registry
        )
        self._opened = Counter("sottovoce_messages_opened", "Sealed messages that could be opened.", registry=registry)
        # Its count is the number of transactions.
        self._commits = Histogram(
            "sottovoce_commit_seconds",
            "How long each transaction took that made reports durable.",
            buckets=COMMIT_SECONDS,
            registry=registry,
        )
        self._queued = Gauge("sottovoce_queued_reports", "Reports between arrival and disk.", registry=registry)
        self.estimate_seconds = Histogram(
            "sottovoce_estimate_seconds",
            "How long estimates took that were not at hand.",
            buckets=_ESTIMATE_SECONDS,
            registry=registry,
        )
        self._waiting = Gauge("sottovoce_waiting_reports", "Durable reports not yet counted.", registry=registry)
        self._counted = Gauge("sottovoce_counted_reports", "Reports counted.", registry=registry)
        self._stalled = Gauge(
            "sottovoce_stalled_surveys", "Surveys whose reports wait, none counted for a minute.", registry=registry
        )
        self._missing = Gauge(
            "sottovoce_missing_numbers",
            "Numbers of stored reports that the database had lost when the service started.",
            registry=registry,
        )
        self._standstill = Standstill()
        self._workers = Gauge("sottovoce_workers", "Counting processes of this service that live.", registry=registry)
        self._children: dict[tuple[str, int], Counter] = {}
        self._totals_at = float("-inf")
        self._totals_lock = threading.Lock()

    def watch_queue(self, depth: Callable[[], int]) -> None:
        """Ask this for the length of the queue whenever metrics are read."""
        self._queued.set_function(depth)

    def watch_workers(self, living: Callable[[], int]) -> None:
        """Ask this for the number of counting processes whenever metrics are read."""
        self._workers.set_function(living)

    def found_missing(self, numbers: int) -> None:
        """Record how many numbers were missing from the database at the start."""
        self._missing.set(numbers)

    def committed(self, reports: int, seconds: float) -> None:
        """Record a transaction that made reports durable."""
        self._accepted.inc(reports)
        self._commits.observe(seconds)

    def answered(self, route: str, status: int) -> None:
        """Count an answered request."""
        child = self._children.get((route, status))
        if child is None:
            child = self._children[route, status] = self._requests.labels(route, str(status))
        child.inc()

    def refused(self, code: str, n: int = 1) -> None:
        """Count reports refused for a reason, one of a fixed list."""
        self._refused.labels(code).inc(n)

    def opened(self, n: int = 1) -> None:
        """Count sealed messages that could be opened."""
        self._opened.inc(n)

    def text(self, store: Store) -> bytes:
        """Everything in Prometheus' text form; waits for the store."""
        with self._totals_lock:
            if time.monotonic() - self._totals_at > _TOTALS_SECONDS:
                self._count(store)
                self._totals_at = time.monotonic()
        return generate_latest(self.registry)

    def _count(self, store: Store) -> None:
        waiting, counted = store.totals()
        self._waiting.set(waiting)
        self._counted.set(counted)
        self._stalled.set(self._standstill.look(store.oldest_waiting()))


@final
class TimedStore:
    """A store's `append` under a stopwatch: one observation a transaction, none a request."""

    def __init__(self, store: Store, metrics: Metrics):
        self._store = store
        self._metrics = metrics

    def append(self, arrivals: Sequence[Arrival]) -> list[Closed | None]:
        """The store's."""
        began = time.perf_counter()
        verdicts = self._store.append(arrivals)
        seconds = time.perf_counter() - began
        kept = sum(arrival.n for arrival, refusal in zip(arrivals, verdicts, strict=True) if refusal is None)
        self._metrics.committed(kept, seconds)
        return verdicts

    def append_at_once(self, arrival: Arrival) -> bool:
        """The store's."""
        began = time.perf_counter()
        kept = self._store.append_at_once(arrival)
        if kept:
            self._metrics.committed(arrival.n, time.perf_counter() - began)
        return kept


_SECONDS: Final = 60.0
"""Seconds after which waiting is standing still; a dead worker's survey is free again before, by default after 30 s."""


@final
class Standstill:
    """Compares the oldest waiting entries of surveys with those of earlier looks.

    Examples
    --------
    >>> now = [0.0]
    >>> standstill = Standstill(clock=lambda: now[0])
    >>> standstill.look({1: 500, 2: 501})
    0
    >>> now[0] = 61.0
    >>> standstill.look({1: 500, 2: 777})
    1
    """

    def __init__(self, seconds: float = _SECONDS, clock: Callable[[], float] = time.monotonic) -> None:
        self._seconds, self._clock = seconds, clock
        self._since: dict[tuple[int, int], float] = {}

    def look(self, oldest: Mapping[int, int]) -> int:
        """How many surveys stand still now, by the numbers of their oldest waiting entries."""
        now = self._clock()
        self._since = {entry: self._since.get(entry, now) for entry in oldest.items()}
        return sum(now - since >= self._seconds for since in self._since.values())

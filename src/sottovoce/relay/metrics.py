"""A relay's metrics for Prometheus. Totals only: no label contains a survey or anything of a request."""

from __future__ import annotations

from collections.abc import Callable
from typing import final

from prometheus_client import Counter, Gauge, Histogram, generate_latest

from sottovoce.service.running.metrics import COMMIT_SECONDS, TimelessRegistry

__all__ = ["RelayMetrics"]


@final
class RelayMetrics:
    """One registry of its own, so that two relays in one process do not mix."""

    def __init__(self) -> None:
        registry = self._registry = TimelessRegistry()
        self._requests = Counter(
            "sottovoce_relay_requests",
            "Requests answered, by route and status.",
            ("route", "status"),
            registry=registry,
        )
        self._accepted = Counter("sottovoce_relay_accepted", "Messages acknowledged.", registry=registry)
        self._refused = Counter("sottovoce_relay_refused", "Messages refused, by reason.", ("code",), registry=registry)
        self._forwarded = Counter(
            "sottovoce_relay_forwarded", "Messages that the collector has acknowledged.", registry=registry
        )
        self._dropped = Counter(
            "sottovoce_relay_dropped",
            "Messages that the collector does not want, by reason.",
            ("code",),
            registry=registry,
        )
        self._batches = Counter("sottovoce_relay_batches", "Batches made.", registry=registry)
        self._failures = Counter("sottovoce_relay_failures", "Parts that were not acknowledged.", registry=registry)
        self._held = Gauge("sottovoce_relay_held", "Messages held.", registry=registry)
        self._ready = Gauge(
            "sottovoce_relay_enough", "Messages in boxes that hold as many as their survey states.", registry=registry
        )
        self._oldest = Gauge(
            "sottovoce_relay_oldest_seconds", "Age of the oldest message in no batch, coarse.", registry=registry
        )
        self._duplicates = Gauge(
            "sottovoce_relay_duplicates", "Messages that came again since the start.", registry=registry
        )
        self._missing = Gauge(
            "sottovoce_relay_missing_numbers",
            "Numbers of stored messages that the database had lost when the relay started.",
            registry=registry,
        )
        self._queued = Gauge("sottovoce_relay_queued", "Messages between arrival and disk.", registry=registry)
        self.commits = Histogram(
            "sottovoce_relay_commit_seconds",
            "How long each transaction took that made messages durable.",
            buckets=COMMIT_SECONDS,
            registry=registry,
        )

    def found_missing(self, numbers: int) -> None:
        """Record how many numbers were missing from the database at the start."""
        self._missing.set(numbers)

    def watch(self, held: Callable[[], int], duplicates: Callable[[], int], queued: Callable[[], int]) -> None:
        """Ask these for numbers of messages whenever metrics are read."""
        self._held.set_function(held)
        self._duplicates.set_function(duplicates)
        self._queued.set_function(queued)

    def answered(self, route: str, status: int) -> None:
        """Count an answered request."""
        self._requests.labels(route, str(status)).inc()

    def accepted(self) -> None:
        """Count a durable message."""
        self._accepted.inc()

    def refused(self, code: str, n: int = 1) -> None:
        """Count messages refused for a reason, one of a fixed list."""
        self._refused.labels(code).inc(n)

    def batch_made(self) -> None:
        """Count a released batch of boxes."""
        self._batches.inc()

    def forwarded(self, n: int) -> None:
        """Count messages that are durable at the collector."""
        self._forwarded.inc(n)

    def dropped(self, code: str, n: int = 1) -> None:
        """Count messages that the collector refuses."""
        self._dropped.labels(code).inc(n)

    def failed(self) -> None:
        """Count a part that was not acknowledged."""
        self._failures.inc()

    def text(self, enough: int, oldest: float) -> bytes:
        """Everything in Prometheus' text form."""
        self._ready.set(enough)
        self._oldest.set(oldest)
        return generate_latest(self._registry)

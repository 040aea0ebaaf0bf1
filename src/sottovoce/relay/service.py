"""One running relay, as its handlers see it."""

from __future__ import annotations

import asyncio
import contextlib
import hmac
import ipaddress
import secrets
import threading
import time
from collections.abc import Callable, Sequence
from typing import Final, final

from sottovoce.core.errors import ServiceError, StoreError
from sottovoce.core.signing import SigningKey
from sottovoce.relay.forwarder import Forwarder
from sottovoce.relay.keys import PublishedKeys
from sottovoce.relay.metrics import RelayMetrics
from sottovoce.relay.settings import RelaySettings
from sottovoce.relay.store import RelayStore
from sottovoce.relay.surveys import RelayedSurveys
from sottovoce.relay.upstream import Upstream
from sottovoce.service.http.request import Deadlines
from sottovoce.service.http.slow_work import SlowWork
from sottovoce.service.running.throttle import Throttle
from sottovoce.service.running.watch import Watch
from sottovoce.service.running.watermark import WATERMARK_FILE, Watermark
from sottovoce.service.storage.committer import Arrival, Closed, Committer
from sottovoce.service.storage.readiness import Readiness

__all__ = ["SEAL_FILE", "AddressLimit", "RelayService"]

_MINUTE: Final = 60.0
_KEY_BYTES: Final = 32
_TAG_BYTES: Final = 12
_NETWORK_BITS: Final = 64
"""Bits of an IPv6 address that name a network: one household or server has all addresses of it."""

_MOST: Final = 1_000_000
"""Addresses that are counted apart; beyond it they are counted together, so that memory stays bounded."""


@final
class AddressLimit:
    """A limit of `most` requests per minute from one address; with 0, addresses are not looked at.

    Used in one event loop.

    Examples
    --------
    >>> limit = AddressLimit(2, clock=lambda: 0.0)
    >>> [limit.admit("192.0.2.1") for _ in range(3)], limit.admit("192.0.2.2")
    ([0.0, 0.0, 60.0], 0.0)
    """

    def __init__(self, most: int, clock: Callable[[], float] = time.monotonic) -> None:
        self._most = most
        self._clock = clock
        self._began = clock()
        self._key = secrets.token_bytes(_KEY_BYTES)
        self._counts: dict[bytes, int] = {}

    @property
    def looks(self) -> bool:
        """Whether addresses matter at all."""
        return self._most > 0

    def admit(self, address: str) -> float:
        """0.0 when one more request may be answered, which is then counted; else the seconds to wait."""
        now = self._clock()
        if now - self._began >= _MINUTE:
            self._began, self._key, self._counts = now, secrets.token_bytes(_KEY_BYTES), {}
        tag = hmac.digest(self._key, _network(address), "sha256")[:_TAG_BYTES]
        if tag not in self._counts and len(self._counts) >= _MOST:
            tag = b""
        n = self._counts.get(tag, 0)
        if n >= self._most:
            return self._began + _MINUTE - now
        self._counts[tag] = n + 1
        return 0.0


def _network(address: str) -> bytes:
    try:
        host = ipaddress.ip_address(address.partition("%")[0])
    except ValueError:
        return address.encode()
    if isinstance(host, ipaddress.IPv6Address):
        mapped = host.ipv4_mapped
        return mapped.packed if mapped else host.packed[: _NETWORK_BITS // 8]
    return host.packed


SEAL_FILE: Final = "watermark.key"
"""A file in the relay's folder."""

_THREADS: Final = 16
_MOST_WAITING: Final = 512
"""Requests that are passed on at a time, and that may wait for it."""

_BETWEEN_MARKS: Final = 1.0
_BETWEEN_KEYS: Final = 300.0
_BETWEEN_TIDYING: Final = 3600.0
_REMEMBERED: Final = 30 * 86400
"""Seconds for which a message that comes again is known."""


@final
class RelayService:
    """Everything a relay has; `start` begins to forward."""

    elsewhere = None

    def __init__(self, settings: RelaySettings, store: RelayStore) -> None:
        self.settings, self.store = settings, store
        self.metrics = RelayMetrics()
        self.upstream = Upstream(settings)
        self.asking = SlowWork("ask", _THREADS, _MOST_WAITING)
        self.keys = PublishedKeys(store, self.upstream.keys)
        self.surveys = RelayedSurveys(store, self.upstream.survey, self.asking)
        self.forwarder = Forwarder(settings, store, self.upstream, self.metrics, self.keys.doubt, self.surveys.closing)
        self.readiness = Readiness(store, lambda: self.committer.hangs, what="messages")
        self.committer = Committer(
            self.readiness.watching(_TimedMessages(store, self.metrics)), settings.queue_messages
        )
        self.deadlines = Deadlines()
        self.throttle = Throttle(settings.max_messages_per_second)
        self.addresses = AddressLimit(settings.per_address)
        self.metrics.watch(lambda: store.n_messages, lambda: store.duplicates, lambda: self.committer.depth)
        # The file is this relay's own: the key only seals it, so that nobody else's is taken for it.
        self._watermark = Watermark(settings.folder, SigningKey.load_or_create(settings.folder / SEAL_FILE), store)
        self._watch = Watch()

    def start(self) -> None:
        """Compare the database with what was known of it, and begin to forward.

        Keys are fetched beside it: a collector that hangs holds nobody up.
        """
        self.metrics.found_missing(self._watermark.compare())
        self.forwarder.start()
        threading.Thread(target=self._keep_up, name="sottovoce-keys", daemon=True).start()

    def _keep_up(self) -> None:
        """Fetch keys and tidy up, now and then again."""
        self._watch.every(_BETWEEN_MARKS, self._watermark.advance, f"the file {WATERMARK_FILE} cannot be written")
        self._watch.every(_BETWEEN_KEYS, self.keys.refresh, "the collector's keys cannot be remembered")
        self._watch.every(_BETWEEN_TIDYING, self.tidy, "messages that nobody wants cannot be removed")
        self._watch.start()

    def tidy(self) -> None:
        """Forget old ids, and drop what waits for surveys that take no more reports."""
        self.store.forget_seen(int(time.time()) - _REMEMBERED)
        for survey_id in sorted({box.survey for box in self.store.boxes()}):
            try:
                closed = self.surveys.takes_no_more(survey_id)
            except ServiceError:
                continue  # asked again in an hour
            if closed:
                self.metrics.dropped("survey_sealed", self.store.drop(survey_id))

    def epoch(self) -> int:
        """Now, in the coarse time that may be kept."""
        precision = self.settings.time_precision
        return int(time.time()) // precision * precision

    def stop_working(self) -> None:
        """Pass nothing more on; waiting clients ask again."""
        self.forwarder.stop()
        self.asking.stop()

    async def finish(self) -> None:
        """Write what is queued, answer everybody, then let the threads end; the store is its owner's to close."""
        await asyncio.to_thread(self._close)

    def _close(self) -> None:
        self.stop_working()
        self._watch.close()
        self.committer.close()
        with contextlib.suppress(OSError, StoreError):  # said before, if it has lasted
            self._watermark.advance()
        self.forwarder.close()
        self.asking.close()
        self.readiness.close()
        self.upstream.close()


@final
class _TimedMessages:
    """A store's `append` under a stopwatch: one observation a transaction, none a request."""

    def __init__(self, store: RelayStore, metrics: RelayMetrics):
        self._store, self._metrics = store, metrics

    def append(self, arrivals: Sequence[Arrival]) -> list[Closed | None]:
        """The store's."""
        began = time.perf_counter()
        verdicts = self._store.append(arrivals)
        self._metrics.commits.observe(time.perf_counter() - began)
        return verdicts

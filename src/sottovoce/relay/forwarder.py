"""The thread that makes batches of ripe boxes and sends them, part after part, until the collector has everything.

A part is removed here when the collector has acknowledged it, never earlier. Whatever happens in between, the same part
is sent again, and the collector counts each report once.

A batch leaves in an order that is uniformly random, and the same again after a crash: each message has a pseudorandom
rank, keyed by a seed from the operating system that is drawn for the batch and erased with it. So nothing but the seed
must be written down to fix the order of a million messages.
"""

from __future__ import annotations

import logging
import threading
import time
from collections import deque
from collections.abc import Callable, Collection, Iterable, Sequence
from hashlib import blake2b
from typing import Final, Protocol, final

from sottovoce.core.errors import ServiceError, StoreError
from sottovoce.device.http import BAD_ANSWER
from sottovoce.protocol.errors import RefusedReport
from sottovoce.relay.metrics import RelayMetrics
from sottovoce.relay.settings import RelaySettings
from sottovoce.relay.store import RelayStore
from sottovoce.relay.upstream import PART_BYTES
from sottovoce.service.running.outage import Outage, pause_after

__all__ = ["Forwarder", "Parts"]


@final
class Parts:
    """What is left of a batch, in parts of one size each.

    The first message in the order decides the size of a part; the next ones of that size go with it. Taking a part away
    leaves all the others as they were.

    Parameters
    ----------
    seed
        The seed of the batch.
    left
        Number and size of each message.

    Examples
    --------
    >>> parts = Parts(bytes(32), [(number, 512) for number in range(5)])
    >>> first = parts.next(3, 2**20)
    >>> len(first), first == parts.next(3, 2**20)
    (3, True)
    >>> parts.remove(first)
    >>> len(parts.next(3, 2**20)), len(parts)
    (2, 2)
    """

    def __init__(self, seed: bytes, left: Iterable[tuple[int, int]]) -> None:
        self._by_size: dict[int, deque[tuple[bytes, int]]] = {}
        ranked = sorted((_rank(seed, number), number, size) for number, size in left)
        for rank, number, size in ranked:
            self._by_size.setdefault(size, deque()).append((rank, number))

    def __len__(self) -> int:
        """Number of messages left."""
        return sum(len(queue) for queue in self._by_size.values())

    def next(self, most: int, most_bytes: int) -> list[int]:
        """Numbers of the messages of the next part, at most `most` and `most_bytes`; empty when nothing is left."""
        heads = [(queue[0], size) for size, queue in self._by_size.items() if queue]
        if not heads:
            return []
        _, size = min(heads)
        queue = self._by_size[size]
        n = min(len(queue), most, max(most_bytes // size, 1))
        return [queue[position][1] for position in range(n)]

    def remove(self, part: list[int]) -> None:
        """Take away the next part."""
        queue = next(queue for queue in self._by_size.values() if queue and queue[0][1] == part[0])
        for _ in part:
            queue.popleft()


def _rank(seed: bytes, number: int) -> bytes:
    return blake2b(number.to_bytes(8), key=seed, digest_size=16).digest()


_BETWEEN_LOOKS: Final = 1.0
"""Seconds between looks whether a box is ripe."""

_SHORTEST_PAUSE: Final = 0.5

_PASSING: Final = frozenset({408, 425, 429})
"""Statuses from 400 to 499 after which the same may succeed later."""

_PATIENCE: Final = 15.0
"""Seconds that the end waits for a part under way; sent again at the next start, it counts once."""

_CODES: Final = frozenset(
    {
        *("unknown_key", "unknown_suite", "cannot_open", "bad_message", "no_report", "wrong_length", "bad_report"),
        *("wrong_survey", "unknown_survey", "survey_sealed", "survey_deleted", "survey_panel", "survey_tracking"),
        "period_not_open",
    }
)
"""Reasons that metrics tell apart; the collector could make up any."""

_UNOPENED: Final = frozenset({"unknown_key", "cannot_open"})
"""What a collector without its keys says of every message."""

_log: Final = logging.getLogger("sottovoce.relay")


class _Sends(Protocol):
    def send(self, messages: list[bytes]) -> Sequence[RefusedReport]:
        """Those that the collector refuses, when all others are durable there; raises `ServiceError`."""


@final
class Forwarder:
    """Forwards from a store to a collector.

    Parameters
    ----------
    settings
        When boxes are ripe, and how large parts are.
    store, upstream
        From where, and to where.
    metrics
        Told what happens.
    doubt
        Asks for the collector's sealing keys, and says why it may have lost them for the moment; empty if it has not.
    closing
        The surveys whose messages must leave soon, at this time.
    clock
        The time that coarse times are compared with, in seconds.
    """

    def __init__(
        self,
        settings: RelaySettings,
        store: RelayStore,
        upstream: _Sends,
        metrics: RelayMetrics,
        doubt: Callable[[], str] = str,
        closing: Callable[[float], Collection[str]] = lambda _: (),
        clock: Callable[[], float] = time.time,
    ) -> None:
        self._settings, self._store, self._upstream, self._metrics = settings, store, upstream, metrics
        self._doubt, self._closing, self._clock = doubt, closing, clock
        self._most_bytes = PART_BYTES
        self._parts: Parts | None = None
        self._failures = 0
        self._outage = Outage(_log, "messages cannot be forwarded to the collector")
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._live, name="sottovoce-forward", daemon=True)
        self.trouble = ""
        """Why the collector refuses what it is sent, which a person must look at; empty while it does not."""

    def start(self) -> None:
        """Begin."""
        self._thread.start()

    def stop(self) -> None:
        """Send nothing more."""
        self._stop.set()

    def close(self) -> None:
        """Stop, and wait for a part under way."""
        self.stop()
        if self._thread.is_alive():
            self._thread.join(_PATIENCE)

    def _live(self) -> None:
        pause = 0.0
        while not self._stop.wait(pause):
            try:
                pause = self.step()
            except StoreError as error:
                pause = self._failed(str(error), self._settings.retry_seconds)
            except Exception as error:
                # Its words may quote anything; what is held must go on whatever it was.
                pause = self._failed(type(error).__name__, self._settings.retry_seconds)

    def step(self) -> float:
        """Send one part, or look whether a box is ripe; how many seconds to wait before the next step."""
        if self._parts is None:
            batch = self._store.batch()
            if batch is None:
                return self._release()
            self._parts = Parts(batch.seed, batch.left)
        part = self._parts.next(self._settings.part, self._most_bytes)
        if not part:
            self._store.end_batch()
            self._parts = None
            return 0.0
        try:
            messages = self._store.contents(part)
            refused = self._upstream.send(messages)
            self._check_opened(refused)
        except ServiceError as error:
            return self._not_acknowledged(error, messages)
        self._store.forget(part)
        self._parts.remove(part)
        self._metrics.forwarded(len(part) - len(refused))
        for refusal in refused:
            self._metrics.dropped(refusal.code if refusal.code in _CODES else "other")
        self._failures, self.trouble = 0, ""
        self._outage.worked()
        return 0.0

    def _check_opened(self, refused: Sequence[RefusedReport]) -> None:
        """Raise if messages were not opened for want of a key that may come back: then nothing is dropped."""
        if any(refusal.code in _UNOPENED for refusal in refused) and (reason := self._doubt()):
            raise ServiceError(f"the collector cannot open messages, which are kept: {reason}", BAD_ANSWER, 200)

    def _release(self) -> float:
        # A message counts as come at the end of its span, so that none leaves before its time.
        now = self._clock()
        before = int(now - self._settings.wait - self._settings.time_precision) + 1
        if not self._store.release(self._settings.hold, before, self._closing(now)):
            return _BETWEEN_LOOKS
        self._metrics.batch_made()
        return 0.0

    def _not_acknowledged(self, error: ServiceError, messages: Sequence[bytes]) -> float:
        self._metrics.failed()
        if error.status == 413 and len(messages) > 1:
            # Bytes and not messages: what is too much of a large size is little of a small one.
            self._most_bytes = (len(messages) + 1) // 2 * len(messages[0])
            return 0.0
        if 200 <= error.status < 500 and error.status not in _PASSING:
            self.trouble = f"the collector refuses parts of a batch ({error.status})"
        pause = self._failed(str(error), self._settings.retry_seconds)
        return max(pause, min(error.retry_after or 0.0, self._settings.retry_seconds))

    def _failed(self, reason: str, longest: float) -> float:
        self._failures += 1
        self._outage.failed(reason)
        return pause_after(self._failures, _SHORTEST_PAUSE, longest)

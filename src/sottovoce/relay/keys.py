"""The collector's sealing keys as this relay passes them on: the same to everybody, also while the collector is down.

A collector that gave everybody a key of its own could tell their messages apart. So all devices get what the relay got
last, and a key's number means the same key as long as anybody may use it.
"""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable
from typing import Final, final

import msgspec

from sottovoce.core.errors import ObliviousError, ServiceError, SignatureError
from sottovoce.core.signing import from_base64url
from sottovoce.oblivious.key_configuration import read_signed_keys
from sottovoce.protocol.reports import SignedKeys
from sottovoce.relay.store import RelayStore
from sottovoce.service.running.outage import Outage

__all__ = ["PublishedKeys"]

_REMEMBERED: Final = 30 * 86400
"""Seconds after its last publication until a number may stand for another key, if no message to the first one waits:
the two would be counted together, and the collector tells them apart."""

_BETWEEN: Final = 10.0
"""Seconds between fetches that messages for unknown keys can cause."""

_log: Final = logging.getLogger("sottovoce.relay")


@final
class PublishedKeys:
    """What the collector published last. Safe to use from several threads.

    Parameters
    ----------
    store
        Remembers it.
    fetch
        Asks the collector; raises `ServiceError`.
    clock
        The time, in seconds.
    """

    def __init__(self, store: RelayStore, fetch: Callable[[], bytes], clock: Callable[[], float] = time.time) -> None:
        self._store, self._fetch, self._clock = store, fetch, clock
        self._lock = threading.Lock()
        self._outage = Outage(_log, "the collector's keys cannot be fetched")
        self._tried = float("-inf")
        self.trouble = ""
        """Why keys that the collector publishes now are not passed on; empty while they are."""
        self._unheard = ""
        self.body = store.published()
        """The collector's signed answer; empty before there is one."""
        self._ids = frozenset(_configurations(self.body)) if self.body else frozenset[int]()

    def knows(self, key_id: int) -> bool:
        """Whether it is the number of a key that is published now."""
        return key_id in self._ids

    @property
    def is_recent(self) -> bool:
        """Whether the collector was asked a moment ago."""
        return time.monotonic() - self._tried < _BETWEEN

    def refresh_unless_recent(self) -> None:
        """Ask the collector again, unless it was asked a moment ago; wait for a request that is under way."""
        if not self.is_recent:
            self.refresh()

    def refresh(self) -> None:
        """Ask the collector again; what was known stays while it does not answer, or answers what cannot be right."""
        began = time.monotonic()
        with self._lock:
            if began < self._tried:
                return  # somebody has asked meanwhile
            try:
                self._refresh()
            finally:
                self._tried = time.monotonic()

    def doubt(self) -> str:
        """Ask the collector again; why it may have lost keys that it had, empty if it publishes what it should."""
        self.refresh()
        return self.trouble or self._unheard

    def _refresh(self) -> None:
        try:
            body = self._fetch()
            configurations = _configurations(body)
        except (ServiceError, ObliviousError, SignatureError) as error:
            self._unheard = str(error)
            self._outage.failed(self._unheard)
            return
        self._unheard = ""
        now = int(self._clock())
        before = self._store.sealing_keys(now - _REMEMBERED)
        changed = [
            key_id
            for key_id, configuration in configurations.items()
            if before.get(key_id, configuration) != configuration
        ]
        if changed:
            self.trouble = (
                f"the collector publishes another key under number {changed[0]} than before, with which it could "
                "tell devices apart; its earlier keys are passed on instead"
            )
            self._outage.failed(self.trouble)
            return
        self._store.publish(body, configurations, now)
        self.body, self._ids, self.trouble = body, frozenset(configurations), ""
        self._outage.worked()


def _configurations(body: bytes) -> dict[int, bytes]:
    """The configurations by number. The named key must have signed them; devices know whether to trust it."""
    try:
        signed = msgspec.json.decode(body, type=SignedKeys)
    except (msgspec.MsgspecError, UnicodeDecodeError):
        raise ObliviousError("bad_keys", "the collector's answer holds no signed keys") from None
    configurations: dict[int, bytes] = {}
    for configuration in read_signed_keys(body, from_base64url(signed.key)):
        if configurations.setdefault(configuration.key_id, configuration.encode()) != configuration.encode():
            raise ObliviousError("bad_keys", f"the collector publishes two keys under number {configuration.key_id}")
    return configurations

"""The keys that a device trusts, and the surveys that they signed."""

from __future__ import annotations

from collections.abc import Collection
from typing import final

from sottovoce.core.errors import SignatureError
from sottovoce.core.signing import PUBLIC_KEY_BYTES, check_public_key, from_base64url
from sottovoce.device.fetch import CollectorClient, Published
from sottovoce.device.store import DeviceStore

__all__ = ["Trust"]


@final
class Trust:
    """Fetches surveys that are signed by the owner's key, or by the key pinned for the collector's address.

    Parameters
    ----------
    store
        Where keys are pinned.
    key
        The only key that is trusted; without one, the first key that a collector sends.
    mechanisms
        Mechanisms of other packages that surveys may use.
    """

    def __init__(self, store: DeviceStore, key: bytes | str | None, mechanisms: Collection[str]) -> None:
        self._store = store
        self.key = None if key is None else _public_key(key)
        self.mechanisms = mechanisms

    def trusted(self, collector: str) -> bytes | None:
        """The key that the collector at this address must have; None if none is known yet."""
        return self.key if self.key is not None else self._store.pinned(collector)

    def pin(self, collector: str, key: bytes) -> None:
        """Trust the first key seen at this address from now on."""
        if self._store.pin(collector, key) != key:
            raise SignatureError("the collector sent two different keys; nothing was answered")

    def fetch(self, collector: CollectorClient, question: str) -> Published:
        """The survey, verified with the trusted key; the first key seen is pinned if there is none."""
        trusted = self.trusted(collector.url)
        found = collector.survey(question, trusted, self.mechanisms)
        if trusted is None:
            self.pin(collector.url, found.key)
        return found


def _public_key(key: bytes | str) -> bytes:
    try:
        return check_public_key(from_base64url(key, PUBLIC_KEY_BYTES) if isinstance(key, str) else key)
    except SignatureError as error:
        raise SignatureError(f"key must be the collector's public key; {error}") from None

"""A limit on requests per address that remembers no address: counts under keys that are thrown away every minute."""

from __future__ import annotations

import hmac
import ipaddress
import secrets
import time
from collections.abc import Callable
from typing import Final, final

__all__ = ["AddressLimit"]

_MINUTE: Final = 60.0
_KEY_BYTES: Final = 32
_TAG_BYTES: Final = 12
_NETWORK_BITS: Final = 64
"""Of an IPv6 address: what one household or server is given whole."""

_MOST: Final = 1_000_000
"""Addresses that are counted apart; beyond it they are counted together, so that memory stays bounded."""


@final
class AddressLimit:
    """At most `most` requests per minute from one address; with 0, addresses are not looked at.

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
        found = ipaddress.ip_address(address.partition("%")[0])
    except ValueError:
        return address.encode()
    if isinstance(found, ipaddress.IPv6Address):
        mapped = found.ipv4_mapped
        return mapped.packed if mapped else found.packed[: _NETWORK_BITS // 8]
    return found.packed

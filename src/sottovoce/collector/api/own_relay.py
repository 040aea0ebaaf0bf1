"""A relay at the collector's own address separates nothing; devices refuse such a survey, so it is never published."""

from __future__ import annotations

from typing import Final
from urllib.parse import urlsplit

from sottovoce.service.http.request import Request
from sottovoce.surveys.relay import Relay

__all__ = ["OWN_RELAY", "is_own_relay"]

OWN_RELAY: Final = (
    "the relay is at the collector's own address, and so separates nothing: devices refuse such a survey; name a relay "
    "that somebody else runs, at another address"
)

_DEFAULT_PORTS: Final = {"https": 443, "http": 80}


def is_own_relay(relay: Relay | None, request: Request) -> bool:
    """Whether the relay has the host and port at which the collector was asked, or that it tells people."""
    if relay is None:
        return False
    scheme = urlsplit(relay.url).scheme
    asked = f"{scheme}://{request.header(b'host') or ''}"
    return _place(relay.url, scheme) in {_place(url, scheme) for url in (asked, request.service.settings.public_url)}


def _place(url: str, scheme: str) -> tuple[str | None, int | None]:
    try:
        parts = urlsplit(url)
        return parts.hostname, parts.port or _DEFAULT_PORTS.get(parts.scheme or scheme)
    except ValueError:  # a Host header may be anything
        return None, None

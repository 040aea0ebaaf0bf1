"""The analyst's client of a collector: publish surveys, read estimates, ask adaptive questions, export reports."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from sottovoce.core.calls import with_clear_calls

if TYPE_CHECKING:
    from sottovoce.analyst.collector import Collector

__all__ = ["connect"]

_PATIENCE: Final = 60.0
"""Seconds without progress: an estimate of very many answers takes some to make, on a busy machine more."""


@with_clear_calls('sv.connect("https://stats.example.org", token)')
def connect(url: str, token: str | None, *, key: str | None = None, insecure: bool = False) -> Collector:
    """A client of a collector, for an analyst. Sends nothing before its first method call.

    Parameters
    ----------
    url
        Address of the collector, for example ``"https://collector.example.org"``.
    token
        A token from `sottovoce serve` or `Collector.create_token`; None reads what is public: surveys and their log.
    key
        The collector's public key, or 16 characters or more of its fingerprint. Surveys signed by any other key are
        refused; without it, the key that the collector sends is trusted.
    insecure
        Allow plain http to another machine; anybody on the way can then read the token.

    Examples
    --------
    >>> connect("http://127.0.0.1:8470", "sv_0123abcd_" + "A" * 43)
    <collector at http://127.0.0.1:8470>
    """
    # Imported here: a program that only makes surveys and estimates needs no HTTP.
    from sottovoce.analyst.collector import Collector
    from sottovoce.device.http import Http

    return Collector(Http(url, token, timeout=_PATIENCE, insecure=insecure), key)

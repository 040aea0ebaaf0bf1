"""The analyst's side of a collector: publish surveys, read live estimates, ask adaptive questions, export reports."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from sottovoce.analyst.collector import Collector

__all__ = ["connect"]


def connect(url: str, token: str, *, key: str | None = None, insecure: bool = False) -> Collector:
    """A collector, seen by an analyst.

    Nothing is sent before something is asked for.

    Parameters
    ----------
    url
        Where the collector is, for example ``"https://collector.example.org"``.
    token
        What `sottovoce serve` printed, or `Collector.create_token` gave.
    key
        The collector's public key, or the beginning of its fingerprint, 16 characters or more. Surveys signed by any
        other are then refused; without it the key is the one the collector tells.
    insecure
        Allow plain http to other machines than this one. Whoever is on the way then reads the token.

    Examples
    --------
    >>> connect("http://127.0.0.1:8470", "sv_0123abcd_" + "A" * 43)
    <collector at http://127.0.0.1:8470>
    """
    # Loaded when it is called: a program that only states and estimates needs no HTTP.
    from sottovoce.analyst.collector import Collector
    from sottovoce.client.http import Http

    return Collector(Http(url, token, insecure=insecure), key)

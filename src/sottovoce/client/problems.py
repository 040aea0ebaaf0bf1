"""Why a request had no answer, in words: what the libraries raise names classes, and holds the whole request."""

from __future__ import annotations

import socket
import ssl
from collections.abc import Iterator

import urllib3

from sottovoce.client.text import one_line

__all__ = ["in_words"]


def in_words(error: BaseException, timeout: float) -> str:
    """What went wrong, without anything of what was sent; `timeout` is how many seconds were waited.

    Examples
    --------
    >>> in_words(ConnectionRefusedError(), 10.0)
    'the connection was refused'
    >>> in_words(TimeoutError(), 10.0)
    'no answer within 10 seconds'
    """
    found = list(_chain(error))
    where = "at the proxy, " if any(isinstance(one, urllib3.exceptions.ProxyError) for one in found) else ""
    return where + _told(found, timeout)


def _told(found: list[BaseException], timeout: float) -> str:
    def holds(*kinds: type[BaseException]) -> bool:
        return any(isinstance(one, kinds) for one in found)

    if holds(ssl.SSLCertVerificationError):
        return "its certificate is not trusted"
    if holds(ssl.SSLError, urllib3.exceptions.SSLError):
        return "no TLS connection could be made"
    if holds(socket.gaierror):
        return "the name is not known"
    if holds(ConnectionRefusedError):
        return "the connection was refused"
    if holds(TimeoutError, urllib3.exceptions.TimeoutError):
        return f"no answer within {timeout:g} second{'s' * (timeout != 1)}"
    if holds(ConnectionError, urllib3.exceptions.IncompleteRead):
        return "the connection was cut"
    told = [one.strerror for one in found if isinstance(one, OSError) and one.strerror]
    return one_line(told[-1]).lower() if told else "what came is no answer of HTTP"


def _chain(error: BaseException) -> Iterator[BaseException]:
    """The error, and those that it was made of."""
    waiting, seen = [error], set()
    while waiting:
        one = waiting.pop(0)
        if id(one) not in seen:
            seen.add(id(one))
            yield one
            parts = (*one.args, one.__cause__)
            waiting += [part for part in parts if isinstance(part, BaseException)]

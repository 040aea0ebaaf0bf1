"""Messages for failed requests, without the request itself, which the libraries' errors contain."""

from __future__ import annotations

import socket
import ssl
from collections.abc import Iterator
from typing import Final

import urllib3

from sottovoce.device.text import one_line

__all__ = ["certificate_problem", "describe_failure"]

_EXPIRED: Final = frozenset({9, 10})
"""OpenSSL's codes of a certificate that is not yet, or no longer, valid."""

_OTHER_NAME: Final = frozenset({62, 63, 64})
"""Those of one for another host, mail or IP address."""


def describe_failure(error: BaseException, timeout: float) -> str:
    """The cause of a failed request; `timeout` is its limit in seconds.

    Examples
    --------
    >>> describe_failure(ConnectionRefusedError(), 10.0)
    'the connection was refused'
    >>> describe_failure(TimeoutError(), 10.0)
    'no answer within 10 seconds'
    """
    found = list(_chain(error))
    where = "at the proxy, " if any(isinstance(one, urllib3.exceptions.ProxyError) for one in found) else ""
    return where + _cause(found, timeout)


def certificate_problem(error: BaseException) -> str:
    """What is wrong with a server's certificate, and what to do; empty if that is not why a request failed.

    Examples
    --------
    >>> certificate_problem(TimeoutError())
    ''
    """
    found = next((one for one in _chain(error) if isinstance(one, ssl.SSLCertVerificationError)), None)
    if found is None:
        return ""
    code, words = getattr(found, "verify_code", 0), one_line(getattr(found, "verify_message", "") or "", 200)
    said = f"its certificate was refused ({words.rstrip('.')})" if words else "its certificate was refused"
    if code in _EXPIRED:
        return f"{said}; its operator must renew it, unless this machine's clock is wrong"
    if code in _OTHER_NAME:
        return f"{said}; use the address that the certificate is for, or ask its operator"
    return (
        f"{said}; if it is of an authority of your own, name the file with that authority's certificate in the "
        "environment variable SSL_CERT_FILE, or as ca_file. Otherwise somebody on the way may be answering in its place"
    )


def _cause(found: list[BaseException], timeout: float) -> str:
    def holds(*kinds: type[BaseException]) -> bool:
        return any(isinstance(one, kinds) for one in found)

    if holds(ssl.SSLCertVerificationError):
        return "its certificate is not trusted"
    if holds(ssl.SSLError, urllib3.exceptions.SSLError):
        return "no TLS connection could be made"
    if holds(socket.gaierror):
        return "the host name is unknown"
    if holds(ConnectionRefusedError):
        return "the connection was refused"
    if holds(TimeoutError, urllib3.exceptions.TimeoutError):
        return f"no answer within {timeout:g} second{'s' * (timeout != 1)}"
    if holds(ConnectionError, urllib3.exceptions.IncompleteRead):
        return "the connection was cut"
    reasons = [one.strerror for one in found if isinstance(one, OSError) and one.strerror]
    return one_line(reasons[-1]).lower() if reasons else "the response is not HTTP"


def _chain(error: BaseException) -> Iterator[BaseException]:
    """The error and its causes."""
    waiting, seen = [error], set()
    while waiting:
        one = waiting.pop(0)
        if id(one) not in seen:
            seen.add(id(one))
            yield one
            parts = (*one.args, one.__cause__)
            waiting += [part for part in parts if isinstance(part, BaseException)]

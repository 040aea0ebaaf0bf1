"""Connections with a deadline for the whole request, and messages for those that fail.

A socket's timeout starts again with every byte, so deadlines are set around a call and obeyed by everything inside it;
they nest, and the earliest one counts. Messages leave out the request itself, which the libraries' errors contain.
"""

from __future__ import annotations

import contextlib
import http.client
import io
import math
import socket
import ssl
import time
from collections.abc import Iterator
from contextvars import ContextVar
from typing import Any, Final

import urllib3
from urllib3.connection import HTTPConnection, HTTPSConnection

from sottovoce.core.text import one_line

__all__ = ["certificate_problem", "describe_failure", "left", "obey_deadlines", "within"]


_ENDS: Final[ContextVar[float]] = ContextVar("ends", default=math.inf)


@contextlib.contextmanager
def within(seconds: float) -> Iterator[None]:
    """Limit the time of the block, in this thread; an earlier deadline stays.

    Examples
    --------
    >>> with within(60.0), within(3600.0):
    ...     left() <= 60.0
    True
    >>> left()
    inf
    """
    before = _ENDS.set(min(_ENDS.get(), time.monotonic() + seconds))
    try:
        yield
    finally:
        _ENDS.reset(before)


def left() -> float:
    """Seconds until the deadline; 0 or less once it has passed, infinite without one."""
    return _ENDS.get() - time.monotonic()


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
    causes = list(_chain(error))
    where = "at the proxy, " if any(isinstance(cause, urllib3.exceptions.ProxyError) for cause in causes) else ""
    return where + _cause(causes, timeout)


def certificate_problem(error: BaseException) -> str:
    """What is wrong with a server's certificate, and what to do; empty if that is not why a request failed.

    Examples
    --------
    >>> certificate_problem(TimeoutError())
    ''
    """
    cause = next((cause for cause in _chain(error) if isinstance(cause, ssl.SSLCertVerificationError)), None)
    if cause is None:
        return ""
    code, words = getattr(cause, "verify_code", 0), one_line(getattr(cause, "verify_message", "") or "", 200)
    said = f"its certificate was refused ({words.rstrip('.')})" if words else "its certificate was refused"
    if code in _EXPIRED:
        return f"{said}; its operator must renew it, unless this machine's clock is wrong"
    if code in _OTHER_NAME:
        return f"{said}; use the address that the certificate is for, or ask its operator"
    return (
        f"{said}; if it is of an authority of your own, name the file with that authority's certificate in the "
        "environment variable SSL_CERT_FILE, or as ca_file. Otherwise somebody on the way may be answering in its place"
    )


def _cause(causes: list[BaseException], timeout: float) -> str:
    def holds(*kinds: type[BaseException]) -> bool:
        return any(isinstance(cause, kinds) for cause in causes)

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
    reasons = [cause.strerror for cause in causes if isinstance(cause, OSError) and cause.strerror]
    return one_line(reasons[-1]).lower() if reasons else "the response is not HTTP"


def _chain(error: BaseException) -> Iterator[BaseException]:
    """The error and its causes."""
    waiting, seen = [error], set()
    while waiting:
        cause = waiting.pop(0)
        if id(cause) not in seen:
            seen.add(id(cause))
            yield cause
            parts = (*cause.args, cause.__cause__)
            waiting += [part for part in parts if isinstance(part, BaseException)]


_PIECE: Final = 2**16

_MOST_ADDRESSES: Final = 8
"""Addresses tried per name: a name server can list thousands that never answer."""

_LONGEST_WAIT: Final = 3600.0
"""Timeout in seconds if neither a timeout nor a deadline is set."""


def obey_deadlines(manager: urllib3.PoolManager, keep_alive: bool) -> None:
    """Make all requests through this manager obey `deadline.within`, each on a new connection unless they are kept."""
    kept: dict[str, type[urllib3.HTTPConnectionPool]] = {"http": _HttpPool, "https": _HttpsPool}
    manager.pool_classes_by_scheme = kept if keep_alive else {"http": _HttpOnce, "https": _HttpsOnce}


def _wait(timeout: object) -> float:
    """The limit for one step: the socket's timeout or the time left, whichever is less."""
    seconds = left()
    if seconds <= 0:
        raise TimeoutError("the deadline of this request has passed")
    return min(seconds, float(timeout) if isinstance(timeout, (int, float)) else _LONGEST_WAIT)


class _Incoming(io.RawIOBase):
    """Reads from a socket."""

    def __init__(self, sock: Any) -> None:
        self._sock, self._timeout = sock, sock.gettimeout()
        self._raw = sock.makefile("rb", buffering=0)

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int | None:
        self._sock.settimeout(_wait(self._timeout))
        length: int | None = self._raw.readinto(buffer)
        return length

    def close(self) -> None:
        if not self.closed:
            self._raw.close()
        super().close()


class _Response(http.client.HTTPResponse):
    def __init__(self, sock: Any, *given: Any, **named: Any) -> None:
        super().__init__(sock, *given, **named)
        self.fp.close()  # releases the socket, from which nothing was read yet
        self.fp = io.BufferedReader(_Incoming(sock))


class _Timed(HTTPConnection):
    response_class = _Response

    def _new_conn(self) -> socket.socket:
        addresses = socket.getaddrinfo(self._dns_host.strip("[]"), self.port, type=socket.SOCK_STREAM)[:_MOST_ADDRESSES]
        problem: OSError = OSError("the collector's name has no address")
        for family, kind, protocol, _, address in addresses:
            try:
                sock = socket.socket(family, kind, protocol)
            except OSError as error:
                problem = error
                continue
            try:
                for option in self.socket_options or ():
                    sock.setsockopt(*option)
                sock.settimeout(_wait(self.timeout))
                sock.connect(address)
            except OSError as error:
                sock.close()
                problem = error
            except BaseException:
                sock.close()
                raise
            else:
                return sock
        raise problem

    def send(self, data: Any) -> None:
        if not isinstance(data, bytes) or self.sock is None:
            super().send(data)
            return
        for start in range(0, len(data), _PIECE):
            self.sock.settimeout(_wait(self.timeout))
            super().send(data[start : start + _PIECE])


class _TimedTls(_Timed, HTTPSConnection):
    """The TLS handshake is one step with one timeout."""


class _HttpPool(urllib3.HTTPConnectionPool):
    ConnectionCls = _Timed


class _HttpsPool(urllib3.HTTPSConnectionPool):
    ConnectionCls = _TimedTls


class _Once(urllib3.HTTPConnectionPool):
    """Closes a connection after its request, also if the collector would keep it open."""

    def _put_conn(self, conn: Any) -> None:
        if conn is not None:
            conn.close()
        super()._put_conn(conn)


class _HttpOnce(_Once, _HttpPool):
    pass


class _HttpsOnce(_Once, _HttpsPool):
    pass

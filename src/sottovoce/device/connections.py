"""Connections with a deadline for the whole request; a socket's timeout starts again with every byte.

A server that sends one byte per second, or endless interim responses, headers or trailers, never exceeds a socket
timeout. Here every wait on the socket is limited to the time left for the request.
"""

from __future__ import annotations

import http.client
import io
import socket
from typing import Any, Final

import urllib3
from urllib3.connection import HTTPConnection, HTTPSConnection

from sottovoce.device.deadline import left

__all__ = ["obey_deadlines"]

_PIECE: Final = 2**16

_MOST_ADDRESSES: Final = 8
"""Addresses tried per name: a name server can list thousands that never answer."""

_LONGEST_WAIT: Final = 3600.0
"""If neither a timeout nor a deadline is set."""


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
        found: int | None = self._raw.readinto(buffer)
        return found

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
        found = socket.getaddrinfo(self._dns_host.strip("[]"), self.port, type=socket.SOCK_STREAM)[:_MOST_ADDRESSES]
        problem: OSError = OSError("the collector's name has no address")
        for family, kind, protocol, _, address in found:
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

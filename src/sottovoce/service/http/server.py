"""Granian in this process and event loop, on our own socket, without its access log."""

from __future__ import annotations

import asyncio
import logging
import socket
import ssl
from collections.abc import Callable
from contextlib import AbstractAsyncContextManager
from http.client import HTTPConnection, HTTPException, HTTPSConnection
from pathlib import Path
from typing import Any, Final, Protocol

from granian._granian import SocketHolder
from granian.constants import HTTPModes, Interfaces
from granian.http import HTTP1Settings
from granian.log import LogLevels
from granian.server.embed import Server

from sottovoce.core.errors import ServiceError, StoreFullError
from sottovoce.service.http.response import Receive, Scope, Send
from sottovoce.service.running.outage import pause_after
from sottovoce.service.running.process import ProcessSettings
from sottovoce.service.storage.readiness import Readiness

__all__ = ["Hosted", "HostedService", "run_http"]

_CONNECTIONS: Final = 4096
"""Served at once; more wait in the system's queue."""

_QUEUE: Final = 1024

_LAST_SECONDS: Final = 1.0
"""What requests under way have, beyond the time of a body, when the service stops."""

_LOGGING: Final = {
    "handlers": {},
    "formatters": {},
    "loggers": {"_granian": {"propagate": True}, "granian.access": {"propagate": False}},
}
"""Granian's lines go where ours go; its access log, which would hold addresses, goes nowhere."""


_log = logging.getLogger("sottovoce.serve")


class HostedService(Protocol):
    """What the server needs to know of the service behind an application."""

    @property
    def readiness(self) -> Readiness:
        """Whether it can store what is sent to it."""

    def stop_working(self) -> None:
        """End what would go on for long."""


class Hosted(Protocol):
    """An ASGI application that can be served."""

    @property
    def service(self) -> HostedService:
        """Its service."""

    def lifespan(self) -> AbstractAsyncContextManager[None]:
        """Requests may come inside the block."""

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request."""


class _Server(Server):
    """A server on a bound socket: granian's own would share a taken port, and not say which one 0 became."""

    def __init__(self, app: Any, settings: ProcessSettings, listener: socket.socket):
        milliseconds = int(settings.body_seconds * 1000)
        tls = (Path(settings.tls_certificate), Path(settings.tls_key)) if settings.tls_certificate else (None, None)
        super().__init__(
            app,
            interface=Interfaces.ASGINL,
            http=HTTPModes.http1,
            websockets=False,
            backlog=_QUEUE,
            backpressure=_CONNECTIONS,
            http1_settings=HTTP1Settings(header_read_timeout=milliseconds, keep_alive=True),
            log_level=LogLevels.error,
            log_dictconfig=_LOGGING,
            log_access=False,
            ssl_cert=tls[0],
            ssl_key=tls[1],
        )
        self._listener = listener

    def _init_shared_socket(self) -> None:
        # A descriptor of its own: granian closes what it is given.
        holder: Any = SocketHolder  # its stub lacks the arguments that its own pickling passes
        self._shd = holder(self._listener.dup().detach(), False, _QUEUE)


async def run_http(
    app: Hosted, settings: ProcessSettings, listener: socket.socket, stop: asyncio.Event, ready: Callable[[], object]
) -> None:
    """Serve until `stop` is set; then refuse connections, finish requests under way and end the app's lifespan.

    Requests that do not end in time are cut off. None of them is acknowledged then: an acknowledgement takes no time
    once its reports are durable.
    """
    listener.setblocking(False)
    # The lifespan is ours, not granian's: it must end well even where a connection does not.
    async with app.lifespan():
        server: Any = _Server(app, settings, listener)
        serving = asyncio.create_task(server.serve())
        telling = asyncio.create_task(_report_ready(app, settings, listener.getsockname(), ready))
        stopping = asyncio.create_task(stop.wait())
        await asyncio.wait((serving, stopping), return_when=asyncio.FIRST_COMPLETED)
        ended_by_itself = serving.done()
        telling.cancel()
        stopping.cancel()
        listener.close()
        # Streams would go on for minutes; their readers reconnect by themselves.
        app.service.stop_working()
        server.stop()
        await asyncio.wait((serving,), timeout=settings.body_seconds + _LAST_SECONDS)
        if not serving.done():
            _log.warning("some connections did not end in time and were cut off; nothing acknowledged is lost")
            serving.cancel()
    if ended_by_itself:
        raise ServiceError("the HTTP server ended by itself; its last log lines say why", "ended")


async def _report_ready(
    app: Hosted, settings: ProcessSettings, address: tuple[Any, ...], ready: Callable[[], object]
) -> None:
    """Call `ready` once the service says of itself, over its own socket, that it is; or that only room is lacking.

    An operator who is to make room must know where the service listens.
    """
    host = {"0.0.0.0": "127.0.0.1", "::": "::1"}.get(address[0], address[0])
    failures = 0
    while (status := await asyncio.to_thread(_readiness, host, address[1], bool(settings.tls_certificate))) != 200:
        if status == 503 and isinstance(await app.service.readiness.fault(), StoreFullError):
            break
        failures += 1
        await asyncio.sleep(pause_after(failures, longest=2.0))
    ready()


def _readiness(host: str, port: int, tls: bool) -> int:
    """The status of /readyz; 0 without an answer."""
    if tls:
        trusting = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)  # it is this very process, whatever name it goes by
        trusting.check_hostname, trusting.verify_mode = False, ssl.CERT_NONE
        connection: HTTPConnection = HTTPSConnection(host, port, timeout=5, context=trusting)
    else:
        connection = HTTPConnection(host, port, timeout=5)
    try:
        connection.request("GET", "/readyz", headers={"Connection": "close"})
        return connection.getresponse().status
    except (OSError, HTTPException):
        return 0
    finally:
        connection.close()

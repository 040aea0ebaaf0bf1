"""The collector's stack without the collector: an ASGI application on granian that reads the body and answers at once.

It answers the very bytes with which `sottovoce serve` acknowledges so many reports, and stores nothing. Event loop,
server and address are the same; what differs is routing, decoding, storing, and the headers of every response.
"""

from __future__ import annotations

import asyncio
import socket
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import uvloop

from sottovoce.collector.api.response import json_response
from sottovoce.collector.api.structs import Acknowledgement
from sottovoce.collector.http_server import run_http
from sottovoce.collector.settings import Settings


class BareServer:
    """An ASGI application of one response."""

    def __init__(self, reports: int):
        self._response = json_response(Acknowledgement(reports, []))
        self.service = self

    @asynccontextmanager
    async def lifespan(self) -> AsyncIterator[None]:
        """Nothing to begin or to end."""
        yield

    def stop_working(self) -> None:
        """Nothing to stop."""

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        while scope["method"] == "POST" and (await receive()).get("more_body"):
            pass
        await self._response(scope, receive, send)


def main() -> None:
    """Serve on a free port, which is printed once it answers."""
    with socket.create_server(("127.0.0.1", 0)) as listener:
        port = listener.getsockname()[1]
        app: Any = BareServer(int(sys.argv[1]))
        uvloop.run(run_http(app, Settings(port=port), listener, asyncio.Event(), lambda: print(port, flush=True)))


if __name__ == "__main__":
    main()

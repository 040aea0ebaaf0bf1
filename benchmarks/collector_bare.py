"""The collector's stack without the collector: Litestar on granian, a handler that reads the body and answers at once.

It answers the very bytes with which `sottovoce serve` acknowledges so many reports, and keeps nothing. Event loop,
server and address are the same; what differs is decoding, storing, and what is done to every answer. `server` leaves
Litestar out as well: nothing that is written in Python can be faster than that.
"""

from __future__ import annotations

import asyncio
import socket
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import uvloop
from litestar import Litestar, Request, get, post

from sottovoce.collector.api.answer import Answer, json_answer
from sottovoce.collector.api.reports import REPORTS_PATH
from sottovoce.collector.api.structs import Acknowledgement
from sottovoce.collector.http_server import run_http
from sottovoce.collector.settings import Settings


def bare_app(reports: int) -> Litestar:
    """An application that says to every body that it took so many reports."""
    answer = json_answer(Acknowledgement(reports, []))

    @post(REPORTS_PATH, status_code=200)
    async def take(request: Request[Any, Any, Any]) -> Answer:
        await request.body()
        return answer

    @get("/readyz")
    async def ready() -> None:
        return None

    return Litestar([take, ready], openapi_config=None, logging_config=None)


class BareServer:
    """An ASGI application of one answer, without a framework."""

    def __init__(self, reports: int):
        self._answer = json_answer(Acknowledgement(reports, []))

    @asynccontextmanager
    async def lifespan(self) -> AsyncIterator[None]:
        """Nothing to begin or to end."""
        yield

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        while scope["method"] == "POST" and (await receive()).get("more_body"):
            pass
        await self._answer(scope, receive, send)


def main() -> None:
    """Serve on a free port, which is told in a line once it answers."""
    with socket.create_server(("127.0.0.1", 0)) as listener:
        port = listener.getsockname()[1]
        app: Any = (bare_app if sys.argv[1] == "handler" else BareServer)(int(sys.argv[2]))
        uvloop.run(run_http(app, Settings(port=port), listener, asyncio.Event(), lambda: print(port, flush=True)))


if __name__ == "__main__":
    main()

"""An ASGI application asked through httpx in this process, without a socket; its event loop runs in a thread."""

from __future__ import annotations

import asyncio
import contextlib
import threading
from collections.abc import Iterator
from typing import Any

import httpx

from sottovoce.service.http.application import Application


class InProcess(httpx.BaseTransport):
    """Hands each request to the application, and its whole response back."""

    def __init__(self, app: Application, loop: asyncio.AbstractEventLoop):
        self._app = app
        self._loop = loop

    def handle_request(self, request: httpx.Request) -> httpx.Response:
        return asyncio.run_coroutine_threadsafe(self._ask(request), self._loop).result()

    async def _ask(self, request: httpx.Request) -> httpx.Response:
        scope: dict[str, Any] = {
            "type": "http",
            "method": request.method,
            "scheme": request.url.scheme,
            "path": request.url.path,
            "query_string": request.url.query,
            "headers": [(name.lower(), value) for name, value in request.headers.raw],
        }
        body = request.read()
        sent: list[Any] = []

        async def receive() -> Any:
            return {"type": "http.request", "body": body, "more_body": False}

        async def send(message: Any) -> None:
            sent.append(message)

        await self._app(scope, receive, send)
        content = b"".join(message["body"] for message in sent[1:])
        # As a server does: no body is sent where only the headers were asked for.
        content = b"" if request.method == "HEAD" else content
        return httpx.Response(sent[0]["status"], headers=sent[0]["headers"], content=content)


@contextlib.contextmanager
def in_process(app: Application) -> Iterator[httpx.Client]:
    """A client of the application, whose lifespan is the block's."""
    loop = asyncio.new_event_loop()
    thread = threading.Thread(target=loop.run_forever, name="in-process")
    thread.start()
    life = app.lifespan()
    try:
        asyncio.run_coroutine_threadsafe(life.__aenter__(), loop).result()
        with httpx.Client(transport=InProcess(app, loop), base_url="http://testserver.local") as client:
            yield client
    finally:
        asyncio.run_coroutine_threadsafe(life.__aexit__(None, None, None), loop).result()
        loop.call_soon_threadsafe(loop.stop)
        thread.join()
        loop.close()

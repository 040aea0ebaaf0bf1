"""Analysts are answered in a process of their own, so that nothing they ask for slows down the one that takes reports.

For every request that is not a device's, one end of a new pair of sockets is handed to that process, which answers
through it. Nobody else has an address to connect to. Requests that come while the process starts wait; when
it dies, the requests it was working on are answered with 503, and the next one starts. Bodies pass through fast, but
never take all of the time of the process that takes reports.
"""

from __future__ import annotations

import asyncio
import contextlib
import socket
import struct
from collections.abc import Awaitable, Callable, Hashable
from multiprocessing.context import SpawnProcess
from typing import Any, Final, Generic, TypeVar, final

from sottovoce.collector.running.analyst_process import (
    ANSWER,
    SECONDS,
    STOP,
    RequestHead,
    ResponseHead,
    answer_analysts,
    level_message,
    put,
    take,
)
from sottovoce.collector.running.supervisor import READING, spawned
from sottovoce.collector.settings import Settings
from sottovoce.service.http.request import Request
from sottovoce.service.http.response import Receive, Scope, Send
from sottovoce.service.refusal import Refusal

__all__ = ["ANSWER_BYTES", "Pace", "ReadingProcess", "Recent"]

_BYTES_A_SECOND: Final = 32 * 2**20
"""Rate of all bodies together while reports come in: about a tenth of the event loop's time."""

ANSWER_BYTES: Final = 2**18
"""The rest of the work on an answer of another process takes as long as passing on this many bytes."""

_AHEAD: Final = 0.005
"""Seconds of that rate which may pass at once: an event loop cannot sleep for less than a fraction of them."""


_QUIET_SECONDS: Final = 1.0
"""Seconds without a report after which nothing has to wait."""


@final
class Pace:
    """Turns of everybody who passes on a part; `progress` tells something that changes when reports come in."""

    def __init__(self, progress: Callable[[], object], rate: float = _BYTES_A_SECOND):
        self._progress = progress
        self._rate = rate
        self._seen = progress()
        self._changed_at = float("-inf")
        self._free_at = 0.0

    async def turn(self, length: int) -> None:
        """Come back when a part of that length may be passed on."""
        now = asyncio.get_running_loop().time()
        if (seen := self._progress()) != self._seen:
            self._seen, self._changed_at = seen, now
        if now - self._changed_at > _QUIET_SECONDS:
            return
        self._free_at = max(self._free_at, now - _AHEAD) + length / self._rate
        if self._free_at > now:
            await asyncio.sleep(self._free_at - now)


P = TypeVar("P")

_SECONDS: Final = 1.0
_MOST: Final = 64


@final
class Recent(Generic[P]):
    """Answers fetched within the last second; requests that come during a fetch wait for its answer."""

    def __init__(self, seconds: float = _SECONDS, most: int = _MOST):
        self._seconds = seconds
        self._most = most
        self._answers: dict[Hashable, tuple[float, asyncio.Future[P]]] = {}

    async def get(self, name: Hashable, fetch: Callable[[], Awaitable[P]]) -> P:
        """The answer of that name; an error goes to everybody who waits for it, and is not kept."""
        now = asyncio.get_running_loop().time()
        began, task = self._answers.get(name, (float("-inf"), None))
        if task is None or (task.done() and (now - began > self._seconds or task.exception() is not None)):
            if len(self._answers) >= self._most:
                self.clear()
            task = asyncio.ensure_future(fetch())
            self._answers[name] = now, task
        return await asyncio.shield(task)

    def clear(self) -> None:
        """Fetch everything anew: something was changed from here. What is being fetched now is not kept."""
        self._answers.clear()

    def __len__(self) -> int:
        return len(self._answers)


_PATIENCE: Final = 10.0
"""Seconds in which a process that died must have a successor."""

_LOOK_EVERY: Final = 0.05

_UNDETECTED: Final = b"content-length"
"""Header of requests whose client the server takes for gone once the body is read, whether or not it is."""


@final
class ReadingProcess:
    """The process, as the one that takes reports sees it. `noted` is called with the seconds that estimates took."""

    def __init__(self, settings: Settings, noted: Callable[[float], object], pace: Pace):
        self._settings = settings
        self._pace = pace
        self._recent: Recent[Kept] = Recent()
        self._noted = noted
        self._control: socket.socket | None = None
        self._level = settings.log_level

    def start(self) -> SpawnProcess:
        """A new process, in place of any that was there; inside the running event loop."""
        self._close()
        ours, theirs = socket.socketpair()
        try:
            process = spawned(answer_analysts, (self._settings, theirs), READING)
        except BaseException:
            ours.close()
            raise
        finally:
            theirs.close()
        ours.setblocking(False)
        self._control = ours
        asyncio.get_running_loop().add_reader(ours, self._listen, ours)
        self.set_level(self._level)
        return process

    def set_level(self, level: str) -> None:
        """What the process logs from now on, and each that comes after it."""
        self._level = level
        self._tell(level_message(level))

    def stop(self) -> None:
        """Let it end streams and drop what waits; it answers what it has begun."""
        self._tell(STOP)

    async def ask(self, request: Request, *, stream: bool, shared: bool) -> Answered | Kept:
        """The response to a request, ready to be passed on as it comes; a stream ends when its reader leaves."""
        if shared:
            name = request.scope["path"], request.scope["query_string"]
            return await self._recent.get(name, lambda: self._kept(request))
        answered = await self._ask(request, stream=stream)
        if request.scope["method"] != "GET":
            self._recent.clear()  # it may have published or deleted something
        return answered

    async def _ask(self, request: Request, *, stream: bool) -> Answered:
        reader, writer = await self._connected()
        passing = asyncio.create_task(_pass_on(request, writer))
        try:
            head = await take(reader)
            if head is None:
                raise _gone()
        except BaseException:
            passing.cancel()
            writer.close()
            raise
        if stream or request.header(_UNDETECTED) is None:
            passing.add_done_callback(lambda _: writer.close())
        return Answered(head.decode(ResponseHead), reader, writer, passing, self._pace)

    async def _kept(self, request: Request) -> Kept:
        """A whole response, which may be sent many times."""
        answered = await self._ask(request, stream=False)
        parts: list[bytes] = []

        async def gather(message: Any) -> None:
            if message["type"] == "http.response.body":
                parts.append(message["body"])

        await answered(request.scope, request.receive, gather)
        return Kept(answered.head, b"".join(parts), self._pace)

    async def _connected(self) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
        ours, theirs = socket.socketpair()
        try:
            with theirs:
                until = asyncio.get_running_loop().time() + _PATIENCE
                while not self._tell(ANSWER, theirs):
                    if asyncio.get_running_loop().time() > until:
                        raise _gone()
                    await asyncio.sleep(_LOOK_EVERY)
            return await asyncio.open_connection(sock=ours)
        except BaseException:
            ours.close()
            raise

    def _tell(self, message: bytes, *sockets: socket.socket) -> bool:
        """Send a message; returns whether a living process got it."""
        if self._control is None:
            return False
        try:
            socket.send_fds(self._control, [message], [each.fileno() for each in sockets])
        except OSError:  # it is gone, or has not read for long
            return False
        return True

    def _listen(self, control: socket.socket) -> None:
        """Read what the process sends by itself: how long estimates took, or its end."""
        with contextlib.suppress(BlockingIOError):
            received = b""
            with contextlib.suppress(ConnectionError):
                received = control.recv(SECONDS.size * 512)
            if not received:
                asyncio.get_running_loop().remove_reader(control)
            with contextlib.suppress(struct.error):
                for (seconds,) in SECONDS.iter_unpack(received):
                    self._noted(seconds)

    def _close(self) -> None:
        if self._control is not None:
            asyncio.get_running_loop().remove_reader(self._control)
            self._control.close()
            self._control = None


def _gone() -> Refusal:
    message = "the process that answers analysts has ended and another starts; nothing else is touched: ask again"
    return Refusal(503, "busy", message)


async def _pass_on(request: Request, writer: asyncio.StreamWriter) -> None:
    """The request with its body; over when the client has left, or the server thinks so."""
    scope = request.scope
    try:
        await put(
            writer,
            RequestHead(
                scope["method"],
                scope["scheme"],
                scope["path"],
                scope["query_string"],
                [(bytes(name), bytes(value)) for name, value in scope["headers"]],
            ),
        )
        while True:
            event = await request.receive()
            if event["type"] == "http.disconnect":
                return
            await put(writer, bytes(event.get("body", b"")), last=not event.get("more_body", False))
    except ConnectionError:
        return  # it has answered already, or is gone: the code that waits for the answer finds out


@final
class Answered:
    """An ASGI application that passes on what the process says."""

    def __init__(
        self,
        head: ResponseHead,
        reader: asyncio.StreamReader,
        writer: asyncio.StreamWriter,
        passing: asyncio.Task[None],
        pace: Pace,
    ):
        self.head = head
        self._reader, self._writer, self._passing, self._pace = reader, writer, passing, pace

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        try:
            await self._pace.turn(ANSWER_BYTES)
            await send({"type": "http.response.start", "status": self.head.status, "headers": self.head.headers})
            while True:
                part = await take(self._reader)
                if part is None and self._passing.done():
                    return  # the client has left
                if part is None:
                    # What was sent so far must not pass for a whole response.
                    raise ConnectionAbortedError("the process that answers analysts has ended")
                await self._pace.turn(len(part.content))
                await send({"type": "http.response.body", "body": part.content, "more_body": not part.last})
                if part.last:
                    return
        finally:
            self._passing.cancel()
            self._writer.close()


@final
class Kept:
    """An ASGI application that sends the same to everybody."""

    def __init__(self, head: ResponseHead, body: bytes, pace: Pace):
        self._head, self._body, self._pace = head, body, pace

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        await self._pace.turn(len(self._body))
        await send({"type": "http.response.start", "status": self._head.status, "headers": [*self._head.headers]})
        await send({"type": "http.response.body", "body": self._body, "more_body": False})

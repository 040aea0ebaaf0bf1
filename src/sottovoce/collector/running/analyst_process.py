"""The process that answers analysts: the same routes on a store of its own, behind the sockets that it is handed.

At a lower priority than the one that takes reports. It ends on SIGTERM, and when the process that started it is gone.

A request and its response pass between the two processes as frames on a socket, each after its length. Towards the
process that answers: the head of the request, then its body in parts. Back: the head of the response, then its body
likewise. Who closes the socket earlier has gone away.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
import os
import signal
import socket
import struct
from typing import Any, Final, NamedTuple

import msgspec
import uvloop

from sottovoce.collector.api.service import Service
from sottovoce.collector.app import create_app
from sottovoce.collector.settings import KEY_FILE, Settings
from sottovoce.collector.store import open_as_set
from sottovoce.core.errors import StoreError, StoreUnavailableError
from sottovoce.core.signing import SigningKey
from sottovoce.service.http.application import Application
from sottovoce.service.http.response import refused
from sottovoce.service.refusal import refusal_of
from sottovoce.service.running.log import LEVELS, configure_logging, set_level

__all__ = [
    "ANSWER",
    "NICENESS",
    "SECONDS",
    "STOP",
    "Frame",
    "RequestHead",
    "ResponseHead",
    "answer_analysts",
    "level_message",
    "put",
    "take",
]

_LENGTH: Final = 4
_LAST: Final = 1 << 31
"""A bit that is set in the length of a body's last part."""


class RequestHead(NamedTuple):
    """What an answer depends on besides the body; nothing of where the request came from."""

    method: str
    scheme: str
    path: str
    query_string: bytes
    headers: list[tuple[bytes, bytes]]


class ResponseHead(NamedTuple):
    """The first that is sent back."""

    status: int
    headers: list[tuple[bytes, bytes]]


class Frame(NamedTuple):
    """A head, or a part of a body."""

    content: bytes
    last: bool

    def decode(self, kind: Any) -> Any:
        """The head of that kind which was sent."""
        return msgspec.msgpack.decode(self.content, type=kind)


async def put(writer: asyncio.StreamWriter, content: RequestHead | ResponseHead | bytes, *, last: bool = False) -> None:
    """Send a head or a part, and wait while the other side has much to read."""
    frame = content if isinstance(content, bytes) else msgspec.msgpack.encode(content)
    writer.write((len(frame) | (_LAST if last else 0)).to_bytes(_LENGTH, "little") + frame)
    await writer.drain()


async def take(reader: asyncio.StreamReader) -> Frame | None:
    """The next frame; None when the other side has gone away."""
    try:
        head = int.from_bytes(await reader.readexactly(_LENGTH), "little")
        return Frame(await reader.readexactly(head & ~_LAST), bool(head & _LAST))
    except (asyncio.IncompleteReadError, ConnectionError):
        return None


ANSWER: Final = b"a"
"""Comes with a socket, on which there is a request."""

STOP: Final = b"s"
"""The service stops: end streams, begin nothing slow."""

SECONDS: Final = struct.Struct("<d")
"""The seconds of an estimate, sent to the process that has the metrics."""

NICENESS: Final = 5
"""Analysts get what devices leave of the processors."""

_PART_BYTES: Final = 2**16
_LONGEST_PAUSE: Final = 2.0

_log = logging.getLogger("sottovoce.serve")


def level_message(level: str) -> bytes:
    """What tells the process to log from this level on."""
    return str([*LEVELS].index(level)).encode()


def answer_analysts(settings: Settings, control: socket.socket) -> None:
    """The life of the process."""
    configure_logging(settings.log_level, settings.log_format)
    os.nice(NICENESS)
    with control:
        control.setblocking(False)
        uvloop.run(_Answering(settings, control).live())


class _Answering:
    def __init__(self, settings: Settings, control: socket.socket):
        self._settings = settings
        self._control = control
        self._over = asyncio.Event()
        self._tasks: set[asyncio.Task[None]] = set()

    async def live(self) -> None:
        loop = asyncio.get_running_loop()
        self._app: asyncio.Future[Application[Service]] = loop.create_future()
        for number in (signal.SIGTERM, signal.SIGINT):
            loop.add_signal_handler(number, self._over.set)
        loop.add_reader(self._control, self._listen)
        opening = asyncio.create_task(self._open())
        try:
            await self._over.wait()
        finally:
            loop.remove_reader(self._control)
            opening.cancel()
            for task in self._tasks:
                task.cancel()
            await asyncio.gather(opening, *self._tasks, return_exceptions=True)
            if self._app.done() and not self._app.cancelled():
                service = self._app.result().service
                await service.finish()
                service.store.close()

    async def _open(self) -> None:
        """Open the store, and try again while it cannot be: it was open in the process that started this one."""
        settings, pause, logged = self._settings, 0.05, False
        while True:
            try:
                store = await asyncio.to_thread(open_as_set, settings)
                break
            except StoreError as error:
                if not logged:
                    _log.warning("analysts wait for the database: %s", error)
                logged, pause = True, min(2 * pause, _LONGEST_PAUSE)
                await asyncio.sleep(pause)
        app = create_app(settings, store, SigningKey.load_or_create(settings.data / KEY_FILE))
        app.service.note_estimate = self._note
        self._app.set_result(app)

    def _note(self, seconds: float) -> None:
        with contextlib.suppress(OSError):
            self._control.send(SECONDS.pack(seconds))

    def _listen(self) -> None:
        try:
            message, descriptors, _, _ = socket.recv_fds(self._control, 1, 1)
        except BlockingIOError:
            return
        except ConnectionError:
            message, descriptors = b"", []
        if not message:
            self._over.set()  # the process that started this one is gone
        elif message == STOP and self._app.done():
            self._app.result().service.stop_working()
        elif message.isdigit():
            set_level([*LEVELS][int(message)])
        for descriptor in descriptors:
            task = asyncio.create_task(self._answer(socket.socket(fileno=descriptor)))
            self._tasks.add(task)
            task.add_done_callback(self._tasks.discard)

    async def _answer(self, connection: socket.socket) -> None:
        reader, writer = await asyncio.open_connection(sock=connection)
        try:
            head = await take(reader)
            if head is None:
                return
            with contextlib.suppress(ConnectionError):
                await self._respond(head.decode(RequestHead), reader, writer)
                # A socket that is closed with something unread on it takes with it what the other side has not read.
                while await reader.read(_PART_BYTES):
                    pass
        finally:
            writer.close()

    async def _respond(self, head: RequestHead, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        scope: dict[str, Any] = {"type": "http", **head._asdict()}
        receive = _Events(reader).receive

        async def send(message: Any) -> None:
            if message["type"] == "http.response.start":
                await put(writer, ResponseHead(message["status"], message["headers"]))
            else:
                await _put_parts(writer, message.get("body", b""), message.get("more_body", False))

        response = await self._response(scope, receive)
        await response(scope, receive, send)

    async def _response(self, scope: dict[str, Any], receive: Any) -> Any:
        if not self._app.done():
            try:
                async with asyncio.timeout(_LONGEST_PAUSE):
                    await asyncio.shield(self._app)
            except TimeoutError:
                return refused(refusal_of(StoreUnavailableError("the database is not open yet")))
        return await self._app.result().answer(scope, receive)


async def _put_parts(writer: asyncio.StreamWriter, body: bytes, more: bool) -> None:
    """A body in parts of bounded length, so that no other answer waits for long."""
    view = memoryview(body)
    for start in range(0, max(len(view), 1), _PART_BYTES):
        part = bytes(view[start : start + _PART_BYTES])
        await put(writer, part, last=not more and start + _PART_BYTES >= len(view))


class _Events:
    """A request's body as ASGI has it; then nothing, until the asker leaves."""

    def __init__(self, reader: asyncio.StreamReader):
        self._reader = reader
        self._more = True

    async def receive(self) -> dict[str, Any]:
        """The next part, or that the asker has left."""
        while (frame := await take(self._reader)) is not None:
            if self._more:
                self._more = not frame.last
                return {"type": "http.request", "body": frame.content, "more_body": self._more}
        return {"type": "http.disconnect"}

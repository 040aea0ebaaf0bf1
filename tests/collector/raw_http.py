"""Talking to the service byte by byte, many connections at a time, and remembering what it acknowledged."""

from __future__ import annotations

import asyncio
import json
import os
import socket
import time
from collections import Counter
from dataclasses import dataclass, field

import numpy as np

import sottovoce as sv
from collector.service import PATIENCE, Service, until
from sottovoce.formats.wire import BATCH_MEDIA_TYPE, encode_batch
from sottovoce.surveys.survey import Survey

DRINKS = Survey(sv.shares(["tea", "coffee", "water"]), epsilon=2.0, title="What do you drink?")
REPORT = DRINKS.randomize("tea")
PLACE = f"/v1/surveys/{DRINKS.id}/reports".encode()
WIDTH = DRINKS.mechanism.report_bytes

AT_ONCE = 48
"""Connections at a time."""

BODY_SECONDS = 1.0
"""What most services talked to here give a head and a body."""

ALIVE = [(200, b'{"status":"ok"}')]


@dataclass
class Said:
    """What goes over one connection: bytes, in pieces with a moment between them."""

    pieces: list[bytes]
    answers: int = 1
    """How many are waited for; fewer come where the service hangs up."""
    ids: list[bytes] = field(default_factory=list)
    """Of good reports on the way, one for each answer that may acknowledge it."""
    finish: bool = False
    """Whether the sending half is closed after the last piece."""
    reset: bool = False
    """Whether the connection is cut at once after the last piece."""


@dataclass
class Heard:
    """Statuses and bodies, in order."""

    answers: list[tuple[int, bytes]] = field(default_factory=list)


class Fuzz:
    """Sends things to a service, and remembers what was acknowledged."""

    def __init__(self, service: Service, seed: int, body_seconds: float = BODY_SECONDS):
        self.service = service
        self.body_seconds = body_seconds
        self.rng = np.random.default_rng(seed)
        host, port = service.url.removeprefix("http://").split(":")
        self.place = (host, int(port))
        self.acknowledged: set[bytes] = set()
        self.doubtful: set[bytes] = set()
        """Good reports of connections that were cut: stored or not, nobody was told."""
        self.statuses: Counter[int] = Counter()

    # --- making requests --------------------------------------------------------------------

    def batch(self) -> tuple[bytes, bytes]:
        """A good body of one report, and its id."""
        report_id = self.rng.bytes(16)
        return encode_batch(DRINKS.id, [(report_id, REPORT)]), report_id

    def post(self, *lines: bytes, body: bytes, kind: bytes = BATCH_MEDIA_TYPE.encode()) -> bytes:
        """A POST of reports with exactly these lines beside Host and Content-Type."""
        return request(b"POST", PLACE, b"Content-Type: " + kind, *lines, body=body)

    def pick(self, *choices: bytes) -> bytes:
        return choices[int(self.rng.integers(len(choices)))]

    # --- sending them -----------------------------------------------------------------------

    def send(self, all_said: list[Said]) -> list[Heard]:
        """Everything, many connections at a time, while somebody else asks whether the service lives."""
        return asyncio.run(self._send(all_said))

    async def _send(self, all_said: list[Said]) -> list[Heard]:
        room = asyncio.Semaphore(AT_ONCE)

        async def one(said: Said) -> Heard:
            async with room, asyncio.timeout(PATIENCE):
                return await self._talk(said)

        done = asyncio.Event()
        living = asyncio.create_task(self._watch(done))
        heard = await asyncio.gather(*(one(said) for said in all_said))
        done.set()
        assert await living > 0
        for said, found in zip(all_said, heard, strict=True):
            self._judge(said, found)
        return heard

    def _judge(self, said: Said, heard: Heard) -> None:
        for position, (status, body) in enumerate(heard.answers):
            self.statuses[status] += 1
            assert 200 <= status < 500, (said, status, body)
            if status == 200 and body.startswith(b'{"accepted"'):
                assert json.loads(body) == {"accepted": 1, "refused": []}, said
                self.acknowledged.add(said.ids[position])
        if len(heard.answers) < len(said.ids):
            self.doubtful.update(said.ids[len(heard.answers) :])

    async def _watch(self, done: asyncio.Event) -> int:
        """How often the service said that it lives, until all is done and it has said so once more.

        It may hang up on whoever dawdles. On a machine that stands still for a moment that is us, after it took the
        connection and before it read what we ask; so no answer is excused then, and only then.
        """
        times, answered = 0, False
        async with asyncio.timeout(PATIENCE) as patience:
            while not (done.is_set() and answered):
                began = time.monotonic()
                answers = (await self._talk(Said([request(b"GET", b"/healthz")]))).answers
                took, answered = time.monotonic() - began, answers == ALIVE
                assert answered or (not answers and took >= self.body_seconds), (answers, took)
                if answered:
                    times += 1
                    patience.reschedule(asyncio.get_running_loop().time() + PATIENCE)
                await asyncio.sleep(0.01)
        return times

    async def _connect(self) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
        """A fresh connection: one that grew old before its first byte, the service is about to close."""
        while True:
            began = time.monotonic()
            reader, writer = await asyncio.open_connection(*self.place)
            if time.monotonic() - began < self.body_seconds / 2:
                return reader, writer
            writer.close()

    async def _talk(self, said: Said) -> Heard:
        heard = Heard()
        reader, writer = await self._connect()
        try:
            for piece in said.pieces:
                if piece is not said.pieces[0]:
                    await asyncio.sleep(0.05)
                writer.write(piece)
                await writer.drain()
            if said.finish:
                writer.write_eof()
            if said.reset:
                raw: socket.socket = writer.get_extra_info("socket")
                raw.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, b"\1\0\0\0\0\0\0\0")
                return heard
            while len(heard.answers) < said.answers:
                heard.answers.append(await _answer(reader))
        except (OSError, asyncio.IncompleteReadError):
            pass  # the service hung up
        finally:
            writer.close()
        return heard

    # --- in the end -------------------------------------------------------------------------

    def settle(self) -> None:
        """Exactly what was acknowledged is stored, nothing failed inside, and no connection is left."""
        counted = self.service.counted(DRINKS, WIDTH)
        assert set(counted.values()) <= {1}
        assert self.acknowledged <= counted.keys() <= self.acknowledged | self.doubtful
        assert self.service.process.poll() is None
        log = self.service.log.read_text()
        assert not any(word in log for word in ("Error", "error", "Traceback", "panic")), log
        until(lambda: sockets(self.service.process.pid) < 12, "the connections are closed")


def request(method: bytes, target: bytes, *lines: bytes, body: bytes = b"", version: bytes = b"HTTP/1.1") -> bytes:
    return b"\r\n".join((method + b" " + target + b" " + version, b"Host: here", *lines, b"", body))


async def _answer(reader: asyncio.StreamReader) -> tuple[int, bytes]:
    while True:
        head = (await reader.readuntil(b"\r\n\r\n")).split(b"\r\n")
        status = int(head[0].split(b" ")[1])
        headers = {name.lower(): value.strip() for name, _, value in (line.partition(b":") for line in head[1:])}
        if status >= 200:
            return status, await _body(reader, int(headers.get(b"content-length", b"0")))


async def _body(reader: asyncio.StreamReader, length: int) -> bytes:
    try:
        return await reader.readexactly(length)
    except asyncio.IncompleteReadError as error:
        return error.partial  # an answer to HEAD tells a length, and has no body


def sockets(pid: int) -> int:
    found = 0
    for entry in os.scandir(f"/proc/{pid}/fd"):
        try:
            found += os.readlink(entry.path).startswith("socket:")
        except FileNotFoundError:  # closed meanwhile
            continue
    return found

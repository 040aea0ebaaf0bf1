"""A load generator for one address: one thread, epoll, raw sockets, HTTP/1.1 with keep-alive, requests made beforehand.

Run by `collector_servers` in a process of its own: an `Order` as JSON on standard input, an `Outcome` as JSON on
standard output. Whole blocks of requests are written at once and only their report ids are drawn anew, so that
a request costs little more than its system calls.
"""

from __future__ import annotations

import base64
import os
import select
import socket
import sys
from collections import Counter, deque
from collections.abc import Iterator
from pathlib import Path
from time import perf_counter, process_time

import msgspec
import numpy as np
from numpy.typing import NDArray

__all__ = ["JSON_TYPE", "Order", "Outcome", "processor_seconds"]

JSON_TYPE = "application/json"

_BLOCK_BYTES = 2**22
"""Requests are written in blocks of about so many bytes."""

_STALLED = 30.0
"""Seconds without any answer after which the run is given up."""


class Order(msgspec.Struct, frozen=True, kw_only=True):
    """What to send, and until when: `requests` or `seconds`, whichever ends first."""

    host: str
    port: int
    path: str
    media_type: str
    """JSON_TYPE for the baseline's form; else a body of header and rows of id and report."""
    header: str = ""
    """What a body begins with, in hexadecimal."""
    reports: list[str]
    """Reports in hexadecimal, of one length, used over and over; each with a fresh id."""
    batch: int
    connections: int
    requests: int
    seconds: float
    rate: float = 0.0
    """Requests a second that arrive whatever the server does; 0 for a new one whenever one is answered."""
    seed: int = 1
    mark_every: int = 0
    """Requests between two marks of the clock; 0 for none."""
    watched: list[int] = []
    """Processes whose processor time is noted at the marks."""


class Outcome(msgspec.Struct, frozen=True, kw_only=True):
    """What came back. Times in seconds; latencies of an open loop count from when a request should have left."""

    answered: int
    refused: int
    statuses: dict[str, int]
    seconds: float
    core_share: float
    """Processor time of the generator, as a part of one core."""
    p50: float
    p99: float
    worst: float
    marks: list[float]
    cpu_marks: list[float]
    """Processor time of the watched processes until each mark, since some moment before the first."""

    @property
    def rate(self) -> float:
        """Requests answered with 200, a second."""
        return self.answered / self.seconds


class _Requests:
    """Requests without end, each with ids of its own."""

    def __init__(self, order: Order):
        self._rng = np.random.default_rng(order.seed)
        self._order = order
        self._json = order.media_type == JSON_TYPE
        template, self._ids_at = self._template()
        self._length = len(template)
        self._many = max(1, _BLOCK_BYTES // self._length)
        self._block = np.tile(np.frombuffer(template, dtype=np.uint8), (self._many, 1))
        self._put_reports()

    def __iter__(self) -> Iterator[memoryview]:
        while True:
            self._put_ids()
            # A block of its own each time: what a full socket has not taken yet must stay as it is.
            view = memoryview(self._block.tobytes())
            for at in range(0, len(view), self._length):
                yield view[at : at + self._length]

    def _template(self) -> tuple[bytes, list[int]]:
        order = self._order
        rows = [(bytes(16), bytes.fromhex(report)) for report in (order.reports * order.batch)[: order.batch]]
        if self._json:
            told = [{"id": name.hex(), "report": base64.urlsafe_b64encode(report).decode()} for name, report in rows]
            body = msgspec.json.encode(told[0] if order.batch == 1 else {"reports": told})
            mark = b'"id":"'
        else:
            body = bytes.fromhex(order.header) + b"".join(name + report for name, report in rows)
            mark = b""
        head = (
            f"POST {order.path} HTTP/1.1\r\nHost: {order.host}:{order.port}\r\nContent-Type: {order.media_type}\r\n"
            f"Content-Length: {len(body)}\r\n\r\n"
        ).encode()
        whole = head + body
        if not self._json:
            first, width = len(head) + len(order.header) // 2, 16 + len(order.reports[0]) // 2
            return whole, [first + width * i for i in range(order.batch)]
        places, at = [], 0
        while (at := whole.find(mark, at)) >= 0:
            at += len(mark)
            places.append(at)
        return whole, places

    def _put_reports(self) -> None:
        if self._json:
            return
        reports = np.array([list(bytes.fromhex(report)) for report in self._order.reports], dtype=np.uint8)
        for at in self._ids_at:
            chosen = self._rng.integers(len(reports), size=self._many)
            self._block[:, at + 16 : at + 16 + reports.shape[1]] = reports[chosen]

    def _put_ids(self) -> None:
        n = len(self._ids_at)
        ids = np.frombuffer(self._rng.bytes(16 * n * self._many), dtype=np.uint8).reshape(self._many, n, 16)
        if self._json:
            ids = _hexadecimal(ids)
        for i, at in enumerate(self._ids_at):
            self._block[:, at : at + ids.shape[2]] = ids[:, i]


def _hexadecimal(ids: NDArray[np.uint8]) -> NDArray[np.uint8]:
    letters = np.frombuffer(b"0123456789abcdef", dtype=np.uint8)
    both = np.stack([letters[ids >> 4], letters[ids & 15]], axis=-1)
    return both.reshape(*ids.shape[:2], 32)


class _Connection:
    __slots__ = ("answer", "due", "left", "socket")

    def __init__(self, order: Order):
        self.socket = socket.create_connection((order.host, order.port), timeout=_STALLED)
        self.socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self.socket.setblocking(False)
        self.due = 0.0
        self.answer = b""
        self.left: memoryview | None = None


class _Load:
    """One run."""

    def __init__(self, order: Order):
        self._order = order
        self._requests = iter(_Requests(order))
        self._poll = select.epoll()
        self._connections = {}
        for _ in range(order.connections):
            connection = _Connection(order)
            self._connections[connection.socket.fileno()] = connection
            self._poll.register(connection.socket.fileno(), select.EPOLLIN)
        self._free = deque(self._connections.values())
        self._statuses: Counter[str] = Counter()
        self._waits: list[float] = []
        self._marks: list[float] = []
        self._cpu_marks: list[float] = []
        self._sent = 0

    def run(self) -> Outcome:
        order = self._order
        next(self._requests)  # the first block is written before the clock starts
        began, spent = perf_counter(), process_time()
        self._began = began
        last = began
        while True:
            now = perf_counter()
            in_flight = len(self._connections) - len(self._free)
            over = now - began >= order.seconds or self._sent >= order.requests
            if over and not in_flight:
                break
            if now - last > _STALLED:
                raise TimeoutError(f"no answer for {_STALLED:g} seconds")
            patience = 1.0 if over else self._send_due(now)
            for number, event in self._poll.poll(patience):
                last = now
                self._served(self._connections[number], event)
        ended, used = perf_counter(), process_time()
        waits = np.array(self._waits or [float("nan")])
        answered = self._statuses["200"]
        return Outcome(
            answered=answered,
            refused=sum(self._statuses.values()) - answered,
            statuses=dict(self._statuses),
            seconds=ended - began,
            core_share=(used - spent) / (ended - began),
            p50=float(np.quantile(waits, 0.5)),
            p99=float(np.quantile(waits, 0.99)),
            worst=float(waits.max()),
            marks=self._marks,
            cpu_marks=self._cpu_marks,
        )

    def _send_due(self, now: float) -> float:
        """Send what must leave by now over free connections; how long until more must."""
        order = self._order
        if not order.rate:
            while self._free and self._sent < order.requests:
                self._send(self._free.popleft(), now)
            return 1.0
        due = self._began + self._sent / order.rate
        while due <= now and self._free and self._sent < order.requests:
            self._send(self._free.popleft(), due)
            due = self._began + self._sent / order.rate
        return max(0.0, due - now) if self._free else 1.0

    def _send(self, connection: _Connection, due: float) -> None:
        connection.due = due
        self._sent += 1
        self._push(connection, next(self._requests))

    def _push(self, connection: _Connection, content: memoryview) -> None:
        try:
            sent = connection.socket.send(content)
        except BlockingIOError:
            sent = 0
        whole = sent == len(content)
        if not whole or connection.left is not None:
            connection.left = None if whole else content[sent:]
            wanted = select.EPOLLIN if whole else select.EPOLLIN | select.EPOLLOUT
            self._poll.modify(connection.socket.fileno(), wanted)

    def _served(self, connection: _Connection, event: int) -> None:
        if event & select.EPOLLOUT and connection.left is not None:
            self._push(connection, connection.left)
        if not event & ~select.EPOLLOUT:
            return
        got = connection.socket.recv(65536)
        if not got:
            raise ConnectionError("the server closed a connection")
        answer = connection.answer + got if connection.answer else got
        if not _complete(answer):
            connection.answer = answer
            return
        connection.answer = b""
        now = perf_counter()
        self._statuses[answer[9:12].decode()] += 1
        self._waits.append(now - connection.due)
        every = self._order.mark_every
        if every and len(self._waits) % every == 0:
            self._marks.append(now - self._began)
            self._cpu_marks.append(sum(processor_seconds(process) for process in self._order.watched))
        over = self._sent >= self._order.requests or now - self._began >= self._order.seconds
        if self._order.rate or over:
            self._free.append(connection)
        else:
            self._send(connection, now)


def processor_seconds(process: int) -> float:
    """Processor time of a process so far."""
    fields = Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def _complete(answer: bytes) -> bool:
    end = answer.find(b"\r\n\r\n")
    if end < 0:
        return False
    head = answer[:end].lower()
    at = head.find(b"content-length:")
    if at < 0:
        raise ValueError("an answer without a length")
    return len(answer) - end - 4 >= int(head[at + 15 :].partition(b"\r\n")[0])


if __name__ == "__main__":
    ordered = msgspec.json.decode(sys.stdin.buffer.read(), type=Order)
    sys.stdout.buffer.write(msgspec.json.encode(_Load(ordered).run()))

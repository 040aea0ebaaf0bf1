"""A collector that never comes to an end: whatever it trickles, and wherever, a request has one deadline."""

from __future__ import annotations

import contextlib
import socket
import threading
import time
from collections.abc import Callable, Iterator
from typing import Any

import pytest

import sottovoce as sv
from device.conftest import MakeDevice
from device.played import Played, refusal
from sottovoce.core.errors import ServiceError
from sottovoce.device import CollectorClient, Http, Patience, connections
from sottovoce.device.connections import left, within
from sottovoce.surveys.survey import Survey

OK = b"HTTP/1.1 200 OK\r\n"
CHUNKED = OK + b"Transfer-Encoding: chunked\r\n\r\n"

ENDLESS = {
    "interim answers": (b"", b"HTTP/1.1 100 Continue\r\n\r\n"),
    "status line": (b"", b"H"),
    "header": (OK + b"A: ", b"a"),
    "headers of an interim answer": (b"HTTP/1.1 100 Continue\r\n", b"a: b\r\n"),
    "body": (OK + b"Content-Length: 100000\r\n\r\n", b"a"),
    "body of no length": (OK + b"\r\n", b"a"),
    "chunks": (CHUNKED, b"1\r\na\r\n"),
    "chunk's size": (CHUNKED + b"2;", b"a"),
    "trailers": (CHUNKED + b"2\r\n{}\r\n0\r\n", b"x: y\r\n"),
}


@contextlib.contextmanager
def trickling(first: bytes, then: bytes) -> Iterator[str]:
    """A server that sends something every hundredth of a second, until nobody listens any more."""
    over, threads = threading.Event(), []

    def serve(connection: socket.socket) -> None:
        with connection, contextlib.suppress(OSError):
            connection.recv(2**16)
            connection.sendall(first)
            while not over.wait(0.01):
                connection.sendall(then)

    def accept() -> None:
        with contextlib.suppress(OSError):
            while True:
                threads.append(threading.Thread(target=serve, args=(listener.accept()[0],)))
                threads[-1].start()

    with socket.create_server(("127.0.0.1", 0)) as listener:
        threads.append(threading.Thread(target=accept))
        threads[0].start()
        try:
            yield f"http://127.0.0.1:{listener.getsockname()[1]}"
        finally:
            over.set()
            listener.shutdown(socket.SHUT_RDWR)
            for thread in threads:
                thread.join()


@pytest.mark.parametrize(("first", "then"), ENDLESS.values(), ids=ENDLESS.keys())
def test_every_way_to_trickle(first: bytes, then: bytes) -> None:
    """It comes to an end at all, and not by the timeout, which no single wait reaches."""
    with trickling(first, then) as url, pytest.raises(ServiceError, match="too slow") as info:
        Http(url, timeout=60.0, seconds=0.2).get("/x")
    assert (info.value.code, info.value.status) == ("too_slow", 0)


def test_the_earliest_deadline_counts() -> None:
    with trickling(*ENDLESS["header"]) as url, pytest.raises(ServiceError, match="too slow"), within(0.2):
        Http(url, timeout=60.0, seconds=3600.0).get("/x")
    with within(60.0):
        with within(3600.0):
            assert left() <= 60.0
        with within(1.0):
            assert left() <= 1.0
        assert left() > 1.0


def test_a_time_that_is_over_asks_nobody(played: Played) -> None:
    with pytest.raises(ServiceError, match="too slow"), within(0.0):
        Http(played.url).get("/v1/surveys")
    assert played.requests == []
    assert Http(played.url).get("/v1/surveys") == {"surveys": []}


def test_a_connection_is_used_again_with_a_deadline_of_its_own(played: Played) -> None:
    http = Http(played.url, timeout=60.0, seconds=60.0)
    opened = len(played._connections)
    with within(5.0):
        http.get("/v1/surveys")
    assert http.get("/v1/surveys") == {"surveys": []}
    assert len(played._connections) == opened + 1
    http.close()


def test_addresses_without_number(monkeypatch: pytest.MonkeyPatch) -> None:
    """A name may have thousands of addresses: only the first ones are tried."""
    tried: list[Any] = []
    real = socket.socket

    class Silent(real):
        def connect(self, address: Any) -> None:
            tried.append(address)
            raise TimeoutError

    found = [(socket.AF_INET, socket.SOCK_STREAM, 6, "", (f"192.0.2.{i % 256}", 443)) for i in range(4000)]
    monkeypatch.setattr(connections.socket, "getaddrinfo", lambda *_, **__: found)
    monkeypatch.setattr(connections.socket, "socket", Silent)
    with pytest.raises(ServiceError, match="cannot be reached"):
        Http("https://stats.example.org").get("/x")
    assert 1 <= len(tried) <= 8


def test_who_was_too_slow_is_not_asked_again_at_once() -> None:
    asked: list[int] = []

    def ask() -> None:
        asked.append(1)
        Http(url, timeout=60.0, seconds=0.1).get("/x")

    with trickling(*ENDLESS["status line"]) as url, pytest.raises(ServiceError, match="too slow"):
        Patience(attempts=4, sleep=lambda _: None).ask(ask)
    assert len(asked) == 1


def test_attempts_do_not_outlast_a_call(played: Played, survey: Survey, device: MakeDevice) -> None:
    """Told to wait, again and again: all waits of one call together stay within its time."""
    slept: list[float] = []
    clock = time.monotonic
    played.twists["GET", survey.id] = lambda _: refusal(503, "busy", Retry_After="25")
    patience = Patience(attempts=1000, sleep=slept.append)
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(time, "monotonic", lambda: clock() + sum(slept))
        with pytest.raises(ServiceError, match="no: busy"):
            device(patience=patience, seconds=100.0).answer(played.url, survey.id, 7)
    assert 1 <= len(slept) <= 4
    assert sum(slept) < 100.0


@pytest.mark.parametrize("call", ["answer", "survey", "flush", "move"])
def test_every_call_of_a_device_has_a_deadline(
    played: Played, survey: Survey, device: MakeDevice, monkeypatch: pytest.MonkeyPatch, call: str
) -> None:
    mine = device(seconds=50.0, patience=Patience(attempts=1))
    if call in ("flush", "move"):
        mine.answer(played.url, survey.id, 7, send=False)
    seen: list[float] = []

    def note(name: str) -> Callable[..., Any]:
        real = getattr(CollectorClient, name)
        return lambda *given: (seen.append(left()), real(*given))[1]

    for name in ("survey", "send"):
        monkeypatch.setattr(CollectorClient, name, note(name))
    {
        "answer": lambda: mine.answer(played.url, survey.id, 7),
        "survey": lambda: mine.survey(played.url, survey.id),
        "flush": mine.flush,
        "move": lambda: mine.move(survey.id, played.url),
    }[call]()
    assert len(seen) == (2 if call == "answer" else 1)
    assert max(seen) <= 50.0


def test_a_collector_too_slow_to_take_a_report(played: Played, device: MakeDevice) -> None:
    """The answer stays, unsent, as with every other failure."""
    survey = sv.Survey(sv.shares(5), epsilon=1.0)
    played.publish(survey)
    late: list[float] = []
    clock = time.monotonic

    def trickle(handler: Any) -> None:
        late.append(3600.0)
        while True:
            handler.wfile.write(b"H")
            time.sleep(0.01)

    played.twists["POST", "/reports"] = trickle
    mine = device(seconds=600.0, timeout=60.0)
    with pytest.MonkeyPatch.context() as patched:
        # An hour goes by with the upload, and none with what comes before it, however slow this machine is.
        patched.setattr(time, "monotonic", lambda: clock() + sum(late))
        receipt = mine.answer(played.url, survey.id, 1)
    assert receipt.state == "unsent"
    assert "too slow" in receipt.problem

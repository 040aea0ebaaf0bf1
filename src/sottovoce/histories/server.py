"""The collector and the relay of an audit on two ports of this machine, one connection after the other."""

from __future__ import annotations

import contextlib
import socket
import threading
from collections.abc import Callable, Mapping
from typing import Final, Self, TypeAlias, final

from sottovoce.histories.world import Reply

__all__ = ["Answer", "LoopbackServer"]

Answer: TypeAlias = Callable[[str, str, str, Mapping[str, str], bytes], Reply]
"""Side, method, path, headers and body of a request; gives the response."""

_MOST: Final = 2**20
_SECONDS: Final = 10.0


@final
class LoopbackServer:
    """Two listening sockets; `answer` may be replaced between requests."""

    def __init__(self) -> None:
        self.answer: Answer = lambda *_: None
        self._sockets = {side: socket.create_server(("127.0.0.1", 0)) for side in ("collector", "relay")}
        self._threads = [
            threading.Thread(target=self._serve, args=(side, listening), daemon=True)
            for side, listening in self._sockets.items()
        ]

    def __enter__(self) -> Self:
        for thread in self._threads:
            thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        for listening in self._sockets.values():
            with contextlib.suppress(OSError):
                listening.shutdown(socket.SHUT_RDWR)  # wakes the thread that waits for a connection
            listening.close()
        for thread in self._threads:
            thread.join()

    def url(self, side: str) -> str:
        """The address of the collector or the relay."""
        return f"http://127.0.0.1:{self._sockets[side].getsockname()[1]}"

    def _serve(self, side: str, listening: socket.socket) -> None:
        while True:
            try:
                connection, _ = listening.accept()
            except OSError:
                return
            with connection, contextlib.suppress(OSError, ValueError):
                connection.settimeout(_SECONDS)
                self._handle(side, connection)

    def _handle(self, side: str, connection: socket.socket) -> None:
        received = b""
        while b"\r\n\r\n" not in received and len(received) < _MOST:
            received += _more(connection)
        head, _, body = received.partition(b"\r\n\r\n")
        first, *lines = head.decode("latin-1").split("\r\n")
        method, path, _ = first.split(" ")
        headers = {name.strip().lower(): text.strip() for name, _, text in (line.partition(":") for line in lines)}
        while len(body) < int(headers.get("content-length", 0)):
            body += _more(connection)
        reply = self.answer(side, method, path, headers, body)
        if reply is not None:
            status, content = reply
            start = f"HTTP/1.1 {status} X\r\nContent-Type: application/json\r\nConnection: close\r\n"
            connection.sendall(f"{start}Content-Length: {len(content)}\r\n\r\n".encode() + content)


def _more(connection: socket.socket) -> bytes:
    received = connection.recv(2**16)
    if not received:
        raise OSError("the connection was closed")
    return received

"""A TCP proxy that records whatever passes, and from which address."""

from __future__ import annotations

import contextlib
import socket
import threading
from collections.abc import Iterator
from urllib.parse import urlsplit


class Recorder:
    """Listens on one address, and passes everything on to another from an address of its choice."""

    def __init__(self, to: str, *, host: str = "127.0.0.1", source: str = "127.0.0.1") -> None:
        parts = urlsplit(to)
        self._to = (str(parts.hostname), int(parts.port or 80))
        self._source = source
        self._listener = socket.create_server((host, 0))
        self.url = f"http://{host}:{self._listener.getsockname()[1]}"
        self.peers: set[str] = set()
        self.requests, self.responses = bytearray(), bytearray()
        threading.Thread(target=self._accept, daemon=True).start()

    def _accept(self) -> None:
        with contextlib.suppress(OSError):
            while True:
                near, (address, *_) = self._listener.accept()
                self.peers.add(address)
                threading.Thread(target=self._join, args=(near,), daemon=True).start()

    def _join(self, near: socket.socket) -> None:
        with near, socket.create_connection(self._to, source_address=(self._source, 0)) as far:
            back = threading.Thread(target=_pass, args=(far, near, self.responses), daemon=True)
            back.start()
            _pass(near, far, self.requests)
            back.join()

    def close(self) -> None:
        self._listener.close()


def _pass(one: socket.socket, other: socket.socket, kept: bytearray) -> None:
    with contextlib.suppress(OSError):
        while part := one.recv(2**16):
            kept += part
            other.sendall(part)
    with contextlib.suppress(OSError):
        other.shutdown(socket.SHUT_WR)


@contextlib.contextmanager
def recording(to: str, **given: str) -> Iterator[Recorder]:
    recorder = Recorder(to, **given)
    try:
        yield recorder
    finally:
        recorder.close()

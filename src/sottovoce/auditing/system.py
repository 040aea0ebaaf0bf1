"""The source of a device that is given none, as it is deployed: played by an audit, or watched while it draws."""

from __future__ import annotations

import sys
import time
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from threading import RLock, get_ident
from types import SimpleNamespace
from typing import Any, Final

from sottovoce.randomness import Source
from sottovoce.randomness import source as randomness

__all__ = ["MOST_WATCHED", "ReadTape", "play_source", "time_left", "watch_system"]

MOST_WATCHED: Final = 128
"""Random values whose reports are drawn from the system and drawn again from the bytes that were read."""

_LEAST_WATCHED: Final = 32
_SECONDS: Final = 1.0

_replacing = RLock()


@contextmanager
def play_source(survey: object, source: Source) -> Iterator[None]:
    """Let `survey.randomize(value)` draw from this one; other threads draw from the system."""
    names, auditor = vars(sys.modules[type(survey).__module__]), get_ident()
    with _replacing:
        system = names["os_source"]
        names["os_source"] = lambda: source if get_ident() == auditor else system()
        try:
            yield
        finally:
            names["os_source"] = system


@contextmanager
def watch_system() -> Iterator[list[bytes]]:
    """The operating system's random bytes that this thread draws from; nothing is replaced but who reads them.

    Examples
    --------
    >>> with watch_system() as read:
    ...     drawn = randomness.os_source().below(256)
    >>> read == [bytes([drawn])]
    True
    """
    names, auditor, read = vars(randomness), get_ident(), list[bytes]()
    with _replacing:
        system = names["os"]

        def urandom(n: int) -> bytes:
            piece: bytes = system.urandom(n)
            if get_ident() == auditor:
                read.append(piece)
            return piece

        names["os"] = SimpleNamespace(urandom=urandom)
        try:
            yield read
        finally:
            names["os"] = system


class ReadTape:
    """Random bytes that were read before, once more, and how many of them are left.

    Examples
    --------
    >>> tape = ReadTape(b"abc")
    >>> tape.read(1), tape.rest
    (b'a', 2)
    """

    def __init__(self, read: bytes) -> None:
        self._bytes, self.rest = read, len(read)

    def read(self, n: int) -> bytes:
        """The next n bytes."""
        if n > self.rest:
            raise EOFError("the random bytes that were read are used up")
        self.rest -= n
        at = len(self._bytes) - self.rest
        return self._bytes[at - n : at]


def time_left(people: Iterable[Any]) -> Iterator[Any]:
    """People until the time is used up; some at least."""
    ends = time.process_time() + _SECONDS
    for index, person in enumerate(people):
        if index >= _LEAST_WATCHED and time.process_time() > ends:
            return
        yield person

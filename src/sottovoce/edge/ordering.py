"""Records in an order of their own, whatever order they came in: an external merge sort in bounded memory.

A record begins with the id of its report, random bytes that depend on nothing else. Sorted by them, a file is a
function of the *set* of its records: two inputs that differ in the order of their rows give files of the same law, and
one person's value changes the law of the file by what it changes the law of their own report, a factor of at most
e^epsilon (docs/pipelines.md). What waits on the disk is what goes out, never a value, in files without a name, which
vanish with the process.
"""

from __future__ import annotations

import heapq
import struct
import tempfile
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import IO, Final, final

from sottovoce.core.errors import ReportError
from sottovoce.core.files import write_errors

__all__ = ["DEFAULT_MEMORY", "SortedRecords"]

DEFAULT_MEMORY: Final = 2**28
"""Bytes of records in memory, unless told otherwise."""

_OVERHEAD: Final = 64
"""Bytes that Python takes for a record besides its content, about."""

_FAN_IN: Final = 64
"""Sorted files that are merged into one: as many are open at a time for each level of merging."""

_LENGTH: Final = struct.Struct("<I")


@final
class SortedRecords:
    """Takes records and gives them back sorted.

    Parameters
    ----------
    folder
        Where records wait that do not fit into memory.
    memory_bytes
        How much of them is held in memory, about.

    Examples
    --------
    >>> records = SortedRecords(Path("."), memory_bytes=100)
    >>> for record in (b"c", b"a", b"d", b"b"):
    ...     records.add(record)
    >>> list(records.drain())
    [b'a', b'b', b'c', b'd']
    """

    def __init__(self, folder: Path, memory_bytes: int = DEFAULT_MEMORY) -> None:
        self._folder, self._memory = folder, memory_bytes
        self._held: list[bytes] = []
        self._bytes = 0
        self._levels: list[list[IO[bytes]]] = [[]]
        """Sorted files; one of a level holds all of `_FAN_IN` files of the level before."""

    def add(self, record: bytes) -> None:
        """Take one record."""
        self._held.append(record)
        self._bytes += len(record) + _OVERHEAD
        if self._bytes > self._memory:
            self._spill()

    def drain(self) -> Iterator[bytes]:
        """All records in order; they are gone afterwards."""
        self._held.sort()
        files = [file for level in self._levels for file in level]
        yield from heapq.merge(*map(_read, files), self._held)
        for file in files:
            file.close()
        self._held, self._levels, self._bytes = [], [[]], 0

    def _spill(self) -> None:
        self._held.sort()
        self._levels[0].append(self._written(self._held))
        self._held, self._bytes = [], 0
        for depth, level in enumerate(self._levels):
            if len(level) < _FAN_IN:
                return
            if depth + 1 == len(self._levels):
                self._levels.append([])
            self._levels[depth + 1].append(self._written(heapq.merge(*map(_read, level))))
            for file in level:
                file.close()
            level.clear()

    def _written(self, records: Iterable[bytes]) -> IO[bytes]:
        """A nameless file of these records, for its owner's eyes only."""
        remedy = "make room there, or write the output to another disk (with standard output: set TMPDIR)"
        with write_errors(f"a temporary file in {str(self._folder)!r}", ReportError, remedy):
            file = tempfile.TemporaryFile(dir=self._folder)  # noqa: SIM115 - open until it is read
            for record in records:
                file.write(_LENGTH.pack(len(record)) + record)
            file.flush()
        return file


def _read(file: IO[bytes]) -> Iterator[bytes]:
    file.seek(0)
    while header := file.read(_LENGTH.size):
        yield file.read(_LENGTH.unpack(header)[0])

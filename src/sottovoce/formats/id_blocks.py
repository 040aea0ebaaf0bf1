"""Distinct report ids in increasing order in a file, in blocks; memory keeps the first id of each.

An id that may be there costs one read of 4 KiB; files are merged piece by piece, in memory that does not depend on how
long they are or on what the ids look like.
"""

from __future__ import annotations

import errno
import zlib
from collections.abc import Iterable, Iterator, Sequence
from io import FileIO
from typing import Final, NamedTuple, final

import numpy as np
from numpy.typing import NDArray

from sottovoce.core.errors import ReportError
from sottovoce.formats.report_ids import IdRun, Places, find_ids, merge_runs
from sottovoce.formats.wire import REPORT_ID_BYTES

__all__ = ["IdBlocks", "WrittenIds", "block_count", "merged_pieces", "write_ids"]

_BLOCK: Final = 256
"""Ids that are read together; the first of each is kept in memory."""

_BLOCKS_AT_ONCE: Final = 2048
"""Most blocks in memory while ids are looked for: 8 MiB."""

_PIECE_BLOCKS: Final = 128
"""Blocks of one file in memory while files are merged: half a MiB."""


class WrittenIds(NamedTuple):
    """The index of a file of ids: what is needed to find one of them."""

    n: int
    fences: IdRun
    """The first id of every block."""
    checksums: NDArray[np.uint32]
    """Checksum of every block; empty unless the caller asked for them."""


def block_count(n: int) -> int:
    """Blocks that `n` ids take."""
    return -(-n // _BLOCK)


def write_ids(file: FileIO, pieces: Iterable[IdRun], *, checked: bool = False) -> WrittenIds:
    """Write ids, a stretch at a time: at least one in all, each greater than the one before."""
    n, fences, sums = 0, list[IdRun](), _Checksums()
    for piece in pieces:
        body = np.stack(piece, axis=1).data.cast("B")
        rest = body
        while rest:
            rest = rest[file.write(rest) :]
        if checked:
            sums.add(body)
        # Copies: a view would keep the whole piece in memory.
        fences.append(IdRun(*(words[-n % _BLOCK :: _BLOCK].copy() for words in piece)))
        n += len(piece.high)
    high, low = (np.concatenate(words) for words in zip(*fences, strict=True))
    return WrittenIds(n, IdRun(high, low), sums.all())


class _Checksums:
    """CRC-32 of every block of what is written, in stretches of any length."""

    def __init__(self) -> None:
        self._done, self._sum, self._held = list[int](), 0, 0

    def add(self, body: memoryview) -> None:
        while body:
            part = body[: _BLOCK * REPORT_ID_BYTES - self._held]
            self._sum, self._held = zlib.crc32(part, self._sum), self._held + len(part)
            if self._held == _BLOCK * REPORT_ID_BYTES:
                self._done.append(self._sum)
                self._sum = self._held = 0
            body = body[len(part) :]

    def all(self) -> NDArray[np.uint32]:
        return np.array([*self._done, *([self._sum] if self._held else [])], dtype=np.uint32)


@final
class IdBlocks:
    """Ids that `write_ids` wrote at the beginning of an open file.

    Parameters
    ----------
    file
        The caller closes it.
    written
        As it was returned. Where it has checksums, a block that differs is a `ReportError`.
    """

    def __init__(self, file: FileIO, written: WrittenIds) -> None:
        self._file, self._written = file, written

    @property
    def n(self) -> int:
        """How many there are."""
        return self._written.n

    def holds(self, ids: IdRun) -> NDArray[np.bool_]:
        """Which of these ordered ids are in the file."""
        if not len(ids.high):
            return np.zeros(0, dtype=bool)
        before, is_fence = find_ids(self._written.fences, ids)
        blocks = np.maximum(before - 1 + is_fence, 0)
        held = np.empty(len(ids.high), dtype=bool)
        # Ids are cut where their blocks are: however many fall into one, it is read once.
        firsts = np.flatnonzero(np.diff(blocks, prepend=-1))
        for start in range(0, len(firsts), _BLOCKS_AT_ONCE):
            here, after = firsts[start : start + _BLOCKS_AT_ONCE], firsts[start + _BLOCKS_AT_ONCE :]
            some = slice(int(here[0]), int(after[0]) if len(after) else len(blocks))
            held[some] = find_ids(self._some_blocks(blocks[here]), ids.part(some))[1]
        return held

    def pieces(self) -> Iterator[IdRun]:
        """All ids, a stretch at a time."""
        blocks = block_count(self._written.n)
        for first in range(0, blocks, _PIECE_BLOCKS):
            yield self._read([(first, min(first + _PIECE_BLOCKS, blocks))])

    def _some_blocks(self, numbers: Places) -> IdRun:
        """These blocks as one run; those beside each other are read at once."""
        edges = np.flatnonzero(np.diff(numbers) > 1) + 1
        firsts, lasts = numbers[np.r_[0, edges]], numbers[np.r_[edges - 1, len(numbers) - 1]] + 1
        return self._read(list(zip(firsts.tolist(), lasts.tolist(), strict=True)))

    def _read(self, stretches: Sequence[tuple[int, int]]) -> IdRun:
        """Ids of blocks, each stretch from the first to before the last."""
        ids = [(_BLOCK * first, min(_BLOCK * last, self._written.n)) for first, last in stretches]
        words = np.empty((sum(stop - start for start, stop in ids), 2), dtype=np.uint64)
        rest = words.data.cast("B")
        for (start, stop), (first, last) in zip(ids, stretches, strict=True):
            body, rest = rest[: (stop - start) * REPORT_ID_BYTES], rest[(stop - start) * REPORT_ID_BYTES :]
            self._fill(body, start * REPORT_ID_BYTES)
            self._verify(body, first, last)
        return IdRun(np.ascontiguousarray(words[:, 0]), np.ascontiguousarray(words[:, 1]))

    def _fill(self, body: memoryview, start: int) -> None:
        self._file.seek(start)
        while body:
            got = self._file.readinto(body)
            if not got:
                raise OSError(errno.EIO, "their file is shorter than what was written to it")
            body = body[got:]

    def _verify(self, body: memoryview, first: int, last: int) -> None:
        wanted, each = self._written.checksums[first:last].tolist(), _BLOCK * REPORT_ID_BYTES
        checksums = [zlib.crc32(body[i * each : (i + 1) * each]) for i in range(len(wanted))]
        if checksums != wanted:
            raise ReportError("a file of report ids is damaged: its content is not what was written")


def merged_pieces(files: Iterable[IdBlocks]) -> Iterator[IdRun]:
    """The ids of all files, which share none, in order, a stretch at a time."""
    rests = [file.pieces() for file in files]
    heads = [next(rest) for rest in rests]
    while heads:
        # Whatever is still to be read stands behind the last id of some head: up to the least of those, all is here.
        last = min(
            (head.part(slice(-1, None)) for head in heads),
            key=lambda last_id: (int(last_id.high[0]), int(last_id.low[0])),
        )
        cuts = [int(before[0] + held[0]) for before, held in (find_ids(head, last) for head in heads)]
        yield merge_runs([head.part(slice(cut)) for head, cut in zip(heads, cuts, strict=True)])
        left = [head.part(slice(cut, None)) for head, cut in zip(heads, cuts, strict=True)]
        after = [(head if len(head.high) else next(rest, None), rest) for head, rest in zip(left, rests, strict=True)]
        heads = [head for head, _ in after if head is not None]
        rests = [rest for head, rest in after if head is not None]

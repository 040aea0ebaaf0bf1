"""Report ids on disk: sorted runs in files without a name, of which memory keeps a filter and every 256th id.

A file without a name is gone with the process, however that ends. An id that may be in a run costs one read of 4 KiB;
runs are merged piece by piece, in memory that does not depend on how long they are or on what the ids look like.
"""

from __future__ import annotations

import errno
import tempfile
import weakref
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Final, final

import numpy as np
from numpy.typing import NDArray

from sottovoce.collector.counting.report_ids import IdRun, Places, find_ids, merge_runs
from sottovoce.collector.counting.seen_filter import IdHash, IdMarks, WordFilter
from sottovoce.formats.wire import REPORT_ID_BYTES

__all__ = ["DiskRun", "merged_pieces"]

_BLOCK: Final = 256
"""Ids that are read together; the first of each is kept in memory."""

_BLOCKS_AT_ONCE: Final = 2048
"""Of them, 8 MiB, are in memory at most while ids are looked for."""

_PIECE: Final = 1 << 15
"""Ids of one run, half a MiB, that are in memory while runs are merged."""


@final
class DiskRun:
    """Distinct ids in increasing order, in a file.

    Parameters
    ----------
    folder
        Where the file takes its room; the system's folder for temporary files if None.
    n
        How many ids there are.
    hashed
        For the filter.
    pieces
        The ids, a stretch at a time. When they cannot be written, the room is given back and `OSError` raised.
    """

    def __init__(self, folder: Path | None, n: int, hashed: IdHash, pieces: Iterable[IdRun]) -> None:
        self._file = tempfile.TemporaryFile(dir=folder, buffering=0)  # noqa: SIM115 - open as long as the run is
        close = weakref.finalize(self, self._file.close)
        self._filter = WordFilter(n)
        self._n = 0
        fences: list[IdRun] = []
        try:
            for piece in pieces:
                self._write(piece)
                self._filter.add(hashed.marks(piece))
                # Copies: a view would keep the whole piece in memory.
                fences.append(IdRun(*(words[-self._n % _BLOCK :: _BLOCK].copy() for words in piece)))
                self._n += len(piece.high)
        except BaseException:
            close()
            raise
        self._fences = IdRun(np.concatenate([part.high for part in fences]), np.concatenate([p.low for p in fences]))

    def __len__(self) -> int:
        return self._n

    @property
    def nbytes(self) -> int:
        """Memory it takes."""
        return self._filter.nbytes + self._fences.high.nbytes + self._fences.low.nbytes

    def doubtful(self, marks: IdMarks) -> NDArray[np.bool_]:
        """Which ids of these marks may be in the run: all that are, and a few others."""
        return self._filter.may_hold(marks)

    def holds(self, ids: IdRun) -> NDArray[np.bool_]:
        """Which of these ordered ids are in the run."""
        before, is_fence = find_ids(self._fences, ids)
        blocks = np.maximum(before - 1 + is_fence, 0)
        held = np.empty(len(ids.high), dtype=bool)
        for start in range(0, len(blocks), _BLOCKS_AT_ONCE):
            some = slice(start, start + _BLOCKS_AT_ONCE)
            held[some] = find_ids(self._blocks(np.unique(blocks[some])), ids.part(some))[1]
        return held

    def pieces(self) -> Iterator[IdRun]:
        """All ids, a stretch at a time."""
        for start in range(0, self._n, _PIECE):
            yield self._read([(start, min(start + _PIECE, self._n))])

    def _blocks(self, numbers: Places) -> IdRun:
        """These blocks as one run; those beside each other are read at once."""
        edges = np.flatnonzero(np.diff(numbers) > 1) + 1
        starts = _BLOCK * numbers[np.r_[0, edges]]
        stops = np.minimum(_BLOCK * (numbers[np.r_[edges - 1, len(numbers) - 1]] + 1), self._n)
        return self._read(list(zip(starts.tolist(), stops.tolist(), strict=True)))

    def _write(self, ids: IdRun) -> None:
        rest = np.stack(ids, axis=1).data.cast("B")
        while rest:
            rest = rest[self._file.write(rest) :]

    def _read(self, stretches: Sequence[tuple[int, int]]) -> IdRun:
        words = np.empty((sum(stop - start for start, stop in stretches), 2), dtype=np.uint64)
        rest = words.data.cast("B")
        for start, stop in stretches:
            self._file.seek(start * REPORT_ID_BYTES)
            left = (stop - start) * REPORT_ID_BYTES
            while left:
                got = self._file.readinto(rest[:left])
                if not got:
                    raise OSError(errno.EIO, "their temporary file is shorter than what was written to it")
                rest, left = rest[got:], left - got
        return IdRun(np.ascontiguousarray(words[:, 0]), np.ascontiguousarray(words[:, 1]))


def merged_pieces(runs: Sequence[DiskRun]) -> Iterator[IdRun]:
    """The ids of all runs, which share none, in order, a stretch at a time."""
    rests = [run.pieces() for run in runs]
    heads = [next(rest) for rest in rests]
    while heads:
        # Whatever is still to be read stands behind the last id of some head: up to the least of those, all is here.
        last = min((head.part(slice(-1, None)) for head in heads), key=lambda one: (int(one.high[0]), int(one.low[0])))
        cuts = [int(before[0] + held[0]) for before, held in (find_ids(head, last) for head in heads)]
        yield merge_runs([head.part(slice(cut)) for head, cut in zip(heads, cuts, strict=True)])
        left = [head.part(slice(cut, None)) for head, cut in zip(heads, cuts, strict=True)]
        after = [(head if len(head.high) else next(rest, None), rest) for head, rest in zip(left, rests, strict=True)]
        heads = [head for head, _ in after if head is not None]
        rests = [rest for head, rest in after if head is not None]

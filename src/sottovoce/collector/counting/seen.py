"""Which report ids have been counted: an exact set of 16-byte ids, used by arrays, in little memory.

Up to a million ids are in memory. Beyond, they go to disk by the million, in sorted runs that are merged eight at a
time: memory then keeps 2 bytes an id, and 4 for the moment in which the longest runs are merged; the disk 16 bytes an
id, and as much again of what is being merged, 2 GiB at most. A hundred million reports take 200 MB of memory.
"""

from __future__ import annotations

import errno
from contextlib import suppress
from pathlib import Path
from typing import Final, final

import numpy as np
from numpy.typing import NDArray

from sottovoce.collector.counting.seen_filter import IdHash
from sottovoce.collector.counting.seen_memory import MemoryIds
from sottovoce.collector.counting.seen_runs import DiskRun, merged_pieces
from sottovoce.core.errors import StoreError, StoreFullError
from sottovoce.formats.report_ids import IdRun, Ids, first_of_kind, ordered_ids
from sottovoce.formats.wire import REPORT_ID_BYTES

__all__ = ["SeenIds"]

_PATIENCE: Final = 4
"""Times as many may be in memory while the disk takes none: counting goes on, and is what makes room on a full disk."""

_PIECE: Final = 1 << 16
"""Ids that are written at once."""


@final
class SeenIds:
    """A set of report ids that only grows.

    Methods raise `StoreFullError` when ids find no room on disk, and `StoreError` when those there cannot be read back.
    After the first, the set holds what it should, and the next `add` tries again; after the second, make another set.

    Parameters
    ----------
    folder
        Where ids go that are not kept in memory; the system's folder for temporary files if None.
    in_memory
        Ids that are in memory before they go to disk.
    fan_in
        How many runs of about one size are merged.
    longest
        Ids of a run that is made by merging, at most: a merge takes seconds, not minutes.

    Examples
    --------
    >>> from sottovoce.formats.report_ids import id_rows
    >>> seen = SeenIds()
    >>> seen.add(id_rows(bytes(16)))
    >>> seen.new(id_rows(bytes(16) + b"sixteen bytes id" * 2)).tolist()
    [False, True, False]
    """

    def __init__(
        self, folder: Path | None = None, *, in_memory: int = 1 << 20, fan_in: int = 8, longest: int = 1 << 27
    ) -> None:
        self._folder = folder
        self._in_memory, self._fan_in, self._longest = in_memory, fan_in, longest
        self._recent = MemoryIds()
        self._runs: list[DiskRun] = []
        self._hash = IdHash()

    def __len__(self) -> int:
        return len(self._recent) + sum(map(len, self._runs))

    @property
    def nbytes(self) -> int:
        """Memory the ids take."""
        return self._recent.nbytes + sum(run.nbytes for run in self._runs)

    @property
    def files(self) -> int:
        """How many are open."""
        return len(self._runs)

    def new(self, ids: Ids) -> NDArray[np.bool_]:
        """Which of these are neither in the set nor earlier in this very array."""
        order, ordered = ordered_ids(ids)
        fresh = np.empty(len(ids), dtype=bool)
        fresh[order] = self._fresh(ordered)
        return fresh

    def add(self, ids: Ids) -> None:
        """Put these into the set; those that are there already, or twice among them, change nothing."""
        ordered = ordered_ids(ids)[1]
        fresh = self._fresh(ordered)
        self._put(ordered.part(fresh))

    def add_new(self, ids: Ids) -> None:
        """The same for ids of which `new` has just said that they are new: they are not looked for again."""
        self._put(ordered_ids(ids)[1])

    def _put(self, run: IdRun) -> None:
        if len(run.high):
            self._recent.add(run)
        if len(self._recent) >= self._in_memory:
            self._spill()

    def _fresh(self, ordered: IdRun) -> NDArray[np.bool_]:
        """Which of these ordered ids are the first of their kind, and not in the set."""
        fresh = first_of_kind(ordered)
        doubtful = np.flatnonzero(fresh & self._recent.doubtful(ordered))
        if len(doubtful):
            fresh[doubtful] = ~self._recent.holds(ordered.part(doubtful))
        if not self._runs:
            return fresh
        marks = self._hash.marks(ordered)
        try:
            for run in self._runs:
                doubtful = np.flatnonzero(fresh & run.doubtful(marks))
                if len(doubtful):
                    fresh[doubtful] = ~run.holds(ordered.part(doubtful))
        except OSError as error:
            raise StoreError(f"ids of counted reports cannot be read back: {_why(error)}") from error
        return fresh

    def _spill(self) -> None:
        """Put all ids that are in memory into a run on disk."""
        ids = self._recent.in_order()
        n = len(ids.high)
        pieces = (ids.part(slice(start, start + _PIECE)) for start in range(0, n, _PIECE))
        try:
            run = DiskRun(self._folder, n, self._hash, pieces)
        except OSError as error:
            if n < _PATIENCE * self._in_memory:
                return
            where = "the folder for temporary files" if self._folder is None else f"the data folder {self._folder}"
            kind = StoreFullError if error.errno in (errno.ENOSPC, errno.EDQUOT, errno.EFBIG) else StoreError
            raise kind(
                f"{where} takes no temporary file for {n:,} ids of counted reports: {_why(error)}; "
                f"it needs {REPORT_ID_BYTES} bytes per report"
            ) from error
        self._runs.append(run)
        self._recent = MemoryIds()
        # Runs that cannot be merged now, for want of room, are looked through one by one until they can.
        with suppress(OSError):
            self._merge()

    def _merge(self) -> None:
        """Merge the last runs as long as there are many that are not much longer than the last."""
        while len(self._runs) >= self._fan_in:
            last = self._runs[-self._fan_in :]
            n = sum(map(len, last))
            if n > self._longest or len(last[0]) >= self._fan_in * len(last[-1]):
                return
            self._runs[-self._fan_in :] = [DiskRun(self._folder, n, self._hash, merged_pieces(last))]


def _why(error: OSError) -> str:
    """The system's words, without a file's name."""
    return error.strerror or type(error).__name__

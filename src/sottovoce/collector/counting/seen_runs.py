"""Report ids on disk: sorted runs in files without a name, of which memory keeps a filter and every 256th id.

A file without a name is gone with the process, however that ends.
"""

from __future__ import annotations

import tempfile
import weakref
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import final

import numpy as np
from numpy.typing import NDArray

from sottovoce.collector.counting.seen_filter import IdHash, IdMarks, WordFilter
from sottovoce.formats import id_blocks
from sottovoce.formats.id_blocks import IdBlocks, write_ids
from sottovoce.formats.report_ids import IdRun

__all__ = ["DiskRun", "merged_pieces"]


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
        file = tempfile.TemporaryFile(dir=folder, buffering=0)  # noqa: SIM115 - open as long as the run is
        close = weakref.finalize(self, file.close)
        self._filter = WordFilter(n)
        try:
            self._written = write_ids(file, self._marked(hashed, pieces))
        except BaseException:
            close()
            raise
        self.ids = IdBlocks(file, self._written)

    def _marked(self, hashed: IdHash, pieces: Iterable[IdRun]) -> Iterator[IdRun]:
        for piece in pieces:
            yield piece
            self._filter.add(hashed.marks(piece))

    def __len__(self) -> int:
        return self._written.n

    @property
    def nbytes(self) -> int:
        """Memory it takes."""
        return self._filter.nbytes + self._written.fences.high.nbytes + self._written.fences.low.nbytes

    def doubtful(self, marks: IdMarks) -> NDArray[np.bool_]:
        """Which ids of these marks may be in the run: all that are, and a few others."""
        return self._filter.may_hold(marks)

    def holds(self, ids: IdRun) -> NDArray[np.bool_]:
        """Which of these ordered ids are in the run."""
        return self.ids.holds(ids)


def merged_pieces(runs: Sequence[DiskRun]) -> Iterator[IdRun]:
    """The ids of all runs, which share none, in order, a stretch at a time."""
    return id_blocks.merged_pieces(run.ids for run in runs)

"""The report ids that have been counted: an exact set of 16-byte ids, used by arrays, in little memory.

Up to a million ids are in memory. Beyond, they go to disk by the million, in sorted runs that are merged eight at a
time: memory then keeps 2 bytes an id, and 4 for the moment in which the longest runs are merged; the disk 16 bytes an
id, and as much again of what is being merged, 2 GiB at most. A hundred million reports take 200 MB of memory.

Before each long run stands a Bloom filter of 16 bits an id, wrong for about one new id in 200, whose bits for one id
lie in one 64-bit word: looking an id up reads one word of memory. Ids are hashed by secret numbers, so that nobody can
choose ids that fill it up. Runs on disk are files without a name, which are gone with the process, however that ends.
"""

from __future__ import annotations

import errno
import secrets
import tempfile
import weakref
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Final, NamedTuple, final

import numpy as np
from numpy.typing import NDArray

from sottovoce.core.errors import StoreError, StoreFullError
from sottovoce.formats import id_blocks
from sottovoce.formats.id_blocks import IdBlocks, write_ids
from sottovoce.formats.report_ids import IdRun, Ids, Words, find_ids, first_of_kind, merge_runs, ordered_ids
from sottovoce.formats.wire import REPORT_ID_BYTES

__all__ = ["DiskRun", "IdHash", "IdMarks", "MemoryIds", "SeenIds", "WordFilter", "merged_pieces"]

_IDS_A_WORD: Final = 4
"""64 bits for as many ids."""

_BITS: Final = 4
"""Bits that are set for one id; each is chosen by six bits of its hash."""


class IdMarks(NamedTuple):
    """The marks of some ids in the filters of all runs."""

    point: Words
    """The position in a filter, as a fraction of 2^32."""
    mask: Words
    """The bits of the word at that position."""


@final
class IdHash:
    """A keyed hash of ids. Both words are mixed in, so that ids which differ in any few bits have unlike marks."""

    def __init__(self) -> None:
        self._keys = tuple(np.uint64(secrets.randbits(64) | 1) for _ in range(4))

    def marks(self, ids: IdRun) -> IdMarks:
        """The positions of the ids in every filter."""
        first, second, third, fourth = self._keys
        # A product carries bits upwards only: its upper half is folded onto the lower one each time.
        mixed = _folded(ids.high * first) + ids.low
        for factor in (second, third, fourth):
            mixed = _folded(mixed) * factor
        mixed = _folded(mixed)
        mask = np.zeros_like(mixed)
        for shift in range(0, 6 * _BITS, 6):
            mask |= np.uint64(1) << (mixed >> np.uint64(shift) & np.uint64(63))
        return IdMarks(mixed >> np.uint64(32), mask)


def _folded(words: Words) -> Words:
    return words ^ (words >> np.uint64(32))


@final
class WordFilter:
    """A filter for up to `ids` ids."""

    def __init__(self, ids: int) -> None:
        self._words = np.zeros(ids // _IDS_A_WORD + 1, dtype=np.uint64)

    @property
    def nbytes(self) -> int:
        """Memory it takes."""
        return self._words.nbytes

    def add(self, marks: IdMarks) -> None:
        """Know these from now on."""
        at, mask = self._at(marks), marks.mask
        while len(at):
            # If ids share a word, one is written here, and the others in the next turns; NumPy's own way to do
            # this, `bitwise_or.at`, takes several times as long.
            self._words[at] |= mask
            lost = np.flatnonzero(self._words[at] & mask != mask)
            at, mask = at[lost], mask[lost]

    def may_hold(self, marks: IdMarks) -> NDArray[np.bool_]:
        """False only for ids that were never added."""
        held: NDArray[np.bool_] = self._words[self._at(marks)] & marks.mask == marks.mask
        return held

    def _at(self, marks: IdMarks) -> NDArray[np.int64]:
        at = marks.point * np.uint64(len(self._words))
        at >>= np.uint64(32)
        return at.view(np.int64)


@final
class DiskRun:
    """Distinct ids in increasing order, in a file.

    Parameters
    ----------
    folder
        The folder of the file; the system's folder for temporary files if None.
    n
        The number of ids.
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
        """Whether each id of these marks may be in the run: true for all that are, and a few others."""
        return self._filter.may_hold(marks)

    def holds(self, ids: IdRun) -> NDArray[np.bool_]:
        """Whether each of these ordered ids is in the run."""
        return self.ids.holds(ids)


def merged_pieces(runs: Sequence[DiskRun]) -> Iterator[IdRun]:
    """The ids of all runs, which share none, in order, a stretch at a time."""
    return id_blocks.merged_pieces(run.ids for run in runs)


_FAN_IN: Final = 8
"""How many runs of about one size are merged."""

_BITS_AN_ID: Final = 16
"""Least bits of the filter for one id: one in as many new ids is looked for in vain."""


@final
class _BitFilter:
    """A filter that says whether an id is new or may be known. Its hash is secret, so nobody can fill it up."""

    def __init__(self, ids: int, runs: list[IdRun]) -> None:
        self._log_bits = max(9, (_BITS_AN_ID * ids - 1).bit_length())
        self.bits = np.zeros(1 << (self._log_bits - 3), dtype=np.uint8)
        self._first, self._second = (np.uint64(secrets.randbits(64) | 1) for _ in range(2))
        for run in runs:
            self.add(run)

    @property
    def ids(self) -> int:
        """How many it is made for."""
        return (1 << self._log_bits) // _BITS_AN_ID

    def add(self, ids: IdRun) -> None:
        at = self._at(ids)
        np.bitwise_or.at(self.bits, at >> np.uint64(3), _bit(at))

    def may_hold(self, ids: IdRun) -> NDArray[np.bool_]:
        at = self._at(ids)
        held: NDArray[np.bool_] = self.bits[at >> np.uint64(3)] & _bit(at) != 0
        return held

    def _at(self, ids: IdRun) -> Words:
        at: Words = ids.high * self._first + ids.low * self._second
        at >>= np.uint64(64 - self._log_bits)
        return at


def _bit(at: Words) -> NDArray[np.uint8]:
    return np.left_shift(np.uint8(1), (at & np.uint64(7)).astype(np.uint8))


@final
class MemoryIds:
    """A set of ids in memory."""

    def __init__(self) -> None:
        self._runs: list[IdRun] = []
        self._filter = _BitFilter(0, [])

    def __len__(self) -> int:
        return sum(len(run.high) for run in self._runs)

    @property
    def nbytes(self) -> int:
        """Memory the ids take."""
        return 2 * 8 * len(self) + self._filter.bits.nbytes

    def doubtful(self, ids: IdRun) -> NDArray[np.bool_]:
        """Whether each id may be in the set: true for all that are, and a few others."""
        return self._filter.may_hold(ids)

    def holds(self, ids: IdRun) -> NDArray[np.bool_]:
        """Whether each id is in the set."""
        held = np.zeros(len(ids.high), dtype=bool)
        for run in self._runs:
            held |= find_ids(run, ids)[1]
        return held

    def add(self, run: IdRun) -> None:
        """Put these into the set. They must be in order, and none of them in the set."""
        self._runs.append(run)
        if len(self) > self._filter.ids:
            self._filter = _BitFilter(len(self), self._runs)
        else:
            self._filter.add(run)
        while len(self._runs) >= _FAN_IN:
            last = self._runs[-_FAN_IN:]
            if len(last[0].high) >= _FAN_IN * len(last[-1].high):
                return
            self._runs[-_FAN_IN:] = [merge_runs(last)]

    def in_order(self) -> IdRun:
        """All of them as one run; there must be some."""
        return merge_runs(self._runs)


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
        The folder of ids that are not kept in memory; the system's folder for temporary files if None.
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
        """The number of open files."""
        return len(self._runs)

    def new(self, ids: Ids) -> NDArray[np.bool_]:
        """Whether each id is neither in the set nor earlier in this very array."""
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
        """Put ids into the set that `new` has just found new: they are not looked for again."""
        self._put(ordered_ids(ids)[1])

    def _put(self, run: IdRun) -> None:
        if len(run.high):
            self._recent.add(run)
        if len(self._recent) >= self._in_memory:
            self._spill()

    def _fresh(self, ordered: IdRun) -> NDArray[np.bool_]:
        """Whether each of these ordered ids is the first of its kind, and not in the set."""
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

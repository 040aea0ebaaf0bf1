"""Which report ids have been counted: an exact set of 16-byte ids in memory, used by arrays.

Ids are kept in sorted runs of two 64-bit words, eight runs of about one size merged into one (a log-structured merge
tree), behind a filter that knows most new ids at a glance. One id takes 16 bytes and 2 to 4 of the filter, and about
as much again for the moment in which the longest runs are merged: 200 MB for ten million reports. An id is moved
O(log n) times, and looked for in O(log n) runs, also when a hostile sender makes all ids begin alike.
"""

from __future__ import annotations

import secrets
from typing import Final, NamedTuple, final

import numpy as np
from numpy.typing import NDArray

from sottovoce.core.errors import ReportError
from sottovoce.formats.wire import REPORT_ID_BYTES

__all__ = ["SeenIds", "id_order", "id_rows"]

Ids = NDArray[np.uint8]
Words = NDArray[np.uint64]
Places = NDArray[np.int64]

_FAN_IN: Final = 8
"""How many runs of about one size are merged."""

_BITS_AN_ID: Final = 16
"""Of the filter, at least: one in as many new ids is looked for in vain."""


class _Run(NamedTuple):
    """Distinct ids in increasing order, as their first and last eight bytes."""

    high: Words
    low: Words


def id_rows(data: bytes) -> Ids:
    """Concatenated ids, one a row."""
    return np.frombuffer(data, dtype=np.uint8).reshape(-1, REPORT_ID_BYTES)


def id_order(ids: Ids) -> Places:
    """Where to find each id when they stand in the order of their bytes; equal ones stay in the order they came."""
    return _order(_words(ids))


def _words(ids: Ids) -> _Run:
    if ids.ndim != 2 or ids.shape[1] != REPORT_ID_BYTES or ids.dtype != np.uint8:
        raise ReportError(f"report ids must come as rows of {REPORT_ID_BYTES} bytes")
    # Integers and not NumPy's byte strings, which take b"a\0" and b"a" for the same.
    words = np.ascontiguousarray(ids).view(">u8").astype(np.uint64)
    return _Run(np.ascontiguousarray(words[:, 0]), np.ascontiguousarray(words[:, 1]))


def _order(ids: _Run) -> Places:
    order = np.argsort(ids.high, kind="stable")
    ordered = ids.high[order]
    if np.any(ordered[1:] == ordered[:-1]):
        return np.lexsort((ids.low, ids.high))
    return order


def _place(run: _Run, ids: _Run) -> Places:
    """How many ids of the run stand before each of `ids`."""
    places = np.searchsorted(run.high, ids.high)
    tied = np.flatnonzero(run.high[np.minimum(places, len(run.high) - 1)] == ids.high)
    if not len(tied):
        return places
    # All ids that share their first half are in one stretch of the run: bisect it by the second half.
    wanted = ids.low[tied]
    first, last = places[tied], np.searchsorted(run.high, ids.high[tied], side="right")
    while np.any(first < last):
        middle = (first + last) // 2
        before = (first < last) & (run.low[np.minimum(middle, len(run.low) - 1)] < wanted)
        last = np.where((first < last) & ~before, middle, last)
        first = np.where(before, middle + 1, first)
    places[tied] = first
    return places


def _holds(run: _Run, ids: _Run) -> NDArray[np.bool_]:
    places = np.minimum(_place(run, ids), len(run.high) - 1)
    found: NDArray[np.bool_] = (run.high[places] == ids.high) & (run.low[places] == ids.low)
    return found


def _merged(runs: list[_Run]) -> _Run:
    """All of them, which share no id, as one; the sort finds that they are ordered already."""
    both = _Run(np.concatenate([run.high for run in runs]), np.concatenate([run.low for run in runs]))
    order = _order(both)
    return _Run(both.high[order], both.low[order])


@final
class _Filter:
    """Says of an id that it is new, or that it may not be. Hashed by secret numbers, so that nobody can fill it up."""

    def __init__(self, ids: int, runs: list[_Run]) -> None:
        self._log_bits = max(9, (_BITS_AN_ID * ids - 1).bit_length())
        self.bits = np.zeros(1 << (self._log_bits - 3), dtype=np.uint8)
        self._first, self._second = (np.uint64(secrets.randbits(64) | 1) for _ in range(2))
        for run in runs:
            self.add(run)

    @property
    def ids(self) -> int:
        """How many it is made for."""
        return (1 << self._log_bits) // _BITS_AN_ID

    def add(self, ids: _Run) -> None:
        places = self._places(ids)
        np.bitwise_or.at(self.bits, places >> np.uint64(3), _bit(places))

    def may_hold(self, ids: _Run) -> NDArray[np.bool_]:
        places = self._places(ids)
        found: NDArray[np.bool_] = self.bits[places >> np.uint64(3)] & _bit(places) != 0
        return found

    def _places(self, ids: _Run) -> Words:
        places: Words = ids.high * self._first + ids.low * self._second
        places >>= np.uint64(64 - self._log_bits)
        return places


def _bit(places: Words) -> NDArray[np.uint8]:
    return np.left_shift(np.uint8(1), (places & np.uint64(7)).astype(np.uint8))


@final
class SeenIds:
    """A set of report ids that only grows.

    Examples
    --------
    >>> seen = SeenIds()
    >>> seen.add(id_rows(bytes(16)))
    >>> seen.new(id_rows(bytes(16) + b"sixteen bytes id" * 2)).tolist()
    [False, True, False]
    """

    def __init__(self) -> None:
        self._runs: list[_Run] = []
        self._filter = _Filter(0, [])

    def __len__(self) -> int:
        return sum(len(run.high) for run in self._runs)

    @property
    def nbytes(self) -> int:
        """Memory the ids take."""
        return 2 * 8 * len(self) + self._filter.bits.nbytes

    def new(self, ids: Ids) -> NDArray[np.bool_]:
        """Which of these are neither in the set nor earlier in this very array."""
        words = _words(ids)
        order = _order(words)
        fresh = np.empty(len(ids), dtype=bool)
        fresh[order] = self._fresh(_Run(words.high[order], words.low[order]))
        return fresh

    def add(self, ids: Ids) -> None:
        """Put these into the set; those that are there already, or twice among them, change nothing."""
        words = _words(ids)
        order = _order(words)
        ordered = _Run(words.high[order], words.low[order])
        fresh = self._fresh(ordered)
        if not fresh.any():
            return
        run = _Run(ordered.high[fresh], ordered.low[fresh])
        self._runs.append(run)
        if len(self) > self._filter.ids:
            self._filter = _Filter(len(self), self._runs)
        else:
            self._filter.add(run)
        self._merge()

    def _merge(self) -> None:
        """Merge the last runs as long as there are many that are not much longer than the last."""
        while len(self._runs) >= _FAN_IN:
            last = self._runs[-_FAN_IN:]
            if len(last[0].high) >= _FAN_IN * len(last[-1].high):
                return
            self._runs[-_FAN_IN:] = [_merged(last)]

    def _fresh(self, ordered: _Run) -> NDArray[np.bool_]:
        """Which of these ordered ids are the first of their kind, and in no run."""
        fresh = np.ones(len(ordered.high), dtype=bool)
        fresh[1:] = (ordered.high[1:] != ordered.high[:-1]) | (ordered.low[1:] != ordered.low[:-1])
        doubtful = np.flatnonzero(fresh & self._filter.may_hold(ordered))
        if len(doubtful):
            asked = _Run(ordered.high[doubtful], ordered.low[doubtful])
            for run in self._runs:
                fresh[doubtful] &= ~_holds(run, asked)
        return fresh

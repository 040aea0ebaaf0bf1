"""Report ids by the array: their order, where they stand in an ordered run, and several runs as one.

An id is two 64-bit words. Nothing here costs more when a hostile sender makes all ids begin alike.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from sottovoce.core.errors import ReportError
from sottovoce.formats.wire import REPORT_ID_BYTES

__all__ = [
    "IdRun",
    "Ids",
    "Places",
    "Words",
    "find_ids",
    "first_of_kind",
    "id_order",
    "id_rows",
    "merge_runs",
    "ordered_ids",
]

Ids: TypeAlias = NDArray[np.uint8]
Words: TypeAlias = NDArray[np.uint64]
Places: TypeAlias = NDArray[np.int64]


class IdRun(NamedTuple):
    """Ids in increasing order, as their first and last eight bytes."""

    high: Words
    low: Words

    def part(self, which: slice | NDArray[np.bool_] | Places) -> IdRun:
        """The ids of this slice."""
        return IdRun(self.high[which], self.low[which])


def id_rows(data: bytes) -> Ids:
    """Concatenated ids, one a row."""
    return np.frombuffer(data, dtype=np.uint8).reshape(-1, REPORT_ID_BYTES)


def id_order(ids: Ids) -> Places:
    """Where to find each id when they stand in the order of their bytes; equal ones stay in the order they came."""
    return _order(_id_words(ids))


def _id_words(ids: Ids) -> IdRun:
    """These ids as pairs of 64-bit words, in the given order."""
    if ids.ndim != 2 or ids.shape[1] != REPORT_ID_BYTES or ids.dtype != np.uint8:
        raise ReportError(f"report ids must come as rows of {REPORT_ID_BYTES} bytes")
    # Integers and not NumPy's byte strings, which take b"a\0" and b"a" for the same.
    words = np.ascontiguousarray(ids).view(">u8").astype(np.uint64)
    return IdRun(np.ascontiguousarray(words[:, 0]), np.ascontiguousarray(words[:, 1]))


def ordered_ids(ids: Ids) -> tuple[Places, IdRun]:
    """The order of the ids, and the ids in it."""
    words = _id_words(ids)
    order = _order(words)
    return order, words.part(order)


def _order(ids: IdRun) -> Places:
    order = np.argsort(ids.high, kind="stable")
    ordered = ids.high[order]
    if np.any(ordered[1:] == ordered[:-1]):
        return np.lexsort((ids.low, ids.high))
    return order


def first_of_kind(ordered: IdRun) -> NDArray[np.bool_]:
    """Which of these ordered ids differ from the one before."""
    first = np.ones(len(ordered.high), dtype=bool)
    first[1:] = (ordered.high[1:] != ordered.high[:-1]) | (ordered.low[1:] != ordered.low[:-1])
    return first


def _places(run: IdRun, ids: IdRun) -> Places:
    """How many ids of the run stand before each of `ids`."""
    positions = np.searchsorted(run.high, ids.high)
    tied = np.flatnonzero(run.high[np.minimum(positions, len(run.high) - 1)] == ids.high)
    if not len(tied):
        return positions
    # All ids that share their first half are in one stretch of the run: bisect it by the second half.
    wanted = ids.low[tied]
    first, last = positions[tied], np.searchsorted(run.high, ids.high[tied], side="right")
    while np.any(first < last):
        middle = (first + last) // 2
        before = (first < last) & (run.low[np.minimum(middle, len(run.low) - 1)] < wanted)
        last = np.where((first < last) & ~before, middle, last)
        first = np.where(before, middle + 1, first)
    positions[tied] = first
    return positions


def find_ids(run: IdRun, ids: IdRun) -> tuple[Places, NDArray[np.bool_]]:
    """How many ids of the run stand before each of `ids`, and whether it is in the run itself."""
    positions = _places(run, ids)
    at = np.minimum(positions, len(run.high) - 1)
    held: NDArray[np.bool_] = (run.high[at] == ids.high) & (run.low[at] == ids.low)
    return positions, held


def merge_runs(runs: Sequence[IdRun]) -> IdRun:
    """One run of the ids of several runs, which share none; the sort finds that they are ordered already."""
    if len(runs) == 1:
        return runs[0]
    both = IdRun(np.concatenate([run.high for run in runs]), np.concatenate([run.low for run in runs]))
    return both.part(_order(both))

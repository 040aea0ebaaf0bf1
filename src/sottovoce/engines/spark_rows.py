"""Rows on a worker of a cluster: which duplicates go, which bucket a report id falls into, which cells a report moves.

Plain functions of arrays; nothing here knows of Spark. A row is a report id and the payload after it.
"""

from __future__ import annotations

from typing import Any, Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from sottovoce.formats.wire import REPORT_ID_BYTES
from sottovoce.mechanisms.base import Counts, Mechanism

__all__ = [
    "CHUNK_CELLS",
    "SparseCounts",
    "add_packed",
    "add_up",
    "buckets_of",
    "count_payloads",
    "has_one_cell",
    "least",
    "pack",
    "reports_a_cell",
    "unpack",
    "with_one_cell",
]

Bytes = NDArray[np.uint8]

CHUNK_CELLS: Final = 1 << 17
"""Cells that travel as one row of a table (1 MiB); a shard is a whole number of them."""

_DENSE, _SPARSE = b"\0", b"\1"
_SPARSE_ENTRY: Final = 12
_COUNT_BYTES: Final = 1 << 25
"""About how much a mechanism may unpack at once while it counts."""


class SparseCounts(NamedTuple):
    """Counts of some cells: their numbers, increasing, and their counts."""

    places: NDArray[np.int64]
    counts: Counts


def least(rows: Bytes) -> Bytes:
    """Of the rows that share a report id the one with the least bytes, in no particular order.

    Examples
    --------
    >>> rows = np.zeros((3, 17), dtype=np.uint8)
    >>> rows[:, 16] = 5, 3, 4
    >>> rows[2, 0] = 1
    >>> sorted(least(rows)[:, 16].tolist())
    [3, 4]
    """
    halves = np.ascontiguousarray(rows[:, :8]).view(np.uint64)[:, 0]
    ordered = np.sort(halves)
    repeated = ordered[1:][ordered[1:] == ordered[:-1]]
    if not len(repeated):  # the usual case costs one sort of integers
        return rows
    found = np.searchsorted(repeated, halves)
    doubtful = repeated[np.minimum(found, len(repeated) - 1)] == halves
    some = np.ascontiguousarray(rows[doubtful])
    # Unstructured bytes compare as memory does: by id first, then by payload.
    some = some[np.argsort(some.view(f"V{some.shape[1]}")[:, 0], kind="stable")]
    ids = some[:, :REPORT_ID_BYTES]
    first = np.ones(len(some), dtype=np.bool_)
    first[1:] = (ids[1:] != ids[:-1]).any(axis=1)
    return np.concatenate([rows[~doubtful], some[first]])


def buckets_of(rows: Bytes, keys: tuple[int, int], buckets: int) -> NDArray[np.int64]:
    """A bucket below `buckets`, a power of two, from every row's id.

    Multiply-shift hashing with keys drawn anew for every job: whoever chooses report ids cannot fill one bucket.
    """
    words: NDArray[np.uint64] = np.ascontiguousarray(rows[:, :REPORT_ID_BYTES]).view(np.uint64)
    mixed = words[:, 0] * np.uint64(keys[0] | 1) + words[:, 1] * np.uint64(keys[1] | 1)
    if buckets == 1:
        return np.zeros(len(rows), dtype=np.int64)
    return (mixed >> np.uint64(65 - buckets.bit_length())).astype(np.int64)


def count_payloads(mechanism: Mechanism, counts: Counts, payloads: Bytes) -> None:
    """Add good payloads to `counts`, a bounded number at a time."""
    step = max(1, _COUNT_BYTES // (64 + 8 * mechanism.report_bytes))
    for first in range(0, len(payloads), step):
        mechanism.count_encoded(counts, payloads[first : first + step])


def has_one_cell(mechanism: Mechanism) -> bool:
    """Whether a report moves one cell only, and which one is to be seen from its number."""
    return mechanism.counted_as != "batch"


def reports_a_cell(mechanism: Mechanism) -> int:
    """How many different reports move one cell: two where counts have signs."""
    return 2 if mechanism.counted_as == "signed number" else 1


def with_one_cell(mechanism: Mechanism, payloads: Bytes) -> SparseCounts:
    """What payloads add to the cells they move, and only those: no array of all cells is made.

    The reports are renumbered so that their cells lie side by side, and counted there by the mechanism itself.
    """
    each = reports_a_cell(mechanism)
    batch = mechanism.codec.decode_many(payloads)
    places, side_by_side = np.unique(batch // each, return_inverse=True)
    counts = np.zeros(len(places), dtype=np.int64)
    mechanism.count_into(counts, side_by_side * each + batch % each)
    return SparseCounts(places, counts)


def add_up(parts: list[SparseCounts]) -> SparseCounts:
    """Several of them as one; cells that come to zero are left out."""
    places = np.concatenate([part.places for part in parts]) if parts else np.zeros(0, dtype=np.int64)
    counts = np.concatenate([part.counts for part in parts]) if parts else np.zeros(0, dtype=np.int64)
    if len(parts) > 1:
        order = np.argsort(places, kind="stable")
        places, counts = places[order], counts[order]
        begins = np.flatnonzero(np.concatenate([[True], places[1:] != places[:-1]])) if len(places) else places
        counts = np.add.reduceat(counts, begins) if len(places) else counts
        places = places[begins]
    kept = counts != 0
    return SparseCounts(places[kept], counts[kept])


def pack(counts: Counts | SparseCounts, length: int) -> bytes:
    """The counts of a chunk of `length` cells in the shorter of two ways; empty where all are zero.

    Examples
    --------
    >>> len(pack(np.array([0, 0, 0, 7]), 4)), unpack(pack(np.array([0, 0, 0, 7]), 4), 4)
    (13, array([0, 0, 0, 7]))
    """
    if not isinstance(counts, SparseCounts):
        places = np.flatnonzero(counts)
        if _SPARSE_ENTRY * len(places) >= 8 * length:
            return _DENSE + counts.astype("<i8").tobytes()
        counts = SparseCounts(places, counts[places])
    if not len(counts.places):
        return b""
    if _SPARSE_ENTRY * len(counts.places) >= 8 * length:
        dense = np.zeros(length, dtype=np.int64)
        dense[counts.places] = counts.counts
        return _DENSE + dense.astype("<i8").tobytes()
    return _SPARSE + counts.places.astype("<u4").tobytes() + counts.counts.astype("<i8").tobytes()


def unpack(data: Any, length: int) -> Counts:
    """The counts of a chunk of `length` cells."""
    counts = np.zeros(length, dtype=np.int64)
    add_packed(counts, data)
    return counts


def add_packed(counts: Counts, data: Any) -> None:
    """Add a packed chunk to the counts of its cells."""
    body = memoryview(data)
    if not len(body):
        return
    if body[:1] == _DENSE:
        counts += np.frombuffer(body, dtype="<i8", offset=1)
        return
    entries = (len(body) - 1) // _SPARSE_ENTRY
    places = np.frombuffer(body, dtype="<u4", count=entries, offset=1)
    counts[places] += np.frombuffer(body, dtype="<i8", offset=1 + 4 * entries)

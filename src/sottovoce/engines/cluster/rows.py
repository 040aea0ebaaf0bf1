"""Rows on a worker of a cluster: which bucket a report id falls into, which cells a report moves, counts as bytes.

Plain functions of arrays; nothing here knows of Spark.
"""

from __future__ import annotations

from itertools import pairwise
from typing import Any, Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from sottovoce.formats.wire import REPORT_ID_BYTES
from sottovoce.mechanisms.base import Counts, Mechanism

__all__ = [
    "SparseCounts",
    "add_packed",
    "add_up",
    "buckets_of",
    "count_payloads",
    "digest",
    "has_one_cell",
    "in_chunks",
    "pack",
    "packed_rows",
    "reports_a_cell",
    "unpack",
    "with_one_cell",
]

Bytes = NDArray[np.uint8]

_SPARSE: Final = 16
"""Added to the first byte of packed counts, which says how many bytes a count has, where only some cells are there."""

_PLACE_BYTES: Final = 4
_COUNT_BYTES: Final = 1 << 25
"""About how much a mechanism may unpack at once while it counts."""


class SparseCounts(NamedTuple):
    """Counts of some cells: their numbers, increasing, and their counts."""

    places: NDArray[np.int64]
    counts: Counts


def buckets_of(rows: Bytes, multipliers: tuple[int, int], buckets: int) -> NDArray[np.int64]:
    """A bucket below `buckets`, a power of two, from all bytes of every row's id; multiply-shift hashing."""
    words: NDArray[np.uint64] = np.ascontiguousarray(rows[:, :REPORT_ID_BYTES]).view(np.uint64)
    if buckets == 1:
        return np.zeros(len(rows), dtype=np.int64)
    mixed = words[:, 0] * np.uint64(multipliers[0]) + words[:, 1] * np.uint64(multipliers[1])
    return (mixed >> np.uint64(65 - buckets.bit_length())).astype(np.int64)


def digest(ids: Bytes, payloads: Bytes, multipliers: tuple[int, int]) -> int:
    """A number that depends on the set of rows and, in all likelihood, on nothing less; of two sets it is the sum."""
    if not len(ids):
        return 0
    words: NDArray[np.uint64] = np.ascontiguousarray(ids).view(np.uint64)
    mixed = words[:, 0] * np.uint64(multipliers[0])
    mixed = (mixed ^ (mixed >> np.uint64(31)) ^ words[:, 1]) * np.uint64(multipliers[1])
    for i in range(payloads.shape[1]):
        mixed = (mixed ^ payloads[:, i]) * np.uint64(multipliers[i % 2])
    mixed ^= mixed >> np.uint64(29)
    mixed *= np.uint64(multipliers[1])
    return int(mixed.sum(dtype=np.uint64))


def packed_rows(rows: Bytes, places: NDArray[np.int64]) -> list[tuple[int, bytes]]:
    """The rows of each place together, as bytes; places are below 2**16, whose sorting takes linear time."""
    short = places.astype(np.uint16)
    order = np.argsort(short, kind="stable")
    short = short[order]
    moved = np.ascontiguousarray(rows).view(f"V{rows.shape[1]}")[:, 0].take(order)
    edges = np.flatnonzero(np.concatenate([[True], short[1:] != short[:-1], [True]])) if len(rows) else order
    return [(int(short[a]), moved[a:b].tobytes()) for a, b in pairwise(edges.tolist())]


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


def in_chunks(counts: Counts | SparseCounts, cells: int, each: int) -> list[tuple[int, bytes]]:
    """Counts of `cells` cells in packed chunks of `each`, by the chunk's number; those without a count are left out."""
    if isinstance(counts, SparseCounts):
        chunks = counts.places // each
        changes = np.flatnonzero(chunks[1:] != chunks[:-1]) + 1
        edges = pairwise([0, *changes.tolist(), len(chunks)] if len(chunks) else [])
        parts = ((int(chunks[a]), SparseCounts(counts.places[a:b] % each, counts.counts[a:b])) for a, b in edges)
        return [(chunk, pack(part, min(each, cells - chunk * each))) for chunk, part in parts]
    dense = ((chunk, counts[first : first + each]) for chunk, first in enumerate(range(0, cells, each)))
    return [(chunk, data) for chunk, part in dense if (data := pack(part, len(part)))]


def pack(counts: Counts | SparseCounts, length: int) -> bytes:
    """The counts of a chunk of `length` cells in the shortest of the ways there are; empty where all are zero.

    Examples
    --------
    >>> len(pack(np.array([0, 0, 0, 0, 0, 0, 7, 0]), 8)), unpack(pack(np.array([0, 0, 300, 7]), 4), 4)
    (6, array([  0,   0, 300,   7]))
    """
    values = counts.counts if isinstance(counts, SparseCounts) else counts
    most = max(int(values.max()), -1 - int(values.min())) if len(values) else 0
    size = next(size for size in (1, 2, 4, 8) if most < 1 << (8 * size - 1))
    if not isinstance(counts, SparseCounts):
        if (_PLACE_BYTES + size) * np.count_nonzero(counts) >= size * length:
            return bytes([size]) + counts.astype(f"<i{size}").tobytes()
        places = np.flatnonzero(counts)
        counts = SparseCounts(places, counts[places])
    if not len(counts.places):
        return b""
    if (_PLACE_BYTES + size) * len(counts.places) >= size * length:
        dense = np.zeros(length, dtype=f"<i{size}")
        dense[counts.places] = counts.counts
        return bytes([size]) + dense.tobytes()
    return bytes([_SPARSE + size]) + counts.places.astype("<u4").tobytes() + counts.counts.astype(f"<i{size}").tobytes()


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
    how, size = body[0] & _SPARSE, body[0] & ~_SPARSE
    if not how:
        counts += np.frombuffer(body, dtype=f"<i{size}", offset=1)
        return
    entries = (len(body) - 1) // (_PLACE_BYTES + size)
    places = np.frombuffer(body, dtype="<u4", count=entries, offset=1)
    counts[places] += np.frombuffer(body, dtype=f"<i{size}", offset=1 + _PLACE_BYTES * entries)

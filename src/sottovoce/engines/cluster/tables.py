"""Tables between the stages of a Spark job: a place and some bytes, few rows and long ones.

A place is a bucket of report ids or a range of cells; thousands of reports travel under it as one row, packed by NumPy.
Tallies travel beside them under a place of their own: Spark may run a task twice, and what is part of the result is
counted once all the same.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import groupby
from operator import itemgetter
from typing import Any, Final, NamedTuple
from zlib import crc32

from sottovoce.engines.reports.rows import Tally
from sottovoce.formats.report_files import pyarrow

__all__ = [
    "CHECKED",
    "CHECKSUM",
    "READ_AGAIN",
    "SCHEMA",
    "SUSPECTS",
    "TALLY",
    "Batches",
    "Stage",
    "TallyNote",
    "by_place",
    "checksum",
    "in_table",
    "summed",
]

SCHEMA: Final = "place bigint, data binary"
"""Of every table between two stages."""

TALLY: Final = -1
"""The place of a tally."""

SUSPECTS: Final = -2
"""The place of halves of ids that occur twice."""

READ_AGAIN: Final = -3
"""The place of a tally of rows that are read for the second time."""

CHECKSUM: Final = -4
"""The place of a sum over rows of counts, to see whether they are the same when they are computed again."""

CHECKED: Final = -5
"""The place of such a sum over rows that are read again."""

_SENT_BYTES: Final = 1 << 23

Batches = Iterable[Any]
Stage = Callable[[Batches], Iterator[Any]]


class TallyNote(NamedTuple):
    """A tally on its way to the driver: of which file, if of one, and why that cannot be used, if it cannot."""

    tally: Tally
    file: int = -1
    fault: str = ""
    digest: int = 0
    """Of the good rows of a table, to see whether it gives the same ones when it is read again."""

    def to_bytes(self) -> bytes:
        """As JSON; there is one for each piece of a file and each task."""
        told = self.tally
        counts = [told.rows, told.counted, told.duplicates, told.foreign, told.malformed]
        return json.dumps([self.file, self.fault, self.digest, *counts]).encode()

    @classmethod
    def from_bytes(cls, data: bytes) -> TallyNote:
        """What `to_bytes` made."""
        file, fault, digest, *counts = json.loads(data)
        return cls(Tally(0, *counts), file, fault, digest)


def in_table(rows: Sequence[tuple[int, bytes | memoryview]]) -> Iterator[Any]:
    """Rows as Arrow batches of bounded size."""
    pa, _ = pyarrow()
    begin, held = 0, 0
    for end, (_, data) in enumerate(rows, start=1):
        held += len(data)
        if held >= _SENT_BYTES or end == len(rows):
            part, begin, held = rows[begin:end], end, 0
            yield pa.RecordBatch.from_arrays(
                [
                    pa.array([place for place, _ in part], type=pa.int64()),
                    pa.array([body for _, body in part], type=pa.binary()),
                ],
                names=["place", "data"],
            )


def checksum(place: int, data: Any) -> int:
    """Of a row of counts; those of several rows are added up."""
    return crc32(data, place & 0xFFFFFFFF)


def summed(stage: Stage, told: int) -> Stage:
    """The stage, with a sum over its rows of counts under the place `told` at its end."""

    def with_sum(batches: Batches) -> Iterator[Any]:
        total = 0
        for batch in stage(batches):
            for place, body in _rows([batch]):
                total += checksum(place, body) if place >= 0 else 0
            yield batch
        yield from in_table([(told, total.to_bytes(8, "little"))])

    return with_sum


def by_place(batches: Batches) -> Iterator[tuple[int, Iterator[memoryview]]]:
    """Each place of a sorted table with what it holds; no byte is copied, and nothing is held."""
    for place, rows in groupby(_rows(batches), key=itemgetter(0)):
        yield place, (body for _, body in rows)


def _rows(batches: Batches) -> Iterator[tuple[int, memoryview]]:
    for batch in batches:
        bodies = (memoryview(one.as_buffer()) for one in batch.column(1))
        yield from zip(batch.column(0).to_pylist(), bodies, strict=True)

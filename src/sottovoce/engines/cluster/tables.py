"""Tables between the stages of a Spark job: a key and some bytes, few rows and long ones.

A key is a bucket of report ids or a range of cells; thousands of reports travel under it as one row, packed by NumPy.
Tallies travel beside them under a key of their own: Spark may run a task twice, and counts a row of the result once
all the same.
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
    "by_key",
    "checksum",
    "in_table",
    "summed",
]

SCHEMA: Final = "key bigint, data binary"
"""Columns of every table between two stages."""

TALLY: Final = -1
"""The key of a tally."""

SUSPECTS: Final = -2
"""The key of halves of ids that occur twice."""

READ_AGAIN: Final = -3
"""The key of a tally of rows that are read for the second time."""

CHECKSUM: Final = -4
"""The key of a sum over rows of counts, to see whether they are the same when they are computed again."""

CHECKED: Final = -5
"""The key of such a sum over rows that are read again."""

_SENT_BYTES: Final = 1 << 23

Batches = Iterable[Any]
Stage = Callable[[Batches], Iterator[Any]]


class TallyNote(NamedTuple):
    """A tally on its way to the driver, with the number of its file, if it has one, and why that cannot be used."""

    tally: Tally
    file: int = -1
    fault: str = ""
    digest: int = 0
    """Digest of a table's good rows, to see whether it gives the same ones when it is read again."""

    def to_bytes(self) -> bytes:
        """The note as JSON; each piece of a file and each task has one."""
        tally = self.tally
        counts = [tally.rows, tally.counted, tally.duplicates, tally.foreign, tally.malformed]
        return json.dumps([self.file, self.fault, self.digest, *counts]).encode()

    @classmethod
    def from_bytes(cls, data: bytes) -> TallyNote:
        """Read what `to_bytes` wrote."""
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
                    pa.array([key for key, _ in part], type=pa.int64()),
                    pa.array([body for _, body in part], type=pa.binary()),
                ],
                names=["key", "data"],
            )


def checksum(key: int, data: Any) -> int:
    """The checksum of a row of counts; those of several rows are added up."""
    return crc32(data, key & 0xFFFFFFFF)


def summed(stage: Stage, sum_key: int) -> Stage:
    """The stage, with a sum over its rows of counts under `sum_key` at its end."""

    def with_sum(batches: Batches) -> Iterator[Any]:
        total = 0
        for batch in stage(batches):
            for key, body in _rows([batch]):
                total += checksum(key, body) if key >= 0 else 0
            yield batch
        yield from in_table([(sum_key, total.to_bytes(8, "little"))])

    return with_sum


def by_key(batches: Batches) -> Iterator[tuple[int, Iterator[memoryview]]]:
    """Each key of a sorted table with its bytes; no byte is copied, and nothing is held."""
    for key, rows in groupby(_rows(batches), key=itemgetter(0)):
        yield key, (body for _, body in rows)


def _rows(batches: Batches) -> Iterator[tuple[int, memoryview]]:
    for batch in batches:
        bodies = (memoryview(body.as_buffer()) for body in batch.column(1))
        yield from zip(batch.column(0).to_pylist(), bodies, strict=True)

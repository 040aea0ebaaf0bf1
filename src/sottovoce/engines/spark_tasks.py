"""What the first stage of a Spark job does, and what all stages have in common: rows, sifted, go into buckets.

Tables between the stages have two columns: a `place` (a bucket, a range of cells, a chunk of cells) and `data`. Many
rows travel as one, packed by NumPy, so that Spark moves few and large ones. Tallies travel beside them under place -1:
Spark may run a task twice, and what is part of the result is counted once all the same. Every stage is a function of
the set of rows it is given, so that a task that is run again, with its input in another order, changes nothing.
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import lru_cache
from itertools import pairwise
from typing import Any, Final, NamedTuple, cast

import numpy as np
from numpy.typing import NDArray

from sottovoce.engines.files import why_bad
from sottovoce.engines.rows import sift
from sottovoce.engines.spark_rows import Bytes, buckets_of, least
from sottovoce.engines.tally import Tally
from sottovoce.formats.report_files import REPORT, REPORT_ID, pyarrow
from sottovoce.formats.wire import BATCH_HEADER_BYTES, REPORT_ID_BYTES
from sottovoce.surveys.statement import TAG_BYTES
from sottovoce.surveys.survey import Survey

__all__ = [
    "HELD_BYTES",
    "SCHEMA",
    "TALLY",
    "Batches",
    "Job",
    "Stage",
    "TallyNote",
    "TaskPiece",
    "by_place",
    "in_table",
    "rows_of",
    "split",
    "split_files",
    "whole_places",
]

SCHEMA: Final = "place bigint, data binary"
"""Of every table between two stages."""

TALLY: Final = -1
"""The place of a tally."""

HELD_BYTES: Final = 1 << 25
"""Rows that a task gathers before it sends or counts them."""

_SENT_BYTES: Final = 1 << 23
_ROWS_AT_ONCE: Final = 1 << 17

Batches = Iterable[Any]
Stage = Callable[[Batches], Iterator[Any]]


class Job(NamedTuple):
    """What every task is told: the survey as it is stated, and how the work is cut."""

    statement: str
    attachments: tuple[tuple[str, bytes], ...]
    keys: tuple[int, int]
    buckets: int
    ranges: int
    """Into how many ranges of cells reports go; 0 where every task counts all cells."""

    @property
    def survey(self) -> Survey:
        """Made once in each process."""
        return _survey(self.statement, self.attachments)


@lru_cache(maxsize=4)
def _survey(statement: str, attachments: tuple[tuple[str, bytes], ...]) -> Survey:
    return cast(Survey, Survey.from_json(statement, dict(attachments)))


class TaskPiece(NamedTuple):
    """Part of a file: some of its row groups, or, of a raw segment, some of its rows."""

    file: int
    path: str
    nbytes: int
    segment: bool
    first: int
    last: int


class TallyNote(NamedTuple):
    """A tally on its way to the driver: of which file, if of one, and why that cannot be used, if it cannot."""

    tally: Tally
    file: int = -1
    fault: str = ""

    def to_bytes(self) -> bytes:
        """As JSON; there is one for each piece of a file and each task."""
        told = self.tally
        return json.dumps(
            [self.file, self.fault, told.rows, told.counted, told.duplicates, told.foreign, told.malformed]
        ).encode()

    @classmethod
    def from_bytes(cls, data: bytes) -> TallyNote:
        """What `to_bytes` made."""
        file, fault, rows, counted, duplicates, foreign, malformed = json.loads(data)
        return cls(Tally(0, rows, counted, duplicates, foreign, malformed), file, fault)


def split(job: Job) -> Stage:
    """Rows of a table, sifted, into buckets by report id."""

    def stage(batches: Batches) -> Iterator[Any]:
        survey, splitter, tally = job.survey, _Splitter(job), Tally()
        for batch in batches:
            sifted = sift(survey, batch.column(REPORT_ID), batch.column(REPORT))
            tally += sifted.tally
            yield from splitter.add(sifted.ids, sifted.payloads)
        yield from splitter.flush()
        yield from in_table([(TALLY, note) for note in (TallyNote(tally).to_bytes(), *splitter.notes())])

    return stage


def split_files(job: Job, pieces: list[list[TaskPiece]]) -> Stage:
    """Rows of the files' pieces, sifted, into buckets by report id; a task has the number of its list of pieces.

    A piece that cannot be read is told, and what was read of it before is of no use: the driver begins again without
    that file.
    """

    def stage(batches: Batches) -> Iterator[Any]:
        splitter, notes = _Splitter(job), []
        for batch in batches:
            for task in batch.column(0).to_pylist():
                for piece in pieces[task]:
                    tally, fault = Tally(), ""
                    try:
                        for ids, reports in _columns(job.survey, piece):
                            sifted = sift(job.survey, ids, reports)
                            tally += sifted.tally
                            yield from splitter.add(sifted.ids, sifted.payloads)
                    except Exception as error:
                        reason = why_bad(error)
                        if reason is None:
                            raise
                        fault = reason
                    notes.append(TallyNote(tally, piece.file, fault).to_bytes())
        yield from splitter.flush()
        yield from in_table([(TALLY, note) for note in (*notes, *splitter.notes())])

    return stage


def _columns(survey: Survey, piece: TaskPiece) -> Iterator[tuple[Any, Any]]:
    pa, pq = pyarrow()
    if os.stat(piece.path).st_size != piece.nbytes:
        raise pa.ArrowInvalid("another length than when it was looked at")
    if not piece.segment:
        with pq.ParquetFile(piece.path, page_checksum_verification=True) as file:
            groups = range(piece.first, piece.last)
            for batch in file.iter_batches(_ROWS_AT_ONCE, row_groups=groups, columns=[REPORT_ID, REPORT]):
                yield batch.column(REPORT_ID), batch.column(REPORT)
        return
    width = REPORT_ID_BYTES + TAG_BYTES + survey.mechanism.report_bytes
    step = max(1, HELD_BYTES // width)
    for first in range(piece.first, piece.last, step):
        wanted = min(step, piece.last - first)
        body = np.fromfile(
            piece.path, dtype=np.uint8, count=wanted * width, offset=BATCH_HEADER_BYTES + first * width
        ).reshape(wanted, width)
        yield _column(body[:, :REPORT_ID_BYTES]), _column(body[:, REPORT_ID_BYTES:])


def _column(rows: Bytes) -> Any:
    pa, _ = pyarrow()
    kind = pa.binary(rows.shape[1])
    return pa.FixedSizeBinaryArray.from_buffers(kind, len(rows), [None, pa.py_buffer(rows.tobytes())])


class _Splitter:
    """Gathers rows, and sends them by bucket whenever there are enough.

    Duplicates among the rows gathered stay behind: an id that was sent a million times goes on once for each time.
    """

    def __init__(self, job: Job) -> None:
        self._job, self._rows, self._held, self._duplicates = job, list[Bytes](), 0, 0

    def add(self, ids: Bytes, payloads: Bytes) -> Iterator[Any]:
        if not len(ids):
            return
        rows = np.concatenate([ids, payloads], axis=1)
        self._rows.append(rows)
        self._held += rows.nbytes
        if self._held >= HELD_BYTES:
            yield from self.flush()

    def flush(self) -> Iterator[Any]:
        if not self._rows:
            return
        rows = np.concatenate(self._rows)
        self._rows, self._held = [], 0
        kept = least(rows)
        self._duplicates += len(rows) - len(kept)
        yield from in_table(by_place(kept, buckets_of(kept, self._job.keys, self._job.buckets)))

    def notes(self) -> list[bytes]:
        found = self._duplicates
        return [TallyNote(Tally(counted=-found, duplicates=found)).to_bytes()] if found else []


def by_place(rows: Bytes, places: NDArray[np.int64]) -> list[tuple[int, bytes]]:
    """The rows of each place together, as bytes; places are below 2**16, whose sorting takes linear time."""
    short = places.astype(np.uint16)
    order = np.argsort(short, kind="stable")
    short = short[order]
    moved = np.ascontiguousarray(rows).view(f"V{rows.shape[1]}")[:, 0].take(order)
    edges = np.flatnonzero(np.concatenate([[True], short[1:] != short[:-1], [True]])) if len(rows) else order
    return [(int(short[a]), moved[a:b].tobytes()) for a, b in pairwise(edges.tolist())]


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


def rows_of(batches: Batches) -> Iterator[tuple[int, memoryview]]:
    """Places and what they hold, in the order of a sorted table; no byte is copied."""
    for batch in batches:
        data = batch.column(1)
        yield from zip(batch.column(0).to_pylist(), (memoryview(one.as_buffer()) for one in data), strict=True)


def whole_places(batches: Batches, enough: int) -> Iterator[tuple[list[int], list[Any]]]:
    """Several places at a time, each with all its rows, until they hold `enough` bytes; tallies by themselves."""
    places: list[int] = []
    bodies: list[Any] = []
    held = 0
    for place, body in rows_of(batches):
        if places and place != places[-1] and (held >= enough or places[-1] == TALLY):
            yield places, bodies
            places, bodies, held = [], [], 0
        places.append(place)
        bodies.append(body)
        held += len(body)
    if places:
        yield places, bodies

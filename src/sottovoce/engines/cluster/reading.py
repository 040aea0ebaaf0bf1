"""What a Spark job reads, and its first stage: rows are read, sifted and counted at once; half of each id goes on.

Rows that share half of their id may be repeats, and no others can be; so 8 bytes a report are all that is shuffled.
Every stage is a function of the set of rows it is given, so that a task that is run again changes nothing.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import pairwise
from typing import Any, Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from sottovoce.core.addresses import is_address
from sottovoce.core.errors import ReportError, SottovoceError
from sottovoce.engines.cluster.counts import CellCounts
from sottovoce.engines.cluster.job import MAX_TASK_ROWS, TASKS_A_CORE, Job, prepare_worker
from sottovoce.engines.cluster.rows import Bytes, digest
from sottovoce.engines.cluster.tables import TALLY, Batches, Stage, TallyNote, in_table
from sottovoce.engines.machine.repeats import halves
from sottovoce.engines.reports.files import ReportFile, ScannedFiles, find_files, scan_files, why_bad
from sottovoce.engines.reports.reading import FilePiece, columns, in_pieces, rows_at_once
from sottovoce.engines.reports.remote import status
from sottovoce.engines.reports.rows import Sifted, Tally, sift
from sottovoce.formats.report_files import REPORT, REPORT_ID, pyarrow
from sottovoce.kernels.repeats import sampled, spread_words
from sottovoce.surveys.survey import Survey

__all__ = [
    "Source",
    "TaskPiece",
    "checked_columns",
    "count_and_halve",
    "cut",
    "found_files",
    "from_files",
    "from_table",
    "is_table",
]


class TaskPiece(NamedTuple):
    """Part of a file, by the file's number."""

    number: int
    part: FilePiece


Rows = Iterator[tuple[int, Bytes, Bytes]]
"""Ids and payloads of good rows, a bounded number at a time, after the number of the task that has them."""

Source = Callable[[Batches, list[bytes]], Rows]
"""Reads a task's rows, and adds notes of what became of them to the list."""


def from_table(job: Job) -> Source:
    """Good rows of a table."""

    def read(batches: Batches, notes: list[bytes]) -> Rows:
        tally, seen = Tally(), 0
        for batch in batches:
            sifted = sift(job.survey, batch.column(REPORT_ID), batch.column(REPORT))
            tally += sifted.tally
            seen += digest(sifted.ids, sifted.payloads, job.multipliers)
            yield 0, sifted.ids, sifted.payloads
        notes.append(TallyNote(tally, digest=seen % 2**64).to_bytes())

    return read


def from_files(job: Job, tasks: Sequence[list[TaskPiece]]) -> Source:
    """Good rows of the pieces of files that a task has; it is handed the number of their list.

    A damaged piece is reported, and the rows read from it before are dropped: the driver begins again without that
    file. A file that a worker cannot read fails the task, and Spark tries elsewhere: a task must report the same
    whenever it is run, since others may have taken its rows already.
    """

    def read(batches: Batches, notes: list[bytes]) -> Rows:
        for batch in batches:
            for number in batch.column(0).to_pylist():
                for piece in tasks[number]:
                    tally, fault = Tally(), ""
                    try:
                        for sifted in _sifted(job, piece.part):
                            tally += sifted.tally
                            yield number, sifted.ids, sifted.payloads
                    except Exception as error:
                        reason = why_bad(error)
                        if reason is None:
                            raise
                        if isinstance(error, OSError) and (error.errno or type(error) is not OSError):
                            raise _unread(piece.part.file.path, error) from None
                        fault = reason
                    notes.append(TallyNote(tally, piece.number, fault).to_bytes())

    return read


def _unread(path: str, error: OSError) -> ReportError:
    if isinstance(error, FileNotFoundError):
        reason = "the workers do not see it; it must be where they find it under the same path"
    else:
        reason = f"a worker cannot read it: {error.strerror or 'the system refuses'}"
    return ReportError(f"1 file cannot be used: {path} ({reason}). Nothing was counted")


def _sifted(job: Job, part: FilePiece) -> Iterator[Sifted]:
    pa, _ = pyarrow()
    if status(part.file.path).nbytes != part.file.nbytes:
        raise pa.ArrowInvalid("another length than when it was looked at")
    for ids, reports in columns(job.survey, part, rows_at_once(job.survey, 4 * job.held_bytes, 1)):
        yield sift(job.survey, ids, reports)


def count_and_halve(job: Job, source: Source) -> Stage:
    """Count a task's rows, and send half of each id to its bucket, beside the number of the task."""

    def stage(batches: Batches) -> Iterator[Any]:
        prepare_worker()
        counts, kept, notes = CellCounts(job), _Halves(job), list[bytes]()
        for task, ids, payloads in source(batches, notes):
            yield from counts.add(payloads)
            yield from kept.add(task, ids)
        yield from kept.send()
        yield from counts.send()
        yield from in_table([(TALLY, note) for note in notes])

    return stage


_FLOOD: Final = 8
"""A bucket with this many times its share of the words is searched for one word that floods it."""


class _Halves:
    """Halves of ids, gathered, and sent by bucket whenever there are enough."""

    def __init__(self, job: Job) -> None:
        self._job, self._task = job, 0
        self._held: list[NDArray[np.uint64]] = []
        self._bytes = 0

    def add(self, task: int, ids: Bytes) -> Iterator[Any]:
        if task != self._task:
            yield from self.send()
            self._task = task
        if not len(ids):
            return
        words = sampled(halves(ids), self._job.multipliers[1], self._job.sample_bits)
        self._held.append(words)
        self._bytes += words.nbytes
        if self._bytes >= self._job.held_bytes:
            yield from self.send()

    def send(self) -> Iterator[Any]:
        if not self._bytes:
            return
        words = np.concatenate(self._held)
        self._held, self._bytes = [], 0
        bits = self._job.buckets.bit_length() - 1
        spread, sizes = spread_words(words, self._job.multipliers[0], bits)
        ends = np.cumsum(sizes).tolist()
        task = np.array([self._task], dtype=np.uint64)
        usual = _FLOOD * (1 + len(words) // self._job.buckets)
        yield from in_table(
            [
                (bucket, _packed(task, spread[a:b] if b - a <= usual else _at_most_twice(spread[a:b])))
                for bucket, (a, b) in enumerate(pairwise([0, *ends]))
                if a < b
            ]
        )


def _packed(*parts: NDArray[np.uint64]) -> bytes:
    return b"".join(part.tobytes() for part in parts)


def _at_most_twice(words: NDArray[np.uint64]) -> NDArray[np.uint64]:
    """One or two copies of each word: an id that was sent a million times goes on as one that was sent twice."""
    once, times = np.unique(words, return_counts=True)
    return np.repeat(once, np.minimum(times, 2))


_LEAST_TASK_ROWS: Final = 1 << 19
"""Fewer would take less time than a task takes to begin; and over Spark Connect nobody knows how many cores it has."""


def is_table(reports: object) -> bool:
    """Whether this is a table of Spark's, of whatever kind of session."""
    return hasattr(type(reports), "mapInArrow")  # of its type: a table of Spark Connect asks its server for the rest


def found_files(survey: Survey, reports: object) -> ScannedFiles:
    """The files of paths and addresses, their footers looked at.

    Raises
    ------
    SottovoceError
        If there are none, or Python cannot read an address that perhaps Spark itself can.
    """
    try:
        return scan_files(survey, find_files(reports))
    except SottovoceError as error:
        given = [reports] if isinstance(reports, str) or not isinstance(reports, Iterable) else reports
        if any(isinstance(name, str) and is_address(name) for name in given):
            error.add_note("; what only Spark itself can read, give as a table: spark.read.parquet(...)")
        raise


def checked_columns(table: Any) -> Any:
    """The table's two columns of reports.

    Raises
    ------
    ReportError
        If one is missing, there twice, or not of bytes.
    """
    fields = table.schema.fields
    for name in (REPORT_ID, REPORT):
        types = [field.dataType.simpleString() for field in fields if field.name == name]
        if not types:
            there = ", ".join(field.name for field in fields[:8]) or "none"
            raise ReportError(
                f"the table has no column {name}: it needs {REPORT_ID} and {REPORT}, both of type binary; it has "
                f"{there}. Rename what holds them: table.withColumnRenamed(...)"
            )
        if len(types) > 1:
            raise ReportError(f"the table has {len(types)} columns {name}: drop all but one")
        if types[0] != "binary":
            raise ReportError(
                f"column {name} of the table is of type {types[0]}, not of bytes (binary): decode it first, with "
                "unhex or unbase64 for text"
            )
    return table.select(REPORT_ID, REPORT)


def cut(files: Sequence[ReportFile], cores: int, task_rows: int | None = None) -> list[list[TaskPiece]]:
    """The pieces of the files, in lists of about as many rows, one a task.

    A row group is never cut; small files share a task.
    """
    rows = sum(file.rows for file in files)
    most = task_rows or max(_LEAST_TASK_ROWS, min(MAX_TASK_ROWS, -(-rows // (TASKS_A_CORE * max(1, cores)))))
    tasks: list[list[TaskPiece]] = [[]]
    held = 0
    for number, file in enumerate(files):
        # What a task reads of a file tells it of no other row group.
        for part in in_pieces([file], most) or [FilePiece(file, 0, 0, 0)]:
            if held and held + part.rows > most:
                tasks.append([])
                held = 0
            tasks[-1].append(TaskPiece(number, part._replace(file=file._replace(groups=()))))
            held += part.rows
    return tasks

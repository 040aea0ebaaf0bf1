"""One count on Spark: a job that counts everything and finds repeated halves of ids; another, if there are any.

The second job takes off what repeated rows have added. It reads the pieces of files again that have suspected rows; a
table is computed again, and must give the same rows.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from sottovoce.core.errors import ReportError
from sottovoce.engines.base import Ids, Progress, not_unique
from sottovoce.engines.cluster.counted import other_counts
from sottovoce.engines.cluster.errors import translating_errors
from sottovoce.engines.cluster.job import CHUNK_CELLS, HALF_BYTES, HELD_SHARE, RANGE_CELLS, Job, is_wide
from sottovoce.engines.cluster.merging import (
    MOST_SUSPECTS,
    SuspectNote,
    as_they_are,
    merge_and_find,
    merge_chunks,
    send_suspects,
    settle_suspects,
)
from sottovoce.engines.cluster.reading import Source, TaskPiece, count_and_halve, from_files, from_table
from sottovoce.engines.cluster.rows import add_packed
from sottovoce.engines.cluster.tables import CHECKED, CHECKSUM, READ_AGAIN, SCHEMA, SUSPECTS, TALLY, TallyNote, summed
from sottovoce.engines.cluster.watched import watched
from sottovoce.engines.reports.rows import Tally
from sottovoce.kernels.repeats import sample_bits, secret_multiplier
from sottovoce.mechanisms.base import Counts
from sottovoce.surveys.survey import Survey

__all__ = ["CountedRows", "ReportRows", "SparkRun"]

_DRIVER_BYTES: Final = 1 << 26
"""Counts that the driver takes in one go, and keeps."""

_MERGED_BYTES: Final = 1 << 26
"""Bytes for one task of the second stage, where the amount is known."""

_MAX_BUCKETS: Final = 1 << 16
_BUCKETS_A_TASK: Final = 32
"""Buckets per task. They are spread over tasks by hash, so with this many no task gets far more than others."""

_BUCKETS_OF_A_TABLE: Final = 8
"""Buckets per task for a table: fewer, because Spark's settings ask for many tasks before the amount is known."""

_SHUFFLE_PARTITIONS: Final = 200
"""Spark's own default."""

_TABLE_SAMPLE_BITS: Final = 3
"""Bits of the sample of a table's ids that should be unique; their number is not known."""

READING: Final = "reading and counting"
MERGING: Final = "looking for repeated ids and merging counts"
AGAIN: Final = "reading repeated ids again"
SETTLING: Final = "taking repeated reports off"
LAST: Final = "merging counts"


class ReportRows(NamedTuple):
    """What is counted: a table, or lists of pieces of files, one a task."""

    table: Any = None
    tasks: tuple[list[TaskPiece], ...] | None = None

    @property
    def number(self) -> int | None:
        """Rows of the files; what a table has is not known."""
        return None if self.tasks is None else sum(piece.part.rows for task in self.tasks for piece in task)

    def of_tasks(self, numbers: set[int]) -> ReportRows:
        """Those of some tasks only; a table stays whole."""
        return self if self.tasks is None else ReportRows(None, tuple(self.tasks[i] for i in sorted(numbers)))

    def source(self, job: Job) -> Source:
        """How a task reads its part."""
        return from_table(job) if self.tasks is None else from_files(job, self.tasks)

    def spread(self, session: Any) -> Any:
        """The table that the first stage is given: the rows, or the numbers of tasks."""
        return self.table if self.tasks is None else session.range(0, len(self.tasks), 1, len(self.tasks))


@dataclass
class CountedRows:
    """Counts in chunks, on the driver or in a table that the cluster keeps, and the notes about them."""

    chunk_cells: int = CHUNK_CELLS
    chunks: dict[int, Counts] | None = field(default_factory=dict)
    table: Any = None
    notes: list[TallyNote] = field(default_factory=list)
    again: list[TallyNote] = field(default_factory=list)
    suspects: list[SuspectNote] = field(default_factory=list)
    checksum: int = 0
    """Checksum of the rows of counts."""
    checked: int = 0
    """Checksum of an earlier job's rows when they were read again."""

    @property
    def bad(self) -> dict[int, str]:
        """Files, by number, that turned out to be unreadable, and why."""
        return {note.file: note.fault for note in self.notes if note.fault}

    @property
    def tally(self) -> Tally:
        """What became of all rows, those of unreadable files left out."""
        bad = self.bad
        return sum((note.tally for note in self.notes if note.file not in bad), start=Tally())

    def hear(self, key: int, data: bytes) -> None:
        """Take a row that is not counts."""
        if key == SUSPECTS:
            self.suspects.append(SuspectNote.from_bytes(data))
        elif key == CHECKSUM:
            self.checksum += int.from_bytes(data, "little")
        elif key == CHECKED:
            self.checked += int.from_bytes(data, "little")
        else:
            {TALLY: self.notes, READ_AGAIN: self.again}[key].append(TallyNote.from_bytes(data))

    def close(self) -> None:
        """Take the table out of the cluster's cache."""
        table, self.table = self.table, None
        if table is not None:
            with translating_errors():
                table.unpersist()


class SparkRun:
    """Counts rows for one survey on one session."""

    def __init__(
        self, session: Any, survey: Survey, *, memory: int, patience: float, progress: Progress | None
    ) -> None:
        self._session, self._survey, self._memory = session, survey, memory
        self._patience, self._progress, self._told = patience, progress, (0, 0)
        self._small = HALF_BYTES * survey.mechanism.cells <= _DRIVER_BYTES

    def count(self, rows: ReportRows, ids: Ids) -> CountedRows:
        """Count every row once, and take repeats off; where there should be none, a sample of ids is checked.

        Where files could not be read, what is returned is of no use but for its `bad`.
        """
        with translating_errors():
            job, partitions = self._job(rows.number, unique=ids != "removed")
            table = rows.spread(self._session).mapInArrow(count_and_halve(job, rows.source(job)), SCHEMA)
            table = _gathered(table, partitions).mapInArrow(summed(merge_and_find(job), CHECKSUM), SCHEMA)
        counted = self._collect(job, table, (READING, MERGING))
        if not counted.suspects or counted.bad:
            return counted
        try:
            settled = self._settle(job, partitions, rows, counted)
            lost = settled.tally.duplicates
            if lost and ids != "removed":
                settled.close()
                raise not_unique(ids, lost)
        except BaseException:
            counted.close()
            raise
        return settled

    def _job(self, rows: int | None, unique: bool) -> tuple[Job, int]:
        mechanism = self._survey.mechanism
        wide = is_wide(mechanism, self._memory)
        bits = 0 if not unique else _TABLE_SAMPLE_BITS if rows is None else sample_bits(rows)
        each, held = mechanism.report_bytes if wide else 0, self._memory // HELD_SHARE
        buckets, partitions = self._cut(None if rows is None else (rows * HALF_BYTES >> bits) + rows * each, rows)
        # As many as the driver can take of all tasks together.
        times = 1 + (rows * HALF_BYTES >> bits) // held if rows is not None else parallel(self._session)[1]
        job = Job(
            self._survey.to_json(),
            tuple(sorted(self._survey.attachments.items())),
            (secret_multiplier(), secret_multiplier()),
            buckets,
            min(buckets, -(-mechanism.cells // RANGE_CELLS)) if wide else 0,
            bits,
            MOST_SUSPECTS // times,
            held,
        )
        return job, partitions

    def _cut(self, shuffled: int | None, rows: int | None) -> tuple[int, int]:
        """Buckets of ids, and tasks after a shuffle of `shuffled` bytes; with 0 tasks Spark chooses."""
        cores, shuffle = parallel(self._session)
        if shuffled is None or rows is None:
            return _power_of_two(min(_MAX_BUCKETS, _BUCKETS_OF_A_TABLE * shuffle)), 0
        busy = min(cores, -(-rows >> 16))
        partitions = max(1, busy, -(-shuffled // _MERGED_BYTES))
        least = -(-shuffled // (self._memory // HELD_SHARE))
        buckets = max(_BUCKETS_A_TASK * partitions if partitions > 1 else 2, least)
        return _power_of_two(min(_MAX_BUCKETS, buckets)), partitions

    def _settle(self, job: Job, merging: int, rows: ReportRows, counted: CountedRows) -> CountedRows:
        """The counts without repeats; `merging` tasks have merged counts before, and do it again."""
        tasks = {int(task) for note in counted.suspects for task in note.tasks}
        repeated = np.unique(np.concatenate([note.halves for note in counted.suspects]))
        many = any(note.many for note in counted.suspects) or len(repeated) > MOST_SUSPECTS
        suspected: NDArray[np.uint64] | None = None if many else repeated
        again = rows.of_tasks(tasks)
        width = 16 + self._survey.mechanism.report_bytes
        there = again.number
        if suspected is not None:  # most of them occur twice
            there = 4 * len(suspected) if there is None else min(there, 4 * len(suspected))
        with translating_errors():
            _, partitions = self._cut(None if there is None else width * there, there)
            # By all rows that are read: any number of them may share a half.
            buckets, _ = self._cut(None if again.number is None else width * again.number, again.number)
            job = job._replace(buckets=buckets)
            table = again.spread(self._session).mapInArrow(send_suspects(job, again.source(job), suspected), SCHEMA)
            table = _gathered(table, partitions).mapInArrow(settle_suspects(job), SCHEMA)
            if not self._small:
                before = counted.table.filter("key >= 0").mapInArrow(summed(as_they_are, CHECKED), SCHEMA)
                together = _gathered(before.unionByName(table), merging)
                table = together.mapInArrow(summed(merge_chunks(job), CHECKSUM), SCHEMA)
        settled = self._collect(job, table, (AGAIN, SETTLING, LAST))
        counted.close()
        _check_same(counted, settled)
        if settled.chunks is not None and counted.chunks is not None:
            for chunk, counts in counted.chunks.items():
                settled.chunks[chunk] = settled.chunks[chunk] + counts if chunk in settled.chunks else counts
        settled.notes += counted.notes
        return settled

    def _tell(self, done: int, total: int, step: str) -> None:
        """Progress over all jobs: one that follows another goes on where that one ended."""
        before, last = self._told
        if done < last:
            before += last
        self._told = before, done
        if self._progress is not None:
            self._progress(before + done, before + total, step)

    def _collect(self, job: Job, table: Any, steps: Sequence[str]) -> CountedRows:
        """Run a job: small counts come to the driver, others stay on the cluster."""
        counted, cells = CountedRows(job.chunk_cells), self._survey.mechanism.cells
        tell = None if self._progress is None else self._tell
        try:
            if not self._small:
                counted.chunks = None
                with translating_errors():
                    counted.table = table.persist()
                    table = counted.table.filter("key < 0")
            rows = watched(self._session, table.collect, tell, self._patience, steps)
        except BaseException:
            counted.close()
            raise
        for key, data in rows:
            if key < 0:
                counted.hear(key, bytes(data))
            elif counted.chunks is not None:
                length = min(job.chunk_cells, cells - key * job.chunk_cells)
                add_packed(counted.chunks.setdefault(key, np.zeros(length, dtype=np.int64)), bytes(data))
        return counted


def parallel(session: Any) -> tuple[int, int]:
    """Tasks that the cluster runs at a time, as far as is known, and those that it makes of a shuffle by itself."""
    context = getattr(session, "sparkContext", None)
    stated = session.conf.get("spark.sql.shuffle.partitions")
    shuffle = int(stated) if stated.isdigit() else _SHUFFLE_PARTITIONS  # some clusters have "auto"
    return int(context.defaultParallelism) if context is not None else shuffle, shuffle


def _power_of_two(number: int) -> int:
    return 1 << max(0, number - 1).bit_length()


def _gathered(table: Any, partitions: int) -> Any:
    """All rows of a key in one task, keys in order."""
    moved = table.repartition(partitions, "key") if partitions else table.repartition("key")
    return moved.sortWithinPartitions("key")


def _check_same(before: CountedRows, again: CountedRows) -> None:
    """Raise if what was read again is not what was read before."""
    if before.chunks is None and again.checked != before.checksum:
        again.close()
        raise other_counts()
    digests = [sum(note.digest for note in notes) % 2**64 for notes in (before.notes, again.again)]
    if digests[0] != digests[1]:
        again.close()
        raise ReportError(
            "the table gave other rows when it was read again to settle repeated ids, and nothing was counted: write "
            "it to files, or keep it (table.persist()), and count that"
        )
    if any(note.fault for note in again.again):
        again.close()
        raise ReportError("a file changed while it was counted; nothing was counted: run it again")

"""The cluster of a Spark session: reports shuffled once by their id, counts merged by chunk, the driver last of all.

No machine holds more than its share: a task some megabytes of rows and the survey's cells (or, where those are many,
only the cells its own rows move), the driver one shard after another.
"""

from __future__ import annotations

import math
import secrets
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any, ClassVar, Final, NamedTuple, final

import numpy as np

from sottovoce.core.errors import ReportError
from sottovoce.core.limits import SHARD_CELLS
from sottovoce.engines import files
from sottovoce.engines.base import Counted, Engine, Faults, Progress, check_choice, check_faults
from sottovoce.engines.spark_counting import count_cells, count_ranges, merge, merge_ranges
from sottovoce.engines.spark_errors import pyspark_sql, translating_errors
from sottovoce.engines.spark_input import check_local, checked_columns, cut, is_table, why_unread
from sottovoce.engines.spark_jobs import PATIENCE, watched
from sottovoce.engines.spark_rows import CHUNK_CELLS, add_packed, has_one_cell
from sottovoce.engines.spark_tasks import SCHEMA, TALLY, Job, TallyNote, split, split_files
from sottovoce.engines.tally import BadFile, Tally
from sottovoce.mechanisms.shards import Shard, shard_length
from sottovoce.surveys.survey import Survey

__all__ = ["SparkEngine"]

DENSE_CELLS: Final = 1 << 22
"""Cells that every counting task may hold (32 MiB); of more, where reports allow it, only those that are moved."""

_DRIVER_BYTES: Final = 1 << 26
"""Counts that the driver takes in one go, and keeps."""

_REDUCER_BYTES: Final = 1 << 26
"""Rows that one counting task gets, where their number is known."""

_MAX_BUCKETS: Final = 1 << 14
_BUCKETS_A_REDUCER: Final = 32
"""Buckets fall on tasks by a hash of theirs; so many that none gets far more than others."""

_BUCKETS_OF_A_TABLE: Final = 8
"""Fewer, for Spark's settings ask for many tasks before it is known how much there is to do."""

_FAN: Final = 32
"""Partial counts of a chunk that one task adds up; where there are more, they are merged in two steps."""


class _Cut(NamedTuple):
    """How a job is cut."""

    cores: int
    reducers: int
    """0: as many as Spark finds fit."""
    at_most: int
    buckets: int


@final
class SparkEngine(Engine):
    """Counts on the cluster of a session.

    Parameters
    ----------
    session
        A `pyspark.sql.SparkSession`; the engine neither makes nor stops it.
    patience
        Seconds that a job may be without any worker before it is given up.
    task_rows, dense_cells
        How finely files are cut, and how many cells a task may hold; both have defaults that suit most clusters.
    """

    name: ClassVar[str] = "spark"

    def __init__(
        self, session: Any, *, patience: float = PATIENCE, task_rows: int | None = None, dense_cells: int = DENSE_CELLS
    ) -> None:
        sql = pyspark_sql()
        if not hasattr(session, "createDataFrame") or not hasattr(session, "range"):
            raise ReportError(
                f"session has type {type(session).__name__}: give a {sql.__name__}.SparkSession, for instance that of "
                "sottovoce.engines.spark_session.session()"
            )
        self._session, self._patience = session, patience
        self._task_rows, self._dense_cells = task_rows, dense_cells

    def count(
        self, survey: Survey, reports: Any, *, faults: Faults = "refuse", progress: Progress | None = None
    ) -> Counted:
        """Count files that every worker can read, or a table with binary columns `report_id` and `report`.

        Raises
        ------
        ReportError
            As for any engine; also where a table's columns are not those of reports.
        ServiceError
            If the cluster cannot do it; `code` says why in one word.
        CapacityError
            If memory or disk of the cluster do not suffice.
        """
        check_choice(faults)
        if is_table(reports):
            with translating_errors():
                table = checked_columns(reports)
            counted = self._run(survey, table, None, progress)
            return self._checked(counted, faults)
        check_local(reports)
        found = files.scan_files(survey, files.find_files(reports))
        if faults == "refuse":
            check_faults(survey, Tally(bad_files=found.bad), faults)
        bad, good = found.bad, found.files
        while True:
            counted = self._run(survey, None, good, progress)
            if not counted.bad:
                break
            # Part of these was counted before it was seen that the rest cannot be read: once more, without them.
            counted.close()
            bad += tuple(
                BadFile(good[number].path, why_unread(good[number], counted.bad[number])) for number in counted.bad
            )
            good = tuple(file for number, file in enumerate(good) if number not in counted.bad)
            if faults == "refuse":
                check_faults(survey, replace(counted.tally, bad_files=tuple(sorted(bad))), faults)
        counted.tally = replace(counted.tally, files=len(good), bad_files=tuple(sorted(bad)))
        return self._checked(counted, faults)

    def _checked(self, counted: SparkCounted, faults: Faults) -> SparkCounted:
        try:
            check_faults(counted.survey, counted.tally, faults)
        except BaseException:
            counted.close()
            raise
        return counted

    def _run(
        self, survey: Survey, table: Any, good: Sequence[files.ReportFile] | None, progress: Progress | None
    ) -> SparkCounted:
        if good is not None and not good:
            return SparkCounted(survey, [], {})
        with translating_errors():
            final_table = self._plan(survey, table, good)
        small = 8 * survey.mechanism.cells <= _DRIVER_BYTES
        if small:
            rows = watched(self._session, final_table.collect, progress, self._patience)
            chunks: dict[int, Any] = {}
            for place, data in rows:
                if place != TALLY:
                    length = min(CHUNK_CELLS, survey.mechanism.cells - place * CHUNK_CELLS)
                    add_packed(chunks.setdefault(place, np.zeros(length, dtype=np.int64)), bytes(data))
            return SparkCounted(survey, [bytes(data) for place, data in rows if place == TALLY], chunks)
        with translating_errors():
            final_table = final_table.persist()
        told = final_table.filter(f"place = {TALLY}")
        try:
            notes = watched(self._session, told.collect, progress, self._patience)
        except BaseException:
            final_table.unpersist()
            raise
        return SparkCounted(survey, [bytes(data) for _, data in notes], table=final_table)

    def _plan(self, survey: Survey, table: Any, good: Sequence[files.ReportFile] | None) -> Any:
        """The table of merged counts and tallies; nothing runs yet."""
        cells, chunks = survey.mechanism.cells, -(-survey.mechanism.cells // CHUNK_CELLS)
        how = self._cut(survey, good)
        wide = cells > self._dense_cells and has_one_cell(survey.mechanism)
        job = Job(
            survey.to_json(),
            tuple(sorted(survey.attachments.items())),
            (secrets.randbits(64), secrets.randbits(64)),
            how.buckets,
            min(how.buckets, chunks) if wide else 0,
        )
        if good is not None:
            pieces = cut(good, how.cores, self._task_rows)
            table = self._session.range(0, len(pieces), 1, len(pieces)).mapInArrow(split_files(job, pieces), SCHEMA)
        else:
            table = table.mapInArrow(split(job), SCHEMA)
        table = _gathered(table, how.reducers)
        if wide:
            table = _gathered(table.mapInArrow(count_ranges(job), SCHEMA), min(how.at_most, job.ranges))
            return table.mapInArrow(merge_ranges(job), SCHEMA)
        if how.at_most == 1 or 8 * how.at_most * cells <= _DRIVER_BYTES:
            return table.mapInArrow(count_cells(job, 1), SCHEMA)
        fan = math.isqrt(how.at_most) if how.at_most > _FAN else 1
        table = table.mapInArrow(count_cells(job, fan), SCHEMA)
        if fan > 1:
            table = _gathered(table, min(2 * how.cores, chunks * fan)).mapInArrow(merge(job, fan), SCHEMA)
        return _gathered(table, min(2 * how.cores, chunks)).mapInArrow(merge(job, 1), SCHEMA)

    def _cut(self, survey: Survey, good: Sequence[files.ReportFile] | None) -> _Cut:
        context = getattr(self._session, "sparkContext", None)
        shuffle = int(self._session.conf.get("spark.sql.shuffle.partitions"))
        cores = int(context.defaultParallelism) if context is not None else shuffle
        if good is None:
            # Spark itself makes fewer of them where there is little to do.
            return _Cut(cores, 0, shuffle, _power_of_two(min(_MAX_BUCKETS, _BUCKETS_OF_A_TABLE * shuffle)))
        rows = sum(file.rows for file in good)
        width = 16 + survey.mechanism.report_bytes
        busy = min(cores, -(-rows // (self._task_rows or 1 << 16)))
        reducers = max(1, busy, -(-rows * width // _REDUCER_BYTES))
        buckets = 1 if reducers == 1 else _power_of_two(min(_MAX_BUCKETS, _BUCKETS_A_REDUCER * reducers))
        return _Cut(cores, reducers, reducers, buckets)


def _power_of_two(number: int) -> int:
    return 1 << max(0, number - 1).bit_length()


def _gathered(table: Any, partitions: int) -> Any:
    """All rows of a place in one task, places in order."""
    moved = table.repartition(partitions, "place") if partitions else table.repartition("place")
    return moved.sortWithinPartitions("place")


@final
class SparkCounted(Counted):
    """Counts on the driver where they are few, and in the cluster's cache where they are many."""

    def __init__(
        self, survey: Survey, notes: list[bytes], chunks: dict[int, Any] | None = None, *, table: Any = None
    ) -> None:
        self.survey, self._chunks, self._table = survey, chunks, table
        found = [TallyNote.from_bytes(note) for note in notes]
        self.bad = {note.file: note.fault for note in found if note.fault}
        """Files, by number, that turned out to be unreadable, and why."""
        self.tally = sum((note.tally for note in found if note.file not in self.bad), start=Tally())

    def shards(self) -> Iterator[Shard]:
        """The counts in shards, in order, one of them on the driver at a time."""
        number, counts = -1, np.zeros(0, dtype=np.int64)
        for chunk, data in self._in_order():
            first = chunk * CHUNK_CELLS
            if first // SHARD_CELLS != number:
                if counts.any():
                    yield Shard(number, counts)
                number = first // SHARD_CELLS
                counts = np.zeros(shard_length(self.survey.mechanism.cells, number), dtype=np.int64)
            offset = first - number * SHARD_CELLS
            part = counts[offset : offset + CHUNK_CELLS]
            if isinstance(data, np.ndarray):
                part += data
            else:
                add_packed(part, data)
        if counts.any():
            yield Shard(number, counts)

    def _in_order(self) -> Iterator[tuple[int, Any]]:
        if self._chunks is not None:
            yield from sorted(self._chunks.items())
            return
        if self._table is None:
            raise ReportError("these counts were closed: count again")
        with translating_errors():
            ordered = self._table.filter(f"place <> {TALLY}").orderBy("place")
            for chunk, data in ordered.toLocalIterator(prefetchPartitions=True):
                yield chunk, bytes(data)

    def close(self) -> None:
        """Take the counts out of the cluster's cache."""
        self._chunks, table, self._table = None, self._table, None
        if table is not None:
            with translating_errors():
                table.unpersist()

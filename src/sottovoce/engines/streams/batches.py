"""Count the batches of a stream: each once, also when it is interrupted and comes again, and no id of an earlier one.

A batch is begun (its stamp is noted), counted by the cluster, which writes its ids, and saved as an aggregate file;
then the state's document names all of this, and the batch counts. Before that, nothing of it does.
"""

from __future__ import annotations

import hashlib
import secrets
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from functools import reduce
from operator import add
from typing import Any, Final, final

import numpy as np

from sottovoce.core.errors import CapacityError, ReportError
from sottovoce.engines.base import Counted, Faults, Progress, check_faults
from sottovoce.engines.cluster.counted import SparkCounted
from sottovoce.engines.cluster.errors import translating_errors
from sottovoce.engines.cluster.job import HELD_SHARE, RANGE_CELLS, TASK_MEMORY, TASKS_A_CORE, Job, is_wide
from sottovoce.engines.cluster.merging import merge_and_find
from sottovoce.engines.cluster.reading import checked_columns, cut, is_table
from sottovoce.engines.cluster.rows import add_packed
from sottovoce.engines.cluster.run import CountedRows, ReportRows, parallel
from sottovoce.engines.cluster.tables import CHECKSUM, SCHEMA, TALLY, TallyNote, summed
from sottovoce.engines.cluster.watched import watched
from sottovoce.engines.reports import files
from sottovoce.engines.reports.rows import BadFile, Tally
from sottovoce.engines.streams.seen import KnownIds, count_new, merge_seen, send_rows
from sottovoce.engines.streams.seen_files import seen_count
from sottovoce.engines.streams.state import BatchSpan, SeenRun, StateFolder, StreamState
from sottovoce.formats.aggregate_file import AggregateFile, write_aggregate
from sottovoce.formats.sharded import ShardedAggregate
from sottovoce.mechanisms.shards import Shard
from sottovoce.surveys.survey import Survey

__all__ = ["BatchCounter", "StreamCounts"]

_DRIVER_BYTES: Final = 1 << 26
"""Counts that the driver takes in one go."""

_DRIVER_IDS: Final = 1 << 18
"""Ids that the driver merges by itself: fewer are not worth a job."""

_TASK_ROWS: Final = 1 << 16
_DAY: Final = 86400

READING: Final = "reading"
LOOKING: Final = "looking for known ids and counting"
MERGING: Final = "merging counts"
TIDYING: Final = "merging files of known ids"


@final
class BatchCounter:
    """Counts batches into a state folder that is locked and has a document.

    Parameters
    ----------
    clock
        Seconds since 1970, on the driver: the one clock that stamps come from.
    """

    def __init__(
        self,
        session: Any,
        survey: Survey,
        folder: StateFolder,
        *,
        faults: Faults,
        patience: float,
        clock: Callable[[], float],
        progress: Progress | None = None,
        memory: int = TASK_MEMORY,
    ) -> None:
        self._session, self._survey, self._folder = session, survey, folder
        self._faults, self._patience, self._clock = faults, patience, clock
        self._progress, self._memory = progress, memory

    def count(self, number: int, reports: Any, checkpoint: str) -> None:
        """Count a batch: the files of these names, or a table. One that was counted already is left as it is.

        Raises
        ------
        ReportError
            If the batch cannot be counted; it stays pending, and comes again under its number.
        """
        state = self._begun(number, reports, checkpoint)
        if state is None:
            self.tidy()  # which it may not have come to
            return
        try:
            counted, name = self._counted(state, reports)
            with counted:
                self._check(state, counted.tally)
                path = self._folder.counts(BatchSpan(number, number))
                write_aggregate(path, self._survey, counted.n_reports, counted.shards())
                # Last: a worker that was lost meanwhile has its ids written again.
                run = self._written(name, state, counted.n_reports)
        except (ReportError, CapacityError) as error:
            raise type(error)(f"batch {number} was not counted and stays pending: {error}") from None
        self._folder.write(state.counted(counted.tally, run))
        self.tidy()

    def _begun(self, number: int, reports: Any, checkpoint: str) -> StreamState | None:
        """What is known before the batch, with its stamp; None if the batch was counted."""
        state = self._folder.read()
        if state is None:
            raise ReportError(f"the state folder {self._folder.path} was emptied while the stream ran")
        content = _content(reports)
        again = number == state.batches - 1 and content == state.content
        if (state.checkpoint and state.checkpoint != checkpoint) or not (again or number == state.batches):
            raise ReportError(
                f"the checkpoint in {self._folder.path} does not belong to the state beside it: {state.batches:,} "
                f"batches were counted, and Spark comes with another batch {number}. Restore the folder whole, or give "
                "a new one for the state"
            )
        if again:
            return None
        stamp = state.stamp if state.begun else self._stamp(state)
        state = replace(state, stamp=stamp, begun=True, content=content, checkpoint=checkpoint)
        self._folder.write(state)
        return state

    def _stamp(self, state: StreamState) -> int:
        if state.horizon.unit == "batches":
            return state.batches
        now = int(self._clock())
        behind = state.stamp - now
        if behind > min(_DAY, state.horizon.length):
            raise ReportError(
                f"the clock is {behind:,} seconds behind the last batch in {self._folder.path}: set the clock; if it "
                "was wrong then, begin with a new state folder, or wait"
            )
        return max(now, state.stamp)  # a clock that was set back a little forgets nothing early

    def _counted(self, state: StreamState, reports: Any) -> tuple[SparkCounted, str]:
        """The counts, and the name of the run that its new ids are in."""
        if is_table(reports):
            counted, name = self._run(state, ReportRows(checked_columns(reports)))
            return self._whole(counted, counted.tally), name
        scanned = files.scan_files(self._survey, sorted(reports))
        bad, good = scanned.bad, scanned.files
        while True:
            if self._faults == "refuse":
                check_faults(self._survey, Tally(bad_files=tuple(sorted(bad))), "refuse")
            counted, name = self._run(state, ReportRows(None, tuple(cut(good, self._cores()) if good else [])))
            if not counted.bad:
                break
            # Once more, without the files that cannot be read to their end, and into a run of another name.
            counted.close()
            bad += tuple(BadFile(good[i].path, why) for i, why in counted.bad.items())
            good = tuple(file for i, file in enumerate(good) if i not in counted.bad)
        try:
            files.check_unchanged(good)
        except BaseException:
            counted.close()
            raise
        return self._whole(counted, replace(counted.tally, files=len(good), bad_files=tuple(sorted(bad)))), name

    def _whole(self, counted: CountedRows, tally: Tally) -> SparkCounted:
        return SparkCounted(
            self._survey, tally, "removed", counted.chunk_cells, counted.chunks, counted.table, counted.checksum
        )

    def _run(self, state: StreamState, rows: ReportRows) -> tuple[CountedRows, str]:
        known, job = self._known(state.remembered()), self._job(state)
        if rows.number == 0:
            return CountedRows(), known.target
        tasks = self._tasks(state, rows.number)
        with translating_errors():
            table = rows.spread(self._session).mapInArrow(send_rows(job, rows.source(job)), SCHEMA)
            table = _gathered(table, tasks).mapInArrow(count_new(job, known), SCHEMA)
        cells, counted = self._survey.mechanism.cells, CountedRows(job.chunk_cells)
        if not job.wide and 8 * cells * tasks <= _DRIVER_BYTES and counted.chunks is not None:
            for key, data in self._heard(counted, table, (READING, LOOKING)):
                length = min(job.chunk_cells, cells - (key - job.buckets) * job.chunk_cells)
                sums = counted.chunks.setdefault(key - job.buckets, np.zeros(length, dtype=np.int64))
                add_packed(sums, bytes(data))
            return counted, known.target
        with translating_errors():
            places = job.ranges or -(-cells // job.chunk_cells)
            table = _gathered(table, min(places, TASKS_A_CORE * self._cores()))
            table = table.mapInArrow(summed(merge_and_find(job), CHECKSUM), SCHEMA)
            counted.chunks, counted.table = None, table.persist()
        try:
            self._heard(counted, counted.table.filter("key < 0"), (READING, LOOKING, MERGING))
        except BaseException:
            counted.close()
            raise
        return counted, known.target

    def _heard(self, counted: CountedRows, table: Any, steps: Sequence[str]) -> list[tuple[int, Any]]:
        """Run a job; its rows of counts, once it is known that the state is sound."""
        rows = self._watched(table.collect, steps)
        for key, data in rows:
            if key < 0:
                counted.hear(key, bytes(data))
        _check_sound(counted.notes)
        return [(key, data) for key, data in rows if key >= 0]

    def _job(self, state: StreamState) -> Job:
        survey, mechanism = self._survey, self._survey.mechanism
        wide = is_wide(mechanism, self._memory)
        return Job(
            survey.to_json(),
            tuple(sorted(survey.attachments.items())),
            state.keys,
            state.buckets,
            min(state.buckets, -(-mechanism.cells // RANGE_CELLS)) if wide else 0,
            0,
            0,
            self._memory // HELD_SHARE,
        )

    def _known(self, runs: Sequence[SeenRun]) -> KnownIds:
        """These runs, and a new one with a name of its own: a task that outlives its job writes where nobody reads."""
        name = f"run-{secrets.token_hex(8)}"
        with self._folder.writing():
            self._folder.run(name).mkdir()
        return KnownIds(str(self._folder.run("")), tuple((run.name, run.ids) for run in runs), name)

    def _written(self, name: str, state: StreamState, counted: int) -> SeenRun | None:
        """The run, as this machine sees it: it must have as many ids as were counted."""
        ids, folder = [0] * state.buckets, self._folder.run(name)
        for file in folder.iterdir():
            if file.suffix == ".ids":
                ids[int(file.stem)] = seen_count(file)
        if sum(ids) != counted:
            raise ReportError(
                f"the workers wrote {counted:,} report ids to {folder}, and {sum(ids):,} of them are seen here: the "
                "state must be in a folder that the driver and all workers share under the same path"
            )
        return SeenRun(name, state.horizon.until(state.stamp), tuple(ids)) if counted else None

    def _check(self, state: StreamState, tally: Tally) -> None:
        check_faults(self._survey, tally, self._faults)
        check_faults(self._survey, Tally(counted=state.tally.counted + tally.counted), "refuse")

    def tidy(self) -> None:
        """Merge small files into larger ones, and remove what does not count."""
        state = self._folder.read()
        if state is None:
            return
        while runs := state.runs_to_merge():
            state = state.merged(runs, self._merged_run(state, runs))
            self._folder.write(state)
        while spans := state.counts_to_merge():
            whole = BatchSpan(spans[0].first, spans[-1].last)
            total = _sum([AggregateFile.open(self._folder.counts(span)) for span in spans])
            write_aggregate(self._folder.counts(whole), self._survey, total.n_reports, total.shards())
            state = replace(state, counts=(*state.counts[: -len(spans)], whole))
            self._folder.write(state)
        self._folder.sweep(state)

    def _merged_run(self, state: StreamState, runs: tuple[SeenRun, ...]) -> SeenRun:
        known, total = self._known(runs), sum(sum(run.ids) for run in runs)
        if total <= _DRIVER_IDS:
            for bucket in range(state.buckets):
                known.merge(bucket)
        else:
            tasks = min(state.buckets, TASKS_A_CORE * self._cores())
            table = self._session.range(0, tasks, 1, tasks).mapInArrow(merge_seen(known, state.buckets, tasks), SCHEMA)
            rows = self._watched(table.collect, (TIDYING,))
            _check_sound([TallyNote.from_bytes(bytes(data)) for key, data in rows if key == TALLY])
        merged = self._written(known.target, state, total)
        if merged is None:
            raise ReportError(f"a run of ids in {self._folder.path} is empty")
        return merged._replace(until=runs[0].until)

    def _tasks(self, state: StreamState, rows: int | None) -> int:
        """How many tasks count: as many as have something to do, if that is known."""
        if rows is None:
            return min(state.buckets, parallel(self._session)[1])
        return max(1, min(state.buckets, TASKS_A_CORE * self._cores(), rows // _TASK_ROWS))

    def _cores(self) -> int:
        return parallel(self._session)[0]

    def _watched(self, action: Callable[[], Any], steps: Sequence[str]) -> Any:
        return watched(self._session, action, self._progress, self._patience, steps)


def _content(reports: Any) -> str:
    """What tells the files of a batch from those of another; empty for a table."""
    return "" if is_table(reports) else hashlib.sha256("\n".join(sorted(reports)).encode()).hexdigest()


def _gathered(table: Any, partitions: int) -> Any:
    """All rows of a key in one task, keys in order."""
    return table.repartition(partitions, "key").sortWithinPartitions("key")


def _check_sound(notes: Sequence[TallyNote]) -> None:
    """Raise what tasks say of the state itself, and not of a file of reports."""
    for note in notes:
        if note.fault and note.file < 0:
            raise ReportError(note.fault)


def _sum(parts: Sequence[ShardedAggregate]) -> ShardedAggregate:
    return reduce(add, parts)


@final
class StreamCounts(Counted):
    """What all batches come to that were counted when it was made."""

    def __init__(self, survey: Survey, folder: StateFolder) -> None:
        self.survey = survey
        state = folder.read()
        while True:
            try:
                self._parts = [AggregateFile.open(folder.counts(span)) for span in state.counts] if state else []
                break
            except ReportError:
                # A stream that runs meanwhile may have merged these files into one.
                before, state = state, folder.read()
                if state == before:
                    raise
        self.tally = state.tally if state else Tally()

    def shards(self) -> Iterator[Shard]:
        """The counts in shards, in order, one of them in memory at a time."""
        return _sum(self._parts).shards() if self._parts else iter(())

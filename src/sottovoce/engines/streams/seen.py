"""Tasks of a stream: keep reports whose id is new to its bucket, write the new ids down, count the reports.

A bucket of a batch has one file of ids in the state. Its content depends on the set of rows and on earlier batches
alone, and it appears whole: a task that is run twice, or twice at the same time, writes one content.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from sottovoce.core.errors import ReportError
from sottovoce.engines.cluster.counts import CellCounts
from sottovoce.engines.cluster.job import Job, prepare_worker
from sottovoce.engines.cluster.merging import send_suspects
from sottovoce.engines.cluster.reading import Source
from sottovoce.engines.cluster.rows import Bytes
from sottovoce.engines.cluster.tables import TALLY, Batches, Stage, TallyNote, by_key, in_table
from sottovoce.engines.machine.repeats import halves, settle
from sottovoce.engines.reports.rows import Tally
from sottovoce.engines.streams.seen_files import opened_seen, write_seen
from sottovoce.formats.id_blocks import merged_pieces
from sottovoce.formats.report_ids import ordered_ids
from sottovoce.formats.wire import REPORT_ID_BYTES
from sottovoce.kernels.repeats import WordMarks, repeated_words

__all__ = ["KnownIds", "count_new", "merge_seen", "send_rows"]


class KnownIds(NamedTuple):
    """Files with the ids of earlier batches, and the folder for new ones."""

    folder: str
    runs: tuple[tuple[str, tuple[int, ...]], ...]
    """Folders in it to look in, and how many ids each has of every bucket."""
    target: str
    """The folder in it to write to."""

    def files(self, bucket: int) -> list[Path]:
        """The files of a bucket that have ids in them."""
        return [self._path(name, bucket) for name, ids in self.runs if ids[bucket]]

    def first_time(self, bucket: int, parts: list[Bytes]) -> Bytes:
        """Payloads of a bucket's rows whose id is in no earlier batch; each id once, and recorded."""
        rows, _ = _least(parts)
        order, ids = ordered_ids(rows[:, :REPORT_ID_BYTES])
        for path in self.files(bucket):
            with opened_seen(path) as known:
                unknown = ~known.holds(ids)
            if not unknown.all():
                order, ids = order[unknown], ids.part(unknown)
        if len(order):
            self._write(bucket, [ids])
        return rows[order, REPORT_ID_BYTES:]

    def merge(self, bucket: int) -> None:
        """Write the ids of all runs as one."""
        with ExitStack() as stack:
            known = [stack.enter_context(opened_seen(path)) for path in self.files(bucket)]
            if known:
                self._write(bucket, merged_pieces(known))

    def _path(self, name: str, bucket: int) -> Path:
        return Path(self.folder, name, f"{bucket:04}.ids")

    def _write(self, bucket: int, pieces: Any) -> None:
        try:
            write_seen(self._path(self.target, bucket), pieces)
        except FileNotFoundError:
            raise ReportError(
                f"the workers do not see {self.folder}: the state must be in a folder that the driver and all workers "
                "share under the same path"
            ) from None
        except OSError as error:
            raise ReportError(
                f"a worker cannot write to {self.folder}: {error.strerror or 'the system refuses'}; make room there, "
                "or allow it, and run the stream again"
            ) from None


def send_rows(job: Job, source: Source) -> Stage:
    """Send rows whole to the buckets of their ids.

    Nothing is settled here: which rows a task gathers together may be otherwise when it is run again.
    """
    return send_suspects(job, source, None, TALLY)


def _least(parts: list[Bytes]) -> tuple[Bytes, int]:
    """The least of the rows that share an id, in no particular order, and how many others there were."""
    rows = np.concatenate(parts)
    words = halves(rows[:, :8])
    repeated = repeated_words([words.copy()])
    if not len(repeated):
        return rows, 0
    doubtful = WordMarks(repeated).positions(words)
    kept, lost = settle(rows[doubtful])
    return np.concatenate([np.delete(rows, doubtful, axis=0), kept]), len(lost)


def count_new(job: Job, known: KnownIds) -> Stage:
    """Count whole buckets, without reports whose id is known."""

    def stage(batches: Batches) -> Iterator[Any]:
        prepare_worker()
        counts, gone = CellCounts(job), 0
        width = REPORT_ID_BYTES + job.survey.mechanism.report_bytes
        for key, bodies in by_key(batches):
            if key < 0:
                yield from in_table([(key, body) for body in bodies])
                continue
            rows, nbytes = list[Bytes](), 0
            for body in bodies:
                rows.append(np.frombuffer(body, dtype=np.uint8).reshape(-1, width))
                nbytes += len(body)
                if nbytes >= job.held_bytes:  # an id that was sent a million times
                    kept, lost = _least(rows)
                    rows, nbytes, gone = [kept], 0, gone + lost
            try:
                payloads = known.first_time(key, rows)
            except ReportError as error:  # as part of the result: Spark would run the task again, and quote it
                yield from _note(TallyNote(Tally(), fault=str(error)))
                continue
            gone += sum(map(len, rows)) - len(payloads)
            yield from counts.add(payloads)
        yield from counts.send()
        yield from _note_duplicates(gone)

    return stage


def merge_seen(known: KnownIds, buckets: int, tasks: int) -> Stage:
    """Merge runs; a task has every bucket whose number, divided by `tasks`, leaves the task's own."""

    def stage(batches: Batches) -> Iterator[Any]:
        for batch in batches:
            for task in batch.column(0).to_pylist():
                try:
                    for bucket in range(task, buckets, tasks):
                        known.merge(bucket)
                except ReportError as error:
                    yield from _note(TallyNote(Tally(), fault=str(error)))

    return stage


def _note(note: TallyNote) -> Iterator[Any]:
    yield from in_table([(TALLY, note.to_bytes())])


def _note_duplicates(duplicates: int) -> Iterator[Any]:
    if duplicates:
        yield from _note(TallyNote(Tally(counted=-duplicates, duplicates=duplicates)))

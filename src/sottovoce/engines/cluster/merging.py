"""The second stage of a Spark job, where counts are merged and repeated halves of ids found; and the second job.

That one settles halves that occur twice: suspected rows travel whole, id and payload, to the bucket of their id; of the
rows with one id the least counts, and what the others have added to the counts is taken off again.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from sottovoce.engines.cluster.counts import LostCounts, merged_chunk, merged_range
from sottovoce.engines.cluster.job import Job, prepare_worker
from sottovoce.engines.cluster.reading import Source
from sottovoce.engines.cluster.rows import Bytes, buckets_of, packed_rows
from sottovoce.engines.cluster.tables import READ_AGAIN, SUSPECTS, TALLY, Batches, Stage, TallyNote, by_key, in_table
from sottovoce.engines.machine.repeats import halves, settle
from sottovoce.engines.reports.rows import Tally
from sottovoce.formats.wire import REPORT_ID_BYTES
from sottovoce.kernels.repeats import WordMarks, repeated_words

__all__ = [
    "MOST_SUSPECTS",
    "SuspectNote",
    "as_they_are",
    "merge_and_find",
    "merge_chunks",
    "send_suspects",
    "settle_suspects",
]


MOST_SUSPECTS: Final = 1 << 22
"""Halves that are sent to the tasks that look for them; where there are more, every row counts as suspected."""

Words = NDArray[np.uint64]


class SuspectNote(NamedTuple):
    """Halves of ids that occur twice, and the numbers of the tasks that read them; no half where they are too many."""

    halves: Words
    tasks: Words
    many: bool = False

    def to_bytes(self) -> bytes:
        """64-bit words: the number of halves, whether they were too many, the halves, the tasks."""
        head = np.array([len(self.halves), self.many], dtype=np.uint64)
        return np.concatenate([head, self.halves, self.tasks]).tobytes()

    @classmethod
    def from_bytes(cls, data: bytes) -> SuspectNote:
        """Read what `to_bytes` wrote."""
        words = np.frombuffer(data, dtype=np.uint64)
        n = 2 + int(words[0])
        return cls(words[2:n], words[n:], bool(words[1]))


def merge_and_find(job: Job) -> Stage:
    """Merge the counts of whole keys, and report the halves of whole buckets that occur twice."""

    def stage(batches: Batches) -> Iterator[Any]:
        prepare_worker()
        finder = _Finder(job)
        for key, bodies in by_key(batches):
            if key < 0:
                yield from in_table([(key, body) for body in bodies])
            elif key < job.buckets:
                yield from finder.add(bodies)
            elif job.wide:
                yield from in_table(merged_range(job, bodies))
            else:
                yield from in_table(merged_chunk(job, key - job.buckets, bodies))
        yield from finder.find()

    return stage


def as_they_are(batches: Batches) -> Iterator[Any]:
    """A stage that changes nothing."""
    yield from batches


def merge_chunks(job: Job) -> Stage:
    """Merge counts that are in chunks."""

    def stage(batches: Batches) -> Iterator[Any]:
        for key, bodies in by_key(batches):
            yield from in_table([(key, body) for body in bodies] if key < 0 else merged_chunk(job, key, bodies))

    return stage


class _Finder:
    """Gathers the halves of several buckets, and looks for repeated ones whenever there are enough."""

    def __init__(self, job: Job) -> None:
        self._limit, self._most = job.held_bytes, job.most_suspects
        self._tasks: list[int] = []
        self._held: list[Words] = []
        self._bytes = 0

    def add(self, bodies: Iterator[memoryview]) -> Iterator[Any]:
        """A whole bucket."""
        for body in bodies:
            task, words = np.split(np.frombuffer(body, dtype=np.uint64), [1])
            self._tasks.append(int(task[0]))
            self._held.append(words)
            self._bytes += words.nbytes
        if self._bytes >= self._limit:
            yield from self.find()

    def find(self) -> Iterator[Any]:
        """Report the halves that occur twice among those gathered."""
        if not self._held:
            return
        repeated = repeated_words([np.concatenate(self._held)])
        if len(repeated):
            known = WordMarks(repeated)
            tasks = {task for task, words in zip(self._tasks, self._held, strict=True) if len(known.positions(words))}
            many = len(repeated) > self._most
            note = SuspectNote(repeated[: 0 if many else None], np.array(sorted(tasks), dtype=np.uint64), many)
            yield from in_table([(SUSPECTS, note.to_bytes())])
        self._tasks, self._held, self._bytes = [], [], 0


def send_suspects(job: Job, source: Source, suspected: NDArray[np.uint64] | None, note_key: int = READ_AGAIN) -> Stage:
    """Send the rows whose half is suspected, all of them where None says so, to the buckets of their ids.

    Nothing is settled here: which rows a task gathers together may be otherwise when it is run again.
    """

    def stage(batches: Batches) -> Iterator[Any]:
        prepare_worker()
        notes, held, nbytes = list[bytes](), list[Bytes](), 0
        known = None if suspected is None else WordMarks(suspected)
        for _, ids, payloads in source(batches, notes):
            if known is not None:
                mine = known.positions(halves(ids))
                ids, payloads = ids[mine], payloads[mine]
            held.append(np.concatenate([ids, payloads], axis=1))
            nbytes += held[-1].nbytes
            if nbytes >= job.held_bytes:
                yield from _by_bucket(job, held)
                held, nbytes = [], 0
        if nbytes:
            yield from _by_bucket(job, held)
        yield from in_table([(note_key, note) for note in notes])

    return stage


def _by_bucket(job: Job, held: list[Bytes]) -> Iterator[Any]:
    rows = np.concatenate(held)
    yield from in_table(packed_rows(rows, buckets_of(rows, job.multipliers, job.buckets)))


def settle_suspects(job: Job) -> Stage:
    """Settle whole buckets; what is lost leaves as chunks of counts to be added."""
    width = REPORT_ID_BYTES + job.survey.mechanism.report_bytes

    def stage(batches: Batches) -> Iterator[Any]:
        prepare_worker()
        lost = LostCounts(job)
        for key, bodies in by_key(batches):
            if key < 0:
                yield from in_table([(key, body) for body in bodies])
                continue
            held, nbytes = list[Bytes](), 0
            for body in bodies:
                held.append(np.frombuffer(body, dtype=np.uint8).reshape(-1, width))
                nbytes += held[-1].nbytes
                if nbytes >= job.held_bytes:  # an id that was sent a million times
                    held, nbytes = [_least(held, lost)], 0
            _least(held, lost)
        yield from in_table(lost.chunks())
        if lost.n:
            yield from in_table([(TALLY, TallyNote(Tally(counted=-lost.n, duplicates=lost.n)).to_bytes())])

    return stage


def _least(held: list[Bytes], lost: LostCounts) -> Bytes:
    """The least row of each id; the others are lost."""
    least, others = settle(np.concatenate(held))
    lost.add(others[:, REPORT_ID_BYTES:])
    return least

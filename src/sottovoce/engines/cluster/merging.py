"""The second stage of a Spark job: counts are merged by chunk, and halves of ids that occur twice are found."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from sottovoce.engines.cluster.counts import merged_chunk, merged_range
from sottovoce.engines.cluster.job import Job
from sottovoce.engines.cluster.tables import SUSPECTS, Batches, Stage, by_place, in_table
from sottovoce.engines.cluster.worker import prepare_worker
from sottovoce.kernels.repeats import WordMarks, repeated_words

__all__ = ["MOST_SUSPECTS", "SuspectNote", "as_they_are", "merge_and_find", "merge_chunks"]

MOST_SUSPECTS: Final = 1 << 22
"""Halves that are sent to the tasks that look for them; where there are more, every row counts as suspected."""

Words = NDArray[np.uint64]


class SuspectNote(NamedTuple):
    """Halves of ids that occur twice, and the numbers of the tasks that read them; no half where they are too many."""

    halves: Words
    tasks: Words
    many: bool = False

    def to_bytes(self) -> bytes:
        """As words: how many halves, whether they were too many, halves, tasks."""
        head = np.array([len(self.halves), self.many], dtype=np.uint64)
        return np.concatenate([head, self.halves, self.tasks]).tobytes()

    @classmethod
    def from_bytes(cls, data: bytes) -> SuspectNote:
        """What `to_bytes` made."""
        words = np.frombuffer(data, dtype=np.uint64)
        n = 2 + int(words[0])
        return cls(words[2:n], words[n:], bool(words[1]))


def merge_and_find(job: Job) -> Stage:
    """Merge the counts of whole places, and tell which halves of whole buckets occur twice."""

    def stage(batches: Batches) -> Iterator[Any]:
        prepare_worker()
        finder = _Finder(job)
        for place, bodies in by_place(batches):
            if place < 0:
                yield from in_table([(place, body) for body in bodies])
            elif place < job.buckets:
                yield from finder.add(bodies)
            elif job.wide:
                yield from in_table(merged_range(job, bodies))
            else:
                yield from in_table(merged_chunk(job, place - job.buckets, bodies))
        yield from finder.find()

    return stage


def as_they_are(batches: Batches) -> Iterator[Any]:
    """A stage that changes nothing."""
    yield from batches


def merge_chunks(job: Job) -> Stage:
    """Merge counts that are in chunks."""

    def stage(batches: Batches) -> Iterator[Any]:
        for place, bodies in by_place(batches):
            yield from in_table([(place, body) for body in bodies] if place < 0 else merged_chunk(job, place, bodies))

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
        """What occurs twice among those gathered."""
        if not self._held:
            return
        found = repeated_words([np.concatenate(self._held)])
        if len(found):
            known = WordMarks(found)
            tasks = {task for task, words in zip(self._tasks, self._held, strict=True) if len(known.positions(words))}
            many = len(found) > self._most
            note = SuspectNote(found[: 0 if many else None], np.array(sorted(tasks), dtype=np.uint64), many)
            yield from in_table([(SUSPECTS, note.to_bytes())])
        self._tasks, self._held, self._bytes = [], [], 0

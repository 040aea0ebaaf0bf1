"""Counts of one task on their way through a Spark job.

Where a survey has few cells, a task counts into all of them and sends packed chunks. Where cells are many, reports go
to the range of cells that they move, and no task ever holds a cell that no report of its own moves.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any, Final

import numpy as np

from sottovoce.engines.cluster.job import Job
from sottovoce.engines.cluster.rows import (
    Bytes,
    SparseCounts,
    add_packed,
    add_up,
    count_payloads,
    in_chunks,
    packed_rows,
    reports_a_cell,
    with_one_cell,
)
from sottovoce.engines.cluster.tables import in_table

__all__ = ["CellCounts", "LostCounts", "merged_chunk", "merged_range"]

_HELD_CELLS: Final = 1 << 22
"""Cells gathered before those that are there twice are added up."""


class CellCounts:
    """What a task's reports add up to; sent at its end, or, where cells are many, the reports themselves on the way."""

    def __init__(self, job: Job) -> None:
        self._job, self._mechanism = job, job.survey.mechanism
        self._counts = np.zeros(0 if job.wide else self._mechanism.cells, dtype=np.int64)
        self._held: list[Bytes] = []
        self._bytes = 0

    def add(self, payloads: Bytes) -> Iterator[Any]:
        """Count these too."""
        if not len(payloads):
            return
        if not self._job.wide:
            count_payloads(self._mechanism, self._counts, payloads)
            return
        self._held.append(payloads)
        self._bytes += payloads.nbytes
        if self._bytes >= self._job.held_bytes:
            yield from self._send_reports()

    def send(self) -> Iterator[Any]:
        """What is left, in places after those of the buckets."""
        if self._job.wide:
            yield from self._send_reports()
            return
        chunks = in_chunks(self._counts, self._mechanism.cells, self._job.chunk_cells)
        yield from in_table([(self._job.buckets + chunk, data) for chunk, data in chunks])

    def _send_reports(self) -> Iterator[Any]:
        if not self._held:
            return
        payloads = np.concatenate(self._held)
        self._held, self._bytes = [], 0
        numbers = self._mechanism.codec.decode_many(payloads).astype(np.int64, copy=False)
        ranges = numbers // (reports_a_cell(self._mechanism) * self._job.range_cells)
        yield from in_table([(self._job.buckets + key, data) for key, data in packed_rows(payloads, ranges)])


class LostCounts:
    """What reports that must not count have added to the counts; it is taken off again."""

    def __init__(self, job: Job) -> None:
        self._job, self._mechanism = job, job.survey.mechanism
        self._counts = np.zeros(0 if job.wide else self._mechanism.cells, dtype=np.int64)
        self._parts: list[SparseCounts] = []
        self.n = 0

    def add(self, payloads: Bytes) -> None:
        """Take these off."""
        if not len(payloads):
            return
        self.n += len(payloads)
        if not self._job.wide:
            count_payloads(self._mechanism, self._counts, payloads)
            return
        self._parts = _fewer([*self._parts, with_one_cell(self._mechanism, payloads)])

    def chunks(self) -> list[tuple[int, bytes]]:
        """Packed chunks to be added to the others."""
        if not self.n:
            return []
        lost: Any = -self._counts
        if self._job.wide:
            sums = add_up(self._parts)
            lost = SparseCounts(sums.places, -sums.counts)
        return in_chunks(lost, self._mechanism.cells, self._job.chunk_cells)


def merged_chunk(job: Job, chunk: int, bodies: Iterable[Any]) -> list[tuple[int, bytes]]:
    """The sum of packed counts of a chunk."""
    cells, first = job.survey.mechanism.cells, chunk * job.chunk_cells
    sums = np.zeros(min(job.chunk_cells, cells - first), dtype=np.int64)
    for body in bodies:
        add_packed(sums, body)
    return [(chunk, data) for _, data in in_chunks(sums, len(sums), len(sums))]


def merged_range(job: Job, bodies: Iterable[Any]) -> list[tuple[int, bytes]]:
    """The counts of the payloads of a range of cells, in chunks; only cells that some report moves are ever held."""
    mechanism = job.survey.mechanism
    parts: list[SparseCounts] = []
    for body in bodies:
        rows = np.frombuffer(body, dtype=np.uint8).reshape(-1, mechanism.report_bytes)
        parts = _fewer([*parts, with_one_cell(mechanism, rows)])
    return in_chunks(add_up(parts), mechanism.cells, job.chunk_cells)


def _fewer(parts: list[SparseCounts]) -> list[SparseCounts]:
    """The counts in fewer parts: added up once they are many more than the first part has."""
    held = sum(len(part.places) for part in parts)
    return [add_up(parts)] if held > _HELD_CELLS + 2 * len(parts[0].places) else parts

"""What the later stages of a Spark job do: count whole buckets, and merge counts chunk by chunk.

Reports of a survey with few cells are counted by every task into all of them. Where cells are many, reports go on to
the range of cells that they move, and no task ever holds a cell that no report of its own moves.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise
from typing import Any, Final

import numpy as np

from sottovoce.engines.spark_rows import (
    CHUNK_CELLS,
    Bytes,
    SparseCounts,
    add_packed,
    add_up,
    count_payloads,
    least,
    pack,
    reports_a_cell,
    with_one_cell,
)
from sottovoce.engines.spark_tasks import (
    HELD_BYTES,
    TALLY,
    Batches,
    Job,
    Stage,
    TallyNote,
    by_place,
    in_table,
    rows_of,
    whole_places,
)
from sottovoce.engines.tally import Tally
from sottovoce.formats.wire import REPORT_ID_BYTES

__all__ = ["count_cells", "count_ranges", "merge", "merge_ranges"]

_HELD_CELLS: Final = 1 << 22
"""Cells gathered before those that are there twice are added up."""


def count_cells(job: Job, fan: int) -> Stage:
    """Count whole buckets into all cells; a chunk goes to one of `fan` places, which are merged in their turn."""

    def stage(batches: Batches) -> Iterator[Any]:
        mechanism, duplicates = job.survey.mechanism, 0
        counts = np.zeros(mechanism.cells, dtype=np.int64)
        for places, bodies in whole_places(batches, HELD_BYTES):
            if places[0] == TALLY:
                yield from in_table([(TALLY, body) for body in bodies])
                continue
            payloads, gone = _distinct(job, bodies)
            duplicates += gone
            count_payloads(mechanism, counts, payloads)
        shift = _partition() % fan
        for chunk, first in enumerate(range(0, mechanism.cells, CHUNK_CELLS)):
            part = counts[first : first + CHUNK_CELLS]
            if data := pack(part, len(part)):
                yield from in_table([(chunk * fan + shift, data)])
        yield from _note_duplicates(duplicates)

    return stage


def _partition() -> int:
    """The number of the task's partition; 0 outside a cluster."""
    from pyspark import TaskContext

    context = TaskContext.get()
    return 0 if context is None else int(context.partitionId())


def count_ranges(job: Job) -> Stage:
    """Send the payloads of whole buckets on by the range of cells they move."""

    def stage(batches: Batches) -> Iterator[Any]:
        mechanism, duplicates = job.survey.mechanism, 0
        wide = reports_a_cell(mechanism) * _range_cells(job)
        for places, bodies in whole_places(batches, HELD_BYTES):
            if places[0] == TALLY:
                yield from in_table([(TALLY, body) for body in bodies])
                continue
            payloads, gone = _distinct(job, bodies)
            duplicates += gone
            numbers = mechanism.codec.decode_many(payloads).astype(np.int64, copy=False)
            yield from in_table(by_place(payloads, numbers // wide))
        yield from _note_duplicates(duplicates)

    return stage


def _range_cells(job: Job) -> int:
    """Cells of a range: whole chunks of them."""
    cells = job.survey.mechanism.cells
    return CHUNK_CELLS * -(-cells // (CHUNK_CELLS * job.ranges))


def _distinct(job: Job, bodies: list[Any]) -> tuple[Bytes, int]:
    """The payloads of whole buckets, each id's once, and how many rows went."""
    width = REPORT_ID_BYTES + job.survey.mechanism.report_bytes
    rows = np.concatenate([np.frombuffer(body, dtype=np.uint8) for body in bodies]).reshape(-1, width)
    kept = least(rows)
    return kept[:, REPORT_ID_BYTES:], len(rows) - len(kept)


def _note_duplicates(found: int) -> Iterator[Any]:
    if found:
        yield from in_table([(TALLY, TallyNote(Tally(counted=-found, duplicates=found)).to_bytes())])


def merge(job: Job, fan: int) -> Stage:
    """Add up the chunks of each place, `fan` of which are one place of the next stage."""

    def stage(batches: Batches) -> Iterator[Any]:
        cells, sums, now = job.survey.mechanism.cells, np.zeros(0, dtype=np.int64), TALLY
        for place, body in rows_of(batches):
            if place == TALLY:
                yield from in_table([(TALLY, body)])
                continue
            if place != now:
                yield from _packed(sums, now // fan)
                now, sums = place, np.zeros(min(CHUNK_CELLS, cells - place // fan * CHUNK_CELLS), dtype=np.int64)
            add_packed(sums, body)
        yield from _packed(sums, now // fan)

    return stage


def merge_ranges(job: Job) -> Stage:
    """Count the payloads of each range of cells: only the cells that some report moves are ever held."""

    def stage(batches: Batches) -> Iterator[Any]:
        mechanism = job.survey.mechanism
        parts: list[SparseCounts] = []
        held, now = 0, TALLY
        for place, body in rows_of(batches):
            if place == TALLY:
                yield from in_table([(TALLY, body)])
                continue
            if place != now:
                yield from _chunks(add_up(parts), mechanism.cells)
                parts, held, now = [], 0, place
            rows = np.frombuffer(body, dtype=np.uint8).reshape(-1, mechanism.report_bytes)
            parts.append(with_one_cell(mechanism, rows))
            held += len(parts[-1].places)
            if held > _HELD_CELLS + 2 * len(parts[0].places):
                parts = [add_up(parts)]
                held = len(parts[0].places)
        yield from _chunks(add_up(parts), mechanism.cells)

    return stage


def _chunks(found: SparseCounts, cells: int) -> Iterator[Any]:
    chunks = found.places // CHUNK_CELLS
    changes = np.flatnonzero(chunks[1:] != chunks[:-1]) + 1
    for a, b in pairwise([0, *changes.tolist(), len(chunks)] if len(chunks) else []):
        chunk = int(chunks[a])
        length = min(CHUNK_CELLS, cells - chunk * CHUNK_CELLS)
        inside = SparseCounts(found.places[a:b] - chunk * CHUNK_CELLS, found.counts[a:b])
        yield from in_table([(chunk, pack(inside, length))])


def _packed(sums: Any, place: int) -> Iterator[Any]:
    if len(sums) and (data := pack(sums, len(sums))):
        yield from in_table([(place, data)])

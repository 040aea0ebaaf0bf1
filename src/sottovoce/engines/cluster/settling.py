"""The second job of a count on Spark, where halves of ids occur twice: suspected rows are read again and settled.

They travel whole, id and payload, to the bucket of their id; of the rows with one id the least counts, and what the
others have added to the counts is taken off again.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sottovoce.engines.cluster.counts import LostCounts
from sottovoce.engines.cluster.job import Job
from sottovoce.engines.cluster.reading import Source
from sottovoce.engines.cluster.rows import Bytes, buckets_of, packed_rows
from sottovoce.engines.cluster.tables import READ_AGAIN, TALLY, Batches, Stage, TallyNote, by_place, in_table
from sottovoce.engines.cluster.worker import prepare_worker
from sottovoce.engines.local_repeats import halves, settle
from sottovoce.engines.tally import Tally
from sottovoce.formats.wire import REPORT_ID_BYTES
from sottovoce.kernels.repeats import WordMarks

__all__ = ["send_suspects", "settle_suspects"]


def send_suspects(job: Job, source: Source, suspected: NDArray[np.uint64] | None, told: int = READ_AGAIN) -> Stage:
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
        yield from in_table([(told, note) for note in notes])

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
        for place, bodies in by_place(batches):
            if place < 0:
                yield from in_table([(place, body) for body in bodies])
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

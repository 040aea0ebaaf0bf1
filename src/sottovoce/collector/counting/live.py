"""A survey's counts: quickly from the checkpoint, or again from every report.

Both give the same integers; `check` compares them.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import Final

import numpy as np

from sottovoce.collector.store.base import Store
from sottovoce.collector.store.records import Checkpoint, Segment, SegmentInfo, Snapshot
from sottovoce.core.errors import CapacityError, ReportError, StoreError, StoreUnavailableError
from sottovoce.mechanisms.base import Batch, Counts
from sottovoce.mechanisms.codecs import Payloads
from sottovoce.surveys.aggregate import Aggregate
from sottovoce.surveys.survey import Survey

__all__ = ["as_checkpoint", "check", "count_snapshot", "decoded", "live_aggregate", "rebuild"]

_BYTES_AT_ONCE: Final = 1 << 22
"""How much of a segment is decoded at a time: a decoded report can take many times its bytes."""

_TRIES: Final = 20
"""How often a view is taken again because segments were put together meanwhile."""


def _pieces(survey: Survey, payloads: Payloads) -> Iterator[Payloads]:
    at_once = max(1, _BYTES_AT_ONCE // survey.mechanism.report_bytes)
    for start in range(0, len(payloads), at_once):
        yield payloads[start : start + at_once]


@contextmanager
def _in_store(survey: Survey, where: str) -> Iterator[None]:
    """Turn what is said of a report that is none any more into what is to be done about the store."""
    try:
        yield
    except ReportError as error:
        raise StoreError(
            f"{where} of survey {survey.id[:12]} holds bytes that are not a report of it ({error}); the database is "
            "damaged: restore a backup"
        ) from error


def decoded(survey: Survey, payloads: Payloads, where: str) -> Iterator[Batch]:
    """Rows of payload as batches of reports; `where` is what a `StoreError` calls them if they are none any more."""
    for rows in _pieces(survey, payloads):
        with _in_store(survey, where):
            batch = survey.mechanism.codec.decode_many(rows)
        yield batch


def _count_segment(survey: Survey, counts: Counts, segment: Segment) -> None:
    width, n = survey.mechanism.report_bytes, segment.info.n
    if len(segment.payloads) != n * width:
        raise StoreError(
            f"segment {segment.info.number} of survey {survey.id[:12]} has {len(segment.payloads):,} bytes for {n:,} "
            f"reports of {width}; the database is damaged: restore a backup"
        )
    payloads = np.frombuffer(segment.payloads, dtype=np.uint8).reshape(n, width)
    with _in_store(survey, f"segment {segment.info.number}"):
        for rows in _pieces(survey, payloads):
            survey.mechanism.count_encoded(counts, rows)


def _aggregate(survey: Survey, n: int, counts: Counts) -> Aggregate:
    if n > survey.mechanism.max_reports:
        raise CapacityError(
            f"survey {survey.id[:12]} holds {n:,} reports, and {survey.mechanism.name} counts at most "
            f"{survey.mechanism.max_reports:,}: seal it and go on with another"
        )
    return Aggregate.owning(survey, n, counts)


def count_snapshot(survey: Survey, snapshot: Snapshot, more: Iterable[Batch] | None = None) -> Aggregate:
    """A snapshot's reports: its checkpoint, the segments which that lacks, and then some more."""
    checkpoint = snapshot.checkpoint
    if checkpoint is None:
        counts, n = survey.mechanism.empty(), 0
    else:
        length = 8 * survey.mechanism.cells
        if len(checkpoint.counts) != length:
            raise StoreError(
                f"the checkpoint of survey {survey.id[:12]} has {len(checkpoint.counts):,} bytes instead of "
                f"{length:,}; the database is damaged: restore a backup"
            )
        # The very bytes of the checkpoint, unless more is to be counted on top of them.
        is_all = not snapshot.segments and more is None
        counts, n = np.frombuffer(checkpoint.counts, dtype="<i8").astype(np.int64, copy=not is_all), checkpoint.n
    for segment in snapshot.segments:
        _count_segment(survey, counts, segment)
        n += segment.info.n
    for batch in more or ():
        survey.mechanism.count_into(counts, batch)
        n += len(batch)
    return _aggregate(survey, n, counts)


def as_checkpoint(aggregate: Aggregate) -> Checkpoint:
    """The aggregate as the store keeps it."""
    return Checkpoint(aggregate.n_reports, aggregate.counts.astype("<i8", copy=False).tobytes())


def live_aggregate(store: Store, survey: Survey) -> Aggregate:
    """All reports counted until now. Takes time in the cells and the latest reports, not in all of them."""
    return count_snapshot(survey, store.snapshot(survey.id))


def rebuild(store: Store, survey: Survey) -> Aggregate:
    """The aggregate of every single report, as the segments hold them; no checkpoint is looked at."""
    for _ in range(_TRIES):
        aggregate = _from_segments(store, survey, store.segments(survey.id))
        if aggregate is not None:
            return aggregate
    raise _too_busy(survey)


def check(store: Store, survey: Survey) -> Aggregate:
    """The live aggregate, after comparing it with one rebuilt from every report; `StoreError` if they differ."""
    for _ in range(_TRIES):
        before = store.segments(survey.id)
        live = live_aggregate(store, survey)
        if store.segments(survey.id) != before:
            continue
        rebuilt = _from_segments(store, survey, before)
        if rebuilt is None:
            continue
        if live != rebuilt:
            raise StoreError(
                f"survey {survey.id[:12]}: the live counts ({live.n_reports:,} reports) are not those of its segments "
                f"({rebuilt.n_reports:,} reports); the database is damaged: restore a backup"
            )
        return live
    raise _too_busy(survey)


def _from_segments(store: Store, survey: Survey, infos: list[SegmentInfo]) -> Aggregate | None:
    """Exactly these segments; None if some have been put together since they were listed."""
    wanted = {info.number for info in infos}
    counts = survey.mechanism.empty()
    for segment in store.read_segments(survey.id):
        if segment.info.number in wanted:
            wanted.remove(segment.info.number)
            _count_segment(survey, counts, segment)
    return None if wanted else _aggregate(survey, sum(info.n for info in infos), counts)


def _too_busy(survey: Survey) -> StoreUnavailableError:
    return StoreUnavailableError(
        f"survey {survey.id[:12]} is being counted too busily to be looked at as a whole; try again"
    )

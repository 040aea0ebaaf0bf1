"""Counts every report exactly once: waiting rows become segments, and segments become checkpoints.

Correct whatever fails in between, because it rests on the store's promises alone. Only the latest holder of a survey's
lease can settle. The ids that were counted are read from the segments after the lease was won, so none is missing;
taken rows leave the waiting list in the very transaction that keeps their segment, so none is lost or settled twice.
"""

from __future__ import annotations

import secrets
import time
from collections import OrderedDict
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Final, final

import numpy as np
from numpy.typing import NDArray

from sottovoce.collector.counting.compaction import CROWD, due, leftover, merged
from sottovoce.collector.counting.live import as_checkpoint, check, count_snapshot, decoded, live_aggregate, rebuild
from sottovoce.collector.counting.seen import SeenIds
from sottovoce.collector.counting.survey_troubles import SurveyTroubles
from sottovoce.collector.store.base import Store
from sottovoce.collector.store.records import Checkpoint, Lease, NewSegment, Segment, SegmentInfo, Waiting
from sottovoce.collector.surveys.published import answerable_of
from sottovoce.core.errors import StoreError, StoreFullError, StoreUnavailableError
from sottovoce.core.limits import DEFAULT_COUNTERS
from sottovoce.formats.report_ids import id_order, id_rows
from sottovoce.formats.wire import REPORT_ID_BYTES
from sottovoce.surveys.survey import Survey

__all__ = ["Aggregator", "check", "live_aggregate", "rebuild"]

_LEAST_SHARE: Final = 2.0**-10
"""How little of what it may a step takes, after many that came too late."""

_MERGES_A_STEP: Final = 4
"""Segments are put together a few times a step at most, so that no survey keeps the others waiting."""

_MOST_FILES: Final = 256
"""Files of counted ids that are open, of all surveys; one survey's are some twenty."""


@dataclass
class _Counted:
    """What is known of one survey's counted reports, as of segment `last`."""

    survey: Survey
    seen: SeenIds
    last: int = -1
    """All ids of segments up to this number are in `seen`."""
    token: int | None = None
    """Token of the lease under which counts were last settled; None when what followed is not known."""


@final
class Aggregator:
    """One worker's counting. Not for several threads; run several, each with a store of its own, side by side.

    Parameters
    ----------
    store
        The store in which reports wait.
    holder
        The worker's name. A random end is added: two workers of one name would share leases.
    lease_seconds
        How long a survey stays this worker's without a sign of life. Correctness does not depend on it.
    most
        About how many reports are taken in one step.
    memory_bytes
        Memory for the counted ids of all surveys, beyond which those of the survey counted longest ago are dropped and
        read again when it has reports; one survey's are always kept. See `SeenIds` for what an id takes.
    ids_in_memory
        Ids of one survey in memory; more go to disk.
    folder
        The folder for these; the system's folder for temporary files if None.
    checkpoint_after
        After how many reports a checkpoint is written at the earliest; never before a quarter as many as it has cells.
    largest_segment
        Most reports that segments are put together to.
    fan_in
        How many segments of about one size are put together.
    bytes_at_once
        Most bytes of a segment, and of what is taken in a step, even when reports are long.
    crowd
        Segments below this many reports are put together at once.
    epoch
        Returns the present epoch, in the service's coarse time.
    max_counters
        Surveys of more integers are only gathered: their reports become segments, which an engine counts.
    """

    def __init__(
        self,
        store: Store,
        holder: str,
        *,
        lease_seconds: float = 30.0,
        most: int = 1 << 17,
        memory_bytes: int = 1 << 29,
        ids_in_memory: int = 1 << 20,
        folder: Path | None = None,
        checkpoint_after: int = 4096,
        largest_segment: int = 1 << 18,
        fan_in: int = 8,
        bytes_at_once: int = 1 << 26,
        crowd: int = CROWD,
        epoch: Callable[[], int] = lambda: 0,
        max_counters: int = DEFAULT_COUNTERS,
    ) -> None:
        self._store = store
        self._name = holder
        self._holder = self._new_holder()
        self._lease_seconds = lease_seconds
        self._most = most
        self._memory_bytes = memory_bytes
        self._no_ids = partial(SeenIds, folder, in_memory=ids_in_memory)
        self._checkpoint_after = checkpoint_after
        self._largest_segment = largest_segment
        self._fan_in = fan_in
        self._bytes_at_once = bytes_at_once
        self._crowd = crowd
        self._epoch = epoch
        self._max_counters = max_counters
        self._counted: OrderedDict[str, _Counted] = OrderedDict()
        self._parked: dict[str, Lease] = {}
        self._share = 1.0
        self._uncounted = SurveyTroubles("cannot be counted")
        self._unjoined = SurveyTroubles("has segments that cannot be put together")

    def step(self) -> int:
        """Count some waiting reports of some survey; returns how many were taken, 0 when there is nothing to do.

        A survey that cannot be counted is noted in the log and left alone until its lease runs out; the next one's
        turn comes at once. `StoreUnavailableError` and `StoreFullError` are raised: nothing is lost, step again later.
        """
        tried: set[str] = set()
        while True:
            lease = self._store.lease(self._holder, self._lease_seconds)
            if lease is None:
                return 0
            if lease.survey in tried:
                self._park(lease)
                return 0
            tried.add(lease.survey)
            try:
                taken = self._count(lease)
            except StoreUnavailableError:
                # What comes back may be another database, or this one as it once was.
                self._counted.clear()
                self._release(lease)
                raise
            except StoreFullError:
                self._release(lease)
                raise
            except Exception as error:
                # Whatever is wrong with one survey, the others must go on.
                self._uncounted.failed(lease.survey, error)
                self._park(lease)
            else:
                self._uncounted.worked(lease.survey)
                self._parked.pop(lease.survey, None)
                self._release(lease)
                return taken

    def tidy(self) -> bool:
        """Put together what is left of an epoch that is over, so that no small segment tells when few people answered.

        Whether something was done: there may be more.
        """
        epoch = self._epoch()
        lease = self._store.lease_untidy(self._holder, self._lease_seconds, epoch, self._crowd)
        if lease is None:
            return False
        try:
            joined = self._join_leftover(lease, epoch)
        except (StoreUnavailableError, StoreFullError):
            raise
        except Exception as error:
            self._unjoined.failed(lease.survey, error)
            return False
        else:
            self._unjoined.worked(lease.survey)
            return joined
        finally:
            state = self._counted.get(lease.survey)
            if state is not None:
                # The segments are others now, with the same ids: if nobody was between, nothing must be read again.
                state.token = lease.token if state.token == lease.token - 1 else None
            self._release(lease)

    def _join_leftover(self, lease: Lease, epoch: int) -> bool:
        record = self._store.survey(lease.survey)
        if record is None:
            return False
        chosen = leftover(self._store.segments(lease.survey), None if record.state == "sealed" else epoch, self._crowd)
        if not chosen:
            return False
        if chosen[0].checkpointed != chosen[1].checkpointed:
            survey = answerable_of(self._store, record)
            everything = as_checkpoint(count_snapshot(survey, self._store.snapshot(survey.id)))
            if not self._store.settle(lease, (), (), everything):
                return False
        return self._join(lease, chosen)

    def close(self) -> None:
        """Let others have the surveys that this worker still holds; the store stays open."""
        for lease in self._parked.values():
            self._release(lease)
        self._parked.clear()

    # --- leases -----------------------------------------------------------------------------

    def _new_holder(self) -> str:
        return f"{self._name}-{secrets.token_hex(8)}"

    def _park(self, lease: Lease) -> None:
        """Keep the lease without using it, and go on under another name: nobody tries the survey until it expires."""
        self._counted.pop(lease.survey, None)
        self._parked[lease.survey] = lease
        self._holder = self._new_holder()

    def _release(self, lease: Lease) -> None:
        with suppress(StoreError):  # it expires
            self._store.release(lease)

    # --- one step ---------------------------------------------------------------------------

    def _count(self, lease: Lease) -> int:
        state = self._state(lease)
        if state is None:
            return 0
        token, state.token = state.token, None
        segments = self._catch_up(lease, state, token)
        if segments is None:
            return 0
        width = REPORT_ID_BYTES + state.survey.mechanism.report_bytes
        most = int(self._share * min(self._most, self._bytes_at_once // width))
        taken = self._store.take(lease, max(1, most))
        if not taken:
            return 0
        ids, payloads, fresh = self._fresh(state, taken)
        checkpoint = self._checkpoint(state, segments, payloads)
        if not self._settle(lease, taken, fresh, checkpoint):
            self._counted.pop(lease.survey, None)
            # Perhaps the step outlasts the lease: a smaller one may not.
            self._share = max(self._share / 2, _LEAST_SHARE)
            return 0
        self._share = min(2 * self._share, 1.0)
        # Nobody else has settled until here, so the segments listed after the lease was won are all known.
        state.last = segments[-1].number if segments else -1
        state.seen.add_new(ids)
        state.token = lease.token
        self._tidy(lease, state)
        self._forget_least_used()
        return sum(entry.n for entry in taken)

    def _settle(
        self, lease: Lease, taken: Sequence[Waiting], fresh: Sequence[NewSegment], checkpoint: Checkpoint | None
    ) -> bool:
        """Whether it was done. On a disk that is nearly full the checkpoint can wait."""
        if checkpoint is not None:
            with suppress(StoreFullError):
                return self._store.settle(lease, taken, fresh, checkpoint)
        return self._store.settle(lease, taken, fresh, None)

    def _state(self, lease: Lease) -> _Counted | None:
        state = self._counted.get(lease.survey)
        if state is None:
            record = self._store.survey(lease.survey)
            if record is None or record.state == "deleted":
                return None
            state = self._counted[lease.survey] = _Counted(answerable_of(self._store, record), self._no_ids())
        self._counted.move_to_end(lease.survey)
        return state

    def _catch_up(self, lease: Lease, state: _Counted, token: int | None) -> list[SegmentInfo] | None:
        """Know the ids of all segments there are; returns their list, or None if the lease was lost over it."""
        for _ in range(2):
            # Every change of hands makes the token grow by one: with ours, or the one after it, all segments are ours.
            if token is None or lease.token not in (token, token + 1):
                while not self._read_on(state):
                    # Reading all ids of a large survey takes longer than a lease lasts.
                    if not self._still_held(lease):
                        return None
            segments = self._store.segments(state.survey.id)
            if sum(info.n for info in segments) == len(state.seen):
                return segments
            # A database that was put back to an earlier state lacks ids we know, and may use its numbers again: what we
            # know must be forgotten, or a report that comes again is never counted.
            state.seen, state.last, token = self._no_ids(), -1, None
        if self._still_held(lease):
            raise StoreError(f"segments of survey {state.survey.id[:12]} hold some id twice; restore a backup")
        return None

    def _still_held(self, lease: Lease) -> bool:
        again = self._store.lease(self._holder, self._lease_seconds)
        if again is not None and again != lease:
            self._release(again)
        return again == lease

    def _read_on(self, state: _Counted) -> bool:
        """Read ids of segments for a third of the lease's time; whether all have been read."""
        stop = time.monotonic() + self._lease_seconds / 3
        for segment in self._store.read_segments(state.survey.id, state.last):
            self._check_segment(state, segment)
            state.seen.add(id_rows(segment.ids))
            state.last = segment.info.number
            self._forget_least_used()
            if time.monotonic() > stop:
                return False
        return True

    def _check_segment(self, state: _Counted, segment: Segment) -> None:
        if len(segment.ids) != segment.info.n * REPORT_ID_BYTES:
            raise StoreError(
                f"segment {segment.info.number} of survey {state.survey.id[:12]} has {len(segment.ids):,} bytes of "
                f"ids for {segment.info.n:,} reports; the database is damaged: restore a backup"
            )

    def _fresh(
        self, state: _Counted, taken: Sequence[Waiting]
    ) -> tuple[NDArray[np.uint8], NDArray[np.uint8], list[NewSegment]]:
        """Ids and payloads of the taken reports that were not counted yet, and a segment of them for every epoch."""
        width = REPORT_ID_BYTES + state.survey.mechanism.report_bytes
        for entry in taken:
            if len(entry.rows) != entry.n * width:
                raise StoreError(
                    f"waiting entry {entry.number} of survey {state.survey.id[:12]} has {len(entry.rows):,} bytes for "
                    f"{entry.n:,} reports of {width}; the database is damaged: restore a backup"
                )
        rows = np.frombuffer(b"".join(entry.rows for entry in taken), dtype=np.uint8).reshape(-1, width)
        epochs = np.repeat([entry.epoch for entry in taken], [entry.n for entry in taken])
        order = id_order(rows[:, :REPORT_ID_BYTES])
        rows, epochs = rows[order], epochs[order]
        fresh = state.seen.new(rows[:, :REPORT_ID_BYTES])
        rows, epochs = rows[fresh], epochs[fresh]
        ids, payloads = rows[:, :REPORT_ID_BYTES], rows[:, REPORT_ID_BYTES:]
        segments = []
        for epoch in np.unique(epochs).tolist():
            of_epoch = epochs == epoch
            segments.append(
                NewSegment(epoch, int(of_epoch.sum()), ids[of_epoch].tobytes(), payloads[of_epoch].tobytes())
            )
        return ids, payloads, segments

    def _checkpoint(
        self, state: _Counted, segments: Sequence[SegmentInfo], payloads: NDArray[np.uint8]
    ) -> Checkpoint | None:
        """Everything counted so far and these payloads, if enough has come since the last one."""
        survey = state.survey
        # Decoded even when they are not counted now: anything that is not a report must stay out of segments.
        batches = decoded(survey, payloads, "the waiting list")
        since = sum(info.n for info in segments if not info.checkpointed) + len(payloads)
        cells = survey.mechanism.cells
        if cells > self._max_counters or since <= max(cells // 4, self._checkpoint_after):
            for _ in batches:
                pass
            return None
        return as_checkpoint(count_snapshot(survey, self._store.snapshot(survey.id), batches))

    # --- afterwards -------------------------------------------------------------------------

    def _tidy(self, lease: Lease, state: _Counted) -> None:
        """Put small segments together. The lease may be lost by now; the store then refuses."""
        survey = state.survey
        width = REPORT_ID_BYTES + survey.mechanism.report_bytes
        largest = min(self._largest_segment, self._bytes_at_once // width)
        for _ in range(_MERGES_A_STEP):
            chosen = due(self._store.segments(survey.id), largest, self._fan_in, self._crowd)
            if not chosen:
                return
            if not self._join(lease, chosen):
                self._counted.pop(survey.id, None)
                return

    def _join(self, lease: Lease, chosen: Sequence[SegmentInfo]) -> bool:
        """One segment in place of these; False when they, or the lease, are gone."""
        parts = [part for info in chosen for part in self._segment(lease.survey, info.number)]
        if len(parts) < len(chosen):
            return False
        return self._store.compact(lease, [info.number for info in chosen], merged(parts))

    def _segment(self, survey: str, number: int) -> list[Segment]:
        """The segment of that number; none if it is gone."""
        for segment in self._store.read_segments(survey, number - 1):
            return [segment] if segment.info.number == number else []
        return []

    def _forget_least_used(self) -> None:
        while len(self._counted) > 1 and (
            sum(state.seen.nbytes for state in self._counted.values()) > self._memory_bytes
            or sum(state.seen.files for state in self._counted.values()) > _MOST_FILES
        ):
            self._counted.popitem(last=False)

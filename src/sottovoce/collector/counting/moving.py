"""Moves the segments of epochs that are over to object storage, and removes objects that nothing uses any more.

An object is noted, written, read back, and only then put in place of the rows it holds, in one transaction. Whatever
fails in between leaves the rows where they are and a note of the object, which is removed later. No survey's lease is
held meanwhile: the reports stay the same ones, so that counting goes on beside a slow storage.
"""

from __future__ import annotations

import hashlib
import logging
import secrets
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from typing import Final, final

from sottovoce.collector.counting.compaction import CROWD, merged
from sottovoce.collector.counting.live import as_checkpoint, count_snapshot
from sottovoce.collector.store.base import Store
from sottovoce.collector.store.object_storage import ObjectStorage, object_bytes, object_name, reports_in
from sottovoce.collector.store.records import NewSegment, ObjectRecord, Segment, SegmentInfo
from sottovoce.collector.surveys.published import answerable_of
from sottovoce.core.errors import ObjectStorageError, SottovoceError, StoreError, StoreFullError, StoreUnavailableError
from sottovoce.core.limits import DEFAULT_COUNTERS
from sottovoce.formats.wire import REPORT_ID_BYTES
from sottovoce.surveys.survey import Survey

__all__ = ["SegmentMover", "moving"]

_LOG: Final = logging.getLogger("sottovoce.collector.counting.moving")

_WRITING_SECONDS: Final = 600.0
"""Seconds after which an object that was noted and not used counts as left over."""

_REMOVALS: Final = 64
"""Objects removed in one step."""

_PAUSE: Final = 10.0
_LONGEST_PAUSE: Final = 600.0
"""Seconds between looks for something to move; doubled from one to the other while it fails."""

_STOP_SECONDS: Final = 5.0
"""How long the end of a process waits for what is being written; cut off, it is written again later."""


@final
class SegmentMover:
    """One worker's moving; several may work on one database.

    Parameters
    ----------
    store
        With object storage.
    holder
        The worker's name. A random end is added.
    epoch
        Tells the present one, in the service's coarse time.
    lease_seconds
        How long a survey is held to bring its checkpoint up to date.
    max_counters
        Surveys of more integers have no checkpoint.
    crowd
        No object holds fewer reports than this, unless they are all of an epoch.
    largest_bytes
        About how long an object gets; of a longer epoch there are several.
    """

    def __init__(
        self,
        store: Store,
        objects: ObjectStorage,
        holder: str,
        epoch: Callable[[], int],
        *,
        lease_seconds: float = 30.0,
        max_counters: int = DEFAULT_COUNTERS,
        crowd: int = CROWD,
        largest_bytes: int = 1 << 24,
    ) -> None:
        self._store = store
        self._objects = objects
        self._holder = f"{holder}-{secrets.token_hex(8)}"
        self._epoch = epoch
        self._lease_seconds = lease_seconds
        self._max_counters = max_counters
        self._crowd = crowd
        self._largest_bytes = largest_bytes
        self._failed: dict[str, str] = {}

    def step(self) -> bool:
        """Move some segments, and remove some objects; whether there may be more to do.

        Raises `ObjectStorageError`, or what the store raises, and has then changed nothing that is not completed by
        another step. A survey that cannot be moved is noted in the log once, and stays in the database.
        """
        try:
            moved = self._move_some()
        finally:
            # Even where nothing can be written: a deletion must not wait for room.
            removed = self._remove_some()
        return moved or removed

    def _remove_some(self) -> bool:
        names = self._store.objects_due(_REMOVALS)
        for name in names:
            self._objects.remove(name)
            self._store.forget_object(name)
        return len(names) == _REMOVALS

    def _move_some(self) -> bool:
        for survey_id, epoch in self._store.ended(self._epoch(), self._crowd):
            try:
                moved = self._move(survey_id, epoch)
            except (ObjectStorageError, StoreUnavailableError, StoreFullError):
                raise
            except Exception as error:
                # Whatever is wrong with one survey, the others must go on.
                self._note_failure(survey_id, error)
                continue
            self._failed.pop(survey_id, None)
            if moved:
                return True
        return False

    def _note_failure(self, survey_id: str, error: Exception) -> None:
        # An unforeseen error is logged by its kind alone, since its words may quote a report.
        reason = str(error) if isinstance(error, SottovoceError) else type(error).__name__
        if self._failed.get(survey_id) != reason:
            self._failed[survey_id] = reason
            _LOG.error("segments of survey %s cannot move to object storage: %s", survey_id[:12], reason)

    def _move(self, survey_id: str, epoch: int) -> bool:
        record = self._store.survey(survey_id)
        if record is None or record.state == "deleted":
            return False
        survey = answerable_of(self._store, record)
        if survey.mechanism.cells <= self._max_counters and not self._summed(survey, epoch):
            return False
        chosen = self._chosen(survey, epoch)
        parts = [part for info in chosen for part in self._segment(survey_id, info.number)]
        if not chosen or len(parts) < len(chosen):
            return False
        segment = merged(parts)
        content = _checked(survey, segment)
        name = object_name(survey_id, epoch, content)
        noted = ObjectRecord(survey_id, name, hashlib.sha256(content).hexdigest(), len(content))
        if not self._store.note_object(noted, _WRITING_SECONDS):
            return False
        if not self._written(name, content, [info.number for info in chosen]):
            return False
        _LOG.info("%s reports of survey %s moved to object storage", f"{segment.n:,}", survey_id[:12])
        return True

    def _written(self, name: str, content: bytes, old: Sequence[int]) -> bool:
        """Write the object and put it to use; False when the segments are others by now."""
        try:
            self._objects.put(name, content)
            if self._store.move(name, old):
                return True
        except BaseException:
            with suppress(StoreError):  # its note expires
                self._store.drop_object(name)
            raise
        # Nobody else has ever used this name, nor can.
        self._store.drop_object(name)
        self._objects.remove(name)
        self._store.forget_object(name)
        return False

    def _summed(self, survey: Survey, epoch: int) -> bool:
        """Bring the checkpoint up to date if it lacks a segment of the epoch, so that no estimate reads an object."""
        if all(info.checkpointed for info in self._store.segments(survey.id) if info.epoch == epoch):
            return True
        lease = self._store.lease_survey(self._holder, self._lease_seconds, survey.id)
        if lease is None:
            return False
        try:
            everything = as_checkpoint(count_snapshot(survey, self._store.snapshot(survey.id)))
            return self._store.settle(lease, (), (), everything)
        finally:
            with suppress(StoreError):  # it expires
                self._store.release(lease)

    def _chosen(self, survey: Survey, epoch: int) -> list[SegmentInfo]:
        """Segments that make one object, all or none of them in the checkpoint."""
        there = [info for info in self._store.segments(survey.id) if info.epoch == epoch and info.object is None]
        most = self._largest_bytes // (REPORT_ID_BYTES + survey.mechanism.report_bytes)
        chosen: list[SegmentInfo] = []
        for info in there:
            if info.checkpointed == there[0].checkpointed and (
                not chosen or sum(other.n for other in chosen) + info.n <= most
            ):
                chosen.append(info)
        return chosen

    def _segment(self, survey_id: str, number: int) -> list[Segment]:
        """The segment of that number; none if it is gone."""
        for segment in self._store.read_segments(survey_id, number - 1):
            return [segment] if segment.info.number == number else []
        return []


def _checked(survey: Survey, segment: NewSegment) -> bytes:
    """The segment's object; it is read again before anything relies on it."""
    width = survey.mechanism.report_bytes
    if len(segment.payloads) != segment.n * width:
        raise StoreError(
            f"segments of survey {survey.id[:12]} have {len(segment.payloads):,} bytes for {segment.n:,} reports of "
            f"{width}; the database is damaged: restore a backup"
        )
    content = object_bytes(survey, segment)
    if reports_in(content) != (segment.ids, segment.payloads):
        raise StoreError(f"a Parquet file of reports of survey {survey.id[:12]} does not hold them; report this")
    return content


@contextmanager
def moving(mover: SegmentMover, pause: float = _PAUSE) -> Iterator[None]:
    """Let the mover work in a thread of its own while the block runs: a storage that hangs holds up nobody."""
    stop = threading.Event()
    thread = threading.Thread(target=_move_on, args=(mover, stop, pause), name="sottovoce-move", daemon=True)
    thread.start()
    try:
        yield
    finally:
        stop.set()
        thread.join(_STOP_SECONDS)


def _move_on(mover: SegmentMover, stop: threading.Event, shortest: float) -> None:
    pause, logged = 0.0, ""
    while not stop.wait(pause):
        try:
            pause = 0.0 if mover.step() else shortest
        except Exception as error:
            reason = str(error) if isinstance(error, SottovoceError) else type(error).__name__
            if reason != logged and not stop.is_set():
                _LOG.warning("segments wait for object storage: %s", reason)
            pause, logged = min(2 * max(pause, shortest), _LONGEST_PAUSE), reason
        else:
            if logged:
                _LOG.info("object storage works again")
            logged = ""

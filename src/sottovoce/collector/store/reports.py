"""The tables of reports: waiting, leased, settled into segments, summed into checkpoints."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final, Literal

from sottovoce.collector.store.object_storage import reports_in
from sottovoce.collector.store.records import (
    Checkpoint,
    Lease,
    NewSegment,
    Segment,
    SegmentInfo,
    Snapshot,
    Totals,
    Waiting,
)
from sottovoce.collector.store.sql import PART_BYTES, STANDING, SqlStore, askable, combine, parts
from sottovoce.core.errors import ObjectStorageError, StoreError, StoreUnavailableError
from sottovoce.service.storage.committer import Arrival, Closed
from sottovoce.service.storage.sql import Transaction, UndoneError

__all__ = ["APPEND", "ReportTables", "append_values"]

_PROBE_BYTES: Final = 8192

APPEND: Final = (
    "INSERT INTO waiting (survey, epoch, n, content) "
    "SELECT number, ?, ?, ? FROM surveys WHERE id = ? AND state = 'open'"
)
"""Keeps the reports of one arrival, if its survey is open; its row is to be locked where that is not a matter of
course."""


def append_values(arrival: Arrival) -> tuple[int, int, bytes, str]:
    """What `APPEND` is given."""
    return arrival.epoch, arrival.n, arrival.rows, arrival.survey


def _latest(now: float, seconds: float) -> float:
    """The latest moment at which a lease can end; one that ends later was taken before a clock was set back.

    Not `now + seconds`: `now` may have been read before a lease that another process took meanwhile.
    """
    return now + 2 * seconds


class ReportTables(SqlStore):
    """Taking reports in, and counting each once."""

    def append(self, arrivals: Sequence[Arrival]) -> list[Closed | None]:
        if not arrivals:
            return []
        if len(arrivals) == 1 and arrivals[0].n and len(arrivals[0].rows) <= PART_BYTES:
            return [self._append_one(arrivals[0])]
        with self.write(growing=True) as transaction:
            numbers: dict[str, int] = {}
            closed: dict[str, Closed] = {}
            # Sorted: two appends, or an append and a seal, lock the surveys in one order.
            for survey_id in sorted({arrival.survey for arrival in arrivals}):
                number, state = self._locked(transaction, survey_id)
                if state == "open":
                    numbers[survey_id] = number
                else:
                    closed[survey_id] = state
            transaction.many(
                "INSERT INTO waiting (survey, epoch, n, content) VALUES (?, ?, ?, ?)",
                [
                    (numbers[row.survey], row.epoch, row.n, row.rows)
                    for row in combine(arrival for arrival in arrivals if arrival.survey in numbers)
                ],
            )
        return [closed.get(arrival.survey) for arrival in arrivals]

    def _try_append(self, transaction: Transaction, *, thorough: bool) -> None:
        """Insert what a report would, and take it back: by a rollback, or before a commit."""
        rows = transaction.rows(
            f"SELECT number FROM surveys WHERE state = 'open' ORDER BY number DESC LIMIT 1{self.for_share}"
        )
        if rows:
            # Long enough in SQLite to need pages of its own, as a batch does.
            content = bytes(_PROBE_BYTES if self.dialect == "sqlite" else 1)
            ((number,),) = transaction.rows(
                "INSERT INTO waiting (survey, epoch, n, content) VALUES (?, ?, ?, ?) RETURNING number",
                (rows[0][0], 0, 1, content),
            )
            transaction.run("DELETE FROM waiting WHERE number = ?", (number,))
        if not thorough:
            raise UndoneError

    def _append_one(self, arrival: Arrival) -> Closed | None:
        """Append reports of one survey: the statement that keeps them finds and locks the survey too."""
        if not askable(arrival.survey):
            return "unknown"
        while not self.write_one(f"{APPEND}{self.for_share}", append_values(arrival)):
            with self.read() as transaction:
                rows = transaction.rows("SELECT state FROM surveys WHERE id = ?", (arrival.survey,))
            state: Literal["open"] | Closed = rows[0][0] if rows else "unknown"
            if state != "open":  # else it was published between the two
                return state
        return None

    def _locked(self, transaction: Transaction, survey_id: str) -> tuple[int, Literal["open"] | Closed]:
        """A survey's number and state; neither changes before the transaction ends."""
        rows = (
            transaction.rows(f"SELECT number, state FROM surveys WHERE id = ?{self.for_share}", (survey_id,))
            if askable(survey_id)
            else []
        )
        return (rows[0][0], rows[0][1]) if rows else (-1, "unknown")

    def waiting(self, survey_id: str) -> int:
        if not askable(survey_id):
            return 0
        with self.read() as transaction:
            ((n,),) = transaction.rows(
                f"SELECT COALESCE(SUM(n), 0) FROM waiting WHERE survey = {STANDING}",
                (survey_id,),
            )
        return int(n)

    def totals(self) -> Totals:
        with self.read() as transaction:
            (numbers,) = transaction.rows(
                "SELECT (SELECT COALESCE(SUM(w.n), 0) FROM waiting w JOIN surveys s ON s.number = w.survey "
                "WHERE s.state <> 'deleted'), (SELECT COALESCE(SUM(c.n), 0) FROM segments c "
                "JOIN surveys s ON s.number = c.survey WHERE s.state <> 'deleted')"
            )
        return Totals(*(int(n) for n in numbers))

    def oldest_waiting(self) -> dict[int, int]:
        with self.read() as transaction:
            return dict(
                transaction.rows(
                    "SELECT survey, MIN(number) FROM waiting WHERE survey NOT IN (SELECT survey FROM erasures) "
                    "GROUP BY survey"
                )
            )

    def lease(self, holder: str, seconds: float) -> Lease | None:
        # Idle workers ask often: while nothing waits they take no lock.
        with self.read() as transaction:
            if not transaction.rows("SELECT 1 FROM waiting LIMIT 1"):
                return None
        with self.write() as transaction:
            now = self._now(transaction)
            rows = transaction.rows(
                "SELECT l.survey, s.id, l.token, CASE WHEN l.holder = ? AND l.expires > ? AND l.expires <= ? "
                "THEN 1 ELSE 0 END AS own, (SELECT MIN(w.number) FROM waiting w WHERE w.survey = l.survey) AS first "
                "FROM leases l JOIN surveys s ON s.number = l.survey "
                "WHERE EXISTS (SELECT 1 FROM waiting w WHERE w.survey = l.survey) AND s.state <> 'deleted' "
                "AND (l.holder = ? OR l.expires <= ? OR l.expires > ?) "
                f"ORDER BY own DESC, first LIMIT 1{self.skip_locked}",
                (holder, now, _latest(now, seconds), holder, now, _latest(now, seconds)),
            )
            if not rows:
                return None
            number, survey_id, token, own, _ = rows[0]
            token += 0 if own else 1
            transaction.run(
                "UPDATE leases SET holder = ?, token = ?, expires = ? WHERE survey = ?",
                (holder, token, now + seconds, number),
            )
        return Lease(survey_id, token)

    def lease_untidy(self, holder: str, seconds: float, epoch: int, crowd: int) -> Lease | None:
        untidy = (
            "EXISTS (SELECT 1 FROM segments a JOIN segments b "
            "ON b.survey = a.survey AND b.epoch = a.epoch AND b.number <> a.number "
            "WHERE a.survey = l.survey AND a.n < ? AND (a.epoch < ? OR s.state = 'sealed')) AND s.state <> 'deleted'"
        )
        with self.read() as transaction:
            if not transaction.rows(
                f"SELECT 1 FROM leases l JOIN surveys s ON s.number = l.survey WHERE {untidy} LIMIT 1", (crowd, epoch)
            ):
                return None
        with self.write() as transaction:
            now = self._now(transaction)
            rows = transaction.rows(
                "SELECT l.survey, s.id, l.token FROM leases l JOIN surveys s ON s.number = l.survey "
                f"WHERE (l.expires <= ? OR l.expires > ?) AND {untidy} ORDER BY l.survey LIMIT 1{self.skip_locked}",
                (now, _latest(now, seconds), crowd, epoch),
            )
            if not rows:
                return None
            number, survey_id, token = rows[0]
            transaction.run(
                "UPDATE leases SET holder = ?, token = ?, expires = ? WHERE survey = ?",
                (holder, token + 1, now + seconds, number),
            )
        return Lease(survey_id, token + 1)

    def lease_survey(self, holder: str, seconds: float, survey_id: str) -> Lease | None:
        with self.write() as transaction:
            now = self._now(transaction)
            rows = transaction.rows(
                "SELECT l.survey, l.token FROM leases l JOIN surveys s ON s.number = l.survey "
                "WHERE s.id = ? AND s.state <> 'deleted' AND (l.expires <= ? OR l.expires > ?)"
                f"{self.skip_locked}",
                (survey_id, now, _latest(now, seconds)),
            )
            if not rows:
                return None
            ((number, token),) = rows
            transaction.run(
                "UPDATE leases SET holder = ?, token = ?, expires = ? WHERE survey = ?",
                (holder, token + 1, now + seconds, number),
            )
        return Lease(survey_id, token + 1)

    def release(self, lease: Lease) -> None:
        with self.write() as transaction:
            transaction.run(
                "UPDATE leases SET holder = '', expires = 0 "
                "WHERE token = ? AND survey = (SELECT number FROM surveys WHERE id = ?)",
                (lease.token, lease.survey),
            )

    def take(self, lease: Lease, most: int) -> list[Waiting]:
        with self.read() as transaction:
            rows = transaction.rows(
                f"SELECT number, n FROM waiting WHERE survey = {STANDING} ORDER BY number LIMIT ?",
                (lease.survey, max(most, 1)),
            )
            taken: list[Waiting] = []
            total = 0
            for number, n in rows:
                if taken and total + n > most:
                    break
                total += n
                ((epoch, content),) = transaction.rows("SELECT epoch, content FROM waiting WHERE number = ?", (number,))
                taken.append(Waiting(number, epoch, n, bytes(content)))
        return taken

    def settle(
        self,
        lease: Lease,
        taken: Sequence[Waiting],
        segments: Sequence[NewSegment],
        checkpoint: Checkpoint | None = None,
    ) -> bool:
        try:
            with self.write() as transaction:
                survey = self._held(transaction, lease)
                # Exactly what was taken: others may have committed smaller numbers since.
                gone = transaction.many(
                    "DELETE FROM waiting WHERE number = ? AND survey = ?", [(each.number, survey) for each in taken]
                )
                if gone != len(taken):
                    raise _StaleError
                for segment in segments:
                    if segment.n:
                        _insert(transaction, survey, segment, checkpointed=False)
                if checkpoint is not None:
                    _replace_checkpoint(transaction, survey, checkpoint)
        except _StaleError:
            return False
        return True

    def compact(self, lease: Lease, old: Sequence[int], merged: NewSegment) -> bool:
        try:
            with self.write() as transaction:
                survey = self._held(transaction, lease)
                infos = {info.number: info for info in _infos(transaction, lease.survey, -1)}
                if not set(old) <= infos.keys():
                    raise _StaleError
                olds = [infos[number] for number in set(old)]
                if len({(info.epoch, info.checkpointed) for info in olds}) != 1 or olds[0].epoch != merged.epoch:
                    raise StoreError("segments to be merged must be of one epoch, and all or none in the checkpoint")
                if sum(info.n for info in olds) != merged.n:
                    raise StoreError("the merged segment must hold exactly the reports of those it replaces")
                transaction.many("DELETE FROM segments WHERE number = ?", [(info.number,) for info in olds])
                _insert(transaction, survey, merged, checkpointed=olds[0].checkpointed)
        except _StaleError:
            return False
        return True

    def hand_in(self, survey_id: str, checkpoint: Checkpoint) -> bool:
        with self.write() as transaction:
            number, state = self._locked(transaction, survey_id)
            if state != "sealed" or transaction.rows("SELECT 1 FROM waiting WHERE survey = ? LIMIT 1", (number,)):
                return False
            # A process that puts segments together meanwhile holds the lease: its row is locked, so it waits.
            transaction.rows(f"SELECT token FROM leases WHERE survey = ?{self.for_update}", (number,))
            _replace_checkpoint(transaction, number, checkpoint)
        return True

    def _held(self, transaction: Transaction, lease: Lease) -> int:
        """The number of the lease's survey; neither the lease nor the survey changes before the transaction ends."""
        number, state = self._locked(transaction, lease.survey)
        if state in ("unknown", "deleted"):
            raise _StaleError
        rows = transaction.rows(f"SELECT token, holder FROM leases WHERE survey = ?{self.for_update}", (number,))
        if not rows or rows[0][0] != lease.token or not rows[0][1]:
            raise _StaleError
        return number

    def snapshot(self, survey_id: str) -> Snapshot:
        if not askable(survey_id):
            return Snapshot(None, ())
        with self.read() as transaction:
            kept = transaction.rows(
                f"SELECT survey, n FROM checkpoints WHERE survey = {STANDING}",
                (survey_id,),
            )
            checkpoint = None
            if kept:
                ((number, n),) = kept
                rows = transaction.rows(
                    "SELECT content FROM checkpoint_parts WHERE survey = ? ORDER BY part", (number,)
                )
                checkpoint = Checkpoint(n, b"".join([content for (content,) in rows]))
            fresh = [info for info in _infos(transaction, survey_id, -1) if not info.checkpointed]
            return Snapshot(checkpoint, tuple(self._read(transaction, info) for info in fresh))

    def segments(self, survey_id: str, after: int = -1) -> list[SegmentInfo]:
        if not askable(survey_id):
            return []
        with self.read() as transaction:
            return _infos(transaction, survey_id, after)

    def read_segments(self, survey_id: str, after: int = -1) -> Iterator[Segment]:
        if not askable(survey_id):
            return
        # One view for all: between two reads a compaction could show the same report twice.
        with self.read() as transaction:
            for info in _infos(transaction, survey_id, after):
                yield self._read(transaction, info)

    def _read(self, transaction: Transaction, info: SegmentInfo) -> Segment:
        if info.object is not None:
            return self._read_object(transaction, info, info.object)
        content: dict[str, list[bytes]] = {"ids": [], "payloads": []}
        for field, part in transaction.rows(
            "SELECT field, content FROM segment_parts WHERE segment = ? ORDER BY field, part", (info.number,)
        ):
            content[field].append(part)
        return Segment(info, b"".join(content["ids"]), b"".join(content["payloads"]))

    def _read_object(self, transaction: Transaction, info: SegmentInfo, name: str) -> Segment:
        if self.objects is None:
            raise ObjectStorageError(
                f"segment {info.number} lies in object storage, and the setting objects names none; set it to where "
                "the objects are"
            )
        ((sha256,),) = transaction.rows("SELECT sha256 FROM objects WHERE name = ?", (name,))
        try:
            return Segment(info, *reports_in(self.objects.get(name, sha256)))
        except ObjectStorageError:
            # An object that was taken out of use since this view began may have been removed.
            with self.read() as now:
                if not now.rows("SELECT 1 FROM segments WHERE number = ?", (info.number,)):
                    raise StoreUnavailableError(
                        "segments were put together, or deleted, while they were read; try again"
                    ) from None
            raise


class _StaleError(Exception):
    """Leaves a transaction that must change nothing."""


def _infos(transaction: Transaction, survey_id: str, after: int) -> list[SegmentInfo]:
    rows = transaction.rows(
        "SELECT number, epoch, n, checkpointed, object FROM segments "
        f"WHERE survey = {STANDING} AND number > ? ORDER BY number",
        (survey_id, after),
    )
    return [SegmentInfo(number, epoch, n, bool(checkpointed), name) for number, epoch, n, checkpointed, name in rows]


def _insert(transaction: Transaction, survey: int, segment: NewSegment, *, checkpointed: bool) -> None:
    ((number,),) = transaction.rows(
        "INSERT INTO segments (survey, epoch, n, checkpointed) VALUES (?, ?, ?, ?) RETURNING number",
        (survey, segment.epoch, segment.n, int(checkpointed)),
    )
    for field, content in (("ids", segment.ids), ("payloads", segment.payloads)):
        for part, piece in parts(content):
            transaction.run(
                "INSERT INTO segment_parts (segment, field, part, content) VALUES (?, ?, ?, ?)",
                (number, field, part, piece),
            )


def _replace_checkpoint(transaction: Transaction, survey: int, checkpoint: Checkpoint) -> None:
    ((n,),) = transaction.rows("SELECT COALESCE(SUM(n), 0) FROM segments WHERE survey = ?", (survey,))
    if int(n) != checkpoint.n:
        raise StoreError("a checkpoint must sum all segments of its survey; its number of reports is another")
    transaction.run("DELETE FROM checkpoints WHERE survey = ?", (survey,))
    transaction.run("INSERT INTO checkpoints (survey, n) VALUES (?, ?)", (survey, checkpoint.n))
    for part, piece in parts(checkpoint.counts):
        transaction.run("INSERT INTO checkpoint_parts (survey, part, content) VALUES (?, ?, ?)", (survey, part, piece))
    transaction.run("UPDATE segments SET checkpointed = 1 WHERE survey = ? AND checkpointed = 0", (survey,))

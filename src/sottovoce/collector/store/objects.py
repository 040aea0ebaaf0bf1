"""The table of objects: which segments lie in object storage, and what there is to be removed.

An object is noted before it is written, and its name forgotten after it was removed: no kill leaves one that nobody
knows of. One that no segment names is due once its writer's time is over. It is marked before it is removed, and what
is marked can never be used: two that work at the same time cannot remove what one of them has just moved.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from sottovoce.collector.store.records import ObjectRecord
from sottovoce.collector.store.sql import SqlStore
from sottovoce.core.errors import StoreError
from sottovoce.service.storage.sql import Transaction

__all__ = ["ObjectTables"]

_UNUSED = "NOT EXISTS (SELECT 1 FROM segments g WHERE g.object = o.name)"

_MOVING = f"o.due = 0 AND o.expires > ? AND {_UNUSED}"
"""Somebody writes it right now."""

_ROWS = 256
"""Names read at a time."""


class ObjectTables(SqlStore):
    """Moving segments to object storage, and removing objects."""

    def ended(self, epoch: int, crowd: int) -> list[tuple[str, int]]:
        with self.read() as transaction:
            now = self._now(transaction)
            rows = transaction.rows(
                "SELECT DISTINCT s.id, g.epoch FROM segments g JOIN surveys s ON s.number = g.survey "
                "WHERE g.object IS NULL AND (g.epoch < ? OR s.state = 'sealed') AND s.state <> 'deleted' "
                "AND NOT EXISTS (SELECT 1 FROM waiting w WHERE w.survey = g.survey AND w.epoch = g.epoch) "
                "AND NOT EXISTS (SELECT 1 FROM segments a JOIN segments b "
                "ON b.survey = a.survey AND b.epoch = a.epoch AND b.number <> a.number "
                "WHERE a.survey = g.survey AND a.epoch = g.epoch AND a.n < ?) "
                f"AND NOT EXISTS (SELECT 1 FROM objects o WHERE o.survey = g.survey AND {_MOVING}) "
                "ORDER BY g.epoch, s.id LIMIT ?",
                (epoch, crowd, now, _ROWS),
            )
        return [(survey_id, of) for survey_id, of in rows]

    def note_object(self, record: ObjectRecord, seconds: float) -> bool:
        with self.write() as transaction:
            # Locked: of two that want to move segments of one survey, the second sees the first's note.
            rows = transaction.rows(
                f"SELECT number, state FROM surveys WHERE id = ?{self.for_update}", (record.survey,)
            )
            if not rows or rows[0][1] == "deleted":
                return False
            now, number = self._now(transaction), rows[0][0]
            if transaction.rows(f"SELECT 1 FROM objects o WHERE o.survey = ? AND {_MOVING}", (number, now)):
                return False
            transaction.run(
                "INSERT INTO objects (name, survey, sha256, length, expires, due) VALUES (?, ?, ?, ?, ?, 0)",
                (record.name, number, record.sha256, record.length, now + seconds),
            )
        return True

    def move(self, name: str, old: Sequence[int]) -> bool:
        with self.write() as transaction:
            # In the order in which counting locks them; no lease is needed, since the survey's reports stay the same.
            surveys = transaction.rows(
                "SELECT s.number, s.state FROM surveys s JOIN objects o ON o.survey = s.number WHERE o.name = ?"
                f"{self.for_share and ' FOR SHARE OF s'}",
                (name,),
            )
            if not surveys or surveys[0][1] == "deleted":
                return False
            number = surveys[0][0]
            transaction.rows(f"SELECT token FROM leases WHERE survey = ?{self.for_update}", (number,))
            if not transaction.run("UPDATE objects SET expires = 0 WHERE name = ? AND due = 0", (name,)):
                return False
            marks = ", ".join("?" * len(old))
            there = transaction.rows(
                f"SELECT epoch, checkpointed, n FROM segments WHERE survey = ? AND number IN ({marks})", (number, *old)
            )
            kinds = {(epoch, checkpointed) for epoch, checkpointed, _ in there}
            if len(there) == len(old) and len(kinds) != 1:
                raise StoreError("segments to be moved must be of one epoch, and all or none in the checkpoint")
            if len(there) == len(old):
                ((epoch, checkpointed),) = kinds
                transaction.many("DELETE FROM segments WHERE number = ?", [(each,) for each in old])
                transaction.run(
                    "INSERT INTO segments (survey, epoch, n, checkpointed, object) VALUES (?, ?, ?, ?, ?)",
                    (number, epoch, sum(n for _, _, n in there), checkpointed, name),
                )
        # Where one of them is gone, nothing names the object, and its writer's time is over: it is due.
        return len(there) == len(old)

    def objects_due(self, most: int) -> list[str]:
        with self.read() as transaction:
            now = self._now(transaction)
            rows = transaction.rows(
                f"SELECT o.name, o.due FROM objects o WHERE (o.due = 1 OR o.expires <= ?) AND {_UNUSED} "
                "ORDER BY o.name LIMIT ?",
                (now, most),
            )
        marked = {name for name, due in rows if due}
        unmarked = [name for name, due in rows if not due]
        if unmarked:
            # With the room of the reserve: objects may lie on the same disk, which is full until they are removed.
            marked.update(self.freed(lambda transaction: self._marked(transaction, unmarked)))
        return sorted(marked)

    def _marked(self, transaction: Transaction, names: Sequence[str]) -> list[str]:
        """Those of the objects that nobody can put to use from now on."""
        marked: list[str] = []
        for name in names:
            # Two questions: the second one sees what was committed while the first waited for the row.
            transaction.rows(f"SELECT 1 FROM objects WHERE name = ?{self.for_update}", (name,))
            if transaction.run(f"UPDATE objects AS o SET due = 1 WHERE o.name = ? AND {_UNUSED}", (name,)):
                marked.append(name)
        return marked

    def drop_object(self, name: str) -> None:
        with self.write() as transaction:
            transaction.rows(f"SELECT 1 FROM objects WHERE name = ?{self.for_update}", (name,))
            transaction.run(f"UPDATE objects AS o SET due = 1 WHERE o.name = ? AND {_UNUSED}", (name,))

    def forget_object(self, name: str) -> None:
        forget = "DELETE FROM objects WHERE name = ? AND due = 1"
        self.freed(lambda transaction: transaction.run(forget, (name,)))

    def object_lengths(self) -> Iterator[tuple[str, int]]:
        last = ""
        while True:
            with self.read() as transaction:
                rows = transaction.rows(
                    "SELECT o.name, o.length FROM objects o WHERE o.name > ? "
                    "AND EXISTS (SELECT 1 FROM segments g WHERE g.object = o.name) ORDER BY o.name LIMIT ?",
                    (last, _ROWS),
                )
            if not rows:
                return
            yield from ((name, length) for name, length in rows)
            last = rows[-1][0]

"""Deleting surveys: for everybody at once, and their rows afterwards in small transactions.

One transaction marks the survey as deleted and its rows as due. From then on nobody sees them, whatever happens. They
are removed a few megabytes at a time, so that a full disk has room for each step and nobody waits long for the lock.
Who is killed in between has lost nothing: the next deletion, or a worker, goes on.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from contextlib import suppress
from typing import Any, ClassVar, Final

from sottovoce.collector.store.sql import askable, dump_words
from sottovoce.collector.store.surveys import SurveyTables
from sottovoce.core.errors import StoreError
from sottovoce.service.storage.sql import Transaction

__all__ = ["PIECE_BYTES", "PIECE_ROWS", "DeletionTables"]

PIECE_BYTES: Final = 4 * 1024 * 1024
"""About as much content is removed in one transaction."""

PIECE_ROWS: Final = 10_000
"""No more rows than this, however short: each may lie on a page of its own, which is written whole."""

_PATIENCE: Final = 8.0
"""Seconds after which the rest of a very large survey is left to a worker: somebody waits for an answer."""


class DeletionTables(SurveyTables):
    """Marking surveys as deleted, and erasing what they had."""

    piece_bytes = PIECE_BYTES
    piece_rows = PIECE_ROWS
    blank: ClassVar[str | None] = None
    """What is put in the place of content before its row is removed, where the database itself leaves traces of it."""

    def delete(self, survey_id: str) -> None:
        if askable(survey_id):
            self.freed(lambda transaction: self._bury(transaction, survey_id))
            # It is deleted for everybody, whatever becomes of its rows: a worker goes on with them.
            with suppress(StoreError):
                self.erase(_PATIENCE)

    def erase(self, seconds: float) -> bool:
        """Remove rows of deleted surveys, for about so many seconds; whether none is left."""
        end = time.monotonic() + seconds
        done = more = self._erasures()
        while more:
            self.freed(self._erase_piece)
            go_on = self._piece_erased() and time.monotonic() < end
            more = self._erasures()
            if not go_on:
                break
        if done:
            self._erased()
        return not more

    def _piece_erased(self) -> bool:
        """After each of those transactions; False when there is no room for the next one yet."""
        return True

    def _erased(self) -> None:
        """After all of them."""

    def _bury(self, transaction: Transaction, survey_id: str) -> None:
        self._alone(transaction)
        for number in self._family(transaction, survey_id):
            transaction.run(
                "UPDATE surveys SET state = 'deleted', canonical = ?, signature = ?, title = ?, labels = ? "
                "WHERE number = ?",
                (b"", b"", dump_words(""), dump_words([]), number),
            )
            transaction.run("INSERT INTO erasures (survey) VALUES (?) ON CONFLICT DO NOTHING", (number,))

    def _erasures(self) -> bool:
        with self.read() as transaction:
            return bool(transaction.rows("SELECT 1 FROM erasures LIMIT 1"))

    def _erase_piece(self, transaction: Transaction) -> None:
        # Alone: two who erase would get in each other's way, and an attachment may be named by a new survey right now.
        self._alone(transaction)
        due = transaction.rows("SELECT survey FROM erasures ORDER BY survey LIMIT 1")
        if not due:
            return
        ((survey,),) = due
        of_survey = "segment IN (SELECT number FROM segments WHERE survey = ?)"
        left = self.piece_bytes
        for table, keys, condition in (
            ("waiting", ("number",), "survey = ?"),
            ("segment_parts", ("segment", "field", "part"), of_survey),
            ("checkpoint_parts", ("survey", "part"), "survey = ?"),
        ):
            left = self._erase_rows(transaction, table, keys, condition, survey, left)
        left = _erase_attachments(transaction, survey, left)
        if left > 0:
            for table in ("segments", "checkpoints", "erasures"):
                transaction.run(f"DELETE FROM {table} WHERE survey = ?", (survey,))

    def _erase_rows(
        self, transaction: Transaction, table: str, keys: Sequence[str], condition: str, survey: int, most: int
    ) -> int:
        """Remove rows until about `most` bytes of content are gone; what is left of that, and 0 if rows may be left."""
        if most <= 0:
            return 0
        rows = transaction.rows(
            f"SELECT {', '.join(keys)}, LENGTH(content) FROM {table} WHERE {condition} LIMIT {self.piece_rows}",
            (survey,),
        )
        chosen: list[tuple[Any, ...]] = []
        for *key, size in rows:
            if most <= 0:
                break
            chosen.append(tuple(key))
            most -= size
        those = " AND ".join(f"{key} = ?" for key in keys)
        if self.blank is not None:
            transaction.many(f"UPDATE {table} SET content = {self.blank} WHERE {those}", chosen)
        transaction.many(f"DELETE FROM {table} WHERE {those}", chosen)
        return 0 if len(rows) == self.piece_rows else max(most, 0)


def _erase_attachments(transaction: Transaction, survey: int, most: int) -> int:
    """The same for what only this survey names."""
    if most <= 0:
        return 0
    for digest, size in transaction.rows(
        "SELECT a.digest, LENGTH(a.content) FROM survey_attachments s JOIN attachments a ON a.digest = s.digest "
        "WHERE s.survey = ?",
        (survey,),
    ):
        if most <= 0:
            break
        transaction.run("DELETE FROM survey_attachments WHERE survey = ? AND digest = ?", (survey, digest))
        most -= size * transaction.run(
            "DELETE FROM attachments WHERE digest = ? "
            "AND NOT EXISTS (SELECT 1 FROM survey_attachments WHERE digest = ?)",
            (digest, digest),
        )
    return max(most, 0)

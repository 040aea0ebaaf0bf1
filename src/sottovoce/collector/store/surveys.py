"""The tables of surveys, attachments and tokens, and how surveys are deleted."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from typing import Any, ClassVar, Final

from sottovoce.collector.store.records import RoundStanding, SurveyRecord, SurveyState, TokenRecord
from sottovoce.collector.store.sql import (
    SURVEY_COLUMNS,
    TOKEN_COLUMNS,
    SqlStore,
    askable,
    dump_words,
    survey_record,
    token_record,
)
from sottovoce.core.errors import MismatchError, StoreError
from sottovoce.protocol.log import PUBLISHED, LogEntry
from sottovoce.service.storage.sql import Transaction

__all__ = ["PIECE_BYTES", "PIECE_ROWS", "DeletionTables", "SurveyTables"]

_LOGGED: Final = "EXISTS (SELECT 1 FROM log_entries e WHERE e.survey = surveys.id)"

_FAMILY: Final = "id = ? OR parent = ? OR parent IN (SELECT id FROM surveys WHERE parent = ?)"
"""A survey, its rounds, periods or groups, and the groups of its periods."""

_SUM: Final = (
    "(SELECT COALESCE(SUM(r.n), 0) FROM {0} r WHERE r.survey = s.number AND s.state <> 'deleted') + "
    "(SELECT COALESCE(SUM(r.n), 0) FROM surveys g JOIN {0} r ON r.survey = g.number "
    "WHERE g.parent = s.id AND g.state <> 'deleted')"
)
"""The reports that a table holds of a survey and of its groups; two sums, so that each finds its rows by an index."""


class SurveyTables(SqlStore):
    """Publishing and sealing surveys; tokens."""

    def publish(self, record: SurveyRecord, attachments: Mapping[str, bytes]) -> SurveyRecord:
        with self.write(growing=True) as transaction:
            self._alone(transaction)
            standing = _find(transaction, record.id)
            if standing is not None:
                return standing
            number = self._insert(transaction, record)
            transaction.many(
                "INSERT INTO attachments (digest, content) VALUES (?, ?) ON CONFLICT (digest) DO NOTHING",
                attachments.items(),
            )
            transaction.many(
                "INSERT INTO survey_attachments (survey, digest) VALUES (?, ?)",
                [(number, digest) for digest in attachments],
            )
            for group in record.groups:
                self._insert(transaction, group)
        return replace(record, state="open", groups=())

    def _insert(self, transaction: Transaction, record: SurveyRecord) -> int:
        """Store a survey, with its entry in the log if it needs one; returns its number."""
        if record.parent is not None:
            self._check_part(transaction, record)
        # The state is not the caller's to choose: a survey begins open.
        values = (
            *(record.id, record.canonical, record.signature, dump_words(record.title), record.kind),
            *(float(record.epsilon), record.minimum_reports, record.epoch, record.parent, record.round),
            *(dump_words(record.labels), "open"),
        )
        marks = ", ".join("?" * len(values))
        ((number,),) = transaction.rows(
            f"INSERT INTO surveys ({SURVEY_COLUMNS}) VALUES ({marks}) RETURNING number", values
        )
        if not record.is_derived:
            # Alone: of two who publish at once each finds the entry of the other before its own.
            transaction.run(
                "INSERT INTO log_entries (position, event, survey) "
                "SELECT COALESCE(MAX(position) + 1, 0), ?, ? FROM log_entries",
                (PUBLISHED, record.id),
            )
        transaction.run("INSERT INTO leases (survey, holder, token, expires) VALUES (?, '', 0, 0)", (number,))
        return int(number)

    def _check_part(self, transaction: Transaction, record: SurveyRecord) -> None:
        """Refuse a round, a period or a group that cannot begin."""
        parents = transaction.rows(f"SELECT state FROM surveys WHERE id = ?{self.for_update}", (record.parent,))
        if not parents or parents[0][0] != "open":
            raise MismatchError(
                f"round {record.round} belongs to a survey that is not open here; publish that survey first"
            )
        states: dict[int, str] = dict(
            transaction.rows("SELECT round, state FROM surveys WHERE parent = ?", (record.parent,))
        )
        if record.round in states:
            raise MismatchError(
                f"round {record.round} of survey {str(record.parent)[:12]} already asks another question; read that "
                "one's answer, or ask in the next round"
            )
        # Groups are answered side by side, and a period for a while after its end, when the next has begun.
        for earlier in range(1, 1 if record.is_derived else record.round or 1):
            if states.get(earlier, "open") == "open":
                raise MismatchError(
                    f"round {record.round} cannot begin: round {earlier} of survey {str(record.parent)[:12]} has "
                    "not been closed; close it first"
                )

    def log_entries(self, start: int = 0, most: int | None = None) -> list[LogEntry]:
        limit = "" if most is None else f" LIMIT {int(most)}"
        with self.read() as transaction:
            rows = transaction.rows(
                f"SELECT position, event, survey FROM log_entries WHERE position >= ? ORDER BY position{limit}",
                (start,),
            )
        if [position for position, _, _ in rows] != list(range(start, start + len(rows))):
            raise StoreError("the log of publications has gaps: the database is damaged; restore a backup")
        return [LogEntry(event, survey) for _, event, survey in rows]

    def log_size(self) -> int:
        with self.read() as transaction:
            ((size,),) = transaction.rows("SELECT COALESCE(MAX(position) + 1, 0) FROM log_entries")
        return int(size)

    def statement(self, survey_id: str) -> bytes | None:
        if not askable(survey_id):
            return None
        with self.read() as transaction:
            rows = transaction.rows(f"SELECT canonical FROM surveys WHERE id = ? AND {_LOGGED}", (survey_id,))
        return bytes(rows[0][0]) if rows else None

    def signer(self) -> bytes | None:
        with self.read() as transaction:
            rows = transaction.rows("SELECT public FROM signer")
        return bytes(rows[0][0]) if rows else None

    def set_signer(self, public: bytes, *, replace: bool = False) -> bytes:
        conflict = "DO UPDATE SET public = excluded.public" if replace else "DO NOTHING"

        def change(transaction: Transaction) -> bytes:
            transaction.run(
                f"INSERT INTO signer (single, public) VALUES (1, ?) ON CONFLICT (single) {conflict}", (public,)
            )
            ((stands,),) = transaction.rows("SELECT public FROM signer")
            return bytes(stands)

        # Not stopped by the reserve: a service must be able to start on a full disk.
        return self.freed(change)

    def survey(self, survey_id: str) -> SurveyRecord | None:
        if not askable(survey_id):
            return None
        with self.read() as transaction:
            return _find(transaction, survey_id)

    def surveys(self) -> list[SurveyRecord]:
        with self.read() as transaction:
            rows = transaction.rows(
                f"SELECT {SURVEY_COLUMNS} FROM surveys WHERE parent IS NULL AND state <> 'deleted' ORDER BY number"
            )
        return [survey_record(row) for row in rows]

    def standing(self) -> list[tuple[str, SurveyState]]:
        with self.read() as transaction:
            rows = transaction.rows(
                "SELECT id, state FROM surveys WHERE parent IS NULL AND state <> 'deleted' ORDER BY number"
            )
        return [(survey_id, state) for survey_id, state in rows]

    def tracked(self) -> list[str]:
        with self.read() as transaction:
            # Written as the index has it, so that the index is used.
            rows = transaction.rows("SELECT id FROM surveys WHERE kind = 'tracking' AND state = 'open' ORDER BY number")
        return [survey_id for (survey_id,) in rows]

    def rounds(self, parent: str) -> list[SurveyRecord]:
        if not askable(parent):
            return []
        with self.read() as transaction:
            rows = transaction.rows(
                f"SELECT {SURVEY_COLUMNS} FROM surveys WHERE parent = ? AND state <> 'deleted' ORDER BY round",
                (parent,),
            )
        return [survey_record(row) for row in rows]

    def latest_round(self, parent: str) -> SurveyRecord | None:
        if not askable(parent):
            return None
        with self.read() as transaction:
            rows = transaction.rows(
                f"SELECT {SURVEY_COLUMNS} FROM surveys WHERE parent = ? AND state <> 'deleted' "
                "ORDER BY round DESC LIMIT 1",
                (parent,),
            )
        return survey_record(rows[0]) if rows else None

    def standing_rounds(self, parent: str) -> list[RoundStanding]:
        if not askable(parent):
            return []
        with self.read() as transaction:
            rows = transaction.rows(
                f"SELECT s.round, s.id, s.state, {_SUM.format('segments')}, {_SUM.format('waiting')} "
                "FROM surveys s WHERE s.parent = ? ORDER BY s.round",
                (parent,),
            )
        return [
            RoundStanding(number, round_id, state, int(counted), int(waiting))
            for number, round_id, state, counted, waiting in rows
        ]

    def attachment(self, digest: str) -> bytes | None:
        if not askable(digest):
            return None
        with self.read() as transaction:
            rows = transaction.rows("SELECT content FROM attachments WHERE digest = ?", (digest,))
        return bytes(rows[0][0]) if rows else None

    def seal(self, survey_id: str) -> None:
        if not askable(survey_id):
            return
        self.freed(lambda transaction: self._seal(transaction, survey_id))

    def _seal(self, transaction: Transaction, survey_id: str) -> None:
        self._family(transaction, survey_id)
        transaction.run(f"UPDATE surveys SET state = 'sealed' WHERE ({_FAMILY}) AND state = 'open'", (survey_id,) * 3)

    def _family(self, transaction: Transaction, survey_id: str) -> list[int]:
        """The survey and its parts, which no append or settlement touches until this transaction ends."""
        # In the order in which `append` locks them, so that the two can never wait for each other.
        rows = transaction.rows(
            f"SELECT number FROM surveys WHERE {_FAMILY} ORDER BY id{self.for_update}", (survey_id,) * 3
        )
        return [number for (number,) in rows]

    def add_token(self, record: TokenRecord) -> None:
        values = (
            *(record.id, record.digest, dump_words(sorted(record.scopes)), dump_words(record.note)),
            *(record.epoch, int(record.revoked), record.expires),
        )
        # Not stopped by the reserve: an operator may need a new token to make room.
        self.freed(
            lambda transaction: transaction.run(
                f"INSERT INTO tokens ({TOKEN_COLUMNS}) VALUES (?, ?, ?, ?, ?, ?, ?)", values
            )
        )

    def token(self, token_id: str) -> TokenRecord | None:
        if not askable(token_id):
            return None
        with self.read() as transaction:
            rows = transaction.rows(f"SELECT {TOKEN_COLUMNS} FROM tokens WHERE id = ?", (token_id,))
        return token_record(rows[0]) if rows else None

    def tokens(self) -> list[TokenRecord]:
        with self.read() as transaction:
            rows = transaction.rows(f"SELECT {TOKEN_COLUMNS} FROM tokens ORDER BY number")
        return [token_record(row) for row in rows]

    def revoke_token(self, token_id: str) -> bool:
        if not askable(token_id):
            return False
        revoke = "UPDATE tokens SET revoked = 1 WHERE id = ?"
        return self.freed(lambda transaction: transaction.run(revoke, (token_id,))) > 0


def _find(transaction: Transaction, survey_id: str) -> SurveyRecord | None:
    rows = transaction.rows(f"SELECT {SURVEY_COLUMNS} FROM surveys WHERE id = ?", (survey_id,))
    return survey_record(rows[0]) if rows else None


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
    """Content to write over a row before it is removed, where the database leaves traces of removed rows."""

    def delete(self, survey_id: str) -> None:
        if askable(survey_id):
            self.freed(lambda transaction: self._bury(transaction, survey_id))
            # It is deleted for everybody, whatever becomes of its rows: a worker goes on with them.
            with suppress(StoreError):
                self.erase(_PATIENCE)

    def erase(self, seconds: float) -> bool:
        """Remove rows of deleted surveys, for about this many seconds; returns whether none is left."""
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
        """Called after each of those transactions; False while there is too little room for the next one."""
        return True

    def _erased(self) -> None:
        """Called after all of them."""

    def _bury(self, transaction: Transaction, survey_id: str) -> None:
        self._alone(transaction)
        for number in self._family(transaction, survey_id):
            transaction.run(
                "UPDATE surveys SET state = 'deleted', signature = ?, title = ?, labels = ?, "
                f"canonical = CASE WHEN {_LOGGED} THEN canonical ELSE ? END WHERE number = ?",
                (b"", dump_words(""), dump_words([]), b"", number),
            )
            transaction.run("INSERT INTO erasures (survey) VALUES (?) ON CONFLICT DO NOTHING", (number,))

    def _erasures(self) -> bool:
        with self.read() as transaction:
            return bool(transaction.rows("SELECT 1 FROM erasures LIMIT 1"))

    def _erase_piece(self, transaction: Transaction) -> None:
        # Alone: two who erase would get in each other's way.
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

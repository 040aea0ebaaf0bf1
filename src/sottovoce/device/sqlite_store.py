"""A device's store in one SQLite file; every change is one transaction, synced to disk before the call returns.

Every call opens the file, so that threads and forked processes share nothing, and no call creates it: a missing,
damaged or replaced file is an error, because a device that forgets answers twice. For the same reason there is no
write-ahead log: committed data are in this file, not in a second one that a rename would leave behind. Only an
interrupted commit leaves a journal, which the next call rolls back.
"""

from __future__ import annotations

import contextlib
import os
import sqlite3
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from os import PathLike
from pathlib import Path
from typing import Any, Final, final

from sottovoce.core.errors import LedgerError, SottovoceError
from sottovoce.core.files import creating, sync
from sottovoce.device.store import AnswerState, DeviceStore, JoinedSurvey, LogConflict, RecordedAnswer
from sottovoce.device.store_file import (
    APPLICATION,
    DAMAGED,
    Identity,
    create_tables,
    first,
    identify,
    make_private,
    prepare,
)

__all__ = ["SqliteDeviceStore"]

_WAIT_SECONDS: Final = 30.0
"""How long a call waits for another writer."""

_FIELDS: Final = (
    "question, survey, collector, key, title, epsilon, delta, day, report_id, report, state, "
    "window, renews, period, closes, relay"
)

_SELECT: Final = f"SELECT {_FIELDS} FROM answer"

_IN_MEMORY: Final = ":memory:"
"""SQLite's name for a database without a file, which a device does not have."""


@final
class SqliteDeviceStore(DeviceStore):
    """A device's store in a file that only its owner can read. A copy of the file is a second device.

    Parameters
    ----------
    path
        The file. If it does not exist, this is a new device.

    Raises
    ------
    LedgerError
        If the file is not a device's store, is damaged, has a second hard link, or cannot be read. It is not changed,
        except that permissions of others are removed.
    """

    def __init__(self, path: str | PathLike[str]) -> None:
        if path == _IN_MEMORY:
            raise LedgerError(
                "the store would be a file of the name ':memory:'; give sottovoce.device.MemoryStore() for a device "
                "without a file"
            ).at("store")
        try:
            self.path = Path(os.fspath(path)).resolve()
            if not os.path.lexists(self.path):
                _create(self.path)
            make_private(self.path)
        except (TypeError, ValueError, RuntimeError) as error:
            raise LedgerError("the store must be the name of a file, for example 'device.db'").at("store") from error
        except (OSError, sqlite3.Error) as error:
            raise _unusable(path, error) from error
        self._identity: Identity | None = None
        self._known = 0
        """Number of answers seen in the file; it never decreases."""
        with self._open() as database:
            prepare(database, self.path)

    def __repr__(self) -> str:
        return f"<SqliteDeviceStore {self.path}>"

    def secret(self) -> bytes:
        """See `DeviceStore`."""
        with self._open() as database:
            secret: bytes | None = first(database, "SELECT secret FROM secret")
        if secret is None:
            raise LedgerError(DAMAGED.format(path=self.path, reason="its secret is missing"))
        return secret

    def pinned(self, collector: str) -> bytes | None:
        """See `DeviceStore`."""
        with self._open() as database:
            stands: bytes | None = first(database, "SELECT key FROM key WHERE collector = ?", collector)
        return stands

    def pin(self, collector: str, key: bytes) -> bytes:
        """See `DeviceStore`."""
        with self._writing() as database:
            database.execute("INSERT INTO key VALUES (?, ?) ON CONFLICT DO NOTHING", (collector, key))
            stands: bytes = first(database, "SELECT key FROM key WHERE collector = ?", collector)
        return stands

    def checkpoint(self, key: bytes) -> str | None:
        """See `DeviceStore`."""
        with self._open() as database:
            note: str | None = first(database, "SELECT note FROM checkpoint WHERE key = ?", key)
        return note

    def remember(self, key: bytes, before: str | None, after: str) -> bool:
        """See `DeviceStore`."""
        if before == after:
            return self.checkpoint(key) == before
        with self._writing() as database:
            if first(database, "SELECT note FROM checkpoint WHERE key = ?", key) != before:
                return False
            database.execute("INSERT OR REPLACE INTO checkpoint VALUES (?, ?)", (key, after))
        return True

    def keep_conflict(self, conflict: LogConflict) -> None:
        """See `DeviceStore`."""
        row = conflict.collector, conflict.key, conflict.remembered, conflict.found, conflict.day
        with self._writing() as database:
            database.execute(
                "INSERT INTO conflict (collector, key, remembered, found, day) VALUES (?, ?, ?, ?, ?) "
                "ON CONFLICT DO NOTHING",
                row,
            )

    def conflicts(self) -> list[LogConflict]:
        """See `DeviceStore`."""
        with self._open() as database:
            rows = database.execute("SELECT collector, key, remembered, found, day FROM conflict ORDER BY number")
            return [LogConflict(*row) for row in rows]

    def drawn_seat(self, question: str) -> int | None:
        """See `DeviceStore`."""
        with self._open() as database:
            seat: int | None = first(database, "SELECT round FROM drawn_seat WHERE question = ?", question)
        return seat

    def answer(self, question: str, window: int = 1) -> RecordedAnswer | None:
        """See `DeviceStore`."""
        with self._open() as database:
            return _find(database, question, window)

    def answers(self) -> list[RecordedAnswer]:
        """See `DeviceStore`."""
        with self._open() as database:
            return _all(database)

    def record(
        self, question: str, window: int, draw: Callable[[Sequence[RecordedAnswer]], RecordedAnswer]
    ) -> RecordedAnswer:
        """See `DeviceStore`."""
        with self._writing() as database:
            kept = _find(database, question, window)
            if kept is None:
                kept = draw(_all(database))
                row = (
                    *(question, kept.survey, kept.collector, kept.key, kept.title, kept.epsilon, kept.delta),
                    *(kept.day, kept.report_id, kept.report, kept.state, window),
                    *(int(kept.renews), kept.period, kept.closes, kept.relay),
                )
                places = ", ".join("?" * len(row))
                database.execute(f"INSERT INTO answer ({_FIELDS}) VALUES ({places})", row)
        return kept

    def mark(self, question: str, window: int, state: AnswerState) -> None:
        """See `DeviceStore`."""
        with self._writing() as database:
            database.execute(
                "UPDATE answer SET state = ? WHERE question = ? AND window = ? AND state != 'sent'",
                (state, question, window),
            )

    def move(self, question: str, collector: str) -> None:
        """See `DeviceStore`."""
        with self._writing() as database:
            database.execute(
                "UPDATE answer SET collector = ? WHERE question = ? AND state = 'unsent'", (collector, question)
            )
            database.execute("UPDATE joined SET collector = ? WHERE question = ?", (collector, question))

    def join(self, survey: JoinedSurvey) -> None:
        """See `DeviceStore`."""
        row = survey.question, survey.collector, survey.key, survey.statement
        parts = [(survey.question, digest, content) for digest, content in survey.attachments.items()]
        with self._writing() as database:
            if first(database, "SELECT 1 FROM joined WHERE question = ?", survey.question) is None:
                database.execute("INSERT INTO joined (question, collector, key, statement) VALUES (?, ?, ?, ?)", row)
                database.executemany("INSERT INTO attachment VALUES (?, ?, ?)", parts)

    def leave(self, question: str) -> None:
        """See `DeviceStore`."""
        with self._writing() as database:
            for table in ("joined", "attachment", "since"):
                database.execute(f"DELETE FROM {table} WHERE question = ?", (question,))

    def joined(self) -> list[JoinedSurvey]:
        """See `DeviceStore`."""
        with self._open() as database:
            database.execute("BEGIN")  # both tables as they were at one moment
            rows = database.execute("SELECT question, collector, key, statement FROM joined ORDER BY number").fetchall()
            parts: dict[str, dict[str, bytes]] = {row[0]: {} for row in rows}
            for question, digest, content in database.execute("SELECT question, digest, content FROM attachment"):
                parts[question][digest] = content
        return [
            JoinedSurvey(question, collector, key, statement, parts[question])
            for question, collector, key, statement in rows
        ]

    def take_part(self, question: str, moment: datetime) -> datetime:
        """See `DeviceStore`."""
        noted = self.since(question)
        if noted is not None:
            return noted
        with self._writing() as database:
            row = question, moment.astimezone(UTC).isoformat()
            database.execute("INSERT INTO since VALUES (?, ?) ON CONFLICT DO NOTHING", row)
            return _moment(first(database, "SELECT moment FROM since WHERE question = ?", question), self.path)

    def since(self, question: str) -> datetime | None:
        """See `DeviceStore`."""
        with self._open() as database:
            noted: str | None = first(database, "SELECT moment FROM since WHERE question = ?", question)
        return None if noted is None else _moment(noted, self.path)

    def set_renewals(self, question: str, *, refused: bool) -> None:
        """See `DeviceStore`."""
        change = (
            "INSERT INTO refused_renewals VALUES (?) ON CONFLICT DO NOTHING"
            if refused
            else "DELETE FROM refused_renewals WHERE question = ?"
        )
        with self._writing() as database:
            database.execute(change, (question,))

    def refuses_renewals(self, question: str) -> bool:
        """See `DeviceStore`."""
        with self._open() as database:
            return first(database, "SELECT 1 FROM refused_renewals WHERE question = ?", question) is not None

    @contextlib.contextmanager
    def _open(self) -> Iterator[sqlite3.Connection]:
        """Open the file, which must be the same as before; any database failure is a `LedgerError`."""
        known = self._known
        try:
            # mode=rw: SQLite would otherwise create an empty file in place of a missing one.
            database = sqlite3.connect(
                f"{self.path.as_uri()}?mode=rw", uri=True, timeout=_WAIT_SECONDS, isolation_level=None
            )
            with contextlib.closing(database):
                # After opening: the name refers to the file that was opened, or did until just now.
                identity = identify(self.path)
                if self._identity not in (None, identity):
                    raise _replaced(self.path)
                self._identity = identity
                _keep_all_in_the_file(database, self.path)
                if self._note(database) < known:
                    raise _replaced(self.path)
                yield database
        except (sqlite3.Error, OSError) as error:
            if isinstance(error, SottovoceError):
                raise
            raise _unusable(self.path, error) from error

    @contextlib.contextmanager
    def _writing(self) -> Iterator[sqlite3.Connection]:
        """One exclusive transaction, rolled back if anything in it fails."""
        with self._open() as database:
            database.execute("BEGIN IMMEDIATE")
            try:
                yield database
                database.execute("COMMIT")
            except BaseException:
                if database.in_transaction:
                    database.execute("ROLLBACK")
                raise
            self._note(database)

    def _note(self, database: sqlite3.Connection) -> int:
        """Number of answers."""
        if first(database, "PRAGMA application_id") != APPLICATION:
            return 0
        count: int = first(database, "SELECT count(*) FROM answer")
        self._known = max(self._known, count)
        return count


def _find(database: sqlite3.Connection, question: str, window: int) -> RecordedAnswer | None:
    row = database.execute(f"{_SELECT} WHERE question = ? AND window = ?", (question, window)).fetchone()
    return None if row is None else _recorded(row)


def _all(database: sqlite3.Connection) -> list[RecordedAnswer]:
    return [_recorded(row) for row in database.execute(f"{_SELECT} ORDER BY number")]


def _recorded(row: tuple[Any, ...]) -> RecordedAnswer:
    answer = RecordedAnswer(*row)
    return replace(answer, renews=bool(answer.renews))


def _moment(text: str, path: Path) -> datetime:
    try:
        return datetime.fromisoformat(text).astimezone(UTC)
    except (ValueError, OverflowError) as error:
        raise LedgerError(DAMAGED.format(path=path, reason="a moment in it is none")) from error


def _keep_all_in_the_file(database: sqlite3.Connection, path: Path) -> None:
    """Use a rollback journal, deleted and its folder synced (EXTRA) at each commit; ends a write-ahead log."""
    if first(database, "PRAGMA journal_mode = DELETE") != "delete":
        raise LedgerError(DAMAGED.format(path=path, reason="its journal mode cannot be set"))
    database.execute("PRAGMA synchronous = EXTRA")


def _unusable(path: object, error: Exception) -> LedgerError:
    reason = getattr(error, "strerror", None) or str(error)
    return LedgerError(DAMAGED.format(path=path, reason=reason))


def _replaced(path: Path) -> LedgerError:
    return LedgerError(DAMAGED.format(path=path, reason="it is not the file that this device opened first"))


def _create(path: Path) -> None:
    """Create an empty store, unless another process has just done so."""
    with (
        contextlib.suppress(FileExistsError),
        creating(path, 0o600) as part,
        contextlib.closing(sqlite3.connect(part, isolation_level=None)) as database,
    ):
        _keep_all_in_the_file(database, path)
        create_tables(database)
    sync(path.parent)

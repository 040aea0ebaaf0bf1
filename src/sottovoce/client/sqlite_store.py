"""A device's store in one SQLite file: every promise is one transaction, synced to the disk before it returns.

Every call opens the file anew, so nothing is shared with threads or with the other side of a fork, and no call ever
creates it: a file that has vanished or is damaged is an error, because a device that forgets answers twice.
"""

from __future__ import annotations

import contextlib
import os
import secrets
import sqlite3
from collections.abc import Callable, Iterator, Sequence
from os import PathLike
from pathlib import Path
from typing import Any, Final, final

from sottovoce.client.store import STATES, Answer, AnswerState, DeviceStore
from sottovoce.errors import LedgerError
from sottovoce.signing import PUBLIC_KEY_BYTES
from sottovoce.wire import REPORT_ID_BYTES

__all__ = ["SqliteStore"]

_APPLICATION: Final = 0x53565F44
"""Marks the file as a device's store: "SV_D"."""

_SCHEMA_VERSION: Final = 1

_WAIT_SECONDS: Final = 30.0
"""How long a call waits for another process that is writing."""

_SCHEMA: Final = f"""
CREATE TABLE key (collector TEXT PRIMARY KEY, key BLOB NOT NULL CHECK (length(key) = {PUBLIC_KEY_BYTES})) STRICT;
CREATE TABLE seat (question TEXT PRIMARY KEY, round INTEGER NOT NULL CHECK (round >= 1)) STRICT;
CREATE TABLE answer (
    number INTEGER PRIMARY KEY,
    question TEXT NOT NULL UNIQUE,
    survey TEXT NOT NULL UNIQUE,
    collector TEXT NOT NULL,
    key BLOB NOT NULL CHECK (length(key) = {PUBLIC_KEY_BYTES}),
    title TEXT NOT NULL,
    epsilon REAL NOT NULL CHECK (epsilon > 0),
    delta REAL NOT NULL CHECK (delta >= 0 AND delta < 1),
    day TEXT NOT NULL,
    report_id BLOB NOT NULL UNIQUE CHECK (length(report_id) = {REPORT_ID_BYTES}),
    report BLOB NOT NULL,
    state TEXT NOT NULL CHECK (state IN ({", ".join(f"'{state}'" for state in STATES)}))
) STRICT;
PRAGMA application_id = {_APPLICATION};
PRAGMA user_version = {_SCHEMA_VERSION};
"""

_FIELDS: Final = "question, survey, collector, key, title, epsilon, delta, day, report_id, report, state"

_SELECT: Final = f"SELECT {_FIELDS} FROM answer"


@final
class SqliteStore(DeviceStore):
    """A device's store in a file for its owner's eyes only. Who copies the file has two devices.

    Parameters
    ----------
    path
        Of the file. Where there is none, this is a new device.

    Raises
    ------
    LedgerError
        If the file is there and is no device's store, is damaged, or cannot be read; it is left as it is.
    """

    def __init__(self, path: str | PathLike[str]) -> None:
        try:
            self.path = Path(os.fspath(path)).resolve()
            if not os.path.lexists(self.path):
                _create(self.path)
        except (TypeError, ValueError, RuntimeError) as error:
            raise LedgerError("the store must be the name of a file, for example 'device.db'") from error
        except (OSError, sqlite3.Error) as error:
            raise _unusable(path, error) from error
        with self._open() as database:
            _check(database, self.path)

    def __repr__(self) -> str:
        return f"<SqliteStore {self.path}>"

    def pinned(self, collector: str) -> bytes | None:
        """See `DeviceStore`."""
        with self._open() as database:
            stands: bytes | None = _first(database, "SELECT key FROM key WHERE collector = ?", collector)
        return stands

    def pin(self, collector: str, key: bytes) -> bytes:
        """See `DeviceStore`."""
        with self._writing() as database:
            database.execute("INSERT INTO key VALUES (?, ?) ON CONFLICT DO NOTHING", (collector, key))
            stands: bytes = _first(database, "SELECT key FROM key WHERE collector = ?", collector)
        return stands

    def seat(self, question: str, draw: Callable[[], int]) -> int:
        """See `DeviceStore`."""
        with self._writing() as database:
            kept: int | None = _first(database, "SELECT round FROM seat WHERE question = ?", question)
            if kept is None:
                kept = draw()
                database.execute("INSERT INTO seat VALUES (?, ?)", (question, kept))
        return kept

    def answer(self, question: str) -> Answer | None:
        """See `DeviceStore`."""
        with self._open() as database:
            return _find(database, question)

    def answers(self) -> list[Answer]:
        """See `DeviceStore`."""
        with self._open() as database:
            return _all(database)

    def record(self, question: str, draw: Callable[[Sequence[Answer]], Answer]) -> Answer:
        """See `DeviceStore`."""
        with self._writing() as database:
            kept = _find(database, question)
            if kept is None:
                kept = draw(_all(database))
                row = (
                    *(question, kept.survey, kept.collector, kept.key, kept.title, kept.epsilon, kept.delta),
                    *(kept.day, kept.report_id, kept.report, kept.state),
                )
                database.execute(f"INSERT INTO answer ({_FIELDS}) VALUES (?,?,?,?,?,?,?,?,?,?,?)", row)
        return kept

    def mark(self, question: str, state: AnswerState) -> None:
        """See `DeviceStore`."""
        with self._writing() as database:
            database.execute("UPDATE answer SET state = ? WHERE question = ? AND state != 'sent'", (state, question))

    def move(self, question: str, collector: str) -> None:
        """See `DeviceStore`."""
        with self._writing() as database:
            database.execute("UPDATE answer SET collector = ? WHERE question = ?", (collector, question))

    @contextlib.contextmanager
    def _open(self) -> Iterator[sqlite3.Connection]:
        """The file, which must be there; any failure of the database is a `LedgerError`."""
        try:
            # mode=rw: SQLite would otherwise put an empty file in place of one that has vanished.
            database = sqlite3.connect(
                f"{self.path.as_uri()}?mode=rw", uri=True, timeout=_WAIT_SECONDS, isolation_level=None
            )
            with contextlib.closing(database):
                database.execute("PRAGMA synchronous = FULL")
                yield database
        except sqlite3.Error as error:
            raise _unusable(self.path, error) from error

    @contextlib.contextmanager
    def _writing(self) -> Iterator[sqlite3.Connection]:
        """One transaction, alone from its first line on; undone if anything in it fails."""
        with self._open() as database:
            database.execute("BEGIN IMMEDIATE")
            try:
                yield database
                database.execute("COMMIT")
            except BaseException:
                if database.in_transaction:
                    database.execute("ROLLBACK")
                raise


def _first(database: sqlite3.Connection, query: str, *parameters: Any) -> Any:
    row = database.execute(query, parameters).fetchone()
    return None if row is None else row[0]


def _find(database: sqlite3.Connection, question: str) -> Answer | None:
    row = database.execute(f"{_SELECT} WHERE question = ?", (question,)).fetchone()
    return None if row is None else Answer(*row)


def _all(database: sqlite3.Connection) -> list[Answer]:
    return [Answer(*row) for row in database.execute(f"{_SELECT} ORDER BY number")]


def _check(database: sqlite3.Connection, path: Path) -> None:
    """Refuse a file that is something else, is damaged, or was written by a later version."""
    if _first(database, "PRAGMA application_id") != _APPLICATION:
        raise LedgerError(f"{path} is not a device's store; it was left as it is: name another file")
    version = _first(database, "PRAGMA user_version")
    if version != _SCHEMA_VERSION:
        raise LedgerError(f"{path} is of format {version}, and this version knows {_SCHEMA_VERSION}; update sottovoce")
    if _first(database, "PRAGMA integrity_check") != "ok":
        raise LedgerError(_DAMAGED.format(path=path, reason="its pages do not fit together"))


_DAMAGED: Final = (
    "the device's store {path} cannot be used ({reason}). It was left as it is, and nothing is answered: a device that "
    "forgets what it has answered would answer twice"
)


def _unusable(path: object, error: Exception) -> LedgerError:
    reason = getattr(error, "strerror", None) or str(error)
    return LedgerError(_DAMAGED.format(path=path, reason=reason))


def _create(path: Path) -> None:
    """An empty store, there whole or not at all; one that another process has just made is left alone."""
    beside = path.with_name(f".{path.name}.{secrets.token_hex(8)}")
    os.close(os.open(beside, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600))
    try:
        with contextlib.closing(sqlite3.connect(beside)) as database:
            database.execute("PRAGMA journal_mode = WAL")  # kept in the file from here on
            database.execute("PRAGMA synchronous = FULL")
            database.executescript(f"BEGIN; {_SCHEMA} COMMIT;")
        with contextlib.suppress(FileExistsError):
            os.link(beside, path)  # unlike a rename, never replaces what is there
    finally:
        beside.unlink()
    folder = os.open(path.parent, os.O_RDONLY)
    try:
        os.fsync(folder)
    finally:
        os.close(folder)

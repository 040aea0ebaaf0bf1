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
from os import PathLike
from pathlib import Path
from typing import Any, Final, final

from sottovoce.core.errors import LedgerError, SottovoceError
from sottovoce.core.files import creating, sync
from sottovoce.core.signing import PUBLIC_KEY_BYTES
from sottovoce.device.store import STATES, AnswerState, DeviceStore, RecordedAnswer
from sottovoce.device.store_file import Identity, identify, make_private
from sottovoce.formats.wire import REPORT_ID_BYTES

__all__ = ["SqliteDeviceStore"]

_APPLICATION: Final = 0x53565F44
"""Marks the file as a device's store: "SV_D"."""

_SCHEMA_VERSION: Final = 1

_WAIT_SECONDS: Final = 30.0
"""How long a call waits for another writer."""

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
        try:
            self.path = Path(os.fspath(path)).resolve()
            if not os.path.lexists(self.path):
                _create(self.path)
            make_private(self.path)
        except (TypeError, ValueError, RuntimeError) as error:
            raise LedgerError("the store must be the name of a file, for example 'device.db'") from error
        except (OSError, sqlite3.Error) as error:
            raise _unusable(path, error) from error
        self._identity: Identity | None = None
        self._known = 0
        """Number of answers seen in the file; it never decreases."""
        with self._open() as database:
            _check(database, self.path)

    def __repr__(self) -> str:
        return f"<SqliteDeviceStore {self.path}>"

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

    def answer(self, question: str) -> RecordedAnswer | None:
        """See `DeviceStore`."""
        with self._open() as database:
            return _find(database, question)

    def answers(self) -> list[RecordedAnswer]:
        """See `DeviceStore`."""
        with self._open() as database:
            return _all(database)

    def record(self, question: str, draw: Callable[[Sequence[RecordedAnswer]], RecordedAnswer]) -> RecordedAnswer:
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
            database.execute(
                "UPDATE answer SET collector = ? WHERE question = ? AND state = 'unsent'", (collector, question)
            )

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
                found = identify(self.path)
                if self._identity not in (None, found):
                    raise _replaced(self.path)
                self._identity = found
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
        if _first(database, "PRAGMA application_id") != _APPLICATION:
            return 0
        found: int = _first(database, "SELECT count(*) FROM answer")
        self._known = max(self._known, found)
        return found


def _first(database: sqlite3.Connection, query: str, *parameters: Any) -> Any:
    row = database.execute(query, parameters).fetchone()
    return None if row is None else row[0]


def _find(database: sqlite3.Connection, question: str) -> RecordedAnswer | None:
    row = database.execute(f"{_SELECT} WHERE question = ?", (question,)).fetchone()
    return None if row is None else RecordedAnswer(*row)


def _all(database: sqlite3.Connection) -> list[RecordedAnswer]:
    return [RecordedAnswer(*row) for row in database.execute(f"{_SELECT} ORDER BY number")]


def _check(database: sqlite3.Connection, path: Path) -> None:
    """Refuse a file that is not a store, is damaged, or was written by another version."""
    if _first(database, "PRAGMA application_id") != _APPLICATION:
        raise LedgerError(f"{path} is not a device's store; it was not changed: name another file")
    version = _first(database, "PRAGMA user_version")
    if version != _SCHEMA_VERSION:
        raise LedgerError(f"{path} has format {version}; this version reads format {_SCHEMA_VERSION}: update sottovoce")
    if _first(database, "PRAGMA integrity_check") != "ok":
        raise LedgerError(_DAMAGED.format(path=path, reason="its integrity check fails"))


def _keep_all_in_the_file(database: sqlite3.Connection, path: Path) -> None:
    """Use a rollback journal, deleted and its folder synced (EXTRA) at each commit; ends a write-ahead log."""
    if _first(database, "PRAGMA journal_mode = DELETE") != "delete":
        raise LedgerError(_DAMAGED.format(path=path, reason="its journal mode cannot be set"))
    database.execute("PRAGMA synchronous = EXTRA")


_DAMAGED: Final = (
    "the device's store {path} cannot be used ({reason}). It was not changed, and nothing is answered: a device that "
    "forgets its answers would answer twice"
)


def _unusable(path: object, error: Exception) -> LedgerError:
    reason = getattr(error, "strerror", None) or str(error)
    return LedgerError(_DAMAGED.format(path=path, reason=reason))


def _replaced(path: Path) -> LedgerError:
    return LedgerError(_DAMAGED.format(path=path, reason="it is not the file that this device opened first"))


def _create(path: Path) -> None:
    """Create an empty store, unless another process has just done so."""
    with (
        contextlib.suppress(FileExistsError),
        creating(path, 0o600) as part,
        contextlib.closing(sqlite3.connect(part)) as database,
    ):
        _keep_all_in_the_file(database, path)
        database.executescript(f"BEGIN; {_SCHEMA} COMMIT;")
    sync(path.parent)

"""The store in one SQLite file: nothing to install, durable by WAL with synchronous=FULL.

One connection writes, behind a lock; readers borrow connections of their own and never wait for it.
"""

from __future__ import annotations

import os
import sqlite3
import threading
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import closing, contextmanager, suppress
from pathlib import Path
from typing import Any, Final

from sottovoce.collector.store.migrations import missing
from sottovoce.collector.store.reports import ReportTables
from sottovoce.collector.store.sql import Row, Transaction
from sottovoce.collector.store.surveys import SurveyTables
from sottovoce.core.errors import StoreError, StoreFullError, StoreUnavailableError
from sottovoce.core.files import sync

__all__ = ["APPLICATION_ID", "SqliteStore", "resets_safely"]

APPLICATION_ID: Final = int.from_bytes(b"SVco", "big")
"""In the file's header: it tells a collector's database from anybody else's."""

_BUSY_SECONDS: Final = 10.0
"""How long a write waits for another process's."""

_CHECKED_BYTES: Final = 64 * 1024 * 1024
"""A file up to this long is looked through when it is opened; a longer one would hold up the start."""

_SPARE_BYTES: Final = 4 * 1024 * 1024
"""A disk with less room than this counts as full before SQLite finds out."""


def resets_safely(version: tuple[int, int, int] = sqlite3.sqlite_version_info) -> bool:
    """Whether SQLite is free of the WAL-reset fault: a checkpoint beside a commit that may damage the database.

    It is in all versions with a write-ahead log before 3.51.3, but for the corrected 3.50.7 and 3.44.6.

    Examples
    --------
    >>> [resets_safely(version) for version in ((3, 40, 1), (3, 44, 6), (3, 45, 0), (3, 50, 7), (3, 51, 2), (3, 51, 3))]
    [False, True, False, True, False, True]
    """
    return version >= (3, 51, 3) or (3, 50, 7) <= version < (3, 51, 0) or (3, 44, 6) <= version < (3, 45, 0)


class SqliteStore(SurveyTables, ReportTables):
    """A store in a file of its own. `clock` is the machine's, and may be set for a test."""

    dialect = "sqlite"
    # A writer is alone in SQLite, so rows need no locks.
    for_share = for_update = skip_locked = ""

    def __init__(self, path: Path, *, max_bytes: int = 0, busy_seconds: float = _BUSY_SECONDS):
        self.path = path
        self.clock: Callable[[], float] = time.time
        self._busy_seconds = busy_seconds
        self._writing = threading.Lock()
        self._pooling = threading.Lock()
        self._readers: list[sqlite3.Connection] = []
        self._writer: sqlite3.Connection | None = None
        self._closed = False
        with self._translated():
            _create(path)
            page_bytes = self._made_ready()
            self._file = _identity(path)
        # Counting and deleting may pass the quota by an eighth: they are what makes room.
        self._pages = max_bytes // page_bytes
        self._most_pages = self._pages + self._pages // 8 + 64 if max_bytes else 0

    def _made_ready(self) -> int:
        """Bring the file to the present tables; the length of its pages."""
        patience = time.monotonic() + self._busy_seconds
        while True:
            try:
                with closing(self._connect()) as connection:
                    _refuse_foreign(connection, self.path)
                    _migrate(connection)
                    ((page_bytes,),) = connection.execute("PRAGMA page_size").fetchall()
                    return int(page_bytes)
            except sqlite3.OperationalError as error:
                # SQLite does not wait by itself while two processes both turn a new file to WAL.
                if error.sqlite_errorcode & 0xFF != sqlite3.SQLITE_BUSY or time.monotonic() > patience:
                    raise
                time.sleep(0.01)

    def close(self) -> None:
        with self._writing, self._pooling:
            self._closed = True
            for connection in (*self._readers, *([self._writer] if self._writer else [])):
                connection.close()
            self._readers, self._writer = [], None

    def check(self) -> None:
        with self._translated():
            self._check_file()
            room = os.statvfs(self.path.parent)
            if room.f_bavail * room.f_frsize < _SPARE_BYTES:
                raise StoreFullError(f"the disk of {self.path} is full; make room, and reports are taken again")
        with self.write(growing=True) as transaction:
            ((used,),) = transaction.rows(
                "SELECT page_count - freelist_count FROM pragma_page_count, pragma_freelist_count"
            )
            if self._pages and used >= self._pages:
                raise StoreFullError(_OVER_QUOTA)

    def forget(self) -> bool:
        """Empty the write-ahead log, which keeps rows in the order they came until it is overwritten."""
        with self._writing, self._translated():
            self._check_file()
            connection = self._writer = self._writer or self._connect()
            # Only if nobody is in the way: whoever waits here for a reader keeps all writers waiting.
            connection.execute("PRAGMA busy_timeout = 0")
            try:
                ((busy, _, _),) = connection.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchall()
                return not busy
            finally:
                connection.execute(f"PRAGMA busy_timeout = {int(self._busy_seconds * 1000)}")

    @contextmanager
    def write(self, *, growing: bool = False) -> Iterator[Transaction]:
        if not self._writing.acquire(timeout=self._busy_seconds):
            raise StoreUnavailableError("the database is busy with another write; try again")
        try:
            with self._translated():
                self._check_file()
                connection = self._writer = self._writer or self._connect()
                try:
                    if self._pages:
                        connection.execute(f"PRAGMA max_page_count = {self._pages if growing else self._most_pages}")
                    connection.execute("BEGIN IMMEDIATE")
                    yield _SqliteTransaction(connection)
                    connection.execute("COMMIT")
                except BaseException as error:
                    if not _undone(connection, error):
                        self._writer = None
                    raise
        finally:
            self._writing.release()

    @contextmanager
    def read(self) -> Iterator[Transaction]:
        with self._translated():
            self._check_file()
            with self._pooling:
                connection = self._readers.pop() if self._readers else None
            connection = connection or self._connect()
            try:
                connection.execute("BEGIN")
                yield _SqliteTransaction(connection)
                connection.execute("COMMIT")
            except BaseException as error:
                if _undone(connection, error):
                    self._give_back(connection)
                raise
            self._give_back(connection)

    def _give_back(self, connection: sqlite3.Connection) -> None:
        with self._pooling:
            if self._closed:
                connection.close()
            else:
                self._readers.append(connection)

    def _now(self, transaction: Transaction) -> float:
        return self.clock()

    def _alone(self, transaction: Transaction) -> None:
        """A writer is alone already."""

    def _connect(self) -> sqlite3.Connection:
        # mode=rw: a database that was moved away must not be replaced by an empty one.
        connection = sqlite3.connect(
            f"{self.path.resolve().as_uri()}?mode=rw",
            uri=True,
            timeout=self._busy_seconds,
            isolation_level=None,
            check_same_thread=False,
        )
        try:
            # Nothing is changed before the file is known to be ours.
            if connection.execute("PRAGMA application_id").fetchone() == (APPLICATION_ID,):
                _prepare(connection)
        except BaseException:
            connection.close()
            raise
        return connection

    def _check_file(self) -> None:
        """SQLite would go on writing to a file that has been deleted: nothing acknowledged then would be kept."""
        if self._closed:
            raise StoreError("the store has been closed; open it again")
        if _identity(self.path) != self._file:
            raise StoreUnavailableError(
                f"the database {self.path} has been moved or replaced; put it back, or {_move(self.path)} and restart"
            )

    @contextmanager
    def _translated(self) -> Iterator[None]:
        """SQLite's errors in the store's words."""
        try:
            yield
        except sqlite3.Error as error:
            raise _store_error(error, self.path) from error
        except FileNotFoundError as error:
            raise StoreUnavailableError(
                f"the database {self.path} is gone; put it back, or {_move(self.path)} and restore a backup"
            ) from error
        except PermissionError as error:
            raise StoreError(f"the database {self.path} may not be read and written by this user") from error
        except OverflowError as error:
            raise StoreError("a number or a value is too large for the database") from error


class _SqliteTransaction:
    """What may be asked of a connection that is inside a transaction."""

    def __init__(self, connection: sqlite3.Connection):
        self._connection = connection

    def rows(self, statement: str, values: Sequence[Any] = ()) -> list[Row]:
        return self._connection.execute(statement, values).fetchall()

    def stream(self, statement: str, values: Sequence[Any] = ()) -> Iterator[Row]:
        yield from self._connection.execute(statement, values)

    def run(self, statement: str, values: Sequence[Any] = ()) -> int:
        return self._connection.execute(statement, values).rowcount

    def many(self, statement: str, values: Iterable[Sequence[Any]]) -> int:
        return max(self._connection.executemany(statement, values).rowcount, 0)


_OVER_QUOTA: Final = "the database has reached max_database_bytes; delete a survey, or raise the limit"


def _store_error(error: sqlite3.Error, path: Path) -> StoreError:
    code = getattr(error, "sqlite_errorcode", sqlite3.SQLITE_ERROR) & 0xFF
    if code in (sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED, sqlite3.SQLITE_PROTOCOL):
        return StoreUnavailableError(f"the database {path} is locked by another process; try again")
    if code == sqlite3.SQLITE_FULL:
        return StoreFullError(f"the database {path} cannot grow: the disk is full, or max_database_bytes is reached")
    if code in (sqlite3.SQLITE_IOERR, sqlite3.SQLITE_CANTOPEN):
        return _disk_error(path)
    if code in (sqlite3.SQLITE_NOTADB, sqlite3.SQLITE_CORRUPT):
        return StoreError(
            f"{path} is damaged or no SQLite database; it was left as it is: {_move(path)} and restore a backup"
        )
    if code in (sqlite3.SQLITE_READONLY, sqlite3.SQLITE_PERM, sqlite3.SQLITE_AUTH):
        return StoreError(f"the database {path} may not be written to by this user")
    return StoreError(f"the database {path} refused: {getattr(error, 'sqlite_errorname', 'SQLITE_ERROR')}")


def _disk_error(path: Path) -> StoreError:
    with suppress(OSError):
        room = os.statvfs(path.parent)
        if room.f_bavail * room.f_frsize < _SPARE_BYTES:
            return StoreFullError(f"the disk of {path} is full; make room, and reports are taken again")
    return StoreUnavailableError(f"the disk does not read or write {path}; look at the disk, then try again")


def _undone(connection: sqlite3.Connection, error: BaseException) -> bool:
    """Roll back; whether the connection may be used again."""
    try:
        if connection.in_transaction:
            connection.execute("ROLLBACK")
    except sqlite3.Error:
        connection.close()
        return False
    if isinstance(error, sqlite3.DatabaseError) and not isinstance(error, sqlite3.IntegrityError):
        # After a failed disk or a damaged page, a fresh connection forgets what this one has cached.
        connection.close()
        return False
    return True


def _identity(path: Path) -> tuple[int, int]:
    found = path.stat()
    return found.st_dev, found.st_ino


def _move(path: Path) -> str:
    """What to do with a database that is in the way; one of its files without the others is none."""
    return f"move all three files away ({path.name}, {path.name}-wal, {path.name}-shm)"


def _refuse_orphan(path: Path) -> None:
    """SQLite empties a write-ahead log whose database is missing, though it may hold all that was acknowledged."""
    # The log is looked at first: whoever is making a new database fills that before there is a log.
    if _length(path.with_name(f"{path.name}-wal")) and not _length(path):
        raise StoreError(
            f"{path} is missing or empty, but its write-ahead log is there, with reports that may be nowhere else; "
            f"nothing was changed: put {path.name} back, or {_move(path)}"
        )


def _length(path: Path) -> int:
    try:
        return path.stat().st_size
    except FileNotFoundError:
        return 0


def _create(path: Path) -> None:
    """An empty file that only its owner may read, unless there is one."""
    path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    _refuse_orphan(path)
    with suppress(FileExistsError):
        os.close(os.open(path, os.O_CREAT | os.O_EXCL | os.O_RDWR, 0o600))
        sync(path.parent)


def _prepare(connection: sqlite3.Connection) -> None:
    for setting in (
        "journal_mode = WAL",
        "synchronous = FULL",
        "foreign_keys = ON",
        # A free page would still show the order in which reports arrived, or a survey that was deleted.
        "secure_delete = ON",
        f"journal_size_limit = {_CHECKED_BYTES}",
    ):
        connection.execute(f"PRAGMA {setting}").fetchall()


def _refuse_foreign(connection: sqlite3.Connection, path: Path) -> None:
    # In one transaction: another process may be making the file ours right now.
    connection.execute("BEGIN")
    ((application,),) = connection.execute("PRAGMA application_id").fetchall()
    ((objects,),) = connection.execute("SELECT COUNT(*) FROM sqlite_schema").fetchall()
    connection.execute("COMMIT")
    if application != APPLICATION_ID and (application or objects):
        raise StoreError(
            f"{path} is a SQLite database of another program; it was left as it is: choose another folder for the data"
        )
    if path.stat().st_size <= _CHECKED_BYTES and connection.execute("PRAGMA quick_check(1)").fetchall() != [("ok",)]:
        raise StoreError(f"{path} is damaged; it was left as it is: {_move(path)} and restore a backup")


def _migrate(connection: sqlite3.Connection) -> None:
    if not missing("sqlite", _applied(connection)):
        return
    connection.execute("BEGIN IMMEDIATE")
    connection.execute(f"PRAGMA application_id = {APPLICATION_ID}")
    connection.execute("CREATE TABLE IF NOT EXISTS migrations (number INTEGER PRIMARY KEY, name TEXT NOT NULL) STRICT")
    connection.execute("COMMIT")
    _prepare(connection)
    while True:
        # Asked again with the lock held: another process may have been faster.
        connection.execute("BEGIN IMMEDIATE")
        try:
            lacking = missing("sqlite", _applied(connection))
            if lacking:
                for statement in _statements(lacking[0].script):
                    connection.execute(statement)
                connection.execute("INSERT INTO migrations VALUES (?, ?)", (lacking[0].number, lacking[0].name))
            connection.execute("COMMIT")
        except BaseException:
            if connection.in_transaction:
                connection.execute("ROLLBACK")
            raise
        if not lacking:
            return


def _applied(connection: sqlite3.Connection) -> list[int]:
    if not connection.execute("SELECT 1 FROM sqlite_schema WHERE name = 'migrations'").fetchall():
        return []
    return [number for (number,) in connection.execute("SELECT number FROM migrations").fetchall()]


def _statements(script: str) -> Iterator[str]:
    """One statement after the other: executescript would commit the transaction it is in."""
    statement = ""
    for line in script.splitlines(keepends=True):
        statement += line
        if sqlite3.complete_statement(statement):
            yield statement
            statement = ""

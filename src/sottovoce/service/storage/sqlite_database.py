"""A SQLite file that is durable by WAL with synchronous=FULL: transactions, room on the disk, errors in words.

One connection writes, behind a lock; readers borrow connections of their own and never wait for it.
"""

from __future__ import annotations

import abc
import os
import sqlite3
import threading
import time
from collections.abc import Iterable, Iterator, Sequence
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any, ClassVar, Final

from sottovoce.core.errors import StoreError, StoreFullError, StoreUnavailableError
from sottovoce.service.storage.reserve import RESERVE_FILE, DiskReserve
from sottovoce.service.storage.sql import Row, Transaction
from sottovoce.service.storage.sqlite_file import create, identity, length, move_away, no_room, store_error

__all__ = ["BUSY_SECONDS", "SqliteDatabase", "claim"]

BUSY_SECONDS: Final = 10.0
"""How long a write waits for another process's."""

_CHECKED_BYTES: Final = 64 * 1024 * 1024
"""A file up to this long is looked through when it is opened; a longer one would hold up the start."""


class SqliteDatabase(abc.ABC):
    """A database in a file of its own; a subclass says whose it is, and brings its tables.

    Parameters
    ----------
    path
        The file, made if there is none.
    max_bytes
        A quota; 0 for none.
    reserve_bytes
        See `DiskReserve`.
    """

    application_id: ClassVar[int]
    """A number in the file's header that marks it as this program's database."""

    def __init__(self, path: Path, *, max_bytes: int = 0, reserve_bytes: int = 0, busy_seconds: float = BUSY_SECONDS):
        self.path = path
        self._busy_seconds = busy_seconds
        self._writing = threading.Lock()
        self._pooling = threading.Lock()
        self._readers: list[sqlite3.Connection] = []
        self._writer: sqlite3.Connection | None = None
        self._closed = False
        with self._translated():
            create(path)
            self._reserve = DiskReserve(path.with_name(RESERVE_FILE), reserve_bytes)
        self._page_bytes = self._opened()
        with self._translated():
            self._file = identity(path)
            self._path_text = os.fspath(path)  # looked at for every report's append
            self._reserve.fill()
        # Counting and deleting may pass the quota by an eighth: they are what makes room.
        self._pages = max_bytes // self._page_bytes
        self._most_pages = self._pages + self._pages // 8 + 64 if max_bytes else 0

    @abc.abstractmethod
    def _migrate(self, connection: sqlite3.Connection) -> None:
        """Bring the file to the present tables."""

    def _opened(self) -> int:
        """`_made_ready`, on a full disk too: even to read, SQLite needs a small file beside the database."""
        try:
            with self._translated():
                return self._made_ready()
        except StoreFullError:
            if not self.give_up_reserve():
                raise
        with self._translated():
            return self._made_ready()

    def _made_ready(self) -> int:
        """Bring the file to the present tables; the length of its pages."""
        patience = time.monotonic() + self._busy_seconds
        while True:
            try:
                with closing(self._connect()) as connection:
                    _refuse_foreign(connection, self.path, self.application_id)
                    self._migrate(connection)
                    ((page_bytes,),) = connection.execute("PRAGMA page_size").fetchall()
                    return int(page_bytes)
            except sqlite3.OperationalError as error:
                # SQLite does not wait by itself while two processes both turn a new file to WAL.
                if error.sqlite_errorcode & 0xFF != sqlite3.SQLITE_BUSY or time.monotonic() > patience:
                    raise
                time.sleep(0.01)

    def close(self) -> None:
        """Close every connection; what is used afterwards raises `StoreError`."""
        with self._writing, self._pooling:
            self._closed = True
            for connection in (*self._readers, *([self._writer] if self._writer else [])):
                connection.close()
            self._readers, self._writer = [], None

    def _empty_log(self) -> bool:
        with self._writing, self._translated():
            self._check_file()
            connection = self._writer = self._writer or self._connect()
            return self._checkpointed(connection)

    def _checkpointed(self, connection: sqlite3.Connection) -> bool:
        # Only if nobody is in the way: a wait for a reader here keeps all writers waiting.
        connection.execute("PRAGMA busy_timeout = 0")
        checkpoint = "PRAGMA wal_checkpoint(TRUNCATE)"
        try:
            ((busy, _, _),) = connection.execute(checkpoint).fetchall()
        except sqlite3.OperationalError as error:
            # The database must grow before the log can shrink, by no more than that: the reserve is whole again then.
            if not isinstance(store_error(error, self.path), StoreFullError) or not self._reserve.give_up():
                raise
            ((busy, _, _),) = connection.execute(checkpoint).fetchall()
            self._reserve.fill(spare=0)
        finally:
            connection.execute(f"PRAGMA busy_timeout = {int(self._busy_seconds * 1000)}")
        return not busy

    @contextmanager
    def write(self, *, growing: bool = False, freeing: bool = False) -> Iterator[Transaction]:
        """A transaction that is durable when the block ends, and undone when it raises; see `SqlStore.write`."""
        if not self._writing.acquire(timeout=self._busy_seconds):
            raise StoreUnavailableError("the database is busy with another write; try again")
        try:
            with self._translated():
                self._check_file()
                connection = self._writer = self._writer or self._connect()
                try:
                    if not freeing:
                        self._check_room(connection, growing=growing)
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

    def _check_room(self, connection: sqlite3.Connection, *, growing: bool) -> None:
        """While the reserve is given up nothing is counted. Reports need more room than counting, which frees some."""
        if self._has_room(connection, growing=growing):
            return
        # The log may hold the room that is lacking.
        if length(self.path.with_name(f"{self.path.name}-wal")) >= self._reserve.least_free // 4:
            self._checkpointed(connection)
            if self._has_room(connection, growing=growing):
                return
        raise StoreFullError(no_room(self.path))

    def _has_room(self, connection: sqlite3.Connection, *, growing: bool) -> bool:
        if not self._reserve.fill():
            return False
        free, least = self._reserve.free(), self._reserve.least_free
        if free >= (least if growing else least // 4):
            return True
        if not growing or free < least // 2:
            return False
        # What was deleted is room in the database, though not on the disk; the log needs some there as well.
        ((pages,),) = connection.execute("PRAGMA freelist_count").fetchall()
        return free + int(pages) * self._page_bytes >= least

    def give_up_reserve(self) -> bool:
        """Give the room that is kept for them to transactions that make room; False when there is none to give."""
        with self._translated():
            return self._reserve.give_up()

    def write_one(self, statement: str, values: Sequence[Any]) -> int:
        """Run one `growing` statement that is a transaction by itself, durable on return; how many rows it changed."""
        # SQLite makes a statement outside a transaction one by itself. Written out: every report waits for this.
        if not self._writing.acquire(timeout=self._busy_seconds):
            raise StoreUnavailableError("the database is busy with another write; try again")
        connection = None
        try:
            self._check_file()
            connection = self._writer = self._writer or self._connect()
            self._check_room(connection, growing=True)
            if self._pages:
                connection.execute(f"PRAGMA max_page_count = {self._pages}")
            return connection.execute(statement, values).rowcount
        except Exception as error:
            if connection is not None and not _undone(connection, error):
                self._writer = None
            with self._translated():
                raise
        finally:
            self._writing.release()

    @contextmanager
    def read(self) -> Iterator[Transaction]:
        """One consistent view of everything."""
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
            if connection.execute("PRAGMA application_id").fetchone() == (self.application_id,):
                _prepare(connection)
        except BaseException:
            connection.close()
            raise
        return connection

    def _check_file(self) -> None:
        """SQLite would go on writing to a file that has been deleted: nothing acknowledged then would be kept."""
        if self._closed:
            raise StoreError("the store has been closed; open it again")
        if identity(self._path_text) != self._file:
            raise StoreUnavailableError(
                f"the database {self.path} has been moved or replaced; put it back, or {move_away(self.path)} and "
                "restart"
            )

    @contextmanager
    def _translated(self) -> Iterator[None]:
        """SQLite's errors in the store's words."""
        try:
            yield
        except sqlite3.Error as error:
            raise store_error(error, self.path) from error
        except FileNotFoundError as error:
            raise StoreUnavailableError(
                f"the database {self.path} is gone; put it back, or {move_away(self.path)} and restore a backup"
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


def _refuse_foreign(connection: sqlite3.Connection, path: Path, application_id: int) -> None:
    # In one transaction: another process may be making the file ours right now.
    connection.execute("BEGIN")
    ((application,),) = connection.execute("PRAGMA application_id").fetchall()
    ((objects,),) = connection.execute("SELECT COUNT(*) FROM sqlite_schema").fetchall()
    connection.execute("COMMIT")
    if application != application_id and (application or objects):
        raise StoreError(
            f"{path} is a SQLite database of another program; it was left as it is: choose another folder for the data"
        )
    if path.stat().st_size <= _CHECKED_BYTES and connection.execute("PRAGMA quick_check(1)").fetchall() != [("ok",)]:
        raise StoreError(f"{path} is damaged; it was left as it is: {move_away(path)} and restore a backup")


def claim(connection: sqlite3.Connection, application_id: int) -> None:
    """Make an empty file ours."""
    connection.execute("BEGIN IMMEDIATE")
    connection.execute(f"PRAGMA application_id = {application_id}")
    connection.execute("CREATE TABLE IF NOT EXISTS migrations (number INTEGER PRIMARY KEY, name TEXT NOT NULL) STRICT")
    connection.execute("COMMIT")
    _prepare(connection)

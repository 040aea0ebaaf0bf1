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

from sottovoce.collector.store.at_once import AtOnce
from sottovoce.collector.store.base import Arrival
from sottovoce.collector.store.deletion import PIECE_BYTES, PIECE_ROWS, DeletionTables
from sottovoce.collector.store.objects import ObjectTables
from sottovoce.collector.store.reports import ReportTables, UndoneError
from sottovoce.collector.store.reserve import RESERVE_FILE, DiskReserve
from sottovoce.collector.store.sql import PART_BYTES, Row, Transaction
from sottovoce.collector.store.sqlite_errors import OVER_QUOTA, move_away, no_room, store_error
from sottovoce.collector.store.sqlite_file import create, identity, length
from sottovoce.collector.store.sqlite_migration import migrate
from sottovoce.core.errors import StoreError, StoreFullError, StoreUnavailableError

__all__ = ["APPLICATION_ID", "SqliteStore", "resets_safely"]

APPLICATION_ID: Final = int.from_bytes(b"SVco", "big")
"""In the file's header: it tells a collector's database from anybody else's."""

_BUSY_SECONDS: Final = 10.0
"""How long a write waits for another process's."""

_FORGETTING_SECONDS: Final = 2.0
"""How long a worker erases before it counts again."""

_CHECKED_BYTES: Final = 64 * 1024 * 1024
"""A file up to this long is looked through when it is opened; a longer one would hold up the start."""


def resets_safely(version: tuple[int, int, int] = sqlite3.sqlite_version_info) -> bool:
    """Whether SQLite is free of the WAL-reset fault: a checkpoint beside a commit that may damage the database.

    It is in all versions with a write-ahead log before 3.51.3, but for the corrected 3.50.7 and 3.44.6.

    Examples
    --------
    >>> [resets_safely(version) for version in ((3, 40, 1), (3, 44, 6), (3, 45, 0), (3, 50, 7), (3, 51, 2), (3, 51, 3))]
    [False, True, False, True, False, True]
    """
    return version >= (3, 51, 3) or (3, 50, 7) <= version < (3, 51, 0) or (3, 44, 6) <= version < (3, 45, 0)


class SqliteStore(DeletionTables, ReportTables, ObjectTables):
    """A store in a file of its own. `clock` is the machine's, and may be set for a test."""

    dialect = "sqlite"
    # A writer is alone in SQLite, so rows need no locks.
    for_share = for_update = skip_locked = ""
    # What is removed is overwritten, but for copies in the gaps of pages between which rows were moved meanwhile.
    blank = "zeroblob(LENGTH(content))"

    def __init__(self, path: Path, *, max_bytes: int = 0, reserve_bytes: int = 0, busy_seconds: float = _BUSY_SECONDS):
        self.path = path
        self.clock: Callable[[], float] = time.time
        self._busy_seconds = busy_seconds
        self._writing = threading.Lock()
        self._pooling = threading.Lock()
        self._readers: list[sqlite3.Connection] = []
        self._writer: sqlite3.Connection | None = None
        self._at_once = AtOnce(self._connect)
        self._closed = False
        with self._translated():
            create(path)
            self._reserve = DiskReserve(path.with_name(RESERVE_FILE), reserve_bytes)
        self.piece_bytes = min(max(self._reserve.held // 4, PART_BYTES), PIECE_BYTES)
        self._page_bytes = self._opened()
        # Pages as long as half of what the reserve holds: a deletion that touches that many rows has room for them.
        self.piece_rows = min(max(self._reserve.held // 2 // self._page_bytes, 256), PIECE_ROWS)
        with self._translated():
            self._file = identity(path)
            self._path_text = os.fspath(path)  # looked at for every report's append
            self._reserve.fill()
        # Counting and deleting may pass the quota by an eighth: they are what makes room.
        self._pages = max_bytes // self._page_bytes
        self._most_pages = self._pages + self._pages // 8 + 64 if max_bytes else 0

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
                    _refuse_foreign(connection, self.path)
                    migrate(connection, _claim)
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
            self._at_once.close()
            for connection in (*self._readers, *([self._writer] if self._writer else [])):
                connection.close()
            self._readers, self._writer = [], None

    def check(self, *, thorough: bool = False) -> None:
        with suppress(UndoneError), self.write(growing=True) as transaction:
            ((used,),) = transaction.rows(
                "SELECT page_count - freelist_count FROM pragma_page_count, pragma_freelist_count"
            )
            if self._pages and used >= self._pages:
                raise StoreFullError(OVER_QUOTA)
            self._try_append(transaction, thorough=thorough)

    def now(self) -> float:
        return self.clock()

    def last_number(self) -> int:
        with self.read() as transaction:
            rows = transaction.rows("SELECT seq FROM sqlite_sequence WHERE name = 'waiting'")
        return int(rows[0][0]) if rows else 0

    def forget(self) -> bool:
        """Erase what is left of deleted surveys, and empty the write-ahead log.

        The log keeps rows in the order they came until it is overwritten.
        """
        erased = self.erase(_FORGETTING_SECONDS)
        return self._empty_log() and erased

    def _empty_log(self) -> bool:
        with self._writing, self._translated():
            self._check_file()
            connection = self._writer = self._writer or self._connect()
            return self._checkpointed(connection)

    def _checkpointed(self, connection: sqlite3.Connection) -> bool:
        # Only if nobody is in the way: whoever waits here for a reader keeps all writers waiting.
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

    def _piece_erased(self) -> bool:
        """Erasing writes zeros to the log first; without room for more of it, its readers must be waited for."""
        return self._empty_log() or self._reserve.free() > 2 * self.piece_bytes

    @contextmanager
    def write(self, *, growing: bool = False, freeing: bool = False) -> Iterator[Transaction]:
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
        with self._translated():
            return self._reserve.give_up()

    def write_one(self, statement: str, values: Sequence[Any]) -> int:
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

    def append_at_once(self, arrival: Arrival) -> bool:
        # A quota counts the pages of one connection, and that is the writer.
        if self._pages or not self._writing.acquire(blocking=False):
            return False
        try:
            self._check_file()
            if not self._reserve.fill() or self._reserve.free() < self._reserve.least_free:
                return False
            return self._at_once.append(arrival)
        except (OSError, StoreError):
            return False
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
        raise StoreError(f"{path} is damaged; it was left as it is: {move_away(path)} and restore a backup")


def _claim(connection: sqlite3.Connection) -> None:
    """Make an empty file ours."""
    connection.execute("BEGIN IMMEDIATE")
    connection.execute(f"PRAGMA application_id = {APPLICATION_ID}")
    connection.execute("CREATE TABLE IF NOT EXISTS migrations (number INTEGER PRIMARY KEY, name TEXT NOT NULL) STRICT")
    connection.execute("COMMIT")
    _prepare(connection)

"""The collector's store in one SQLite file: nothing to install."""

from __future__ import annotations

import sqlite3
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import Final, final

from sottovoce.collector.store.migrations import missing
from sottovoce.collector.store.objects import ObjectTables
from sottovoce.collector.store.reports import APPEND, ReportTables, append_values
from sottovoce.collector.store.sql import PART_BYTES
from sottovoce.collector.store.surveys import PIECE_BYTES, PIECE_ROWS, DeletionTables
from sottovoce.core.errors import StoreError, StoreFullError
from sottovoce.service.storage.committer import Arrival
from sottovoce.service.storage.sql import Transaction, UndoneError
from sottovoce.service.storage.sqlite_database import BUSY_SECONDS, SqliteDatabase, claim
from sottovoce.service.storage.sqlite_file import OVER_QUOTA

__all__ = ["APPLICATION_ID", "AtOnce", "SqliteStore", "migrate", "resets_safely"]

_IN_A_ROW: Final = 256
_BYTES_IN_A_ROW: Final = 4 * 1024 * 1024
"""Appends before one is left to the store's writer, which takes the time to write the log back into the database."""


@final
class AtOnce:
    """A connection of its own to a store's file. Used by one thread at a time, while nobody else writes."""

    def __init__(self, connect: Callable[[], sqlite3.Connection]) -> None:
        self._connect = connect
        self._connection: sqlite3.Connection | None = None
        self._n_appends = self._n_bytes = 0

    def append(self, arrival: Arrival) -> bool:
        """Whether the reports are durable now; if not, nothing of them was kept."""
        self._n_appends += 1
        self._n_bytes += len(arrival.rows)
        if self._n_appends >= _IN_A_ROW or self._n_bytes >= _BYTES_IN_A_ROW:
            self._n_appends = self._n_bytes = 0
            return False
        if not arrival.n:
            return False
        try:
            connection = self._connection = self._connection or self._opened()
            return connection.execute(APPEND, append_values(arrival)).rowcount == 1
        except (sqlite3.Error, OverflowError):
            # Most often another process writes. Whatever it is: a fresh connection remembers nothing of it.
            self.close()
            return False

    def close(self) -> None:
        """Give the connection back."""
        if self._connection is not None:
            self._connection.close()
        self._connection = None

    def _opened(self) -> sqlite3.Connection:
        connection = self._connect()
        for setting in ("busy_timeout = 0", "wal_autocheckpoint = 0"):
            connection.execute(f"PRAGMA {setting}").fetchall()
        return connection


def migrate(connection: sqlite3.Connection, claim: Callable[[sqlite3.Connection], object]) -> None:
    """Run the scripts that a file lacks, each in a transaction; `claim` makes it ours before the first."""
    if not missing("sqlite", _applied(connection)):
        return
    claim(connection)
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


APPLICATION_ID: Final = int.from_bytes(b"SVco", "big")
"""A number in the file's header that marks a collector's database."""

_FORGETTING_SECONDS: Final = 2.0
"""How long a worker erases before it counts again."""


def resets_safely(version: tuple[int, int, int] = sqlite3.sqlite_version_info) -> bool:
    """Whether SQLite is free of the WAL-reset fault: a checkpoint beside a commit that may damage the database.

    It is in all versions with a write-ahead log before 3.51.3, but for the corrected 3.50.7 and 3.44.6.

    Examples
    --------
    >>> [resets_safely(version) for version in ((3, 40, 1), (3, 44, 6), (3, 45, 0), (3, 50, 7), (3, 51, 2), (3, 51, 3))]
    [False, True, False, True, False, True]
    """
    return version >= (3, 51, 3) or (3, 50, 7) <= version < (3, 51, 0) or (3, 44, 6) <= version < (3, 45, 0)


class SqliteStore(SqliteDatabase, DeletionTables, ReportTables, ObjectTables):
    """A store in a file of its own. `clock` is the machine's, and may be set for a test."""

    application_id = APPLICATION_ID
    dialect = "sqlite"
    # A writer is alone in SQLite, so rows need no locks.
    for_share = for_update = skip_locked = ""
    # What is removed is overwritten, but for copies in the gaps of pages between which rows were moved meanwhile.
    blank = "zeroblob(LENGTH(content))"

    def __init__(self, path: Path, *, max_bytes: int = 0, reserve_bytes: int = 0, busy_seconds: float = BUSY_SECONDS):
        self.clock: Callable[[], float] = time.time
        self._at_once = AtOnce(self._connect)
        super().__init__(path, max_bytes=max_bytes, reserve_bytes=reserve_bytes, busy_seconds=busy_seconds)
        self.piece_bytes = min(max(self._reserve.held // 4, PART_BYTES), PIECE_BYTES)
        # Pages as long as half of what the reserve holds: a deletion that touches that many rows has room for them.
        self.piece_rows = min(max(self._reserve.held // 2 // self._page_bytes, 256), PIECE_ROWS)

    def _migrate(self, connection: sqlite3.Connection) -> None:
        migrate(connection, partial(claim, application_id=APPLICATION_ID))

    def close(self) -> None:
        with self._writing:
            self._at_once.close()
        super().close()

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

    def _piece_erased(self) -> bool:
        """Erasing writes zeros to the log first; without room for more of it, its readers must be waited for."""
        return self._empty_log() or self._reserve.free() > 2 * self.piece_bytes

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

    def _now(self, transaction: Transaction) -> float:
        return self.clock()

    def _alone(self, transaction: Transaction) -> None:
        """A writer is alone already."""

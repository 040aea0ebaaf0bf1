"""The store in PostgreSQL: several servers may share one, each with a handful of connections.

Rows are locked where requests must not interleave; leases go by the server's clock, so the machines' need not agree.
"""

from __future__ import annotations

import threading
from collections.abc import Iterable, Iterator, Sequence
from contextlib import closing, contextmanager
from functools import cache
from typing import Any, Final, cast

import psycopg
from psycopg.conninfo import conninfo_to_dict

from sottovoce.collector.store.migrations import Migration, missing
from sottovoce.collector.store.reports import ReportTables
from sottovoce.collector.store.sql import Row, Transaction
from sottovoce.collector.store.surveys import SurveyTables
from sottovoce.core.errors import SettingsError, StoreError, StoreFullError, StoreUnavailableError

__all__ = ["PostgresStore"]

_MOST_CONNECTIONS: Final = 16
"""Of one process: PostgreSQL takes a hundred by default, from everybody."""

_WAIT_SECONDS: Final = 10
"""How long to wait for a connection, or for a row that somebody else has locked."""

_LOCK: Final = 0x5356636F
"""Held while the tables are made, and while a survey is published or deleted."""

# A server may promise more than "on" (remote_apply), and that is left; less would lose acknowledged reports.
_SESSION: Final = f"""
SET search_path TO sottovoce;
SET lock_timeout = '{_WAIT_SECONDS}s';
SET tcp_keepalives_idle = 30;
SELECT set_config('synchronous_commit', 'on', false)
WHERE current_setting('synchronous_commit') IN ('off', 'local', 'remote_write');
"""

_DEFAULTS: Final = {
    "application_name": "sottovoce",
    "connect_timeout": str(_WAIT_SECONDS),
    "keepalives_idle": "30",
    # A server that has vanished without a word is given up after this many milliseconds.
    "tcp_user_timeout": "30000",
}


class PostgresStore(SurveyTables, ReportTables):
    """A store in the schema `sottovoce` of a PostgreSQL database."""

    dialect = "postgresql"
    for_share = " FOR SHARE"
    for_update = " FOR UPDATE"
    skip_locked = " FOR UPDATE OF l SKIP LOCKED"

    def __init__(self, url: str):
        self._conninfo = _conninfo(url)
        self._idle: list[psycopg.Connection[Row]] = []
        self._pooling = threading.Lock()
        self._free = threading.BoundedSemaphore(_MOST_CONNECTIONS)
        self._closed = False
        with _translated(), closing(self._connect()) as connection:
            _migrate(connection)

    def close(self) -> None:
        with self._pooling:
            self._closed = True
            for connection in self._idle:
                connection.close()
            self._idle = []

    def check(self) -> None:
        with self.write() as transaction:
            # A row lock is a write: a server that only follows another refuses it.
            transaction.rows("SELECT 1 FROM surveys LIMIT 1 FOR SHARE")

    def forget(self) -> bool:
        """Nothing to do from here: the server's own log and dead rows are its administrator's."""
        return True

    @contextmanager
    def write(self, *, growing: bool = False) -> Iterator[Transaction]:
        # The quota is SQLite's; here the server's own limits say when it is full.
        # Said each time: with another default of the server's, a lock that was waited for would show old rows. That it
        # writes is not said: an administrator who makes the database read-only, to fence it off, means us too.
        with self._transaction("BEGIN ISOLATION LEVEL READ COMMITTED") as transaction:
            yield transaction

    @contextmanager
    def read(self) -> Iterator[Transaction]:
        with self._transaction("BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY") as transaction:
            yield transaction

    @contextmanager
    def _transaction(self, begin: str) -> Iterator[Transaction]:
        if self._closed:
            raise StoreError("the store has been closed; open it again")
        if not self._free.acquire(timeout=_WAIT_SECONDS):
            raise StoreUnavailableError("all connections to PostgreSQL are busy; try again")
        try:
            with _translated():
                connection = self._begun(begin)
                try:
                    yield _PostgresTransaction(connection)
                    # A connection lost right here leaves it unknown whether the server has committed. It is reported
                    # as not kept: the device sends the same reports again, and the second ones are not counted.
                    if connection.execute("COMMIT").statusmessage != "COMMIT":
                        raise StoreUnavailableError("PostgreSQL undid the transaction; try again")
                except BaseException:
                    _undo(connection)
                    raise
                finally:
                    self._give_back(connection)
        finally:
            self._free.release()

    def _begun(self, begin: str) -> psycopg.Connection[Row]:
        """A connection inside a transaction; one that died while idle is replaced, for nothing was asked of it."""
        while True:
            with self._pooling:
                connection = self._idle.pop() if self._idle else None
            fresh = connection is None
            connection = connection or self._connect()
            try:
                connection.execute(begin)
            except psycopg.Error as error:
                connection.close()
                if fresh or not isinstance(error, psycopg.OperationalError):
                    raise
            else:
                return connection

    def _give_back(self, connection: psycopg.Connection[Row]) -> None:
        with self._pooling:
            if self._closed:
                connection.close()
            elif not connection.closed:
                self._idle.append(connection)

    def _connect(self) -> psycopg.Connection[Row]:
        connection = psycopg.connect(autocommit=True, **self._conninfo)
        try:
            # For the transactions of migrations.
            connection.isolation_level = psycopg.IsolationLevel.READ_COMMITTED
            connection.execute(_SESSION)
        except BaseException:
            connection.close()
            raise
        return connection

    def _now(self, transaction: Transaction) -> float:
        ((now,),) = transaction.rows("SELECT EXTRACT(EPOCH FROM clock_timestamp())::double precision")
        return float(now)

    def _alone(self, transaction: Transaction) -> None:
        transaction.rows("SELECT pg_advisory_xact_lock(?)", (_LOCK,))


class _PostgresTransaction:
    """What may be asked of a connection that is inside a transaction."""

    def __init__(self, connection: psycopg.Connection[Row]):
        self._connection = connection

    def rows(self, statement: str, values: Sequence[Any] = ()) -> list[Row]:
        with self._connection.cursor(binary=True) as cursor:
            return cursor.execute(_with_marks(statement), values).fetchall()

    def stream(self, statement: str, values: Sequence[Any] = ()) -> Iterator[Row]:
        with self._connection.cursor(binary=True) as cursor:
            yield from cursor.stream(_with_marks(statement), values)

    def run(self, statement: str, values: Sequence[Any] = ()) -> int:
        with self._connection.cursor() as cursor:
            return cursor.execute(_with_marks(statement), values).rowcount

    def many(self, statement: str, values: Iterable[Sequence[Any]]) -> int:
        with self._connection.cursor() as cursor:
            cursor.executemany(_with_marks(statement), values)
            return max(cursor.rowcount, 0)


@cache
def _with_marks(statement: str) -> bytes:
    return statement.replace("?", "%s").encode()


@contextmanager
def _translated() -> Iterator[None]:
    """PostgreSQL's errors in the store's words; what the server says of values is left out."""
    try:
        yield
    except psycopg.errors.DiskFull as error:
        raise StoreFullError("PostgreSQL's disk is full; make room, and reports are taken again") from error
    except psycopg.OperationalError as error:
        reason = error.diag.message_primary or (str(error).strip().splitlines() or ["connection lost"])[-1]
        raise StoreUnavailableError(f"PostgreSQL cannot be reached or is busy: {reason}; try again") from error
    except psycopg.Error as error:
        raise StoreError(
            f"PostgreSQL refused: {error.diag.message_primary or type(error).__name__} ({error.sqlstate})"
        ) from error


def _conninfo(url: str) -> dict[str, Any]:
    try:
        given = conninfo_to_dict(url)
    except psycopg.Error:
        # Neither the text nor the cause is repeated: they may hold a password.
        raise SettingsError(
            "database is not a valid PostgreSQL URL: postgresql://user:password@host:port/name"
        ) from None
    if "@" in str(given.get("host", "")):
        raise SettingsError("database has several @: write one in a user's name or password as %40")
    return {**_DEFAULTS, **given}


def _undo(connection: psycopg.Connection[Row]) -> None:
    """Roll back, or drop the connection, which rolls back too."""
    try:
        connection.execute("ROLLBACK")
    except psycopg.Error:
        connection.close()


def _migrate(connection: psycopg.Connection[Row]) -> None:
    # Asked first without a lock: an up-to-date database needs no right to change its tables.
    if not missing("postgresql", _applied(connection)):
        return
    while True:
        with connection.transaction():
            connection.execute("SELECT pg_advisory_xact_lock(%s)", (_LOCK,))
            lacking = missing("postgresql", _applied(connection))
            if not lacking:
                return
            _apply(connection, lacking[0])


def _apply(connection: psycopg.Connection[Row], migration: Migration) -> None:
    connection.execute("CREATE SCHEMA IF NOT EXISTS sottovoce")
    connection.execute("CREATE TABLE IF NOT EXISTS migrations (number bigint PRIMARY KEY, name text NOT NULL)")
    connection.execute(migration.script.encode())
    connection.execute("INSERT INTO migrations VALUES (%s, %s)", (migration.number, migration.name))


def _applied(connection: psycopg.Connection[Row]) -> list[int]:
    # Asked of the catalog's rows: to_regclass may answer from before a lock was waited for.
    there = "SELECT 1 FROM pg_tables WHERE schemaname = 'sottovoce' AND tablename = 'migrations'"
    if not connection.execute(there).fetchall():
        return []
    return [cast(int, number) for (number,) in connection.execute("SELECT number FROM sottovoce.migrations").fetchall()]

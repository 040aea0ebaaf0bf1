"""The store in PostgreSQL: several servers may share one, each with a handful of connections.

Rows are locked where requests must not interleave; leases go by the server's clock, so the machines' need not agree.
"""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Iterable, Iterator, Sequence
from contextlib import closing, contextmanager, suppress
from functools import cache
from typing import Any, Final

import psycopg
from psycopg.conninfo import conninfo_to_dict
from psycopg.pq import TransactionStatus

from sottovoce.collector.store import ballast
from sottovoce.collector.store.objects import ObjectTables
from sottovoce.collector.store.postgres_schema import TABLES_LOCK, migrate, refuse_other_encodings
from sottovoce.collector.store.reports import ReportTables
from sottovoce.collector.store.surveys import DeletionTables
from sottovoce.core.errors import SettingsError, StoreError, StoreFullError, StoreUnavailableError
from sottovoce.service.storage.sql import Row, Transaction, UndoneError

__all__ = ["PostgresStore"]

_LOG: Final = logging.getLogger(__name__)

_MOST_CONNECTIONS: Final = 16
"""Connections of one process: PostgreSQL takes a hundred by default, from all clients together."""

_WAIT_SECONDS: Final = 10
"""How long to wait for a connection, or for a row that somebody else has locked."""

_FORGETTING_SECONDS: Final = 2.0
"""How long a worker erases, or fills the reserve, before it counts again."""

_VACUUM_SECONDS: Final = 5

_LEAST_FILL_PAUSE: Final = 5.0
_LONGEST_FILL_PAUSE: Final = 300.0
"""Seconds between attempts to hold the reserve again; doubled from one to the other."""

_NO_ROOM: Final = (
    "PostgreSQL's disk is full, or has no room left beyond the reserve; delete a survey or make room on that disk, and "
    "reports are taken again"
)

# A server may promise more than "on" (remote_apply), and that is left; less would lose acknowledged reports.
_SESSION: Final = f"""
SET search_path TO sottovoce;
SET default_transaction_isolation = 'read committed';
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


class PostgresStore(DeletionTables, ReportTables, ObjectTables):
    """A store in the schema `sottovoce` of a PostgreSQL database."""

    dialect = "postgresql"
    for_share = " FOR SHARE"
    for_update = " FOR UPDATE"
    skip_locked = " FOR UPDATE OF l SKIP LOCKED"

    def __init__(self, url: str, *, reserve_bytes: int = 0):
        self._reserve_bytes = reserve_bytes
        self._reserve_tried = self._made_room = False
        self._next_fill = 0.0
        self._fill_pause = _LEAST_FILL_PAUSE
        self._conninfo = _conninfo(url)
        self._idle: list[psycopg.Connection[Row]] = []
        self._pooling = threading.Lock()
        self._free = threading.BoundedSemaphore(_MOST_CONNECTIONS)
        self._closed = False
        with _translated(), closing(self._connect()) as connection:
            refuse_other_encodings(connection)
            migrate(connection)

    def close(self) -> None:
        with self._pooling:
            self._closed = True
            for connection in self._idle:
                connection.close()
            self._idle = []

    def check(self, *, thorough: bool = False) -> None:
        with suppress(UndoneError), self.write() as transaction:
            # A row lock is a write: a server that only follows another refuses it.
            transaction.rows("SELECT 1 FROM surveys LIMIT 1 FOR SHARE")
            self._try_append(transaction, thorough=thorough)

    def now(self) -> float:
        with self.read() as transaction:
            return self._now(transaction)

    def last_number(self) -> int:
        with self.write() as transaction:
            ((number, given),) = transaction.rows("SELECT last_value, is_called FROM waiting_number_seq")
            # Numbers are given before they are durable. The commit of a row lock waits for the disk, and all that was
            # written before is on it then.
            transaction.rows("SELECT 1 FROM surveys LIMIT 1 FOR SHARE")
        return int(number) if given else 0

    def forget(self) -> bool:
        """Erase what is left of deleted surveys, and hold the reserve of room.

        The server's own log is its administrator's.
        """
        erased = self.erase(_FORGETTING_SECONDS)
        if self._reserve_bytes and time.monotonic() > self._next_fill:
            self._fill_reserve()
        return erased

    def _erased(self) -> None:
        """Let the room of dead rows be used again; what does not finish in time, the server's own vacuum does."""
        self._made_room, self._next_fill = True, 0.0
        with suppress(StoreError), self._session() as connection:
            connection.execute(f"SET statement_timeout = '{_VACUUM_SECONDS}s'")
            try:
                connection.execute("VACUUM (SKIPTABLES_LOCKED) waiting, segments, segment_parts, checkpoint_parts")
            finally:
                connection.execute("RESET statement_timeout")

    def _fill_reserve(self) -> None:
        with self._session() as connection:
            # To try takes up the last of the room for a moment: once at the start, and now and then while it is lost.
            if self._reserve_tried and not ballast.is_given_up(connection):
                return
            try:
                # Less will do only after a deletion: reports would otherwise take the reserve bit by bit.
                least = self._reserve_bytes // 2 if self._made_room else self._reserve_bytes
                filled = ballast.fill(connection, self._reserve_bytes, least, _FORGETTING_SECONDS)
            except psycopg.errors.InsufficientPrivilege:
                filled, self._reserve_bytes = True, 0
                _LOG.warning(
                    "no reserve of room is held: this user does not own the tables in the schema sottovoce; make it "
                    "their owner, or see to it that the server's disk does not fill up"
                )
        if filled is not None:
            self._reserve_tried, self._made_room = True, False
        self._fill_pause = min(2 * self._fill_pause, _LONGEST_FILL_PAUSE) if filled is False else _LEAST_FILL_PAUSE
        self._next_fill = time.monotonic() + self._fill_pause

    def give_up_reserve(self) -> bool:
        """Whether to try again: the transaction that met the full disk has emptied the ballast at once."""
        return self._reserve_bytes > 0

    @contextmanager
    def write(self, *, growing: bool = False, freeing: bool = False) -> Iterator[Transaction]:
        # The quota is SQLite's; here the server's own limits say when it is full, and triggers refuse what grows.
        # Said each time: with another default of the server's, a lock that was waited for would show old rows. That it
        # writes is not said: an administrator who makes the database read-only, to fence it off, means us too.
        with self._transaction("BEGIN ISOLATION LEVEL READ COMMITTED") as transaction:
            yield transaction

    def write_one(self, statement: str, values: Sequence[Any]) -> int:
        # PostgreSQL makes a statement outside a transaction one by itself.
        self._admit()
        try:
            with _translated():
                while True:
                    connection, fresh = self._taken()
                    try:
                        return connection.execute(_with_marks(statement), values, prepare=True).rowcount
                    except psycopg.errors.DiskFull as error:
                        self._disk_is_full(connection, error)
                        raise
                    except psycopg.OperationalError:
                        # One that died while idle is replaced. Should the server have heard this nonetheless, the
                        # reports are kept twice and counted once.
                        if fresh or not connection.closed:
                            raise
                    finally:
                        self._give_back(connection)
        finally:
            self._free.release()

    @contextmanager
    def read(self) -> Iterator[Transaction]:
        with self._transaction("BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY") as transaction:
            yield transaction

    @contextmanager
    def _transaction(self, begin: str) -> Iterator[Transaction]:
        with self._session(begin) as connection:
            try:
                yield _PostgresTransaction(connection)
                # A connection lost right here leaves it unknown whether the server has committed. It is reported
                # as not kept: the device sends the same reports again, and the second ones are not counted.
                if connection.execute("COMMIT").statusmessage != "COMMIT":
                    raise StoreUnavailableError("PostgreSQL undid the transaction; try again")
            except BaseException as error:
                _undo(connection)
                if isinstance(error, psycopg.errors.DiskFull):
                    self._disk_is_full(connection, error)
                raise

    def _disk_is_full(self, connection: psycopg.Connection[Row], error: psycopg.Error) -> None:
        """Make room at once: a server whose log cannot grow stops altogether."""
        if self._reserve_bytes and not ballast.refuses(error):
            with suppress(psycopg.Error):
                ballast.give_up(connection)

    @contextmanager
    def _session(self, begin: str = "") -> Iterator[psycopg.Connection[Row]]:
        """A connection for a while, in autocommit; inside a transaction if `begin` says how it begins."""
        self._admit()
        try:
            with _translated():
                connection = self._begun(begin)
                try:
                    yield connection
                finally:
                    self._give_back(connection)
        finally:
            self._free.release()

    def _admit(self) -> None:
        """Wait until there may be one connection more."""
        if self._closed:
            raise StoreError("the store has been closed; open it again")
        if not self._free.acquire(timeout=_WAIT_SECONDS):
            raise StoreUnavailableError("all connections to PostgreSQL are busy; try again")

    def _begun(self, begin: str) -> psycopg.Connection[Row]:
        """A connection inside a transaction; one that died while idle is replaced, for nothing was asked of it."""
        while True:
            connection, fresh = self._taken()
            try:
                connection.execute(begin or "SELECT 1")
            except psycopg.Error as error:
                connection.close()
                if fresh or not isinstance(error, psycopg.OperationalError):
                    raise
            else:
                return connection

    def _taken(self) -> tuple[psycopg.Connection[Row], bool]:
        """A connection, and whether it was just made."""
        with self._pooling:
            connection = self._idle.pop() if self._idle else None
        if connection is not None:
            return connection, False
        connection = self._connect()
        if self._reserve_bytes:
            ballast.refuse_if_lost(connection)
        return connection, True

    def _give_back(self, connection: psycopg.Connection[Row]) -> None:
        with self._pooling:
            if self._closed:
                connection.close()
            elif connection.info.transaction_status == TransactionStatus.IDLE:
                self._idle.append(connection)
            else:  # lost, or left in the middle of something
                connection.close()

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
        transaction.rows("SELECT pg_advisory_xact_lock(?)", (TABLES_LOCK,))


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
        raise StoreFullError(_NO_ROOM) from error
    except psycopg.OperationalError as error:
        # Lines that begin with a space are advice to the line before them.
        lines = [line for line in str(error).splitlines() if line.strip() and not line[0].isspace()]
        reason = error.diag.message_primary or (lines or ["connection lost"])[-1]
        raise StoreUnavailableError(
            f"PostgreSQL cannot be reached or is busy: {reason}; try again, or look at the server and the setting "
            "database"
        ) from error
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

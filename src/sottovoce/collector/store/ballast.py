"""Room on PostgreSQL's disk that reports cannot have, wherever that disk is: a table that is emptied when it is full.

No client can see how much room a server's disk has. So a table of a known length is kept there. When the server first
says that its disk is full, the table is emptied, and triggers refuse reports and counts until it has been filled again:
the room is for sealing, revoking and deleting, and for the server's own log.
"""

from __future__ import annotations

import time
from contextlib import suppress
from typing import Any, Final, TypeAlias

import psycopg

__all__ = ["fill", "give_up", "is_given_up", "refuse_if_lost", "refuses"]

_Connection: TypeAlias = psycopg.Connection[tuple[Any, ...]]
"""A connection in autocommit: each statement is a transaction of its own."""

_GUARDED: Final = ("waiting", "segments", "surveys")
"""Tables that grow. Tokens are not among them: an operator may need a new one."""

_PIECE: Final = "INSERT INTO {} SELECT '' FROM generate_series(1, 2304)"
"""About a mebibyte."""

_FILLER: Final = 0x53566361
"""The lock of the one who fills."""


def give_up(connection: _Connection) -> None:
    """Empty the ballast, and refuse whatever grows."""
    if _size(connection, "ballast") or _size(connection, "headroom"):
        connection.execute("TRUNCATE ballast, headroom")
    _guard(connection, on=True)


def refuses(error: psycopg.Error) -> bool:
    """Whether it comes from those triggers."""
    return error.diag.constraint_name == "no_room"


def is_given_up(connection: _Connection) -> bool:
    """Whether reports and counts are refused."""
    cursor = connection.execute(
        "SELECT 1 FROM pg_trigger WHERE tgrelid = 'waiting'::regclass AND tgname = 'no_room' AND tgenabled <> 'D'"
    )
    return bool(cursor.fetchall())


def refuse_if_lost(connection: _Connection) -> None:
    """A server that crashed, perhaps because its disk was full, comes back with an empty ballast."""
    rows = connection.execute("SELECT bytes > pg_relation_size('ballast') FROM reserve").fetchall()
    if any(lost for (lost,) in rows):
        _guard(connection, on=True)


def fill(connection: _Connection, wanted: int, least: int, seconds: float) -> bool | None:
    """Hold the ballast, or hold it again: whether there was room, or None when the time was too short: go on later.

    First a table beside it tells how much room there is. Four fifths of that are taken, or what is wanted: reports are
    taken again, and must not meet a full disk at once. `least` may do: after a deletion much of the room is within the
    other tables.
    """
    present, given_up = _size(connection, "ballast"), is_given_up(connection)
    if present >= wanted and not given_up:
        return True
    if connection.execute("SELECT pg_try_advisory_lock(%s)", (_FILLER,)).fetchall() != [(True,)]:
        return None
    end = time.monotonic() + seconds
    try:
        lacking = max(wanted - present, 0)
        if not _grow(connection, "headroom", lacking * 5 // 4, end):
            return None
        room = _size(connection, "headroom") * 4 // 5
        connection.execute("TRUNCATE headroom")
        if present + room < min(least, wanted):
            return False
        if not _grow(connection, "ballast", present + min(room, lacking), end):
            return None
        held = _size(connection, "ballast")
        if held < min(least, wanted):
            return False
        connection.execute("UPDATE reserve SET bytes = %s", (held,))
        _guard(connection, on=False)
        if _size(connection, "ballast") < held:
            # Somebody has met a full disk meanwhile, and emptied it.
            _guard(connection, on=True)
            return False
    finally:
        with suppress(psycopg.Error):
            connection.execute("SELECT pg_advisory_unlock(%s)", (_FILLER,))
    return True


def _grow(connection: _Connection, table: str, size: int, end: float) -> bool:
    """Fill a table up to a length, or to the end of the disk; False when the time is over before."""
    while _size(connection, table) < size:
        if time.monotonic() > end:
            return False
        try:
            connection.execute(_PIECE.format(table).encode())
        except psycopg.errors.DiskFull:
            break
    return True


def _size(connection: _Connection, table: str) -> int:
    ((size,),) = connection.execute("SELECT pg_relation_size(%s::text::regclass)", (table,)).fetchall()
    return int(size)


def _guard(connection: _Connection, *, on: bool) -> None:
    if is_given_up(connection) != on:
        # One after the other: the state of the first one is read for all of them. `waiting` is therefore the last.
        for table in reversed(_GUARDED):
            connection.execute(f"ALTER TABLE {table} {'ENABLE' if on else 'DISABLE'} TRIGGER no_room".encode())

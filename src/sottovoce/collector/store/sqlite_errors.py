"""What goes wrong beneath a SQLite store, in its own words: what passes by itself, needs room, or needs a person."""

from __future__ import annotations

import sqlite3
from contextlib import suppress
from pathlib import Path
from typing import Final

from sottovoce.collector.store.reserve import is_full
from sottovoce.core.errors import StoreError, StoreFullError, StoreUnavailableError

__all__ = ["OVER_QUOTA", "move_away", "no_room", "store_error"]

OVER_QUOTA: Final = "the database has reached max_database_bytes; delete a survey, or raise the limit"


def no_room(path: Path) -> str:
    """What is wrong on a full disk, and what to do."""
    return (
        f"the disk of {path} has no room left beyond the reserve; delete a survey or make room on the disk, and "
        "reports are taken again"
    )


def store_error(error: sqlite3.Error, path: Path) -> StoreError:
    """The same error in the words of the store; what SQLite says of values is left out."""
    code = getattr(error, "sqlite_errorcode", sqlite3.SQLITE_ERROR) & 0xFF
    if code in (sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED, sqlite3.SQLITE_PROTOCOL):
        return StoreUnavailableError(f"the database {path} is locked by another process; try again")
    if code == sqlite3.SQLITE_FULL:
        return StoreFullError(
            f"the database {path} cannot grow: the disk is full, or max_database_bytes is reached; delete a survey, or "
            "make room"
        )
    if code in (sqlite3.SQLITE_IOERR, sqlite3.SQLITE_CANTOPEN):
        return _disk_error(path)
    if code in (sqlite3.SQLITE_NOTADB, sqlite3.SQLITE_CORRUPT):
        return StoreError(
            f"{path} is damaged or no SQLite database; it was left as it is: {move_away(path)} and restore a backup"
        )
    if code in (sqlite3.SQLITE_READONLY, sqlite3.SQLITE_PERM, sqlite3.SQLITE_AUTH):
        return StoreError(f"the database {path} may not be written to by this user")
    return StoreError(f"the database {path} refused: {getattr(error, 'sqlite_errorname', 'SQLITE_ERROR')}")


def _disk_error(path: Path) -> StoreError:
    with suppress(OSError):
        if is_full(path.parent):
            return StoreFullError(no_room(path))
    return StoreUnavailableError(f"the disk does not read or write {path}; look at the disk, then try again")


def move_away(path: Path) -> str:
    """What to do with a database that is in the way; one of its files without the others is none."""
    return f"move all three files away ({path.name}, {path.name}-wal, {path.name}-shm)"

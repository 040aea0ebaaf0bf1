"""What goes wrong beneath a SQLite store, in its own words: what passes by itself, needs room, or needs a person."""

from __future__ import annotations

import os
import sqlite3
from contextlib import suppress
from pathlib import Path
from typing import Final

from sottovoce.core.errors import StoreError, StoreFullError, StoreUnavailableError
from sottovoce.core.files import sync
from sottovoce.service.storage.reserve import is_full

__all__ = ["OVER_QUOTA", "create", "identity", "length", "move_away", "no_room", "store_error"]

OVER_QUOTA: Final = "the database has reached max_database_bytes; delete a survey, or raise the limit"


def no_room(path: Path) -> str:
    """What is wrong on a full disk, and what to do."""
    return (
        f"the disk of {path} has no room left beyond the reserve; delete a survey or make room on the disk, and "
        "reports are taken again"
    )


def store_error(error: sqlite3.Error, path: Path) -> StoreError:
    """The error of SQLite in the words of the store, without what SQLite says of values."""
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


def identity(path: str | Path) -> tuple[int, int]:
    """Numbers that distinguish a file from another that replaced it."""
    status = os.stat(path)
    return status.st_dev, status.st_ino


def _refuse_orphan(path: Path) -> None:
    """SQLite empties a write-ahead log whose database is missing, though it may hold all that was acknowledged."""
    # The log is looked at first: a new database is filled before there is a log.
    if length(path.with_name(f"{path.name}-wal")) and not length(path):
        raise StoreError(
            f"{path} is missing or empty, but its write-ahead log is there, with reports that may be nowhere else; "
            f"nothing was changed: put {path.name} back, or {move_away(path)}"
        )


def length(path: Path) -> int:
    """The length of a file in bytes; 0 if it does not exist."""
    try:
        return path.stat().st_size
    except FileNotFoundError:
        return 0


def create(path: Path) -> None:
    """An empty file that only its owner may read, unless there is one."""
    path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    _refuse_orphan(path)
    with suppress(FileExistsError):
        os.close(os.open(path, os.O_CREAT | os.O_EXCL | os.O_RDWR, 0o600))
        sync(path.parent)

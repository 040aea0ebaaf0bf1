"""The file of a SQLite database: made for its owner only, and never in place of one that is lost."""

from __future__ import annotations

import os
from contextlib import suppress
from pathlib import Path

from sottovoce.collector.store.sqlite_errors import move_away
from sottovoce.core.errors import StoreError
from sottovoce.core.files import sync

__all__ = ["create", "identity", "length"]


def identity(path: str | Path) -> tuple[int, int]:
    """Tells a file from another that was put in its place."""
    found = os.stat(path)
    return found.st_dev, found.st_ino


def _refuse_orphan(path: Path) -> None:
    """SQLite empties a write-ahead log whose database is missing, though it may hold all that was acknowledged."""
    # The log is looked at first: whoever is making a new database fills that before there is a log.
    if length(path.with_name(f"{path.name}-wal")) and not length(path):
        raise StoreError(
            f"{path} is missing or empty, but its write-ahead log is there, with reports that may be nowhere else; "
            f"nothing was changed: put {path.name} back, or {move_away(path)}"
        )


def length(path: Path) -> int:
    """In bytes; 0 where there is no file."""
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

"""Where the collector stores surveys, reports and counts: SQLite in a file, or PostgreSQL."""

from __future__ import annotations

from pathlib import Path
from typing import Final

from sottovoce.collector.store.base import Store
from sottovoce.core.errors import SettingsError

__all__ = ["DATABASE_FILE", "Store", "open_store"]

DATABASE_FILE: Final = "collector.db"


def open_store(database: str, data: Path, *, max_bytes: int = 0) -> Store:
    """Open the collector's database, making or upgrading it if need be.

    Parameters
    ----------
    database
        Empty for SQLite in the data folder, or a URL `postgresql://...`.
    data
        The data folder.
    max_bytes
        SQLite's quota; 0 for none.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     store = open_store("", Path(folder))
    ...     store.surveys()
    ...     store.close()
    []
    """
    if not database:
        from sottovoce.collector.store.sqlite import SqliteStore

        return SqliteStore(data / DATABASE_FILE, max_bytes=max_bytes)
    if database.startswith(("postgresql://", "postgres://")):
        from sottovoce.collector.store.postgres import PostgresStore

        return PostgresStore(database)
    # The text is not repeated: it may hold a password.
    raise SettingsError("database must be empty (SQLite in the data folder) or begin with postgresql://")

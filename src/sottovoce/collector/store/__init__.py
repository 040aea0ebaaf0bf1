"""The store of surveys, reports and counts: SQLite in a file, or PostgreSQL."""

from __future__ import annotations

from pathlib import Path
from typing import Final

from sottovoce.collector.store.base import Store, StoreSettings
from sottovoce.collector.store.object_storage import ObjectStorage
from sottovoce.core.errors import SettingsError

__all__ = ["DATABASE_FILE", "Store", "open_as_set", "open_store"]

DATABASE_FILE: Final = "collector.db"


def open_store(database: str, data: Path, *, max_bytes: int = 0, reserve_bytes: int = 0, objects: str = "") -> Store:
    """Open the collector's database, making or upgrading it if need be.

    Parameters
    ----------
    database
        Empty for SQLite in the data folder, or a URL `postgresql://...`.
    data
        The data folder.
    max_bytes
        SQLite's quota; 0 for none.
    reserve_bytes
        Room that reports cannot have; 0 for none. See `reserve`.
    objects
        The storage of the objects that segments name; empty for none.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     store = open_store("", Path(folder))
    ...     store.surveys()
    ...     store.close()
    []
    """
    # First: nothing is made where the address is wrong.
    storage = ObjectStorage(objects) if objects else None
    store = _opened(database, data, max_bytes, reserve_bytes)
    store.objects = storage
    return store


def open_as_set(settings: StoreSettings) -> Store:
    """The store of a service, for each of its processes."""
    return open_store(
        settings.database,
        settings.data,
        max_bytes=settings.max_database_bytes,
        reserve_bytes=settings.reserve_bytes,
        objects=settings.objects,
    )


def _opened(database: str, data: Path, max_bytes: int, reserve_bytes: int) -> Store:
    if not database:
        from sottovoce.collector.store.sqlite import SqliteStore

        return SqliteStore(data / DATABASE_FILE, max_bytes=max_bytes, reserve_bytes=reserve_bytes)
    if database.startswith(("postgresql://", "postgres://")):
        from sottovoce.collector.store.postgres import PostgresStore

        return PostgresStore(database, reserve_bytes=reserve_bytes)
    # The text is not repeated: it may hold a password.
    raise SettingsError("database must be empty (SQLite in the data folder) or begin with postgresql://")

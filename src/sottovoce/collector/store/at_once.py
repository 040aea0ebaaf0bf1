"""Keeping reports in SQLite without waiting: not for another process, and not for a checkpoint of the log."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable
from typing import Final, final

from sottovoce.collector.store.reports import APPEND, append_values
from sottovoce.service.storage.committer import Arrival

__all__ = ["AtOnce"]

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

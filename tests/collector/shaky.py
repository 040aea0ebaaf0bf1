"""Stores that fail on purpose, and let others in at the worst moments; for the simulation."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from sottovoce.collector.store.postgres import PostgresStore
from sottovoce.collector.store.records import Lease, NewSegment
from sottovoce.collector.store.sql import SqlStore
from sottovoce.collector.store.sqlite import SqliteStore
from sottovoce.service.storage.sql import Transaction


class Shaky(SqlStore):
    """Mixed into a real store: calls `moment` before, inside and after every transaction, which may raise there."""

    moment: Callable[[str], None] = staticmethod(lambda where: None)
    now: Callable[[], float]

    @contextmanager
    def write(self, *, growing: bool = False, freeing: bool = False) -> Iterator[Transaction]:
        self.moment("before")
        with super().write(growing=growing, freeing=freeing) as transaction:
            yield transaction
            self.moment("inside")  # everything is said, nothing committed
        self.moment("after")

    def write_one(self, statement: str, values: Sequence[Any]) -> int:
        # One statement has no inside that others could look into: that is the database's.
        self.moment("before")
        changed = super().write_one(statement, values)
        self.moment("after")
        return changed

    @contextmanager
    def read(self) -> Iterator[Transaction]:
        self.moment("before")
        with super().read() as transaction:
            yield transaction
        self.moment("after")

    def compact(self, lease: Lease, old: Sequence[int], merged: NewSegment) -> bool:
        self.moment("compact")
        return super().compact(lease, old, merged)

    def _now(self, transaction: Transaction) -> float:
        return self.now()


class ShakySqlite(Shaky, SqliteStore):
    """Without waiting for the disk: that guards against power cuts, which no test of one process can make."""

    def __init__(self, path: Path):
        super().__init__(path)

    def _connect(self) -> sqlite3.Connection:
        connection = super()._connect()
        connection.execute("PRAGMA synchronous = OFF")
        return connection


class ShakyPostgres(Shaky, PostgresStore):
    """The real server."""

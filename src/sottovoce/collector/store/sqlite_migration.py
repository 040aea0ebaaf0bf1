"""Bringing a SQLite file to the present tables, one numbered script after the other."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Iterator

from sottovoce.collector.store.migrations import missing

__all__ = ["migrate"]


def migrate(connection: sqlite3.Connection, claim: Callable[[sqlite3.Connection], object]) -> None:
    """Run the scripts that a file lacks, each in a transaction; `claim` makes it ours before the first."""
    if not missing("sqlite", _applied(connection)):
        return
    claim(connection)
    while True:
        # Asked again with the lock held: another process may have been faster.
        connection.execute("BEGIN IMMEDIATE")
        try:
            lacking = missing("sqlite", _applied(connection))
            if lacking:
                for statement in _statements(lacking[0].script):
                    connection.execute(statement)
                connection.execute("INSERT INTO migrations VALUES (?, ?)", (lacking[0].number, lacking[0].name))
            connection.execute("COMMIT")
        except BaseException:
            if connection.in_transaction:
                connection.execute("ROLLBACK")
            raise
        if not lacking:
            return


def _applied(connection: sqlite3.Connection) -> list[int]:
    if not connection.execute("SELECT 1 FROM sqlite_schema WHERE name = 'migrations'").fetchall():
        return []
    return [number for (number,) in connection.execute("SELECT number FROM migrations").fetchall()]


def _statements(script: str) -> Iterator[str]:
    """One statement after the other: executescript would commit the transaction it is in."""
    statement = ""
    for line in script.splitlines(keepends=True):
        statement += line
        if sqlite3.complete_statement(statement):
            yield statement
            statement = ""

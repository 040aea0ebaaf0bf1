"""The tables in PostgreSQL: how they are made and changed, and the encoding that they need."""

from __future__ import annotations

from typing import Final, cast

import psycopg

from sottovoce.collector.store.migrations import Migration, missing
from sottovoce.core.errors import SettingsError
from sottovoce.service.storage.sql import Row

__all__ = ["TABLES_LOCK", "migrate", "refuse_other_encodings"]

TABLES_LOCK: Final = 0x5356636F
"""The lock that is held while the tables are made, and while a survey is published or deleted."""


def refuse_other_encodings(connection: psycopg.Connection[Row]) -> None:
    """Titles and labels may be in any script. Other encodings lack letters, and SQL_ASCII returns bytes for texts."""
    encoding = connection.info.parameter_status("server_encoding")
    if encoding != "UTF8":
        raise SettingsError(
            f"the PostgreSQL database of the setting database has the encoding {encoding}, and must have UTF8; nothing "
            "was written: make another one (CREATE DATABASE name ENCODING 'UTF8' TEMPLATE template0), and name it there"
        )


def migrate(connection: psycopg.Connection[Row]) -> None:
    """Apply the migrations that the database lacks, each in a transaction, one server at a time."""
    # Asked first without a lock: an up-to-date database needs no right to change its tables.
    if not missing("postgresql", _applied(connection)):
        return
    while True:
        with connection.transaction():
            connection.execute("SELECT pg_advisory_xact_lock(%s)", (TABLES_LOCK,))
            lacking = missing("postgresql", _applied(connection))
            if not lacking:
                return
            _apply(connection, lacking[0])


def _apply(connection: psycopg.Connection[Row], migration: Migration) -> None:
    connection.execute("CREATE SCHEMA IF NOT EXISTS sottovoce")
    connection.execute("CREATE TABLE IF NOT EXISTS migrations (number bigint PRIMARY KEY, name text NOT NULL)")
    connection.execute(migration.script.encode())
    connection.execute("INSERT INTO migrations VALUES (%s, %s)", (migration.number, migration.name))


def _applied(connection: psycopg.Connection[Row]) -> list[int]:
    # Asked of the catalog's rows: to_regclass may answer from before a lock was waited for.
    there = "SELECT 1 FROM pg_tables WHERE schemaname = 'sottovoce' AND tablename = 'migrations'"
    if not connection.execute(there).fetchall():
        return []
    return [cast(int, number) for (number,) in connection.execute("SELECT number FROM sottovoce.migrations").fetchall()]

"""The file of a device's store: its identity, single name and permissions, its tables, and their earlier versions."""

from __future__ import annotations

import contextlib
import os
import secrets
import sqlite3
import stat
from pathlib import Path
from typing import Any, Final, TypeAlias

from sottovoce.core.errors import LedgerError
from sottovoce.core.files import leftover_parts
from sottovoce.core.signing import PUBLIC_KEY_BYTES
from sottovoce.device.store import SECRET_BYTES, STATES
from sottovoce.formats.wire import REPORT_ID_BYTES

__all__ = ["APPLICATION", "DAMAGED", "Identity", "create_tables", "first", "identify", "make_private", "prepare"]


Identity: TypeAlias = tuple[int, int]
"""Device and inode number of a file, independent of its name."""

_OWNER_ONLY: Final = 0o600
_OTHERS: Final = stat.S_IRWXG | stat.S_IRWXO


def identify(path: Path) -> Identity:
    """The file's identity; raises `LedgerError` if it has a second name.

    SQLite finds the journal of an interrupted transaction by the file's name: under another name it would be missed.
    """
    status = path.stat()
    if status.st_nlink > 1:
        _remove_leftover_names(path)
        status = path.stat()
    if stat.S_ISREG(status.st_mode) and status.st_nlink > 1:
        raise LedgerError(
            f"the device's store {path} has {status.st_nlink} names (hard links), and nothing is answered: keep one "
            "name and remove the others; use a symbolic link instead"
        )
    return status.st_dev, status.st_ino


def make_private(path: Path) -> None:
    """Remove the permissions of everybody but the owner; raises `OSError` if that is not possible."""
    mode = path.stat().st_mode
    if stat.S_ISREG(mode) and mode & _OTHERS:
        path.chmod(_OWNER_ONLY)


def _remove_leftover_names(path: Path) -> None:
    """Remove the temporary name of a store whose creation was interrupted."""
    for part in leftover_parts(path):
        with contextlib.suppress(FileNotFoundError):
            if os.path.samefile(part, path):
                part.unlink()


APPLICATION: Final = 0x53565F44
"""Marks the file as a device's store: "SV_D"."""

DAMAGED: Final = (
    "the device's store {path} cannot be used ({reason}). It was not changed, and nothing is answered: a device that "
    "forgets its answers would answer twice"
)

_VERSION: Final = 5

_ANSWER: Final = f"""
CREATE TABLE answer (
    number INTEGER PRIMARY KEY,
    question TEXT NOT NULL,
    survey TEXT NOT NULL UNIQUE,
    collector TEXT NOT NULL,
    key BLOB NOT NULL CHECK (length(key) = {PUBLIC_KEY_BYTES}),
    title TEXT NOT NULL,
    epsilon REAL NOT NULL CHECK (epsilon > 0),
    delta REAL NOT NULL CHECK (delta >= 0 AND delta < 1),
    day TEXT NOT NULL,
    report_id BLOB NOT NULL UNIQUE CHECK (length(report_id) = {REPORT_ID_BYTES}),
    report BLOB NOT NULL,
    state TEXT NOT NULL CHECK (state IN ({", ".join(f"'{state}'" for state in STATES)})),
    window INTEGER NOT NULL DEFAULT 1 CHECK (window >= 1),
    renews INTEGER NOT NULL DEFAULT 0 CHECK (renews IN (0, 1)),
    period TEXT NOT NULL DEFAULT '',
    closes TEXT NOT NULL DEFAULT '',
    relay TEXT NOT NULL DEFAULT '',
    UNIQUE (question, window)
) STRICT"""

_NEW_IN_2: Final = (
    f"CREATE TABLE secret (only INTEGER PRIMARY KEY CHECK (only = 1), secret BLOB NOT NULL "
    f"CHECK (length(secret) = {SECRET_BYTES})) STRICT",
    f"CREATE TABLE joined (number INTEGER PRIMARY KEY, question TEXT NOT NULL UNIQUE, collector TEXT NOT NULL, "
    f"key BLOB NOT NULL CHECK (length(key) = {PUBLIC_KEY_BYTES}), statement BLOB NOT NULL) STRICT",
    "CREATE TABLE attachment (question TEXT NOT NULL, digest TEXT NOT NULL, content BLOB NOT NULL, "
    "PRIMARY KEY (question, digest)) STRICT",
    "CREATE TABLE refused_renewals (question TEXT PRIMARY KEY) STRICT",
)

_NEW_IN_4: Final = (
    f"CREATE TABLE checkpoint (key BLOB PRIMARY KEY CHECK (length(key) = {PUBLIC_KEY_BYTES}), note TEXT NOT NULL) "
    "STRICT",
    f"CREATE TABLE conflict (number INTEGER PRIMARY KEY, collector TEXT NOT NULL, key BLOB NOT NULL "
    f"CHECK (length(key) = {PUBLIC_KEY_BYTES}), remembered TEXT NOT NULL, found TEXT NOT NULL, day TEXT NOT NULL, "
    "UNIQUE (remembered, found)) STRICT",
)

_NEW_IN_5: Final = "CREATE TABLE since (question TEXT PRIMARY KEY, moment TEXT NOT NULL) STRICT"

_KEY: Final = (
    f"CREATE TABLE key (collector TEXT PRIMARY KEY, key BLOB NOT NULL CHECK (length(key) = {PUBLIC_KEY_BYTES})) STRICT"
)

_OLD_FIELDS: Final = "number, question, survey, collector, key, title, epsilon, delta, day, report_id, report, state"


def create_tables(database: sqlite3.Connection) -> None:
    """Fill an empty file, in one transaction."""
    database.execute("BEGIN IMMEDIATE")
    for statement in (_KEY, _ANSWER, *_NEW_IN_2, *_NEW_IN_4, _NEW_IN_5):
        database.execute(statement)
    _complete(database)
    database.execute("COMMIT")


def prepare(database: sqlite3.Connection, path: Path) -> None:
    """Refuse a file that is not a store, is damaged, or was written by a later version; migrate an earlier one."""
    if first(database, "PRAGMA application_id") != APPLICATION:
        raise LedgerError(f"{path} is not a device's store; it was not changed: name another file")
    version = _version(database, path)
    if first(database, "PRAGMA integrity_check") != "ok":
        raise LedgerError(DAMAGED.format(path=path, reason="its integrity check fails"))
    if version < _VERSION:
        _migrate(database, path)


def first(database: sqlite3.Connection, query: str, *parameters: Any) -> Any:
    """The first column of the first row, or None."""
    row = database.execute(query, parameters).fetchone()
    return None if row is None else row[0]


def _version(database: sqlite3.Connection, path: Path) -> int:
    version = int(first(database, "PRAGMA user_version"))
    if not 1 <= version <= _VERSION:
        raise LedgerError(
            f"{path} has format {version}; this version reads formats 1 to {_VERSION}. It was not changed, and nothing "
            "is answered: update sottovoce"
        )
    return version


def _migrate(database: sqlite3.Connection, path: Path) -> None:
    """Migrate a store of an earlier version.

    From version 1, answers gain a window, and drawn seats stay beside the secret that gives all later ones. From
    version 2, answers gain a relay. Earlier versions must not read such a store: they would send directly.
    From version 3: the logs of collectors are remembered. Earlier versions would answer without looking at them.
    From version 4: it notes when it joined a survey. Earlier versions would answer windows that ended before.
    """
    database.execute("BEGIN IMMEDIATE")
    try:
        version = _version(database, path)  # another process may have been faster
        if version == 1:
            database.execute("ALTER TABLE answer RENAME TO earlier")
            for statement in (_ANSWER, *_NEW_IN_2, *_NEW_IN_4, _NEW_IN_5):
                database.execute(statement)
            database.execute(f"INSERT INTO answer ({_OLD_FIELDS}) SELECT {_OLD_FIELDS} FROM earlier")
            database.execute("DROP TABLE earlier")
            database.execute("ALTER TABLE seat RENAME TO drawn_seat")
            _complete(database)
        elif version < _VERSION:
            if version == 2:
                database.execute("ALTER TABLE answer ADD COLUMN relay TEXT NOT NULL DEFAULT ''")
            for statement in (*(_NEW_IN_4 if version < 4 else ()), _NEW_IN_5):
                database.execute(statement)
            database.execute(f"PRAGMA user_version = {_VERSION}")
        database.execute("COMMIT")
    except BaseException:
        if database.in_transaction:
            database.execute("ROLLBACK")
        raise


def _complete(database: sqlite3.Connection) -> None:
    database.execute("CREATE TABLE IF NOT EXISTS drawn_seat (question TEXT PRIMARY KEY, round INTEGER NOT NULL) STRICT")
    database.execute("INSERT INTO secret VALUES (1, ?)", (secrets.token_bytes(SECRET_BYTES),))
    database.execute(f"PRAGMA application_id = {APPLICATION}")
    database.execute(f"PRAGMA user_version = {_VERSION}")

"""What goes wrong beneath the store is told apart: what passes by itself, what needs room, and what needs a person."""

from __future__ import annotations

import os
import sqlite3
from pathlib import Path
from types import SimpleNamespace

import pytest

from sottovoce.collector.api import admission as tokens
from sottovoce.collector.api.admission import check_token, create_token
from sottovoce.collector.store import open_store
from sottovoce.collector.store.sqlite import SqliteStore
from sottovoce.core.errors import MissingExtraError, StoreError, StoreFullError, StoreUnavailableError
from sottovoce.estimates import table_files
from sottovoce.service.storage.sqlite_file import store_error


def room(monkeypatch: pytest.MonkeyPatch, free: int) -> None:
    monkeypatch.setattr(os, "statvfs", lambda _: SimpleNamespace(f_bavail=free, f_frsize=1))


def error_of(code: int) -> sqlite3.OperationalError:
    error = sqlite3.OperationalError("private words of the library")
    error.sqlite_errorcode, error.sqlite_errorname = code, "SQLITE_SOMETHING"
    return error


@pytest.mark.parametrize(
    ("code", "kind", "words"),
    [
        (sqlite3.SQLITE_BUSY, StoreUnavailableError, "locked by another process"),
        (sqlite3.SQLITE_BUSY_SNAPSHOT, StoreUnavailableError, "locked by another process"),
        (sqlite3.SQLITE_FULL, StoreFullError, "cannot grow"),
        (sqlite3.SQLITE_IOERR_FSYNC, StoreUnavailableError, "look at the disk"),
        (sqlite3.SQLITE_CANTOPEN, StoreUnavailableError, "look at the disk"),
        (sqlite3.SQLITE_CORRUPT, StoreError, "restore a backup"),
        (sqlite3.SQLITE_NOTADB, StoreError, "restore a backup"),
        (sqlite3.SQLITE_READONLY, StoreError, "may not be written to"),
        (sqlite3.SQLITE_CONSTRAINT, StoreError, "refused: SQLITE_SOMETHING"),
    ],
)
def test_errors_of_the_library_in_the_stores_words(
    code: int, kind: type[StoreError], words: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    room(monkeypatch, 1 << 40)
    told = store_error(error_of(code), tmp_path / "collector.db")
    assert type(told) is kind
    assert words in str(told)
    assert "private words" not in str(told)


def test_a_disk_that_fails_because_it_is_full_is_called_full(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    room(monkeypatch, 1000)
    assert type(store_error(error_of(sqlite3.SQLITE_IOERR_WRITE), tmp_path / "collector.db")) is StoreFullError


def test_a_check_looks_at_the_disk_before_it_is_full(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    store = open_store("", tmp_path)
    store.check()
    with monkeypatch.context() as patch:
        room(patch, 1000)
        with pytest.raises(StoreFullError, match="make room"):
            store.check()
    store.check()
    store.close()


def test_files_of_another_user_are_no_outage(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    store = open_store("", tmp_path)

    def refuse(*_: object) -> None:
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(os, "statvfs", refuse)
    with pytest.raises(StoreError, match="may not be read and written by this user") as refused:
        store.check()
    assert type(refused.value) is StoreError
    store.close()


def test_a_store_closed_while_somebody_reads_leaves_no_connection_open(tmp_path: Path) -> None:
    store = open_store("", tmp_path)
    assert isinstance(store, SqliteStore)
    with store.read() as transaction:
        store.close()
        assert transaction.rows("SELECT COUNT(*) FROM surveys") == [(0,)]
    connection = transaction._connection  # type: ignore[attr-defined]
    with pytest.raises(sqlite3.ProgrammingError, match="closed"):
        connection.execute("SELECT 1")


def test_an_id_that_is_taken_is_given_to_no_second_token(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    drawn = iter(["00000001", "00000001", "00000001", "00000002"])
    monkeypatch.setattr(tokens.secrets, "token_hex", lambda _: next(drawn))
    store = open_store("", tmp_path)
    first, second = (create_token(store, ["read"], "", 0) for _ in range(2))
    assert [record.id for _, record in (first, second)] == ["00000001", "00000002"]
    assert [check_token(store, presented) for presented, _ in (first, second)] == [first[1], second[1]]
    store.close()


def test_parquet_without_pyarrow_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    def missing(name: str) -> None:
        raise ImportError(name)

    monkeypatch.setattr(table_files, "import_module", missing)
    with pytest.raises(MissingExtraError, match=r"pip install 'sottovoce\[collector\]'"):
        table_files._pyarrow("pyarrow")

"""What a newer version has written is refused with both numbers and a remedy, and every byte of it stays."""

from __future__ import annotations

import contextlib
import json
import os
import sqlite3
import zipfile
from collections.abc import Callable
from pathlib import Path

import pytest

from collector.service import environment, running
from sottovoce.cli import main
from sottovoce.collector.running.backup import backup
from sottovoce.collector.store import DATABASE_FILE, open_store
from sottovoce.collector.store.migrations import latest
from sottovoce.device import Device
from sottovoce.device.sqlite_store import SqliteDeviceStore
from sottovoce.relay.store import RELAY_FILE, RelayStore

NEWER = latest("sqlite") + 1


def every_byte(folder: Path) -> dict[str, tuple[bytes, int, int]]:
    """All files below a folder, with their content, mode and time of change."""
    return {
        str(file.relative_to(folder)): (file.read_bytes(), file.stat().st_mode, file.stat().st_mtime_ns)
        for file in folder.rglob("*")
        if file.is_file()
    }


def add_migration(file: Path, number: int) -> None:
    with contextlib.closing(sqlite3.connect(file, isolation_level=None)) as database:
        database.execute("INSERT INTO migrations VALUES (?, 'of later')", (number,))


@pytest.fixture
def data(tmp_path: Path) -> Path:
    """The folder of a service of a newer version, with all the files it may hold."""
    folder = tmp_path / "data"
    open_store("", folder).close()
    for name in ("signing.key", "sealing.keys", "watermark", "reserve"):
        (folder / name).write_text(f"{name} of a newer version\n")
    add_migration(folder / DATABASE_FILE, NEWER)
    return folder


@pytest.fixture
def said(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Callable[..., str]:
    def run(*words: object) -> str:
        monkeypatch.setattr(os, "environ", environment())
        assert main([str(word) for word in words]) == 2
        out, err = capsys.readouterr()
        assert out == ""
        (line,) = err.splitlines()
        return line

    return run


@pytest.mark.parametrize(
    "words",
    [("serve", "--port", "0"), ("serve", "--only-work"), ("backup", "copy.zip")],
    ids=" ".join,
)
def test_a_folder_of_a_newer_version(
    data: Path, said: Callable[..., str], words: tuple[str, ...], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(data.parent)
    before = every_byte(data.parent)
    line = said(*words, "--data", data)
    assert f"schema {NEWER}, and this version of Sottovoce knows schema {NEWER - 1} at most" in line
    assert "nothing was changed: run the version that wrote it, or a newer one" in line
    assert every_byte(data.parent) == before


def test_a_folder_of_a_newer_version_is_not_restored_into(data: Path, tmp_path: Path, said: Callable[..., str]) -> None:
    open_store("", tmp_path / "older").close()
    backup("", tmp_path / "older", tmp_path / "older.zip")
    before = every_byte(tmp_path)
    assert f"schema {NEWER}, and this version" in said("restore", tmp_path / "older.zip", "--data", data)
    assert every_byte(tmp_path) == before


def rewritten(archive: Path, change: Callable[[dict[str, object]], object], *more: str) -> None:
    """A backup as another version would have made it, perhaps with tables that this one lacks."""
    with zipfile.ZipFile(archive) as read:
        members = {name: read.read(name) for name in read.namelist()}
    manifest = json.loads(members["manifest.json"])
    change(manifest)
    members["manifest.json"] = json.dumps(manifest).encode()
    with zipfile.ZipFile(archive, "w") as write:
        for name, content in (*members.items(), *((name, b"") for name in more)):
            write.writestr(name, content)


@pytest.mark.parametrize(
    ("change", "more", "told"),
    [
        ({"schema": NEWER}, (), f"schema {NEWER}, and this version of Sottovoce writes schema {NEWER - 1}"),
        ({"schema": NEWER, "made_by": "2.0.0"}, ("tomorrow",), f"schema {NEWER}, and this version of Sottovoce writes"),
        ({"schema": 1}, (), f"schema 1, and this version of Sottovoce writes schema {NEWER - 1}"),
        ({"format": "sottovoce backup 2"}, ("tomorrow",), "'sottovoce backup 2', and this version of Sottovoce reads"),
    ],
    ids=["newer schema", "newer tables", "older schema", "newer format"],
)
def test_a_backup_of_another_version(
    tmp_path: Path, said: Callable[..., str], change: dict[str, object], more: tuple[str, ...], told: str
) -> None:
    open_store("", tmp_path / "data").close()
    backup("", tmp_path / "data", tmp_path / "other.zip")
    rewritten(tmp_path / "other.zip", lambda manifest: manifest.update(change), *more)
    before = every_byte(tmp_path)
    line = said("restore", tmp_path / "other.zip", "--data", tmp_path / "target")
    assert told in line
    assert "nothing was written: restore it with the version that made it" in line
    assert every_byte(tmp_path) == before
    assert not (tmp_path / "target").exists()


def test_a_relays_folder_of_a_newer_version(tmp_path: Path, said: Callable[..., str]) -> None:
    folder = tmp_path / "relay"
    folder.mkdir()
    RelayStore(folder / RELAY_FILE).close()
    add_migration(folder / RELAY_FILE, 2)
    before = every_byte(folder)
    line = said("relay", "--to", "https://stats.example.org", "--port", "0", "--folder", folder)
    assert "has schema 2, and this version of Sottovoce knows schema 1 at most; nothing was changed" in line
    assert every_byte(folder) == before


def test_a_devices_store_of_a_newer_version(tmp_path: Path) -> None:
    file = tmp_path / "device.db"
    SqliteDeviceStore(file)
    with contextlib.closing(sqlite3.connect(file, isolation_level=None)) as database:
        ((present,),) = database.execute("PRAGMA user_version").fetchall()
        database.execute(f"PRAGMA user_version = {present + 1}")
    before = every_byte(tmp_path)
    with pytest.raises(
        ValueError, match=f"has format {present + 1}; this version reads formats 1 to {present}"
    ) as info:
        Device(file)
    assert "It was not changed, and nothing is answered: update sottovoce" in str(info.value)
    assert every_byte(tmp_path) == before


def test_what_a_killed_service_left_survives_an_older_version(tmp_path: Path, said: Callable[..., str]) -> None:
    """The write-ahead log may hold what is not in the database yet: nothing of it may be lost on the way back."""
    data = tmp_path / "data"
    with (
        running(data, "--workers", "0") as service,
        contextlib.closing(sqlite3.connect(data / DATABASE_FILE, isolation_level=None)) as database,
    ):
        database.execute("INSERT INTO migrations VALUES (?, 'of later')", (NEWER,))
        tables = list(database.iterdump())
        service.kill()
        log = (data / f"{DATABASE_FILE}-wal").read_bytes()
        assert log
    (data / f"{DATABASE_FILE}-wal").write_bytes(log)  # which the last connection of this test has emptied
    assert f"schema {NEWER}, and this version" in said("serve", "--port", "0", "--data", data)
    with contextlib.closing(sqlite3.connect(data / DATABASE_FILE)) as database:
        assert list(database.iterdump()) == tables

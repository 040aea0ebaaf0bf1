"""One store, one file, one name: however it is linked, renamed, replaced or opened up, nobody answers twice."""

from __future__ import annotations

import os
import sqlite3
import stat
import subprocess
import sys
from pathlib import Path

import pytest

from device.conftest import MakeDevice
from device.played import Played
from sottovoce.core.errors import LedgerError
from sottovoce.device import Device, SqliteDeviceStore, sqlite_store
from sottovoce.surveys.survey import Survey

READER = """
import sqlite3, sys
database = sqlite3.connect(sys.argv[1])
database.execute("SELECT count(*) FROM answer").fetchall()
print("reading", flush=True)
sys.stdin.read()
"""


def test_what_was_answered_is_in_the_file_itself(
    played: Played, survey: Survey, device: MakeDevice, tmp_path: Path
) -> None:
    """Somebody else has the file open all the time and is killed; then the file alone is moved."""
    path = tmp_path / "device.db"
    mine = device(path)
    reader = subprocess.Popen(
        [sys.executable, "-c", READER, str(path)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )
    assert reader.stdout is not None
    assert reader.stdout.readline() == "reading\n"
    mine.answer(played.url, survey.id, 7)
    reader.kill()
    reader.communicate()
    (tmp_path / "elsewhere").mkdir()
    path.rename(tmp_path / "elsewhere" / "phone.db")
    assert device(tmp_path / "elsewhere" / "phone.db").answer(played.url, survey.id, 8).state == "sent"
    assert len(set(played.reports(survey))) == 1


def test_nothing_is_left_beside_the_file(played: Played, survey: Survey, device: MakeDevice, tmp_path: Path) -> None:
    database = sqlite3.connect(tmp_path / "device.db") if device() else None
    assert database is not None
    device().answer(played.url, survey.id, 7)
    assert [file.name for file in tmp_path.iterdir()] == ["device.db"]
    database.close()


def test_commits_are_synced_with_their_folder(tmp_path: Path) -> None:
    with SqliteDeviceStore(tmp_path / "device.db")._writing() as database:
        assert database.execute("PRAGMA synchronous").fetchone() == (3,)
        assert database.execute("PRAGMA journal_mode").fetchone() == ("delete",)


def test_a_store_with_a_log_beside_it_is_taken_over(
    played: Played, survey: Survey, device: MakeDevice, tmp_path: Path
) -> None:
    device().answer(played.url, survey.id, 7)
    database = sqlite3.connect(tmp_path / "device.db")
    database.execute("PRAGMA journal_mode = WAL")
    database.close()
    assert device().answer(played.url, survey.id, 8).state == "sent"
    assert [file.name for file in tmp_path.iterdir()] == ["device.db"]
    assert len(set(played.reports(survey))) == 1


def test_a_second_name_is_refused(played: Played, survey: Survey, device: MakeDevice, tmp_path: Path) -> None:
    mine, path = device(), tmp_path / "device.db"
    os.link(path, tmp_path / "second.db")
    with pytest.raises(LedgerError, match="hard links"):
        mine.answer(played.url, survey.id, 7)
    for name in ("device.db", "second.db"):
        with pytest.raises(LedgerError, match="hard links"):
            device(tmp_path / name)
    assert played.requests == []
    (tmp_path / "second.db").unlink()
    assert mine.answer(played.url, survey.id, 7).state == "sent"


def test_killed_while_the_store_was_made(played: Played, survey: Survey, tmp_path: Path) -> None:
    """Then the store still has the name it was made under; that one goes, and nothing else that looks like it."""
    path = tmp_path / "device.db"
    program = (
        "import os, sys; from pathlib import Path; from sottovoce.device import SqliteDeviceStore\n"
        "Path.unlink = lambda *_, **__: os._exit(9)\n"
        "SqliteDeviceStore(sys.argv[1])"
    )
    assert subprocess.run([sys.executable, "-c", program, str(path)], check=False).returncode == 9
    assert path.stat().st_nlink == 2
    other = tmp_path / ".device.db.0123456789abcdef.part"
    other.write_text("something else")
    with Device(path) as mine:
        assert mine.answer(played.url, survey.id, 7).state == "sent"
    assert sorted(file.name for file in tmp_path.iterdir()) == [other.name, path.name]


@pytest.mark.parametrize("where", ["moved away", "removed"])
def test_another_file_under_the_same_name(
    played: Played, survey: Survey, device: MakeDevice, tmp_path: Path, where: str
) -> None:
    """Where the old one is removed, the new one often gets its number: what it has answered tells them apart."""
    path = tmp_path / "device.db"
    mine = device(path)
    mine.answer(played.url, survey.id, 7, send=False)
    if where == "moved away":
        path.rename(tmp_path / "old.db")
    else:
        path.unlink()
    SqliteDeviceStore(path)
    for call in (lambda: mine.answer(played.url, survey.id, 7), lambda: mine.ledger, mine.flush):
        with pytest.raises(LedgerError, match="not the file that this device opened first"):
            call()
    assert played.bodies == []


def test_another_file_that_has_answered_as_little(
    played: Played, survey: Survey, device: MakeDevice, tmp_path: Path
) -> None:
    mine = device()
    (tmp_path / "device.db").rename(tmp_path / "old.db")
    SqliteDeviceStore(tmp_path / "device.db")
    with pytest.raises(LedgerError, match="not the file that this device opened first"):
        mine.answer(played.url, survey.id, 7)
    assert played.requests == []


def test_an_older_copy_put_back_is_noticed(played: Played, survey: Survey, device: MakeDevice, tmp_path: Path) -> None:
    mine, path = device(), tmp_path / "device.db"
    before = path.read_bytes()
    mine.answer(played.url, survey.id, 7, send=False)
    path.write_bytes(before)
    with pytest.raises(LedgerError, match="not the file that this device opened first"):
        mine.answer(played.url, survey.id, 7)
    assert played.bodies == []


@pytest.mark.parametrize("mode", [0o644, 0o660, 0o666, 0o777, 0o604])
def test_what_others_may_read_becomes_private(device: MakeDevice, tmp_path: Path, mode: int) -> None:
    path = tmp_path / "device.db"
    device()
    path.chmod(mode)
    device()
    assert stat.S_IMODE(path.stat().st_mode) == 0o600


def test_what_cannot_be_made_private_is_refused(
    device: MakeDevice, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    device()
    (tmp_path / "device.db").chmod(0o644)

    def not_the_owner(*_: object, **__: object) -> None:
        raise PermissionError(1, "Operation not permitted")

    monkeypatch.setattr(Path, "chmod", not_the_owner)
    with pytest.raises(LedgerError, match="not permitted"):
        device()


def test_a_journal_that_stays_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A log that somebody else keeps open cannot be ended; then nothing is answered."""
    path = tmp_path / "device.db"
    SqliteDeviceStore(path)
    database = sqlite3.connect(path, isolation_level=None)
    database.execute("PRAGMA journal_mode = WAL")
    database.execute("BEGIN")
    database.execute("SELECT count(*) FROM answer").fetchall()
    monkeypatch.setattr(sqlite_store, "_WAIT_SECONDS", 0.05)
    with pytest.raises(LedgerError):
        SqliteDeviceStore(path)
    database.close()
    assert SqliteDeviceStore(path).answers() == []

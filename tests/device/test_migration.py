"""Stores of the first format: everything in them survives, whatever interrupts the migration, and however often."""

from __future__ import annotations

import os
import shutil
import sqlite3
import subprocess
import sys
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

import sottovoce as sv
from device.desk import URL, Desk, secret_for
from device.played import Played
from sottovoce.core.errors import LedgerError
from sottovoce.device import Device, SqliteDeviceStore
from sottovoce.device.turns import seat_in

START = datetime(2027, 1, 4, tzinfo=UTC)

FIRST_FORMAT = """
CREATE TABLE key (collector TEXT PRIMARY KEY, key BLOB NOT NULL CHECK (length(key) = 32)) STRICT;
CREATE TABLE seat (question TEXT PRIMARY KEY, round INTEGER NOT NULL CHECK (round >= 1)) STRICT;
CREATE TABLE answer (
    number INTEGER PRIMARY KEY,
    question TEXT NOT NULL UNIQUE,
    survey TEXT NOT NULL UNIQUE,
    collector TEXT NOT NULL,
    key BLOB NOT NULL CHECK (length(key) = 32),
    title TEXT NOT NULL,
    epsilon REAL NOT NULL CHECK (epsilon > 0),
    delta REAL NOT NULL CHECK (delta >= 0 AND delta < 1),
    day TEXT NOT NULL,
    report_id BLOB NOT NULL UNIQUE CHECK (length(report_id) = 16),
    report BLOB NOT NULL,
    state TEXT NOT NULL CHECK (state IN ('unsent', 'sent', 'refused'))
) STRICT;
PRAGMA application_id = 1398169412;
PRAGMA user_version = 1;
"""
"""As the first version wrote it."""

PINNED = bytes(range(32))
PANEL = "ef" * 32
ROWS = [
    (
        3,
        "ab" * 32,
        "ab" * 32,
        "https://a.example",
        PINNED,
        "Colours",
        0.1,
        0.0,
        "2026-01-02",
        b"1" * 16,
        b"\0x",
        "sent",
    ),
    (5, "cd" * 32, "dc" * 32, "https://a.example", PINNED, "Soups, round 7", 2.0, 1e-7, "", b"2" * 16, b"y", "unsent"),
    (6, "12" * 32, "12" * 32, "https://b.example", bytes(32), "", 1.0, 0.0, "2026-03-04", b"3" * 16, b"z", "refused"),
]


def old_store(path: Path, rows: list[tuple[object, ...]] = ROWS) -> None:
    database = sqlite3.connect(path)
    database.executescript(FIRST_FORMAT)
    database.execute("INSERT INTO key VALUES ('https://a.example', ?)", (PINNED,))
    database.execute("INSERT INTO seat VALUES (?, 7)", (PANEL,))
    database.executemany(f"INSERT INTO answer VALUES ({','.join('?' * 12)})", rows)
    database.commit()
    database.close()


def check_everything_is_there(store: SqliteDeviceStore) -> None:
    kept = store.answers()
    assert [(a.question, a.survey, a.collector, a.key, a.title) for a in kept] == [row[1:6] for row in ROWS]
    assert [(a.epsilon, a.delta, a.day, a.report_id, a.report, a.state) for a in kept] == [row[6:] for row in ROWS]
    assert {(a.window, a.renews, a.period, a.closes) for a in kept} == {(1, False, "", "")}
    assert store.pinned("https://a.example") == PINNED
    assert store.drawn_seat(PANEL) == 7
    assert seat_in(store, PANEL, 1, 60_000) == 7, "a seat that was drawn stays"
    assert len(store.secret()) == 32
    assert store.joined() == []


def test_everything_survives(tmp_path: Path) -> None:
    old_store(tmp_path / "device.db")
    store = SqliteDeviceStore(tmp_path / "device.db")
    check_everything_is_there(store)
    secret = store.secret()
    again = SqliteDeviceStore(tmp_path / "device.db")
    check_everything_is_there(again)
    assert again.secret() == secret
    with sqlite3.connect(tmp_path / "device.db") as database:
        assert database.execute("PRAGMA user_version").fetchone() == (5,)
        names = {name for (name,) in database.execute("SELECT name FROM sqlite_master WHERE type = 'table'")}
    new = SqliteDeviceStore(tmp_path / "new.db")
    assert new.secret() != secret
    with sqlite3.connect(tmp_path / "new.db") as database:
        assert {name for (name,) in database.execute("SELECT name FROM sqlite_master WHERE type = 'table'")} == names


def test_answers_of_the_second_format_gain_no_relay(played: Played, tmp_path: Path) -> None:
    """That format had no relays, and whatever is unsent in it goes directly."""
    survey = sv.Survey(sv.shares(5), epsilon=1.0)
    with Device(tmp_path / "device.db") as device:
        device.answer(played.url, played.publish(survey), 3, send=False)
    before = SqliteDeviceStore(tmp_path / "device.db").answers()
    with sqlite3.connect(tmp_path / "device.db") as database:
        database.execute("ALTER TABLE answer DROP COLUMN relay")
        for table in ("checkpoint", "conflict", "since"):
            database.execute(f"DROP TABLE {table}")
        database.execute("PRAGMA user_version = 2")
    database.close()
    store = SqliteDeviceStore(tmp_path / "device.db")
    assert store.answers() == before
    assert [answer.relay for answer in before] == [""]
    with Device(store) as device:
        assert [receipt.state for receipt in device.flush()] == ["sent"]


def test_a_store_of_the_third_format_remembers_logs_from_now_on(tmp_path: Path) -> None:
    with Device(tmp_path / "device.db") as device:
        assert device.ledger.conflicts == ()
    with sqlite3.connect(tmp_path / "device.db") as database:
        for table in ("checkpoint", "conflict", "since"):
            database.execute(f"DROP TABLE {table}")
        database.execute("PRAGMA user_version = 3")
    database.close()
    store = SqliteDeviceStore(tmp_path / "device.db")
    assert store.checkpoint(PINNED) is None
    assert store.remember(PINNED, None, "a note")
    assert SqliteDeviceStore(tmp_path / "device.db").checkpoint(PINNED) == "a note"


def test_a_store_of_the_fourth_format_joins_when_it_is_first_used(tmp_path: Path) -> None:
    """It does not say when it joined: what ended before this version saw it is not answered, what comes later is."""
    asked = sv.Tracking(sv.shares(["no", "yes"]), epsilon=1.0, every="day", starts=START.date(), renews=4, grace=4)
    desk = Desk(START, asked)
    path = tmp_path / "device.db"
    desk.device(SqliteDeviceStore(path), lambda: desk.now).join(URL, asked.id)
    with sqlite3.connect(path) as database:
        database.execute("DROP TABLE since")
        database.execute("UPDATE secret SET secret = ?", (secret_for(asked, [4, 1]),))
        database.execute("PRAGMA user_version = 4")
    database.close()
    store = SqliteDeviceStore(path)
    device = desk.device(store, lambda: desk.now)
    desk.now = START + timedelta(days=5.5)
    assert [due.period.number for due in device.due()] == [5]
    assert store.since(asked.id) is None, "nobody has confirmed the clock"
    device.answer_due(lambda due: "yes")
    assert [answer.window for answer in store.answers()] == [2]
    assert SqliteDeviceStore(path).since(asked.id) == desk.now
    desk.now = START + timedelta(days=3.5)
    assert device.due() == []


def test_what_was_unsent_is_sent_with_the_same_bytes_and_what_was_answered_is_not_answered_again(
    played: Played, tmp_path: Path
) -> None:
    survey = sv.Survey(sv.shares(2**40), epsilon=1.0, mechanism="hadamard")
    played.publish(survey)
    report = survey.randomize(7)
    row = (1, survey.id, survey.id, played.url, played.key.public, "T", 1.0, 0.0, "", b"r" * 16, report, "unsent")
    old_store(tmp_path / "device.db", [row])
    with Device(tmp_path / "device.db", budget=1.5) as device:
        assert (device.ledger.spent, len(device.ledger)) == (1.0, 1)
        assert device.answer(played.url, survey.id, 8).state == "sent"
        assert played.reports(survey) == [b"r" * 16 + report]
        other = played.publish(sv.Survey(sv.shares(5), epsilon=1.0))
        with pytest.raises(sv.errors.BudgetError):
            device.answer(played.url, other, 1)


def test_a_damaged_old_store_is_not_migrated(tmp_path: Path) -> None:
    path = tmp_path / "device.db"
    old_store(path)
    raw = bytearray(path.read_bytes())
    raw[-4096:-4000] = b"\xa5" * 96
    path.write_bytes(raw)
    with pytest.raises(LedgerError, match="cannot be used"):
        SqliteDeviceStore(path)
    assert path.read_bytes() == raw


DYING = """
import os, shutil, sqlite3, sys
from sottovoce.device import SqliteDeviceStore

old, folder = sys.argv[1:]

class Dying(sqlite3.Connection):
    left = 0
    def execute(self, *given):
        if Dying.left == 0:
            os._exit(9)
        Dying.left -= 1
        return super().execute(*given)

real = sqlite3.connect
sqlite3.connect = lambda *given, **named: real(*given, factory=Dying, **named)
steps = 0
while True:
    path = f"{folder}/{steps}.db"
    shutil.copy(old, path)
    child = os.fork()
    if child == 0:
        Dying.left = steps
        SqliteDeviceStore(path)
        os._exit(0)
    if os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0:
        break
    steps += 1
print(steps)
"""


def test_killed_before_every_statement_of_the_migration(tmp_path: Path) -> None:
    """The store is then the old one or the new one, and the next to open it finds everything."""
    old_store(tmp_path / "old.db")
    folder = tmp_path / "killed"
    folder.mkdir()
    words = [sys.executable, "-c", DYING, str(tmp_path / "old.db"), str(folder)]
    done = subprocess.run(words, capture_output=True, text=True, check=True)
    steps = int(done.stdout)
    assert steps > 12, "every statement of the migration was tried"
    versions = []
    for step in range(steps + 1):
        path = folder / f"{step}.db"
        with sqlite3.connect(path) as database:
            versions += database.execute("PRAGMA user_version").fetchone()
            assert database.execute("SELECT count(*) FROM answer").fetchone() == (3,)
        database.close()
        check_everything_is_there(SqliteDeviceStore(path))
    assert versions == sorted(versions)
    assert set(versions) == {1, 5}


OPENING = """
import sys
from sottovoce.device import SqliteDeviceStore
print("ready", flush=True)
sys.stdin.readline()
print(SqliteDeviceStore(sys.argv[1]).secret().hex())
"""


def test_several_processes_migrate_at_once(tmp_path: Path) -> None:
    """One of them does it; all have one secret."""
    path = tmp_path / "device.db"
    old_store(path)
    started = [
        subprocess.Popen(
            [sys.executable, "-c", OPENING, str(path)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        )
        for _ in range(4)
    ]
    for process in started:
        assert process.stdout is not None
        assert process.stdout.readline() == "ready\n"
    for process in started:
        assert process.stdin is not None
        process.stdin.write("\n")
        process.stdin.flush()
    secrets = {process.communicate()[0] for process in started}
    assert secrets == {SqliteDeviceStore(path).secret().hex() + "\n"}
    check_everything_is_there(SqliteDeviceStore(path))


def test_a_restored_copy_takes_the_same_seats(tmp_path: Path) -> None:
    path = tmp_path / "device.db"
    store = SqliteDeviceStore(path)
    shutil.copy(path, tmp_path / "backup.db")
    seats = [seat_in(store, PANEL, window, 60_000) for window in range(1, 5)]
    os.replace(tmp_path / "backup.db", path)
    restored = SqliteDeviceStore(path)
    assert [seat_in(restored, PANEL, window, 60_000) for window in range(1, 5)] == seats
    assert len(set(seats)) > 1, "of 60,000 each"

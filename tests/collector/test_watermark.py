"""A database whose log was cut, or that was put back to an earlier state, is noticed at the next start."""

from __future__ import annotations

import contextlib
import os
import secrets
import shutil
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

import sottovoce as sv
from collector.places import Place
from collector.service import Service, running, until
from sottovoce.collector.running.backup import backup, restore
from sottovoce.collector.running.serve import _watermark
from sottovoce.collector.settings import Settings
from sottovoce.collector.store import Store
from sottovoce.collector.store.records import SurveyRecord
from sottovoce.collector.store.sql import SqlStore
from sottovoce.core.errors import StoreUnavailableError
from sottovoce.core.signing import SigningKey
from sottovoce.service.running.watermark import WATERMARK_FILE, Watermark
from sottovoce.service.storage.committer import Arrival
from sottovoce.surveys.survey import Survey

SURVEY = Survey(sv.shares(["tea", "coffee", "water"]), epsilon=2.0, title="What do you drink?")
KEY = SigningKey(bytes(32))


def send(store: Store, times: int) -> None:
    record = SurveyRecord(SURVEY.id, SURVEY.canonical, bytes(64), "", SURVEY.kind, SURVEY.epsilon, 1, 0)
    store.publish(record, {})
    for _ in range(times):
        row = secrets.token_bytes(16) + SURVEY.randomize("tea")[4:]
        assert store.append([Arrival(SURVEY.id, 1, 1, row)]) == [None]


def lines(caplog: pytest.LogCaptureFixture) -> list[str]:
    said = [record.getMessage() for record in caplog.records]
    caplog.clear()
    return said


def test_a_database_that_goes_on_is_compared_in_silence(place: Place, caplog: pytest.LogCaptureFixture) -> None:
    with contextlib.closing(place.open()) as store:
        place.data.mkdir(exist_ok=True)
        watermark = Watermark(place.data, KEY, store)
        assert store.last_number() == 0
        assert watermark.compare() == 0
        send(store, 3)
        assert store.last_number() == 3
        watermark.advance()
        content = (place.data / WATERMARK_FILE).read_bytes()
        assert content.startswith(b"3 ")
        # Checks, and others on the same database, leave no trace that looks like a loss.
        store.check()
        send(store, 2)
        assert Watermark(place.data, KEY, store).compare() == 0
        # Neither the file nor the folder's list of it tells a time.
        assert (place.data / WATERMARK_FILE).stat().st_mtime == 0
        assert (place.data / WATERMARK_FILE).stat().st_mode & 0o077 == 0
    assert lines(caplog) == []


def test_numbers_that_went_back_are_told_with_both_numbers(place: Place, caplog: pytest.LogCaptureFixture) -> None:
    with contextlib.closing(place.open()) as store:
        assert isinstance(store, SqlStore)
        place.data.mkdir(exist_ok=True)
        send(store, 5)
        watermark = Watermark(place.data, KEY, store)
        watermark.advance()
        with store.write() as transaction:
            if place.database:
                transaction.rows("SELECT setval('waiting_number_seq', 2)")
            else:
                transaction.run("UPDATE sqlite_sequence SET seq = 2 WHERE name = 'waiting'")
        again = Watermark(place.data, KEY, store)
        assert again.compare() == 3
        (line,) = lines(caplog)
        assert "lost acknowledged reports: it was at number 5, and is at 2" in line
        assert again.compare() == 0
        assert lines(caplog) == []


@pytest.mark.parametrize(
    "content", [b"", b"9\n", b"9 " + b"0" * 64 + b"\n", b"\xff" * 300, b"-1 0", b"9" * 250], ids=repr
)
def test_a_damaged_file_is_said_and_replaced(tmp_path: Path, content: bytes, caplog: pytest.LogCaptureFixture) -> None:
    with contextlib.closing(Place("", tmp_path).open()) as store:
        send(store, 2)
        (tmp_path / WATERMARK_FILE).write_bytes(content)
        (tmp_path / f".{WATERMARK_FILE}.{'0' * 16}.part").write_bytes(b"left by a crash")
        assert Watermark(tmp_path, KEY, store).compare() == 0
        (line,) = lines(caplog)
        assert "is damaged, or sealed with another signing key" in line
        # A seal is the key's own: a copied folder with another key cannot pass for this one.
        assert Watermark(tmp_path, SigningKey(bytes([1]) * 32), store).compare() == 0
        assert len(lines(caplog)) == 1
        assert not list(tmp_path.glob(".watermark*"))


def test_a_file_that_cannot_be_read_is_said(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    (tmp_path / WATERMARK_FILE).mkdir()
    with contextlib.closing(Place("", tmp_path).open()) as store:
        watermark = Watermark(tmp_path, KEY, store)
        assert watermark.compare() == 0
        assert "cannot be read" in lines(caplog)[0]
        with pytest.raises(OSError, match="directory"):
            watermark.advance()


def test_a_loss_is_told_when_the_database_could_not_be_asked_at_first_and_the_disk_is_full(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    numbers = SimpleNamespace(last_number=lambda: 7)
    Watermark(tmp_path, KEY, numbers).advance()
    missing: list[int] = []
    service: Any = SimpleNamespace(
        key=KEY,
        store=numbers,
        metrics=SimpleNamespace(found_missing=missing.append),
        committer=SimpleNamespace(statistics=SimpleNamespace(reports=0)),
        watch=SimpleNamespace(every=lambda seconds, task, failing: None),
    )

    def away() -> int:
        raise StoreUnavailableError("it only follows another")

    numbers.last_number = away
    go_on = _watermark(Settings(data=tmp_path), service)
    go_on()
    assert missing == []
    numbers.last_number = lambda: 4
    with monkeypatch.context() as full:
        full.setattr(Watermark, "_write", lambda *_: os.open(tmp_path / "no" / "room", os.O_CREAT))
        go_on()
        go_on()
    assert missing == [3]
    assert len(lines(caplog)) == 1
    go_on()
    assert missing == [3]
    assert (tmp_path / WATERMARK_FILE).read_bytes().startswith(b"4 ")


def batch(n: int) -> list[tuple[bytes, bytes]]:
    return [(secrets.token_bytes(16), SURVEY.randomize("tea")) for _ in range(n)]


def missing(service: Service) -> float:
    text = service.ask("GET", "/metrics").body.decode()
    return float(text.partition("\nsottovoce_missing_numbers ")[2].split()[0])


def test_a_service_whose_log_was_cut_starts_and_says_so(tmp_path: Path) -> None:
    data, copy = tmp_path / "data", tmp_path / "copy"
    flags = ("--workers", "0", "--log-level", "warning")
    with running(data, *flags) as first:
        first.publish(SURVEY)
        assert first.send(SURVEY, batch(3)).status == 200
        assert missing(first) == 0
        assert first.stop() == 0
    marked = (data / WATERMARK_FILE).read_bytes()
    assert not marked.startswith(b"0 ")
    with running(data, *flags, token=first.token) as second:
        assert missing(second) == 0
        assert second.send(SURVEY, batch(3)).status == 200
        until(lambda: (data / WATERMARK_FILE).read_bytes() != marked, "how far the database has come is noted")
        backup("", data, tmp_path / "monday")
    os.truncate(data / "collector.db-wal", 0)
    (data / "collector.db-shm").unlink()
    before = second.log.read_text()
    assert "lost" not in before
    with running(data, *flags, token=first.token) as third:
        assert third.ask("GET", "/readyz").status == 200
        assert missing(third) == 1
        assert third.log.read_text().count("the database has lost acknowledged reports") == 1
    # What was restored knowingly is no loss.
    copy.mkdir()
    for name in ("signing.key", WATERMARK_FILE):
        shutil.copy(data / name, copy / name)
    restore(tmp_path / "monday", "", copy)
    assert not (copy / WATERMARK_FILE).exists()

"""The service says that it is ready when reports can be stored, and not otherwise; being asked costs it little."""

from __future__ import annotations

import asyncio
import contextlib
import secrets
import sqlite3
import threading
import time
from collections.abc import Sequence
from pathlib import Path

import pytest

import sottovoce as sv
from collector.client import DRINKS, honest
from collector.client import running as in_process
from collector.places import OwnServer, Place
from collector.service import Service, running, until
from sottovoce.core.errors import StoreError, StoreFullError, StoreUnavailableError
from sottovoce.service.storage import readiness as module
from sottovoce.service.storage.committer import Arrival, Closed
from sottovoce.service.storage.readiness import Readiness
from sottovoce.surveys.survey import Survey

SURVEY = Survey(sv.shares(["tea", "coffee", "water"]), epsilon=2.0, title="What do you drink?")


def batch(n: int) -> list[tuple[bytes, bytes]]:
    return [(secrets.token_bytes(16), SURVEY.randomize("tea")) for _ in range(n)]


class Checks:
    """A store that is only checked."""

    def __init__(self) -> None:
        self.error: Exception | None = None
        self.thorough: list[bool] = []
        self.goes_on = threading.Event()
        self.goes_on.set()

    def check(self, *, thorough: bool = False) -> None:
        self.thorough.append(thorough)
        self.goes_on.wait(60)
        if self.error is not None:
            raise self.error

    def append(self, arrivals: Sequence[Arrival]) -> list[Closed | None]:
        if self.error is not None:
            raise self.error
        return [None]


# --- one probe for everybody --------------------------------------------------------------------


def test_many_who_ask_share_a_probe_and_its_result_lasts_a_second() -> None:
    now, store = [0.0], Checks()
    readiness = Readiness(store, lambda: False, clock=lambda: now[0])

    async def ask() -> list[StoreError | None]:
        return await asyncio.gather(*(readiness.fault() for _ in range(50)))

    assert asyncio.run(ask()) == [None] * 50
    assert asyncio.run(ask()) == [None] * 50
    assert len(store.thorough) == 1
    store.error = StoreFullError("full")
    assert asyncio.run(ask()) == [None] * 50
    now[0] = 1.5
    assert asyncio.run(ask()) == [store.error] * 50
    assert store.thorough == [False] * 2
    readiness.close()


def test_a_probe_that_hangs_is_an_answer_and_no_second_one_is_begun(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "_PATIENCE", 0.01)
    store = Checks()
    store.goes_on.clear()
    readiness = Readiness(store, lambda: False)
    for _ in range(5):
        fault = asyncio.run(readiness.fault())
        assert isinstance(fault, StoreUnavailableError)
    assert len(store.thorough) == 1
    store.goes_on.set()
    readiness.close()
    hanging = Readiness(store, lambda: True)
    assert isinstance(asyncio.run(hanging.fault()), StoreUnavailableError)
    hanging.close()


def test_a_probe_that_fails_in_an_unforeseen_way_is_no_readiness(caplog: pytest.LogCaptureFixture) -> None:
    store = Checks()
    store.error = ZeroDivisionError("private")
    readiness = Readiness(store, lambda: False)
    assert isinstance(asyncio.run(readiness.fault()), StoreError)
    readiness.close()
    assert "private" not in caplog.text


# --- groups of reports --------------------------------------------------------------------------


def test_a_failed_group_counts_until_one_is_stored_or_a_commit_succeeds_later() -> None:
    now, store = [0.0], Checks()
    readiness = Readiness(store, lambda: False, clock=lambda: now[0])
    watched = readiness.watching(store)
    for ending in ("stored", "committed"):
        store.error = StoreError("damaged")
        with pytest.raises(StoreError, match="damaged"):
            watched.append([])
        store.error = None
        now[0] += 5
        assert str(asyncio.run(readiness.fault())) == "damaged"  # a probe alone does not outweigh it yet
        assert store.thorough[-1]
        if ending == "stored":
            watched.append([])
        now[0] += 6
        assert asyncio.run(readiness.fault()) is None
    readiness.close()


def test_an_unavailable_database_is_tried_less_and_less_often() -> None:
    now, store = [0.0], Checks()
    readiness = Readiness(store, lambda: False, clock=lambda: now[0])
    watched = readiness.watching(store)
    store.error = StoreUnavailableError("away")
    tried = 0
    for _ in range(1000):
        now[0] += 0.01
        with pytest.raises(StoreUnavailableError) as refused:
            watched.append([])
        tried += refused.value is store.error
    assert 3 < tried < 25
    store.error, now[0] = None, now[0] + 2.0
    watched.append([])
    watched.append([])
    readiness.close()


# --- real stores --------------------------------------------------------------------------------


def test_a_check_leaves_everything_as_it_was(place: Place) -> None:
    with contextlib.closing(place.open()) as store, in_process(place.data, store=store) as api:
        for thorough in (False, True):
            store.check(thorough=thorough)
        api.publish(DRINKS)
        api.send(DRINKS, honest(DRINKS, "tea", 3))
        for thorough in (False, True):
            store.check(thorough=thorough)
        assert store.waiting(DRINKS.id) == 3
        assert store.append([Arrival(DRINKS.id, 1, 1, bytes(17))]) == [None]


def overwritten(data: Path) -> None:
    """Garbage in the pages of the waiting list and of its index, as a broken disk leaves it."""
    with sqlite3.connect(data / "collector.db") as connection:
        ((size,),) = connection.execute("PRAGMA page_size")
        roots = connection.execute("SELECT rootpage FROM sqlite_schema WHERE tbl_name = 'waiting'").fetchall()
        connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    connection.close()
    with (data / "collector.db").open("r+b") as file:
        for (page,) in roots:
            file.seek((page - 1) * size)
            file.write(b"\xa5" * size)


def test_with_damaged_pages_the_service_is_not_ready_and_says_why_once(tmp_path: Path) -> None:
    data = tmp_path / "data"
    with running(data, "--log-level", "warning") as service:
        service.publish(SURVEY)
        assert service.send(SURVEY, batch(10)).status == 200
        service.counted(SURVEY, SURVEY.mechanism.report_bytes)
        assert service.ask("GET", "/readyz").status == 200
        overwritten(data)
        with sqlite3.connect(data / "collector.db") as other:
            # Another connection's commit: pages that were read before are no longer trusted.
            other.execute("UPDATE leases SET expires = expires")
        other.close()
        told = until(lambda: refused_by(service), "reports are refused")
        assert told["code"] == "store_failed"
        answer = until(lambda: not_ready(service), "the service says that it is not ready")
        assert answer["code"] == "not_ready"
        assert "may be damaged" in answer["message"]
        assert not any(word in answer["message"] for word in (str(tmp_path), "collector.db", "SQLITE"))
        for _ in range(50):
            service.send(SURVEY, batch(1))
        log = service.log.read_text()
    assert log.count("reports cannot be stored: ") == 1
    assert "is damaged or no SQLite database" in log
    assert "restore a backup" in log
    assert log.count("the store failed") <= 3


def refused_by(service: Service) -> dict[str, str] | None:
    answer = service.send(SURVEY, batch(1))
    return answer.json["error"] if answer.status == 503 else None


def not_ready(service: Service) -> dict[str, str] | None:
    answer = service.ask("GET", "/readyz")
    return answer.json["error"] if answer.status == 503 else None


@pytest.mark.slow
def test_a_database_away_for_seconds_under_polling_is_a_handful_of_lines(
    tmp_path: Path, own_postgresql: OwnServer
) -> None:
    with running(tmp_path / "data", database=own_postgresql.url) as service:
        service.publish(SURVEY)
        assert service.send(SURVEY, batch(5)).status == 200
        until(lambda: service.ask("GET", "/readyz").status == 200, "the service is ready")
        before = len(service.log.read_text().splitlines())
        own_postgresql.stop()
        until(lambda: not_ready(service), "the service says that it is not ready")
        for _ in range(20):
            assert service.ask("GET", "/healthz").status == 200
            assert service.ask("GET", "/readyz").status == 503
            assert service.send(SURVEY, batch(1)).status == 503
            time.sleep(0.05)
        own_postgresql.start()
        until(lambda: service.ask("GET", "/readyz").status == 200, "the service is ready again")
        lines = service.log.read_text().splitlines()[before:]
        report = batch(1)
        until(lambda: service.send(SURVEY, report).status == 200, "reports are taken again")
    assert len(lines) < 15, lines
    own = [line for line in lines if "reports cannot be stored" in line]
    assert any("PostgreSQL cannot be reached" in line for line in own)
    assert sum("over, after" in line for line in own) == 1
    assert sum("route=/readyz" in line for line in lines) <= 3

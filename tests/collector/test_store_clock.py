"""Epochs come from the database's clock, whatever the clock of the service's machine says."""

from __future__ import annotations

import contextlib
import time
from functools import partial
from pathlib import Path

import pytest

from collector.client import DRINKS, honest, running
from collector.places import Place
from sottovoce.collector.api import service as service_module
from sottovoce.collector.store.records import epoch_of
from sottovoce.collector.store.sql import SqlStore
from sottovoce.collector.surveys.clock import StoreClock
from sottovoce.core.errors import StoreError, StoreUnavailableError
from sottovoce.service.running.watch import Watch

HOURS = 5 * 3600.0


@pytest.mark.parametrize("apart", [HOURS, -HOURS], ids=["ahead", "behind"])
def test_reports_and_surveys_get_the_databases_epoch(
    place: Place, apart: float, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    """Two services, one with a clock that is hours wrong, give reports the same epoch."""
    wrong = partial(StoreClock, own=lambda: time.time() + apart)
    monkeypatch.setattr(service_module, "StoreClock", wrong)
    before = epoch_of(time.time(), 3600)
    with contextlib.closing(place.open()) as store, running(place.data, store=store, time_precision=3600) as api:
        assert isinstance(store, SqlStore)
        api.publish(DRINKS)
        api.send(DRINKS, honest(DRINKS, "tea", 3))
        with store.read() as transaction:
            epochs = transaction.rows("SELECT epoch FROM waiting UNION SELECT epoch FROM surveys")
    assert {epoch for (epoch,) in epochs} <= {before, before + 1}
    (line,) = [record.getMessage() for record in caplog.records if "clock" in record.getMessage()]
    assert f"it is 18,000 s {'ahead' if apart > 0 else 'behind'}; set it by NTP" in line


class Moving:
    """A database whose clock can be set, and that can be away."""

    def __init__(self) -> None:
        self.time, self.away = 1000.0, False

    def now(self) -> float:
        if self.away:
            raise StoreUnavailableError("away")
        return self.time


def test_a_difference_is_said_once_and_kept_while_the_database_is_away(caplog: pytest.LogCaptureFixture) -> None:
    store = Moving()
    clock = StoreClock(store, lambda: 1000.0)
    clock.measure()
    assert caplog.records == []
    store.time = 900.0
    for _ in range(5):
        clock.measure()
    store.away = True
    with pytest.raises(StoreUnavailableError):
        clock.measure()
    assert clock() == 900.0
    store.time, store.away = 1030.0, False
    clock.measure()
    assert clock() == 1030.0
    told = [record.getMessage().rpartition(": ")[2] for record in caplog.records]
    assert told == ["it is 100 s ahead; set it by NTP", "over, after 0 s"]


def test_what_fails_in_the_watch_is_said_once_and_stops_nothing_else(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    watch, ran = Watch(), []

    def fail(error: Exception) -> None:
        raise error

    faults = [StoreError("odd"), StoreUnavailableError("away"), OSError(28, "No space left"), KeyError("private")]
    for error in faults:
        watch.every(0.0, partial(fail, error), "a task fails")
    watch.every(0.0, lambda: ran.append(1), "counting turns fails")
    watch.start()
    end = time.monotonic() + 60
    while len(ran) < 3 and time.monotonic() < end:
        time.sleep(0.01)
    watch.close()
    assert len(ran) >= 3
    told = [record.getMessage() for record in caplog.records]
    assert told == ["a task fails: odd", "a task fails: No space left", "a task fails: KeyError"]

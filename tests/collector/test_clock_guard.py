"""A clock that is wrong for a while opens and closes no period, and nobody is told to delete a report."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from collector.client import honest
from collector.tracked import TrackedApi, tracking_api, weekly
from sottovoce.collector.store import open_store
from sottovoce.collector.surveys.clock import ClockGuard
from sottovoce.core.errors import StoreError

HOUR = 3600.0
YEARS = 30_000 * HOUR


class Clocks:
    """A machine that has run for a minute, at some time of its own."""

    def __init__(self) -> None:
        self.own, self.running = 1e9, 60.0
        self.guard = ClockGuard(lambda: self.own, lambda: self.running)

    def wait(self, seconds: float) -> None:
        self.own += seconds
        self.running += seconds

    def doubt(self, apart: float = 0.0) -> str:
        return self.guard.doubt(self.own + apart) or ""


@pytest.mark.parametrize("sign", [1, -1])
def test_two_clocks_must_agree_within_an_hour(sign: int) -> None:
    clocks = Clocks()
    assert clocks.doubt(sign * 0.9 * HOUR) == ""
    for _ in range(3):
        side = "ahead of" if sign > 0 else "behind"
        assert clocks.doubt(sign * YEARS) == f"the database's clock is 30,000 h {side} this machine's; set both by NTP"
        clocks.wait(2 * HOUR)
    assert clocks.doubt() == ""


@pytest.mark.parametrize("sign", [1, -1])
def test_one_clock_must_not_jump_and_is_believed_again_when_it_has_stood(sign: int) -> None:
    clocks = Clocks()
    clocks.wait(1000 * HOUR)
    assert clocks.doubt() == ""
    clocks.own += sign * YEARS
    assert f"{'forward' if sign > 0 else 'back'} by 30,000 h" in clocks.doubt()
    clocks.wait(0.9 * HOUR)
    assert clocks.doubt() != ""
    clocks.own -= sign * YEARS
    assert clocks.doubt() == "", "set back again: as before, at once"
    clocks.own += sign * YEARS
    assert clocks.doubt() != "", "the hour begins anew"
    clocks.wait(0.9 * HOUR)
    assert clocks.doubt() != ""
    clocks.wait(0.1 * HOUR)
    assert clocks.doubt() == ""


def test_small_corrections_add_up_unnoticed() -> None:
    clocks = Clocks()
    for _ in range(20):
        clocks.wait(HOUR)
        clocks.own += 0.5 * HOUR
        assert clocks.doubt() == ""


@pytest.fixture
def api(tmp_path: Path) -> Iterator[TrackedApi]:
    store = open_store("", tmp_path)
    with tracking_api(tmp_path, store, 0, 0.5) as found:
        yield found
    store.close()


@pytest.mark.parametrize("weeks", [1.0, 400.0, -400.0])
def test_a_database_whose_clock_jumps_for_a_moment_loses_nothing(api: TrackedApi, weeks: float) -> None:
    tracking = weekly(52)
    api.publish(tracking)
    first, second = tracking.period(1), tracking.period(2)
    right = api.clock.moment
    api.clock.own = api.clock.running = lambda: right
    assert api.send(first, honest(first, "yes", 1)).status_code == 200
    with pytest.raises(StoreError, match=r"database's clock is [\d,]+ h (ahead of|behind) this machine's"):
        api.at(weeks, 3)
    assert [one.state for one in api.store.standing_rounds(tracking.id)] == ["open"]
    sent = api.send(first, honest(first, "yes", 1))
    if weeks > 0:
        assert (sent.status_code, sent.json()["error"]["code"]) == (503, "clock_in_doubt")
        assert int(sent.headers["retry-after"]) == 600
    else:
        assert sent.status_code == 200, "it is open in the database and by both clocks"
    assert api.send(second, honest(second, "yes", 1)).json()["error"]["code"] == "clock_in_doubt"
    other = {"statement": weekly(52, title="another").to_json()}
    assert api.ask("POST", "/v1/surveys", json=other).json()["error"]["code"] == "clock_in_doubt"
    assert len(api.store.surveys()) == 1
    api.at(0, 0.5)
    assert api.states(tracking) == ["open"]
    assert api.send(first, honest(first, "yes", 1)).status_code == 200

"""How long an analyst waits for a collector that is away."""

from __future__ import annotations

import pytest

from sottovoce.analyst import crowd
from sottovoce.analyst.crowd import Poller
from sottovoce.core.errors import ServiceError


@pytest.fixture
def clock(monkeypatch):
    """Time that passes only while somebody sleeps; the pauses are listed."""
    pauses: list[float] = []
    monkeypatch.setattr(crowd.time, "monotonic", lambda: sum(pauses))
    monkeypatch.setattr(crowd.time, "sleep", pauses.append)
    return pauses


def test_pauses_grow_to_the_longest(clock):
    pace = Poller(longest=1.0)
    for _ in range(20):
        pace.pause()
    assert clock == sorted(clock)
    assert clock[0] < 0.1
    assert clock[-1] == 1.0


@pytest.mark.parametrize("status", [0, 429, 503])
def test_a_collector_may_be_away_for_a_minute(clock, status):
    pace, away = Poller(), ServiceError("away", status=status)

    def wait_for_ever() -> None:
        while True:
            pace.try_again(away)

    with pytest.raises(ServiceError, match="away"):
        wait_for_ever()
    assert 60 < sum(clock) < 65


def test_a_collector_that_comes_back_has_another_minute(clock):
    pace, away = Poller(), ServiceError("away")
    for _ in range(10):
        for _ in range(20):
            pace.try_again(away)
        pace.reached()
    assert sum(clock) > 300


@pytest.mark.parametrize("status", [401, 403, 404, 409, 410])
def test_a_refusal_is_told_at_once(clock, status):
    with pytest.raises(ServiceError):
        Poller().try_again(ServiceError("no", status=status))
    assert clock == []

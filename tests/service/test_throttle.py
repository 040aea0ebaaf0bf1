"""The rate limit: exact in the long run, a second's worth at once, deaf to a clock that jumps."""

from __future__ import annotations

import numpy as np
import pytest

from sottovoce.service.running import throttle as module
from sottovoce.service.running.throttle import Throttle


class Clock:
    def __init__(self) -> None:
        self.now = 1000.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture
def clock() -> Clock:
    return Clock()


def test_no_rate_is_no_limit() -> None:
    throttle = Throttle(0)
    assert all(throttle.admit("a", 10**9) == 0.0 for _ in range(1000))


def test_a_second_at_once_then_the_rate(clock: Clock) -> None:
    throttle = Throttle(10, clock)
    assert [throttle.admit("a", 1) for _ in range(10)] == [0.0] * 10
    assert throttle.admit("a", 1) == pytest.approx(0.1)
    assert throttle.admit("a", 5) == pytest.approx(0.5)
    assert throttle.admit("b", 10) == 0.0  # another survey has its own
    clock.now += 0.25
    assert [throttle.admit("a", 1), throttle.admit("a", 1)] == [0.0, 0.0]
    assert throttle.admit("a", 1) == pytest.approx(0.05)


def test_who_waits_as_told_is_admitted(clock: Clock) -> None:
    throttle, rng = Throttle(333.3, clock), np.random.default_rng(1)
    for n in rng.integers(1, 2000, size=2000).tolist():
        wait = throttle.admit("a", n)
        if wait:
            clock.now += 0.9 * wait
            assert throttle.admit("a", n) > 0
            clock.now += 0.1 * wait + 1e-9
            assert throttle.admit("a", n) == 0.0


def test_no_more_than_the_rate_however_it_is_asked(clock: Clock) -> None:
    """Over any time, what is admitted is at most a second's worth, the rate times the time, and one batch."""
    rng, rate, largest = np.random.default_rng(2), 100.0, 250
    throttle = Throttle(rate, clock)
    start, admitted = clock.now, 0
    for n, pause in zip(rng.integers(1, largest + 1, 5000).tolist(), rng.exponential(0.05, 5000).tolist(), strict=True):
        clock.now += pause
        if throttle.admit("a", n) == 0.0:
            admitted += n
        assert admitted <= rate + rate * (clock.now - start) + largest
    assert admitted > 0.9 * rate * (clock.now - start)


def test_refused_reports_cost_nothing(clock: Clock) -> None:
    throttle = Throttle(10, clock)
    assert throttle.admit("a", 10) == 0.0
    for _ in range(100):
        assert throttle.admit("a", 10) == pytest.approx(1.0)


def test_a_batch_above_the_rate_is_paid_for_afterwards(clock: Clock) -> None:
    throttle = Throttle(10, clock)
    assert throttle.admit("a", 100) == 0.0
    assert throttle.admit("a", 1) == pytest.approx(9.1)
    clock.now += 9.1
    assert throttle.admit("a", 1) == 0.0


def test_jumps_of_the_clock_are_harmless(clock: Clock) -> None:
    throttle = Throttle(10, clock)
    assert throttle.admit("a", 10) == 0.0
    clock.now -= 10_000
    assert throttle.admit("a", 10) == pytest.approx(1.0)
    clock.now += 0.5
    assert throttle.admit("a", 5) == 0.0
    clock.now += 1e9
    assert throttle.admit("a", 10) == 0.0
    assert throttle.admit("a", 1) == pytest.approx(0.1)


def test_idle_surveys_are_forgotten_and_busy_ones_are_not(clock: Clock, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "_TIDY_AT", 8)
    throttle = Throttle(10, clock)
    for number in range(1000):
        clock.now += 0.5
        assert throttle.admit("busy", 5) == 0.0
        assert throttle.admit(f"survey {number}", 3) == 0.0
    assert len(throttle._buckets) <= 8 + 1
    assert throttle.admit("busy", 10) > 0

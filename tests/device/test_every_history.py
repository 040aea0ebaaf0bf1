"""The real device through every history of small tracking surveys: one draw per window, of its seat's value alone."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta

import pytest

import sottovoce as sv
from device.desk import URL, Desk, secret_for
from sottovoce.core.errors import ClockError
from sottovoce.device import MemoryStore
from sottovoce.questions.shares import Shares
from sottovoce.surveys.calendar import Period
from sottovoce.surveys.survey import Survey, Tracking

START = datetime(2027, 1, 4, tzinfo=UTC)

Drawn = list[tuple[int, object]]
"""Period and value of every call of `randomize`."""


def tracking(window: int, windows: int, values: int, grace: int = 0) -> Tracking:
    renews = None if windows == 1 else window
    return sv.Tracking(
        Shares(values),
        epsilon=1.0,
        periods=window * windows,
        renews=renews,
        every="day",
        starts=START.date(),
        grace=grace,
    )


@pytest.fixture
def drawn(monkeypatch: pytest.MonkeyPatch) -> Drawn:
    """What the mechanism was given."""
    found: Drawn = []
    real = Survey.randomize

    def recording(self: Survey, value: object) -> bytes:
        assert self.period is not None
        found.append((self.period.number, value))
        return real(self, value)

    monkeypatch.setattr(Survey, "randomize", recording)
    return found


def all_seats(asked: Tracking) -> Iterator[tuple[int, ...]]:
    windows = asked.calendar.windows
    assert windows is not None
    return itertools.product(range(1, asked.calendar.seats + 1), repeat=windows)


@pytest.mark.parametrize(
    ("window", "windows", "values"), [(2, 1, 3), (3, 1, 3), (4, 1, 2), (5, 1, 2), (2, 2, 2), (2, 2, 3), (3, 2, 2)]
)
def test_the_device_draws_once_per_window_and_uses_the_value_of_its_seat_alone(
    drawn: Drawn, window: int, windows: int, values: int
) -> None:
    """For all values in all periods and all seats: what the mechanism was given is a function of (seat, value there).

    So two histories give transcripts (seat, report) within e^epsilon per window: the seat does not depend on the
    history, and one report at epsilon on one value does the rest. The device is asked in every period.
    """
    asked = tracking(window, windows, values)
    desk = Desk(START, asked)
    ids = {asked.period(k).id: k for k in range(1, window * windows + 1)}
    for seats in all_seats(asked):
        secret = secret_for(asked, seats)
        mine = [(w - 1) * window + seat for w, seat in enumerate(seats, 1)]
        for history in itertools.product(range(values), repeat=window * windows):
            store = MemoryStore(secret)
            drawn.clear()
            desk.sent.clear()
            for k, value in enumerate(history, 1):
                desk.now = START + timedelta(days=k - 1, hours=7)
                receipt = desk.device(store, lambda: desk.now).answer(URL, asked.id, value)
                assert receipt.drawn == (k in mine)
            assert drawn == [(k, history[k - 1]) for k in mine]
            assert [ids[survey] for survey, _ in desk.sent] == mine
            assert [answer.epsilon for answer in store.answers()] == [1.0] * windows


MOMENTS = [timedelta(days=days) for days in (-400, -0.3, 0.5, 1.5, 2.5, 3.5, 4.5, 5.5, 3000)]
"""Before the start, in each of four periods of a day, in the grace after the last, after everything closed."""

MOVES = [MOMENTS[i] for i in (1, 3, 4, 5, 8)]
"""Fewer, for sequences; at 2.5 days the last period of the first window and the first of the second can be answered."""


@pytest.mark.parametrize("collector", ["agrees", "lies"])
def test_whatever_the_clocks_say_no_window_is_answered_twice(drawn: Drawn, collector: str) -> None:
    """All sequences of three moments, forwards and backwards, by years, for all seats: at most one report per window.

    The collector's clock agrees with the device's; or it says for each answer that it is half a day earlier or later.
    """
    asked = tracking(2, 2, 2, grace=1)
    desk = Desk(START, asked)
    skews = [0.0, 0.0, 0.0] if collector == "agrees" else [0.5, -0.5, 0.9]
    for seats in all_seats(asked):
        secret = secret_for(asked, seats)
        mine = {seats[0], 2 + seats[1]}
        for moments in itertools.product(MOVES, repeat=3):
            store = MemoryStore(secret)
            drawn.clear()
            for moment, skew in zip(moments, skews, strict=True):
                now = START + moment
                desk.now = now + timedelta(days=skew)
                period = [k for k in mine if START + timedelta(days=k - 1) <= now < START + timedelta(days=k + 1)]
                before = len(drawn)
                receipt = desk.device(store, lambda now=now: now).answer(
                    URL, asked.id, lambda period: period.number % 2
                )
                assert len(drawn) - before == receipt.drawn <= len(period)
            assert len({Period(asked.calendar, k).window for k, _ in drawn}) == len(drawn)
            assert {k for k, _ in drawn} <= mine
            assert all(value == k % 2 for k, value in drawn)


def test_a_collector_whose_clock_is_more_than_a_day_off_gets_nothing(drawn: Drawn) -> None:
    """All pairs of clocks: unless they agree within a day, nothing is asked for or drawn, and the error names both."""
    asked = tracking(2, 2, 2, grace=1)
    desk = Desk(START, asked)
    refused = 0
    for own, theirs in itertools.product(MOMENTS, repeat=2):
        desk.now = START + theirs
        device = desk.device(MemoryStore(bytes(32)), lambda own=own: START + own)
        if abs(own - theirs) <= timedelta(days=1):
            device.answer(URL, asked.id, lambda period: 0)
            continue
        drawn.clear()
        with pytest.raises(ClockError, match=rf"this device's clock says {START + own:%Y-%m-%d}.*set it; nothing was"):
            device.answer(URL, asked.id, pytest.fail)
        assert drawn == []
        refused += 1
    assert refused > 40


def test_a_period_counts_only_while_both_clocks_are_in_it(drawn: Drawn) -> None:
    """Its first and last moments, by either clock; a period that is over by the collector's is missed, not drawn."""
    asked = tracking(2, 1, 2, grace=0)
    desk = Desk(START, asked)
    secret = secret_for(asked, [1])
    second, day = timedelta(seconds=1), timedelta(days=1)
    for own, theirs, state in (
        (-second, second, "waiting"),
        (second, -second, "waiting"),
        (timedelta(0), timedelta(0), "sent"),
        (day - second, day - second, "sent"),
        (day - second, day, "missed"),
        (day, day - second, "missed"),
    ):
        desk.now = START + theirs
        receipt = desk.device(MemoryStore(secret), lambda own=own: START + own).answer(URL, asked.id, 1)
        assert (receipt.state, receipt.drawn) == (state, state == "sent")
        assert receipt.period == Period(asked.calendar, 1)
    assert len(drawn) == 2

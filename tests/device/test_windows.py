"""A window is a window: what one call may send, what a device that joins late owes, and what is too late to send."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

import sottovoce as sv
from device.desk import URL, Desk, secret_for
from refusing import refuses
from sottovoce.core.errors import ServiceError, SurveyError
from sottovoce.device import DeviceStore, MemoryStore, SqliteDeviceStore
from sottovoce.surveys.calendar import Calendar
from sottovoce.surveys.calendar_fields import MAX_GRACE, shortest_days
from sottovoce.surveys.survey import Tracking

START = datetime(2026, 1, 5, tzinfo=UTC)
DAY = timedelta(days=1)


def tracking(**calendar: Any) -> Tracking:
    given = {"every": "day", "renews": 2, "starts": START.date(), **calendar}
    return sv.Tracking(sv.shares(["no", "yes"]), epsilon=1.0, **given)


class Owner:
    """A device whose clock is the collector's."""

    def __init__(self, asked: Tracking, store: DeviceStore) -> None:
        self.asked, self.store = asked, store
        self.desk = Desk(START, asked)
        self.device = self.desk.device(store, lambda: self.desk.now)  # type: ignore[arg-type]

    def on(self, days: float) -> Owner:
        self.desk.now = START + days * DAY
        return self

    def answer(self) -> str:
        return self.device.answer(URL, self.asked.id, "yes").state

    @property
    def periods(self) -> set[int]:
        """The periods that reports have left for."""
        numbers = {self.asked.period(k).id: k for k in range(1, 800)}
        return {numbers[survey] for survey, _ in self.desk.sent}


@pytest.fixture(params=["memory", "file"])
def store(request: pytest.FixtureRequest, tmp_path: Path) -> DeviceStore:
    return MemoryStore() if request.param == "memory" else SqliteDeviceStore(tmp_path / "device.db")


# --- grace -----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("calendar", "most"),
    [
        ({"every": "day", "renews": 2}, 2),
        ({"every": "week", "renews": "quarter"}, 91),
        ({"every": "month", "renews": "quarter"}, 89),
        ({"every": "month", "renews": 2}, 59),
        ({"every": "month", "renews": "year"}, 365),
        ({"every": "quarter", "renews": 2}, 181),
        ({"every": "year", "renews": 2}, 366),
        ({"every": "day", "periods": 5}, 5),
        ({"every": 10, "periods": 4}, 40),
    ],
)
def test_grace_is_at_most_the_shortest_window(calendar: dict[str, Any], most: int) -> None:
    stated = Calendar.of(starts="2026-01-05", grace=most, **calendar)
    for refused in (
        lambda: Calendar.of(starts="2026-01-05", grace=most + 1, **calendar),
        lambda: Calendar.from_statement({**stated.to_statement(), "grace": most + 1}),
    ):
        with refuses(SurveyError, "grace") as info:
            refused()
        assert f"from 0 to {most}" in str(info.value)


@pytest.mark.parametrize("every", ["day", "week", "month", "quarter", "year", 10])
@pytest.mark.parametrize("window", [2, 3, 5])
def test_at_most_two_windows_are_open_at_any_moment(every: str | int, window: int) -> None:
    """With the longest grace, over leap years and a century without one."""
    for starts in ("2027-01-28", "2096-02-20", "2099-12-01"):
        grace = min(MAX_GRACE, shortest_days(every, window))
        calendar = Calendar.of(every=every, renews=window, starts=starts, grace=grace)
        for number in range(1, 40 * window):
            edge = calendar.start(number)
            for moment in (edge, edge - timedelta(seconds=1), calendar.closes(number)):
                assert len(calendar.windows_at(moment)) <= 2


# --- what one call sends ---------------------------------------------------------------------


def test_a_device_that_joins_a_year_late_sends_one_report_in_one_call(store: DeviceStore) -> None:
    """With a grace of a year, one call posted 8 reports of 8 windows: the budget of a life, in one day."""
    with refuses(SurveyError, "grace"):
        tracking(grace=366)
    late = Owner(tracking(grace=2), store).on(365.5)
    late.device.join(URL, late.asked.id)
    receipts = late.device.answer_due(lambda due: "yes")
    assert len(late.desk.sent) == len(receipts) <= 1
    assert late.device.ledger.spent <= 1.0


def test_a_call_sends_at_most_one_report_per_open_window(store: DeviceStore) -> None:
    owner = Owner(tracking(grace=2), store)
    owner.device.join(URL, owner.asked.id)
    for day in (1.5, 3.5, 5.5, 7.5):
        before = len(owner.desk.sent)
        owner.on(day).device.answer_due(lambda due: "yes")
        assert len(owner.desk.sent) - before <= len(owner.asked.calendar.windows_at(owner.desk.now)) <= 2
    assert owner.device.ledger.spent == 4.0
    assert len({owner.asked.calendar.window_of(period) for period in owner.periods}) == 4


def test_what_was_drawn_and_never_taken_is_not_sent_after_its_period_has_closed(store: DeviceStore) -> None:
    """A collector that takes nothing for weeks, and then everything, would get all windows in one call."""
    owner = Owner(tracking(grace=2), store)
    owner.device.join(URL, owner.asked.id)
    owner.desk.failure = lambda: ServiceError("busy", "overloaded", 503)
    for day in (1.5, 3.5, 5.5, 7.5):
        owner.on(day).device.answer_due(lambda due: "yes")
    assert owner.device.ledger.spent == 4.0
    assert owner.desk.sent == []
    owner.desk.failure = lambda: None
    receipts = owner.on(8.5).device.flush()
    assert len(owner.desk.sent) <= 2
    open_now = {owner.asked.calendar.window_of(period) for period in owner.periods}
    assert open_now <= set(owner.asked.calendar.windows_at(owner.desk.now))
    assert {receipt.state for receipt in receipts} == {"sent", "refused"}
    refused = next(receipt for receipt in receipts if receipt.state == "refused")
    assert "closed" in refused.problem
    assert owner.on(30).device.flush() == []


# --- who joins late --------------------------------------------------------------------------


@pytest.mark.parametrize("joins", [True, False])
def test_a_window_that_ended_before_a_device_joined_is_never_answered(joins: bool) -> None:
    """Its own period, the last of the first window, could still be answered for a day: it was not there."""
    asked = tracking(renews=4, grace=4)
    for seats in ([4, 4], [4, 1]):
        owner = Owner(asked, MemoryStore(secret_for(asked, seats)))
        owner.on(5.5)
        if joins:
            owner.device.join(URL, asked.id)
            owner.device.answer_due(lambda due: "yes")
        assert owner.answer() == ("sent" if seats[1] == 1 else "waiting")
        assert owner.periods <= {5}


def test_a_device_that_was_there_answers_in_the_days_of_grace() -> None:
    """Also in a window that it joined after its own period, and whatever its clock did since."""
    asked = tracking(renews=4, grace=4)
    owner = Owner(asked, MemoryStore(secret_for(asked, [4, 4])))
    assert owner.on(0.5).answer() == "waiting"
    assert owner.on(5.5).answer() == "sent"
    assert owner.periods == {4}
    early = Owner(asked, MemoryStore(secret_for(asked, [1, 4])))
    assert early.on(3.5).answer() == "sent", "its window has not ended"


def test_the_moment_of_joining_survives_restarts_and_clocks_that_fall_back(tmp_path: Path) -> None:
    asked = tracking(renews=4, grace=4)
    store = SqliteDeviceStore(tmp_path / "device.db")
    owner = Owner(asked, store)
    owner.on(5.5).device.join(URL, asked.id)
    for day in (0.5, 1.5, 2.5, 3.5, 4.5):
        again = Owner(asked, SqliteDeviceStore(tmp_path / "device.db")).on(day)
        again.answer()
        again.device.answer_due(lambda due: "yes")
        assert {asked.calendar.window_of(period) for period in again.periods} <= {2}


def test_leaving_and_joining_again_begins_anew() -> None:
    asked = tracking(renews=4, grace=4)
    owner = Owner(asked, MemoryStore(secret_for(asked, [4, 4])))
    owner.on(0.5).device.join(URL, asked.id)
    owner.device.leave(asked.id)
    owner.on(5.5).device.join(URL, asked.id)
    assert owner.device.due() == []
    assert owner.answer() == "waiting"


def test_a_survey_whose_last_window_has_ended_is_missed() -> None:
    asked = tracking(renews=4, periods=4, grace=4)
    owner = Owner(asked, MemoryStore(secret_for(asked, [4])))
    assert owner.on(5.5).answer() == "missed"
    assert owner.device.join(URL, asked.id).state == "missed"
    assert owner.device.ledger.spent == 0


# --- the limits of calendars -----------------------------------------------------------------


@pytest.mark.parametrize(
    "calendar",
    [
        {"every": "day", "renews": 2, "starts": "0001-01-01", "grace": 2},
        {"every": "month", "renews": 2, "starts": "8999-01-28", "grace": 59},
        {"every": "year", "renews": 2, "starts": "8990-01-01", "periods": 8, "grace": 366},
        {"every": "day", "renews": 2, "periods": 20_000, "starts": "8940-01-01", "grace": 2},
        {"every": 3660, "renews": 690, "starts": "2027-01-04", "grace": 366},
    ],
)
def test_calendars_at_their_limits(calendar: dict[str, Any], store: DeviceStore) -> None:
    """At the first and the last days there are, a call sends one report per open window and no other."""
    asked = tracking(**calendar)
    owner = Owner(asked, store)
    first = asked.calendar.start(1)
    last = datetime(8999, 12, 31, 12, tzinfo=UTC)
    sent = 0
    for moment in (first, first + DAY, last - DAY, last, last + 2 * DAY, datetime(9999, 12, 30, tzinfo=UTC)):
        owner.desk.now = moment
        owner.device.join(URL, asked.id)
        for call in (owner.answer, lambda: owner.device.answer_due(lambda due: "yes"), owner.device.flush):
            call()
            assert len(owner.desk.sent) - sent <= len(asked.calendar.windows_at(moment)) <= 2
            sent = len(owner.desk.sent)

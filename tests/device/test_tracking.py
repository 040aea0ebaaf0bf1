"""A device in a tracking survey: its turn, the value when it is needed, renewals, the queue, and a moved collector."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

import sottovoce as sv
from device.desk import URL, Desk, secret_for
from refusing import refuses
from sottovoce.core.errors import (
    BudgetError,
    ClockError,
    MismatchError,
    ServiceError,
    SurveyError,
    ValueOutsideDomainError,
)
from sottovoce.device import Device, Due, MemoryStore, RecordedAnswer, SqliteDeviceStore
from sottovoce.questions.shares import Shares
from sottovoce.surveys.calendar import Period
from sottovoce.surveys.survey import Survey, Tracking

START = datetime(2027, 1, 4, tzinfo=UTC)
WEEK = timedelta(days=7)


class Person:
    """A device with a clock that the test moves, the collector's with it."""

    def __init__(self, asked: Tracking, seats: list[int], store: Any = None, **settings: Any) -> None:
        self.asked, self.desk = asked, Desk(START, asked)
        self.store = MemoryStore(secret_for(asked, seats)) if store is None else store
        self.settings = settings
        self.device = self.restarted()

    def restarted(self) -> Device:
        return self.desk.device(self.store, lambda: self.desk.now, **self.settings)

    def at(self, week: float) -> Device:
        """Weeks since the start."""
        self.desk.now = START + week * WEEK
        return self.device

    def answer(self, week: float, value: object = "yes", **given: Any) -> Any:
        return self.at(week).answer(URL, self.asked.id, value, **given)


def rolling(grace: int = 3, periods: int | None = 12, starts: str = "2027-01-04") -> Tracking:
    question = Shares(["no", "yes"])
    return sv.Tracking(
        question, epsilon=1.0, periods=periods, renews=4, every="week", starts=starts, grace=grace, title="Sleep"
    )


def never(period: object) -> object:
    raise AssertionError("the value was asked for")


def failing(error: Exception) -> Callable[[], Exception]:
    return lambda: error


# --- turns -----------------------------------------------------------------------------------


def test_waiting_then_answered_then_the_next_window() -> None:
    person = Person(rolling(), [3, 1, 2])
    early = person.answer(0.5, never)
    assert (early.state, early.epsilon, early.period.number, early.after.number) == ("waiting", 0.0, 3, 5)
    assert str(early) == "waiting: come back in the week of 18 January 2027; nothing was drawn"
    told = early.to_dict()["period"]
    assert (told["number"], told["starts"], told["closes"]) == (3, "2027-01-18T00:00:00Z", "2027-01-28T00:00:00Z")
    done = person.answer(2.1)
    assert (done.state, done.drawn, done.epsilon, done.period.number, done.after.number) == ("sent", True, 1.0, 3, 5)
    assert str(done) == "sent; its next turn is in the week of 1 February 2027"
    again = person.answer(3.9, never)
    assert (again.state, again.drawn, again.period.number) == ("sent", False, 3)
    assert person.answer(4.5).drawn
    assert person.answer(8.1, never).state == "waiting"
    assert person.answer(9.9).drawn
    assert person.answer(40, never).state == "sent", "after its end, the last answer stands"
    assert [answer.window for answer in person.store.answers()] == [1, 2, 3]
    assert person.device.ledger.spent == 3.0


def test_missed_after_the_grace_and_never_again() -> None:
    person = Person(rolling(grace=3), [1, 4, 4])
    late = person.answer(1 + 3 / 7, never)
    assert (late.state, late.period.number, late.after.number) == ("missed", 1, 8)
    assert str(late) == (
        "missed: this device's turn was in the week of 4 January 2027; nothing was drawn, and nothing will be for it; "
        "its next turn is in the week of 22 February 2027"
    )
    assert person.answer(4.1, never).state == "waiting"
    assert person.answer(40, never).state == "missed"
    assert person.device.ledger.spent == 0
    in_time = Person(rolling(grace=3), [1, 4, 4])
    assert in_time.answer(1 + 2.9 / 7).state == "sent"


def test_two_windows_in_the_days_of_grace() -> None:
    """The period that closes first is answered first; each value is asked for with its period."""
    person = Person(rolling(grace=7), [4, 1, 1])
    asked: list[int] = []

    def value(period: Period) -> str:
        asked.append(period.number)
        return "yes"

    assert person.answer(0.1, never).state == "waiting"
    assert [person.answer(4.5, value).period.number for _ in range(3)] == [4, 5, 5]
    assert asked == [4, 5]
    assert person.device.ledger.spent == 2.0


def test_a_period_by_its_own_id_is_refused() -> None:
    asked = rolling()
    person = Person(asked, [1, 1, 1])
    person.desk.surveys |= Desk(START, *(asked.period(k) for k in range(1, 5))).surveys
    for k in range(1, 5):
        with pytest.raises(SurveyError, match=asked.id):
            person.at(k - 0.5).answer(URL, asked.period(k).id, never)
    assert person.desk.sent == []


def test_another_calendar_is_another_survey_and_charged_as_such() -> None:
    """A collector that reopens a period must state another calendar, which has another id: it pays for that."""
    person = Person(rolling(), [1, 1, 1], budget=1.5)
    later = rolling(starts="2027-01-11")
    person.desk.surveys |= Desk(START, later).surveys
    person.answer(0.5)
    with pytest.raises(BudgetError):
        person.device.answer(URL, later.id, never)
    person.desk.surveys[person.asked.id] = person.desk.surveys[later.id]
    with pytest.raises(ValueError, match="another survey"):
        person.answer(4.5, never)


def test_a_sealed_survey_draws_nothing() -> None:
    person = Person(rolling(), [1, 1, 1])
    person.desk.state = "sealed"
    with pytest.raises(ServiceError, match="no more reports"):
        person.answer(0.5, never)
    assert person.device.ledger.spent == 0


def test_a_clock_that_is_out_of_range() -> None:
    asked = rolling()

    def broken() -> datetime:
        raise OverflowError

    device = Desk(START, asked).device(MemoryStore(), broken)
    for call in (lambda: device.answer(URL, asked.id, never), device.due):
        with pytest.raises(ClockError, match="out of range: set it; nothing was answered"):
            call()


def test_a_calendar_that_runs_beyond_all_dates() -> None:
    """Its second window begins in the year 8941; the device's next turn there has no date, and none is named."""
    asked = sv.Tracking(Shares(["no", "yes"]), epsilon=1.0, every=3660, renews=690, starts="2027-01-04")
    person = Person(asked, [1])
    receipt = person.answer(0.5)
    assert (receipt.state, receipt.drawn) == ("sent", True)
    assert receipt.after is None or receipt.after.closes.year <= 9999
    assert str(receipt).startswith("sent")
    last = Person(asked, [690])
    assert last.answer(0.5, never).period.start.year == 8931


# --- sending ---------------------------------------------------------------------------------


def test_a_period_that_the_collector_has_not_opened_is_passing_until_it_closes() -> None:
    person = Person(rolling(), [1, 1, 1])
    person.desk.failure = failing(ServiceError("no such survey", "survey_not_found", 404))
    assert person.answer(0.01).state == "unsent"
    assert [receipt.state for receipt in person.at(0.5).flush()] == ["unsent"]
    person.desk.failure = lambda: None
    assert [receipt.state for receipt in person.at(0.6).flush()] == ["sent"]
    late = Person(rolling(), [1, 1, 1])
    late.desk.failure = failing(ServiceError("no such survey", "survey_not_found", 404))
    late.answer(0.01)
    assert [receipt.state for receipt in late.at(1.5).flush()] == ["refused"], "it has closed"
    sealed = Person(rolling(), [1, 1, 1])
    sealed.desk.failure = failing(ServiceError("sealed", "survey_sealed", 409))
    assert sealed.answer(0.01).state == "refused"
    assert [p.device.ledger.spent for p in (person, late, sealed)] == [1.0] * 3


def test_a_lost_acknowledgement_sends_the_same_bytes() -> None:
    person = Person(rolling(), [1, 2, 1])
    person.desk.failure = failing(ServiceError("gone"))
    for value in ("yes", "no", never):
        assert person.answer(0.5, value).state == "unsent"
    person.desk.failure = lambda: None
    assert person.answer(0.7, never).state == "sent"
    assert len(person.desk.sent) == 4
    assert len(set(person.desk.sent)) == 1
    assert person.desk.sent[0][0] == person.asked.period(1).id


def test_drawn_now_and_sent_later() -> None:
    person = Person(rolling(), [1, 2, 1])
    assert person.answer(0.5, send=False).state == "unsent"
    assert person.desk.sent == []
    assert [receipt.state for receipt in person.at(0.9).flush()] == ["sent"]


# --- the value, when it is needed ------------------------------------------------------------


@pytest.mark.parametrize("error", [RuntimeError("no idea"), KeyboardInterrupt(), BudgetError("of the application")])
def test_what_the_function_raises_loses_nothing(error: BaseException) -> None:
    person = Person(rolling(), [1, 1, 1])

    def value(period: Period) -> object:
        raise error

    with pytest.raises(type(error)) as info:
        person.answer(0.5, value)
    assert info.value is error
    assert (person.device.ledger.spent, person.desk.sent) == (0.0, [])
    assert person.answer(0.5).state == "sent"


def test_it_is_asked_for_only_after_every_check() -> None:
    """Every refusal comes first; then it is asked for once, with nothing more to fetch but the sending."""
    for settings in ({"cap": 0.5}, {"budget": 0.5}, {"window_budget": 0.5}, {"max_answers": 0}, {"delta_budget": 0.0}):
        person = Person(rolling(), [1, 1, 1], **settings)
        if "delta_budget" not in settings:
            with pytest.raises(BudgetError):
                person.answer(0.5, never)
    with refuses(ValueOutsideDomainError, "otherwise"):
        Person(rolling(), [1, 1, 1]).answer(0.5, never, otherwise="perhaps")
    requests: list[int] = []

    def value(period: Period) -> str:
        requests.append(len(person.desk.requests))
        return "yes"

    person.answer(0.5, value)
    assert requests == [3], "the survey, the time and the log"
    assert person.desk.requests[3:] == [f"/v1/surveys/{person.asked.period(1).id}/reports"]


def test_a_value_outside_the_domain_is_not_repeated() -> None:
    person = Person(rolling(), [1, 1, 1])
    with pytest.raises(ValueOutsideDomainError) as info:
        person.answer(0.5, lambda period: "maybe-7731")
    assert "7731" not in str(info.value)
    assert info.value.__context__ is None
    assert person.device.ledger.spent == 0
    assert person.answer(0.5, lambda period: "maybe-7731", otherwise="no").state == "sent"


def test_a_period_that_closes_while_the_person_thinks() -> None:
    person = Person(rolling(grace=0), [1, 1, 1])

    def slow(period: Period) -> str:
        person.desk.now = START + WEEK
        return "yes"

    receipt = person.answer(0.99, slow)
    assert (receipt.state, receipt.drawn, person.device.ledger.spent) == ("missed", False, 0.0)


def test_another_process_that_is_faster_while_the_person_thinks() -> None:
    person = Person(rolling(), [1, 1, 1])
    receipt = person.answer(0.5, lambda period: person.restarted().answer(URL, person.asked.id, "no") and "yes")
    assert (receipt.state, receipt.drawn) == ("sent", False)
    assert len(person.desk.sent) == 1


def test_a_function_for_a_survey_without_periods() -> None:
    plain = Survey(sv.shares(["no", "yes"]), epsilon=1.0)
    desk = Desk(START, plain)
    device = desk.device(MemoryStore(), lambda: START)
    assert device.answer(URL, plain.id, lambda period: "yes" if period is None else "?").drawn
    assert device.answer(URL, plain.id, never).state == "sent"
    assert "/v1/time" not in desk.requests


# --- renewals --------------------------------------------------------------------------------


def test_renewals_can_be_refused_for_good_and_allowed_again() -> None:
    person = Person(rolling(), [1, 1, 1])
    person.device.refuse_renewals(person.asked.id)
    assert person.answer(0.5).after is None
    person.device = person.restarted()
    declined = person.answer(4.5, never)
    assert (declined.state, declined.drawn, declined.after) == ("declined", False, None)
    assert str(declined) == "declined: this device's owner refuses renewals; nothing was drawn"
    assert person.device.ledger.spent == 1.0
    person.device.allow_renewals(person.asked.id)
    assert person.answer(4.6).drawn


def test_refused_renewals_leave_one_window_whichever_comes_first() -> None:
    person = Person(rolling(), [1, 1, 1])
    person.device.refuse_renewals(person.asked.id)
    assert person.answer(2.5, never).state == "missed"
    assert person.answer(4.5).drawn
    assert person.answer(8.5, never).state == "declined"


def test_two_windows_raced_for_while_renewals_are_refused() -> None:
    """Both can be answered in the days of grace: one is."""
    person = Person(rolling(grace=7), [4, 1, 1])
    person.device.refuse_renewals(person.asked.id)
    assert person.answer(0.1, never).state == "waiting"

    def value(period: Period) -> str:
        person.store.record(person.asked.id, 2, lambda answers: other)
        return "yes"

    other = RecordedAnswer(
        person.asked.id, "ab" * 32, URL, bytes(32), "", 1.0, 0.0, "", bytes(16), b"", window=2, renews=True
    )
    with pytest.raises(BudgetError, match="refuses renewals"):
        person.answer(4.5, value)
    assert len(person.store.answers()) == 1


def test_renewals_that_are_refused_while_the_person_thinks() -> None:
    person = Person(rolling(), [1, 1, 1])
    person.answer(0.5)
    with pytest.raises(BudgetError, match="refuses renewals"):
        person.answer(4.5, lambda period: person.restarted().refuse_renewals(person.asked.id) or "yes")
    assert person.device.ledger.spent == 1.0
    assert person.answer(4.5, never).state == "declined"


def test_a_clock_that_fell_back_makes_no_answer_old() -> None:
    """A battery was empty: one answer is dated 1970. It was given after one of 2027, so it is no older than that."""
    asked = [Survey(sv.shares(["no", "yes"]), epsilon=1.0, title=f"Question {k}") for k in range(4)]
    desk = Desk(START, *asked)
    device = desk.device(MemoryStore(), lambda: desk.now, window_budget=2.0, window_days=28)
    for survey, now in zip(asked, (START, datetime(1970, 1, 1, tzinfo=UTC)), strict=False):
        desk.now = now
        assert device.answer(URL, survey.id, "yes").drawn
    desk.now = START + 2 * WEEK
    assert device.ledger.window_spent == 2.0
    with pytest.raises(BudgetError, match="0 of 2 left for any 28 days"):
        device.answer(URL, asked[2].id, never)
    desk.now = START + 4 * WEEK
    assert device.answer(URL, asked[2].id, "yes").drawn


def test_one_answer_of_the_future_does_not_make_all_later_ones_recent() -> None:
    asked = [Survey(sv.shares(["no", "yes"]), epsilon=1.0, title=f"Question {k}") for k in range(4)]
    desk = Desk(START, *asked)
    device = desk.device(MemoryStore(), lambda: desk.now, window_budget=2.0, window_days=28)
    for survey, now in zip(asked, (START + 1000 * WEEK, START, START + 5 * WEEK), strict=False):
        desk.now = now
        assert device.answer(URL, survey.id, "yes").drawn
    assert device.ledger.window_spent == 2.0


def test_budgets_of_a_life_and_of_a_stretch_of_days() -> None:
    """One epsilon in four weeks: two in any 50 days are too many, three in a life."""
    person = Person(rolling(periods=None), [1, 1, 1, 1], window_budget=1.0, window_days=28, budget=3.0)
    assert person.answer(0.5).drawn
    with pytest.raises(BudgetError, match="0 of 1 left for any 50 days; answer later, or raise window_budget"):
        Person(rolling(periods=None), [1, 1], person.store, window_budget=1.0, window_days=50).answer(4.5, never)
    assert person.answer(4.5).drawn
    assert person.answer(8.5).drawn
    with pytest.raises(BudgetError, match="0 of its budget of 3 left"):
        person.answer(12.5, never)
    ledger = person.device.ledger
    assert (ledger.spent, ledger.window_spent, ledger.window_left) == (3.0, 0.0, 1.0)
    (renewal,) = ledger.renewals
    assert (renewal.windows, renewal.per_window, renewal.spent) == (3, 1.0, 3.0)
    assert "Sleep renews: epsilon 1 in each window, and so 3 in 3 windows" in str(ledger)
    assert "Sleep, week of 4 January 2027" in str(ledger)
    assert str(ledger).endswith("epsilon 0 of 3 left for life, 1 of 1 in any 28 days")


def test_a_window_budget_while_waiting_counts_what_is_spent_by_then() -> None:
    """An answer of another survey today does not keep the device from waiting for a period after its window."""
    person = Person(rolling(), [4, 1, 1], window_budget=1.0, window_days=14)
    plain = Survey(sv.shares(["no", "yes"]), epsilon=1.0)
    person.desk.surveys |= Desk(START, plain).surveys
    person.at(0.1).answer(URL, plain.id, "no")
    assert person.answer(0.2, never).state == "waiting"
    assert person.answer(3.2).drawn


# --- the queue -------------------------------------------------------------------------------


def test_joined_surveys_are_due_when_their_period_has_come_also_offline(tmp_path: Path) -> None:
    asked = rolling(grace=7)
    person = Person(asked, [], SqliteDeviceStore(tmp_path / "device.db"))
    receipt = person.at(-1).join(URL, asked.id)
    assert receipt.state == "waiting"
    first = receipt.period.number
    assert person.at(-1).due() == []
    requests = len(person.desk.requests)
    person.device = person.restarted()
    (due,) = person.at(first - 0.5).due()
    assert (due.survey.id, due.period.number, due.collector) == (asked.id, first, URL)
    assert len(person.desk.requests) == requests, "found without a network"
    person.desk.failure = failing(ServiceError("gone"))
    assert [one.state for one in person.device.answer_due(lambda due: "yes")] == ["unsent"]
    assert person.device.due() == []
    person.desk.failure = lambda: None
    assert [one.state for one in person.device.flush()] == ["sent"]
    person.device.leave(asked.id)
    assert person.at(first + 4).due() == []


def test_all_that_is_due_is_answered_and_one_failure_does_not_stop_the_rest() -> None:
    asked, other = rolling(grace=7), rolling(grace=6)
    person = Person(asked, [4, 1, 1])
    person.desk.surveys |= Desk(START, other).surveys
    for survey in (asked, other):
        person.at(0.1).join(URL, survey.id)
    person.at(4.5)
    due = person.device.due()
    assert [one.period.number for one in due if one.survey.id == asked.id] == [4, 5]
    asked_for: list[tuple[str, int]] = []

    def ask(one: Due) -> object:
        asked_for.append((one.survey.id, one.period.number))
        return "maybe" if one.survey.id == asked.id and len(asked_for) == 1 else "yes"

    first, *rest = person.device.answer_due(ask)
    assert (first.state, first.period.number) == ("due", 4)
    assert "Nothing was sent" in first.problem
    assert [receipt.state for receipt in rest] == ["sent"] * len(rest)
    left = [one.period.number for one in person.device.due()]
    assert left == [4, 5]
    assert [receipt.state for receipt in person.device.answer_due(ask)] == ["sent", "sent"]
    assert person.device.due() == []
    assert len(asked_for) == len(set(asked_for)) + 1, "only the one that failed was asked for again"

    def quit(one: Due) -> object:
        raise RuntimeError("closed the window")

    person.device.join(URL, asked.id)
    seats = [person.at(week).due() for week in (8.5, 9.5, 10.5, 11.5)]
    assert any(seats)
    person.at(8.5 + next(i for i, found in enumerate(seats) if found))
    with pytest.raises(RuntimeError, match="closed the window"):
        person.device.answer_due(quit)


def test_joining_is_refused_as_answering_is() -> None:
    person = Person(rolling(), [1, 1, 1], cap=0.5)
    with pytest.raises(BudgetError):
        person.at(0).join(URL, person.asked.id)
    plain = Survey(sv.shares(["no", "yes"]), epsilon=0.1)
    person.desk.surveys |= Desk(START, plain).surveys
    with refuses(SurveyError, "survey"):
        person.device.join(URL, plain.id)
    assert person.store.joined() == []
    ready = Person(rolling(), [1, 1, 1])
    assert ready.at(0.5).join(URL, ready.asked.id).state == "due"
    ready.answer(0.5)
    assert ready.device.join(URL, ready.asked.id).state == "sent"


# --- addresses, threads, stores --------------------------------------------------------------


def test_later_windows_go_to_the_same_address_unless_the_owner_moves_them() -> None:
    person = Person(rolling(), [1, 1, 1])
    person.answer(0.5)
    elsewhere = "https://mirror.example.org"

    def connect(url: str) -> Any:
        person.desk.url = url
        return person.desk.client()

    device = Device(person.store, connect=connect, clock=lambda: person.desk.now)
    person.desk.now = START + 4.5 * WEEK
    with pytest.raises(MismatchError, match=r"another collector, at https://stats\.example\.org"):
        device.answer(elsewhere, person.asked.id, never)
    assert device.move(person.asked.id, elsewhere).collector == elsewhere
    assert device.answer(elsewhere, person.asked.id, "yes").state == "sent"
    assert [answer.collector for answer in person.store.answers()] == [URL, elsewhere]


@pytest.mark.parametrize("kind", ["file", "memory"])
def test_many_threads_draw_once_per_window(tmp_path: Path, kind: str) -> None:
    asked = rolling(grace=7)
    store = MemoryStore() if kind == "memory" else SqliteDeviceStore(tmp_path / "device.db")
    person = Person(asked, [], store)
    for week in range(14):
        person.at(week + 0.5)
        with ThreadPoolExecutor(6) as pool:
            receipts = list(pool.map(lambda _: person.restarted().answer(URL, asked.id, "yes"), range(6)))
        assert sum(receipt.drawn for receipt in receipts) <= 2
    assert len(set(person.desk.sent)) == 3
    assert len({survey for survey, _ in person.desk.sent}) == 3
    assert person.device.ledger.spent == 3.0


def test_an_old_backup_that_is_put_back_takes_the_same_periods(tmp_path: Path) -> None:
    """It has forgotten what it answered, and draws again: the remaining risk. But in the same period, not in others."""
    path = tmp_path / "device.db"
    person = Person(rolling(), [], SqliteDeviceStore(path))
    before = path.read_bytes()

    def live() -> set[str]:
        for week in range(12):
            person.answer(week + 0.5)
        return {survey for survey, _ in person.desk.sent}

    first = live()
    path.write_bytes(before)
    person.store = SqliteDeviceStore(path)
    person.device = person.restarted()
    assert live() == first
    assert len(first) == 3
    with sqlite3.connect(path) as database:
        assert database.execute("SELECT count(DISTINCT window) FROM answer").fetchone() == (3,)

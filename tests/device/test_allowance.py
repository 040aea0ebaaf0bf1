"""Limits of a device and sums of its ledger, at their edges and without a collector."""

from __future__ import annotations

from dataclasses import FrozenInstanceError, replace
from fractions import Fraction
from types import SimpleNamespace

import pytest

from refusing import refuses
from sottovoce.core.errors import BudgetError
from sottovoce.core.limits import MAX_WINDOW_DAYS
from sottovoce.device import RecordedAnswer
from sottovoce.device.allowance import Allowance, exact, left, recent, total
from sottovoce.device.ledger import Entry, Ledger
from sottovoce.device.store import LogConflict

LIMITS = Allowance(2.0, 3.0, 1e-6, 2e-6, 4, 2.5, 7)
TODAY = "2027-01-10"


def answer(epsilon: float = 1.0, delta: float = 0.0, day: str = TODAY) -> RecordedAnswer:
    return RecordedAnswer(
        "ab" * 32, "cd" * 32, "https://c.example", bytes(32), "Tea", epsilon, delta, day, bytes(16), b"x"
    )


def asks(epsilon: float, delta: float = 0.0) -> SimpleNamespace:
    return SimpleNamespace(epsilon=epsilon, delta=delta)


def exceeds(limits: Allowance, survey: object, answers: list[RecordedAnswer]) -> bool:
    try:
        limits.check(survey, answers, TODAY)
    except BudgetError:
        return True
    return False


def test_sums_are_exact_and_begin_at_zero() -> None:
    assert total([]) == 0
    assert total([0.1, 0.2]) == exact(0.3) == Fraction(3, 10)
    assert left(3.0, [1.0, 1.5]) == 0.5
    assert left(1.0, [0.75, 0.25]) == 0.0
    assert left(1.0, [2.0]) == 0.0


def test_amounts_leave_the_window_after_its_last_day() -> None:
    spent = [("2027-01-03", 1.0), ("2027-01-04", 2.0), ("2027-01-10", 4.0)]
    assert recent(spent, TODAY, 7) == [2.0, 4.0]
    assert recent(spent, "2027-01-16", 7) == [4.0]
    assert recent(spent, "2027-01-17", 7) == []
    assert recent([], TODAY, 7) == []


def test_unknown_and_future_days_count_and_the_days_after_them_are_read() -> None:
    assert recent([("", 1.0), ("2026-01-01", 2.0), ("2027-01-09", 4.0)], TODAY, 7) == [1.0, 4.0]
    assert recent([("2027-01-11", 1.0), ("2026-01-01", 2.0)], TODAY, 7) == [1.0], "a future day is no latest day"
    assert recent([("2027-01-09", 1.0), ("1970-01-01", 2.0)], TODAY, 7) == [1.0, 2.0], "a clock that fell back"


@pytest.mark.parametrize(
    ("survey", "answers", "refused"),
    [
        (asks(2.0), [], False),
        (asks(2.01), [], True),
        (asks(1.0, 1e-6), [], False),
        (asks(1.0, 1.1e-6), [], True),
        (asks(1.0), [answer(2.0, day="2026-01-01")], False),
        (asks(1.01), [answer(2.0, day="2026-01-01")], True),
        (asks(0.1, 1e-6), [answer(0.1, 1e-6)], False),
        (asks(0.1, 1e-6), [answer(0.1, 1.5e-6)], True),
        (asks(1.5), [answer(1.0)], False),
        (asks(1.6), [answer(1.0)], True),
        (asks(0.1), [answer(0.1)] * 3, False),
        (asks(0.1), [answer(0.1)] * 4, True),
    ],
    ids=[
        *("at the cap", "above the cap", "at the delta cap", "above the delta cap", "at the budget"),
        *("above the budget", "at the delta budget", "above the delta budget", "at the window's budget"),
        *("above the window's budget", "the last answer", "one answer more"),
    ],
)
def test_every_limit_is_reached_and_not_passed(
    survey: SimpleNamespace, answers: list[RecordedAnswer], refused: bool
) -> None:
    assert exceeds(LIMITS, survey, answers) == refused
    if not refused:
        assert LIMITS.check(survey, answers, TODAY) == (survey.epsilon, survey.delta)


def test_a_survey_without_delta_costs_none() -> None:
    assert LIMITS.check(SimpleNamespace(epsilon=1.0), [], TODAY) == (1.0, 0.0)


@pytest.mark.parametrize(
    ("field", "good", "bad"),
    [
        ("cap", [0, 0.0, 16], [-0.1, float("inf"), float("nan"), "1", True]),
        ("budget", [0], [-1]),
        ("max_answers", [0, 1], [-1, 1.5]),
        ("window_days", [1, MAX_WINDOW_DAYS], [0, MAX_WINDOW_DAYS + 1, 1.5]),
    ],
)
def test_limits_are_finite_and_not_negative(field: str, good: list[object], bad: list[object]) -> None:
    for amount in good:
        assert getattr(replace(LIMITS, **{field: amount}), field) == amount
    for amount in bad:
        with refuses(BudgetError, field):
            replace(LIMITS, **{field: amount})


def entry(epsilon: float, survey: str = "a", *, renews: bool = False, period: str = "", delta: float = 0.0) -> Entry:
    return Entry(TODAY, "https://c.example", "Tea", epsilon, delta, "sent", survey, 1, renews, period)


def ledger(*entries: Entry, most: int = 4, conflicts: tuple[LogConflict, ...] = ()) -> Ledger:
    return Ledger(entries, 3.0, 2e-6, most, 2.5, 7, TODAY, conflicts)


def test_only_surveys_that_renew_have_a_cost_in_each_window() -> None:
    first, second = entry(0.5, "a", renews=True), replace(entry(0.25, "a", renews=True), title="Later")
    (renewal,) = ledger(first, entry(1.0, "b"), second).renewals
    assert (renewal.survey, renewal.title, renewal.windows) == ("a", "Tea", 2)
    assert (renewal.per_window, renewal.spent) == (0.5, 0.75)
    assert str(renewal) == "Tea renews: epsilon 0.5 in each window, and so 0.75 in 2 windows"


def test_answers_left_end_at_zero() -> None:
    assert ledger().answers_left == 4
    assert ledger(entry(0.1), entry(0.1)).answers_left == 2
    assert ledger(entry(0.1), most=1).answers_left == 0
    assert ledger(entry(0.1), entry(0.1), most=1).answers_left == 0
    assert ", no more answers of at most 1" in repr(ledger(entry(0.1), most=1))
    assert "no more answers" not in repr(ledger(entry(0.1), most=2))


def test_an_entry_is_named_by_title_and_period() -> None:
    assert entry(1.0).name == "Tea"
    assert entry(1.0, period="week 2").name == "Tea, week 2"


def test_an_entry_of_a_recorded_answer() -> None:
    assert Entry.of(replace(answer(), title="\n", day="")).title == "(no title)"
    assert Entry.of(replace(answer(), day="")).day == "unknown"
    through = replace(answer(), relay="https://r.example")
    assert Entry.of(replace(through, state="sent")).state == "sent to a relay"
    assert Entry.of(replace(through, state="unsent")).state == "not sent yet"
    assert Entry.of(replace(through, state="refused")).state == "refused by the collector"
    assert Entry.of(replace(answer(), state="sent")).state == "sent"


def test_the_table_is_as_wide_as_its_cells_and_cuts_long_names() -> None:
    lines = str(ledger(replace(entry(1.0), title="T" * 60), entry(0.25, delta=1e-6))).splitlines()
    assert lines[0].split() == ["date", "collector", "title", "epsilon", "delta", "state"]
    assert lines[1] == "-" * max(map(len, [lines[0], *lines[2:4]]))
    assert lines[0].index("epsilon") == lines[3].index("0.25") == lines[0].index("title") + 50
    assert len(lines[2].split()[2]) == 48
    assert lines[4] == ""
    assert lines[5] == "epsilon 1.75 of 3 left for life, 1.25 of 2.5 in any 7 days, delta 1e-06 of 2e-06"


def test_a_conflict_is_shown_before_anything_else_and_its_day_may_be_unknown() -> None:
    conflict = LogConflict("https://c.example", bytes(32), "one", "two", "")
    shown = str(ledger(conflicts=(conflict,))).splitlines()
    assert shown[0].startswith("https://c.example showed two logs of its surveys on unknown;")
    assert shown[1].startswith("no answers; ")
    dated = str(ledger(conflicts=(replace(conflict, day=TODAY),)))
    assert f"on {TODAY};" in dated


def test_a_ledger_cannot_be_changed_and_is_shown_by_its_summary() -> None:
    held = entry(0.5, renews=True)
    whole = ledger(held)
    for frozen, field in ((LIMITS, "cap"), (held, "epsilon"), (whole.renewals[0], "spent"), (whole, "budget")):
        with pytest.raises(FrozenInstanceError):
            setattr(frozen, field, 100.0)
    assert repr(whole).startswith("<ledger of 1 answer: epsilon 2.5 of 3 left for life")


def test_json_keeps_letters_of_all_languages() -> None:
    assert "Käse 茶" in ledger(replace(entry(1.0), title="Käse 茶")).to_json()

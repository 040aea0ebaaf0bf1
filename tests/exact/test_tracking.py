"""Calendars and tracking surveys: what is stated, what follows from it, and what is refused."""

from __future__ import annotations

import json
from datetime import UTC, date, datetime, timedelta
from itertools import pairwise
from typing import Any

import numpy as np
import pandas as pd
import pytest

import sottovoce as sv
from refusing import refuses
from sottovoce.core.errors import SottovoceError, SurveyError
from sottovoce.questions import Choices, Number, Queries, Records, Shares, Vector
from sottovoce.surveys.calendar import Calendar, Period
from sottovoce.workloads import Prefix

CALENDARS = [
    Calendar.of(every="day", starts="2028-02-26", periods=7),
    Calendar.of(every="week", starts="2026-12-28", periods=52),
    Calendar.of(every="month", starts="2027-11-28", periods=6),
    Calendar.of(every="quarter", starts="2027-02-10", renews="year"),
    Calendar.of(every="year", starts="1980-01-01", periods=8),
    Calendar.of(every=14, starts="2027-01-04", periods=26, renews=13, grace=30),
    Calendar.of(every="day", starts="2027-01-04", renews="week", grace=0),
]

QUESTIONS = [
    Shares(["yes", "no"]),
    Number.of(low=0, high=600, unit="minutes", wants="mean", points=None),
    Choices(sv.Domain.of(["bus", "tram", "bike"]), 2),
    Records({"age": range(4), "country": ["DE", "FR"]}, 2),
    Queries(Prefix(4)),
    Vector(2, 1.0),
]


def weekly(question: Any = QUESTIONS[0], **others: Any) -> sv.Tracking:
    given = {"periods": 52, "every": "week", "starts": "2027-01-04", "epsilon": 1.0, **others}
    return sv.Tracking(question, **given)


@pytest.mark.parametrize("calendar", CALENDARS, ids=lambda one: str(one.every))
def test_periods_follow_each_other_and_every_moment_is_in_one(calendar: Calendar) -> None:
    numbers = range(1, (calendar.periods or 40) + 1)
    starts, ends, closes = ([f(k) for k in numbers] for f in (calendar.start, calendar.end, calendar.closes))
    for before, after in pairwise(numbers):
        assert ends[before - 1] == starts[after - 1] > starts[before - 1]
    moment, step = starts[0] - timedelta(days=2), timedelta(hours=11)
    while moment < ends[-1] + timedelta(days=40):
        inside = [k for k in numbers if starts[k - 1] <= moment < ends[k - 1]]
        if calendar.periods is not None or moment < ends[-1]:
            assert calendar.at(moment) == (inside[0] if inside else None)
            begun = [k for k in numbers if starts[k - 1] <= moment < closes[k - 1]]
            assert list(calendar.answerable(moment)) == begun
            assert set(map(calendar.window_of, begun)) <= set(calendar.windows_at(moment))
        moment += step


@pytest.mark.parametrize("calendar", CALENDARS, ids=lambda one: str(one.every))
def test_a_calendar_is_read_as_it_is_stated(calendar: Calendar) -> None:
    assert Calendar.from_statement(json.loads(json.dumps(calendar.to_statement()))) == calendar


def test_windows_divide_the_periods() -> None:
    calendar = Calendar.of(every="week", starts="2027-01-04", periods=52, renews="quarter")
    assert (calendar.window, calendar.windows, calendar.renews) == (13, 4, True)
    assert [calendar.first_of(w) for w in (1, 2, 3, 4)] == [1, 14, 27, 40]
    assert [calendar.window_of(k) for k in (1, 13, 14, 52)] == [1, 1, 2, 4]
    assert not Calendar.of(every="week", starts="2027-01-04", periods=52).renews


def test_a_window_is_looked_at_until_its_last_period_has_closed() -> None:
    calendar = Calendar.of(every="day", starts="2027-01-04", renews="week", grace=3)
    assert list(calendar.windows_at(datetime(2027, 1, 3, 23, tzinfo=UTC))) == []
    assert list(calendar.windows_at(datetime(2027, 1, 10, 23, tzinfo=UTC))) == [1]
    assert list(calendar.windows_at(datetime(2027, 1, 13, 23, tzinfo=UTC))) == [1, 2]
    assert list(calendar.windows_at(datetime(2027, 1, 14, tzinfo=UTC))) == [2]


@pytest.mark.parametrize(
    ("every", "starts", "label"),
    [
        ("day", "2027-01-04", "4 January 2027"),
        ("week", "2027-01-04", "week of 4 January 2027"),
        ("month", "2027-01-01", "January 2027"),
        ("month", "2027-01-15", "month from 15 January 2027"),
        ("quarter", "2027-01-01", "quarter from 1 January 2027"),
        ("year", "2027-01-01", "2027"),
        ("year", "2027-04-01", "year from 1 April 2027"),
        (14, "2027-01-04", "14 days from 4 January 2027"),
    ],
)
def test_a_period_has_a_name(every: str | int, starts: str, label: str) -> None:
    assert Calendar.of(every=every, starts=starts, periods=4).label(1) == label


def test_the_promise_says_both_losses() -> None:
    divided = Calendar.of(every="week", starts="2027-01-04", periods=52, renews=13)
    assert divided.promise(0.5) == (
        "epsilon 0.5 in each window of 13 weeks, epsilon 1 for any 13 weeks, and epsilon 2 over all 52 weeks"
    )


@pytest.mark.parametrize(
    ("given", "field"),
    [
        ({"periods": None}, "periods"),
        ({"periods": 1}, "periods"),
        ({"periods": 50, "renews": "quarter"}, "periods"),
        ({"periods": 36_600_000, "renews": 3660, "every": "year"}, "periods"),
        ({"every": 0}, "every"),
        ({"every": "fortnight"}, "every"),
        ({"every": True}, "every"),
        ({"every": 3661}, "every"),
        ({"starts": "soon"}, "starts"),
        ({"starts": "20270104"}, "starts"),
        ({"starts": datetime(2027, 1, 4, tzinfo=UTC)}, "starts"),
        ({"starts": "2027-01-31", "every": "month"}, "starts"),
        ({"renews": "month"}, "renews"),
        ({"renews": 1}, "renews"),
        ({"grace": -1}, "grace"),
        ({"grace": 367}, "grace"),
        ({"grace": 1.5}, "grace"),
        ({"colour": "red"}, "colour"),
    ],
)
def test_a_calendar_that_cannot_be_is_refused_by_name(given: dict[str, Any], field: str) -> None:
    with refuses(SurveyError, field):
        Calendar.of(**{"every": "week", "starts": date(2027, 1, 4), "periods": 52, **given})


@pytest.mark.parametrize(("given", "field"), [({"every": 1.5}, "every"), ({"renews": 2.0}, "renews")])
def test_a_number_that_is_no_integer_is_told_so(given: dict[str, Any], field: str) -> None:
    with refuses(SurveyError, field):
        Calendar.of(**{"every": "week", "starts": date(2027, 1, 4), "periods": 52, **given})


@pytest.mark.parametrize("question", QUESTIONS, ids=lambda one: one.kind)
def test_any_question_can_be_tracked(question: Any) -> None:
    survey = weekly(question)
    again = sv.Survey.from_json(survey.to_json(), survey.attachments)
    assert isinstance(again, sv.Tracking)
    assert (again.id, again.epsilon, again.domain) == (survey.id, 1.0, survey.domain)
    third = survey.period(3)
    read = sv.Survey.from_json(third.to_json(), third.attachments)
    assert isinstance(read, sv.Survey)
    assert (read.id, read.parent_id, read.period) == (third.id, survey.id, Period(survey.calendar, 3))


def test_every_period_is_a_survey_of_its_own() -> None:
    survey = weekly()
    made = [survey.period(k) for k in range(1, 53)]
    assert len({one.id for one in made} | {survey.id, survey.once.id}) == 54
    report = made[0].randomize("yes")
    made[0].aggregate().add([report])
    with pytest.raises(sv.errors.MismatchError):
        made[1].aggregate().add([report])
    for number in (0, 53, 1.5, True):
        with refuses(SurveyError, "period"):
            survey.period(number)  # type: ignore[arg-type]


def test_public_randomness_differs_between_periods() -> None:
    survey = weekly(Vector(8, 1.0), mechanism="codebook")
    keys = {survey.period(k).mechanism.key for k in range(1, 5)}  # type: ignore[union-attr]
    assert len(keys) == 4


@pytest.mark.parametrize(
    "change",
    [
        {"calendar": {"starts": "2027-01-04", "every": "week", "window": 52, "windows": 1}},
        {"calendar": {"starts": "2027-1-4", "every": "week", "window": 52, "windows": 1, "grace": 7}},
        {"calendar": {"starts": "2027-01-04", "every": 7.5, "window": 52, "windows": 1, "grace": 7}},
        {"calendar": {"starts": "2027-01-04", "every": ["week"], "window": 52, "windows": 1, "grace": 7}},
        {"calendar": {"starts": "2027-01-04", "every": "week", "window": 52, "windows": 0, "grace": 7}},
        {"calendar": {"starts": "2027-01-04", "every": "week", "window": 52, "windows": True, "grace": 7}},
        {"calendar": {"starts": "2027-01-04", "every": "week", "window": 52, "windows": 1, "grace": 7, "x": 1}},
        {"calendar": None},
        {"period": 0},
        {"period": 53},
        {"period": "3"},
        {"extra": 1},
    ],
)
def test_a_changed_statement_is_refused(change: dict[str, Any]) -> None:
    stated = {**json.loads(weekly().to_json()), **change}
    with pytest.raises(SurveyError):
        sv.Survey.from_json(json.dumps(stated))


def test_a_period_without_its_calendar_is_refused() -> None:
    stated = json.loads(weekly().period(3).to_json())
    del stated["calendar"]
    with refuses(SurveyError, "period"):
        sv.Survey.from_json(json.dumps(stated))


def test_a_round_of_a_panel_has_no_period() -> None:
    panel = sv.Panel(["a", "b"], rounds=3, epsilon=1.0)
    asked = sv.adaptive.round_of(panel, 1, "1")
    stated = {**json.loads(asked.to_json()), "calendar": CALENDARS[0].to_statement(), "period": 1}
    with refuses(SurveyError, "period"):
        sv.Survey.from_json(json.dumps(stated))
    with refuses(SurveyError, "once"):
        sv.Tracking.of_survey(asked, CALENDARS[0])


@pytest.mark.parametrize("number", [10_000, 36_000_000])
def test_a_period_beyond_all_dates_is_refused_by_name(number: int) -> None:
    endless = sv.Tracking(QUESTIONS[0], renews=2, every="year", starts="2027-01-01", epsilon=1.0)
    stated = json.loads(endless.to_json()) | {"period": number}
    for refused in (
        lambda: endless.period(number),
        lambda: endless.calendar.closes(number),
        lambda: endless.calendar.label(number),
        lambda: sv.Survey.from_json(json.dumps(stated)),
    ):
        with refuses(SurveyError, "period"):
            refused()


def test_histories_are_frames_in_the_wide_and_in_the_long_form() -> None:
    weekly = sv.Tracking(["yes", "no"], epsilon=1.0, every="week", starts="2027-01-04", periods=3)
    values = np.array([["yes", "no", "yes"], ["no", "no", "yes"]] * 50)
    wide = pd.DataFrame(values, columns=["first", "second", "third"])
    long = pd.DataFrame(
        [{"person": i, "period": k, "value": values[i, k - 1]} for k in (3, 1, 2) for i in range(len(values))]
    )
    expected = weekly.simulate(values, seed=3)
    days = pd.date_range("2027-01-04", periods=3, freq="7D")
    dated = wide.set_axis(days, axis=1)
    by_day = long.assign(period=days[long["period"] - 1])
    same = (
        *(wide, wide.assign(person=range(100)), long),
        *(
            dated,
            dated[days[::-1]],
            dated.set_axis(days.strftime("%Y-%m-%d"), axis=1),
            dated.set_axis(days.date, axis=1),
        ),
        *(by_day, by_day.assign(period=by_day["period"] + pd.Timedelta(days=3))),
    )
    for histories in same:
        found = weekly.simulate(histories, seed=3)
        assert {k: one.counts.tolist() for k, one in found.items()} == {
            k: one.counts.tolist() for k, one in expected.items()
        }
    two_in_a_week = dated.set_axis([days[0], days[0] + pd.Timedelta(days=1), days[2]], axis=1)
    for wrong in (
        *(pd.concat([long, long]), long[long.period != 2], long.rename(columns={"value": "cycled"})),
        *(dated.set_axis(days + pd.Timedelta(days=21), axis=1), dated[days[1:]], two_in_a_week),
        *(long.assign(person=[["a"]] * len(long)), wide.assign(first="maybe")),
    ):
        with refuses(SottovoceError, "histories"):
            weekly.simulate(wrong, seed=3)


def test_a_period_is_named_by_its_number_its_label_or_a_day_in_it() -> None:
    weekly = sv.Tracking(["yes", "no"], epsilon=1.0, every="week", starts="2027-01-04", periods=3)
    curve = weekly.estimate(weekly.simulate(np.array([["yes", "no", "yes"]] * 300), seed=3))
    expected = curve.difference(3, 1, "yes")
    for later, earlier in (
        ("week of 18 January 2027", "week of 4 January 2027"),
        ("2027-01-18", "2027-01-10"),
        (date(2027, 1, 24), pd.Timestamp("2027-01-04")),
    ):
        assert curve.difference(later, earlier, "yes") == expected
        assert curve[later].n_reports == curve[3].n_reports
    for wrong in (0, 4, True, None, 1.0, "yes", "2027-01-25", "2027-01-03", "2027-13-01", pd.NaT):
        with refuses(SurveyError, "later"):
            curve.difference(wrong, 1, "yes")
        with refuses(SurveyError, "earlier"):
            curve.difference(1, wrong, "yes")

"""Tracking surveys by form and by planner: the library's own survey and plan, and every wrong field is named."""

from __future__ import annotations

import base64
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

import sottovoce as sv
from collector.client import Api, running
from sottovoce.questions.shares import Shares
from sottovoce.surveys.calendar import Calendar
from sottovoce.surveys.survey import Survey

DRAFT = {"kind": "shares", "title": "Cycling", "epsilon": 1.0, "parameters": {"labels": ["yes", "no"]}}
WEEKS = {"every": "week", "starts": "2031-01-06", "periods": 52}


@pytest.fixture(scope="module")
def api(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Api]:
    with running(tmp_path_factory.mktemp("tracking")) as api:
        yield api


def drafted(api: Api, **said: Any) -> Any:
    response = api.ask("POST", "/v1/drafts", json=DRAFT | said)
    assert response.status_code == 200, response.text
    return response.json()


def planned(api: Api, **said: Any) -> Any:
    asked = {"kind": "shares", "parameters": {"labels": ["yes", "no"]}} | said
    response = api.ask("POST", "/v1/plans", json=asked)
    assert response.status_code == 200, response.text
    return response.json()


def refused(api: Api, path: str, said: dict[str, Any]) -> tuple[str, str | None]:
    response = api.ask("POST", path, json=said)
    assert response.status_code == 422, response.text
    error = response.json()["error"]
    return error["code"], error["field"]


@pytest.mark.parametrize(
    ("calendar", "promise"),
    [
        (WEEKS, "epsilon 1 for all 52 weeks together"),
        (
            WEEKS | {"renews": "quarter"},
            "epsilon 1 in each window of 13 weeks, epsilon 2 for any 13 weeks, and epsilon 4 over all 52 weeks",
        ),
        (
            WEEKS | {"periods": None, "renews": "13", "grace": 3},
            "epsilon 1 in each window of 13 weeks, epsilon 2 for any 13 weeks, which adds up without an end: epsilon 4 "
            "in 4 windows",
        ),
    ],
)
def test_a_form_becomes_the_tracking_survey_it_describes(api: Api, calendar: dict[str, Any], promise: str) -> None:
    made = drafted(api, calendar=calendar)
    given = {name: value for name, value in calendar.items() if value is not None}
    expected = sv.Tracking(Shares(["yes", "no"]), epsilon=1.0, title="Cycling", **given)
    assert (made["statement"], made["id"], made["promise"]) == (expected.to_json(), expected.id, promise)
    window = expected.calendar.window
    found = sv.plan(["yes", "no"], periods=expected.calendar.periods, renews=window, epsilon=1.0, people=made["people"])
    assert made["margin"] == pytest.approx(found.margin)
    assert "about 1,800 reports in a period give each share to within 5 points (95 %)" in made["notes"]


def test_a_form_names_the_relay(api: Api) -> None:
    relay = sv.Relay("https://relay.example.org", 10_000, 1e-7)
    stated = relay.to_statement()
    asked = Survey(sv.shares(["yes", "no"]), epsilon=1.0, title="Cycling", relay=relay)
    assert drafted(api, relay=stated)["statement"] == asked.to_json()
    weekly = sv.Tracking(Shares(["yes", "no"]), epsilon=1.0, title="Cycling", relay=relay, **WEEKS)
    made = drafted(api, relay=stated, calendar=WEEKS)
    assert (made["statement"], made["promise"]) == (weekly.to_json(), weekly.promise)
    assert api.ask("POST", "/v1/surveys", json={"statement": made["statement"], "attachments": {}}).status_code == 201
    assert refused(api, "/v1/drafts", DRAFT | {"relay": stated | {"least": 1}}) == ("invalid_draft", "relay.least")
    assert refused(api, "/v1/drafts", DRAFT | {"relay": stated | {"delta": 0}}) == ("invalid_draft", "relay.delta")
    gaussian = {"kind": "vector", "parameters": {"dimension": 5}, "delta": 1e-6, "mechanism": "gaussian"}
    assert refused(api, "/v1/drafts", DRAFT | gaussian | {"relay": stated}) == ("invalid_draft", "relay")
    panel = {"kind": "panel", "epsilon": 1.0, "parameters": {"values": 9, "rounds": 3}, "relay": stated}
    assert refused(api, "/v1/drafts", panel) == ("invalid_draft", "relay")


def test_what_was_drafted_can_be_published(api: Api) -> None:
    soon = (datetime.now(UTC) + timedelta(days=1)).date().isoformat()
    made = drafted(
        api,
        kind="queries",
        parameters={"workload": "prefix:8"},
        strategy="optimized",
        calendar={"every": "30", "starts": soon, "periods": 4},
    )
    assert all(base64.b64decode(held) for held in made["attachments"].values())
    body = {"statement": made["statement"], "attachments": made["attachments"]}
    response = api.ask("POST", "/v1/surveys", json=body)
    assert response.status_code == 201, response.text
    listed = api.ask("GET", "/v1/surveys").json()["surveys"]
    assert [one["kind"] for one in listed if one["id"] == made["id"]] == ["tracking"]


@pytest.mark.parametrize(
    ("calendar", "field"),
    [
        ({"starts": "2031-01-06", "periods": 3}, "every"),
        ({"every": "week", "periods": 3}, "starts"),
        ({"every": "week", "starts": "2031-01-06"}, "periods"),
        (WEEKS | {"every": "fortnight"}, "every"),
        (WEEKS | {"every": "0"}, "every"),
        (WEEKS | {"starts": "tomorrow"}, "starts"),
        (WEEKS | {"every": "month", "starts": "2031-01-31"}, "starts"),
        (WEEKS | {"periods": 1}, "periods"),
        (WEEKS | {"periods": 50, "renews": "quarter"}, "periods"),
        (WEEKS | {"renews": "decade"}, "renews"),
        (WEEKS | {"grace": 367}, "grace"),
        (WEEKS | {"colour": "red"}, "colour"),
    ],
)
def test_calendars_that_cannot_be(api: Api, calendar: dict[str, Any], field: str) -> None:
    assert refused(api, "/v1/drafts", DRAFT | {"calendar": calendar}) == ("invalid_draft", field)


def test_a_panel_has_no_calendar(api: Api) -> None:
    panel = {"kind": "panel", "epsilon": 1.0, "parameters": {"labels": ["yes", "no"], "rounds": 3}}
    assert refused(api, "/v1/drafts", panel | {"calendar": WEEKS}) == ("invalid_draft", "calendar")
    asked = {"kind": "panel", "parameters": {"rounds": 3}, "epsilon": 1.0, "people": 1000, "periods": 3}
    assert refused(api, "/v1/plans", asked) == ("invalid_draft", "periods")


def test_the_calendar_is_declared(api: Api) -> None:
    told = api.ask("GET", "/v1/questions").json()["calendar"]
    assert [one["name"] for one in told] == [one.name for one in Calendar.parameters]
    assert [one["required"] for one in told] == [one.required for one in Calendar.parameters]


@pytest.mark.parametrize(
    "asked",
    [
        {"periods": 52, "epsilon": 1.0, "people": 1_000_000},
        {"periods": 12, "epsilon": 1.0, "change": 0.02},
        {"periods": 52, "renews": 13, "people": 100_000, "margin": 0.05},
        {"renews": 4, "epsilon": 1.0, "people": 100_000},
    ],
)
def test_plans_are_the_librarys(api: Api, asked: dict[str, Any]) -> None:
    made = planned(api, **asked)
    found = sv.plan(["yes", "no"], **asked)
    assert (made["people"], made["epsilon"]) == (found.people, pytest.approx(found.epsilon))
    assert made["margin"] == pytest.approx(found.margin)
    told = made["tracking"]
    assert (told["periods"], told["window"], told["people_per_period"]) == (
        found.periods,
        found.window,
        found.period.people,
    )
    assert told["change"] == pytest.approx(found.change)
    assert told["every_period"] == found.every_period.to_dict()
    assert told["epsilon_in_all"] == found.epsilon_in_all
    by_people = made["curves"]["people"]
    name = made["options"][0]["name"]
    # Curves are over the people of all periods: at the plan's own number stands about its error.
    nearest = min(range(len(by_people["x"])), key=lambda at: abs(by_people["x"][at] - made["people"]))
    errors = by_people["lines"][name]
    neighbours = errors[max(0, nearest - 1) : nearest + 2]
    error = made[made["criterion"]]
    assert min(neighbours) * 0.99 <= error <= max(neighbours) * 1.01


def test_everybody_in_every_week_takes_44_times_as_many(api: Api) -> None:
    told = planned(api, periods=52, epsilon=1.0, people=1_000_000)["tracking"]["every_period"]
    assert told["times"] == pytest.approx(44.4, abs=0.1)


@pytest.mark.parametrize(
    ("asked", "field"),
    [
        ({"change": 0.02, "epsilon": 1.0}, "change"),
        ({"periods": 1, "epsilon": 1.0, "people": 1000}, "periods"),
        ({"periods": 50, "renews": 13, "epsilon": 1.0, "people": 1000}, "periods"),
        ({"periods": 52, "epsilon": 1.0, "change": 0.01, "margin": 0.01}, None),
    ],
)
def test_plans_that_cannot_be(api: Api, asked: dict[str, Any], field: str | None) -> None:
    said = {"kind": "shares", "parameters": {"labels": ["yes", "no"]}} | asked
    assert refused(api, "/v1/plans", said)[0] == "invalid_draft"
    if field is not None:
        assert refused(api, "/v1/plans", said)[1] == field


def test_a_survey_that_is_asked_once_has_neither(api: Api) -> None:
    assert drafted(api)["promise"] is None
    assert planned(api, epsilon=1.0, people=1000)["tracking"] is None

"""Hostile tries at groups: what a small one answered, a report for another group, a group for every person."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from collector.client import honest
from collector.tracked import TrackedApi, tracking_api, weekly
from sottovoce.collector.app import ROUTES
from sottovoce.collector.store import Store, open_store
from sottovoce.surveys.survey import Survey

MINIMUM = 20
GROUPS = {"arm": ["A", "B"], "platform": ["phone", "web"]}
SMALL = {"arm": "B", "platform": "web"}

GIVEN: dict[str, dict[str, Any]] = {
    "by": {"variable": "platform"},
    "by.csv": {"variable": "arm"},
    "comparison": {"first": "A", "second": "B"},
    "comparison.csv": {"first": "platform=phone", "second": "platform=web"},
    "words": {"word": "tea"},
    "difference": {"later": 1, "earlier": 1},
    "embedding": {"address": "http://here"},
}
"""Parameters that an address needs."""

TELLS_NO_ANSWER = {"status", "groups", "embedding", "events", "periods", "rounds", "bound"}
"""What every survey has from its first report on: numbers of reports, dates, addresses."""


@pytest.fixture
def api(tmp_path: Path) -> Iterator[TrackedApi]:
    store: Store = open_store("", tmp_path)
    with tracking_api(tmp_path, store, 0, 0.5) as found:
        yield found
    store.close()


def drinks(**more: Any) -> Survey:
    return Survey(["tea", "coffee"], epsilon=2.0, **{"groups": GROUPS, **more})


def result_doors() -> list[str]:
    """Ends of all addresses that read something of a survey, but for streams."""
    paths = [(route, path) for route in ROUTES for path in route.paths if route.scopes == ("read",)]
    start = "/v1/surveys/{survey_id}/"
    read = [path for route, path in paths if "GET" in route.methods and path.startswith(start) and not route.is_stream]
    return [path.removeprefix(start) for path in read if "{" not in path.removeprefix(start)]


def told(api: TrackedApi, survey: Survey) -> dict[str, tuple[int, bytes]]:
    """What every door tells of a survey, and what weights tell."""
    doors = [door for door in result_doors() if door not in TELLS_NO_ANSWER]
    found = {}
    for door in doors:
        response = api.ask("GET", f"/v1/surveys/{survey.id}/{door}", params=GIVEN.get(door, {}))
        found[door] = response.status_code, response.content
    body = {"population": {"platform": {"phone": 0.5, "web": 0.5}}}
    response = api.ask("POST", f"/v1/surveys/{survey.id}/weighted", json=body)
    return found | {"weighted": (response.status_code, response.content)}


def send(api: TrackedApi, survey: Survey, group: Any, value: str, n: int) -> None:
    member = survey.in_group(group)
    assert api.send(member, honest(member, value, n)).json()["accepted"] == n
    api.count()


def test_what_a_small_group_answers_changes_nothing_that_is_told(api: TrackedApi) -> None:
    survey = drinks()
    api.publish(survey, minimum_reports=MINIMUM)
    for cell in ({"arm": "A", "platform": "phone"}, {"arm": "A", "platform": "web"}, {"arm": "B", "platform": "phone"}):
        send(api, survey, cell, "tea", MINIMUM)
    before = told(api, survey)
    assert {"by", "comparison", "estimate", "aggregate", "picture", "table.csv", "weighted"} <= before.keys()
    assert all(status in (200, 409) for status, _ in before.values())
    assert sum(status == 200 for status, _ in before.values()) >= 10
    send(api, survey, SMALL, "coffee", MINIMUM - 1)
    assert told(api, survey) == before
    # Nor does any door tell of the group itself.
    assert all(status == 409 for status, _ in told(api, survey.in_group(SMALL)).values())
    send(api, survey, SMALL, "coffee", 1)
    after = told(api, survey)
    assert all(after[door] != before[door] for door, (status, _) in before.items() if status == 200)


def test_a_small_group_of_a_period_is_in_no_curve(api: TrackedApi) -> None:
    tracking = weekly(groups=GROUPS)
    api.publish(tracking, minimum_reports=MINIMUM)
    period = tracking.period(1)
    for arm in "AB":
        send(api, period, {"arm": arm, "platform": "phone"}, "yes", MINIMUM)

    def curves() -> list[bytes]:
        place, one = f"/v1/surveys/{tracking.id}/curve", f"/v1/surveys/{period.id}/by"
        given = [{}, {"by": "arm"}, {"by": "platform"}, {"first": "A", "second": "B"}]
        found = [api.ask("GET", place, params=params) for params in given]
        found.append(api.ask("GET", one, params={"variable": "platform"}))
        assert [response.status_code for response in found] == [200] * len(found)
        return [response.content for response in found]

    before = curves()
    send(api, period, SMALL, "no", MINIMUM - 1)
    assert curves() == before


def test_a_report_of_one_group_is_taken_by_no_other(api: TrackedApi) -> None:
    survey, other = (drinks(groups={"arm": ["A", "B"]}, title=title) for title in ("", "Other"))
    for one in (survey, other):
        api.publish(one)
    drawn = honest(survey.in_group("A"), "tea", 1)
    for place in (survey.in_group("B"), other.in_group("A")):
        response = api.send(place, drawn)
        assert response.json()["accepted"] == 0
        assert [refused["code"] for refused in response.json()["refused"]] == ["wrong_survey"]
    assert api.send(survey, drawn).json()["error"]["code"] == "survey_grouped"
    # Sent again it counts once.
    for _ in range(2):
        assert api.send(survey.in_group("A"), drawn).json()["accepted"] == 1
    api.count()
    assert api.ask("GET", f"/v1/surveys/{survey.id}/status").json()["n_reports"] == 1


@pytest.mark.parametrize("people", [101, 10_000])
def test_a_statement_with_a_group_for_every_person_is_not_published(api: TrackedApi, people: int) -> None:
    named = [f"person {number}" for number in range(people)]
    statement = json.loads(drinks(groups={"arm": ["A", "B"]}).to_json()) | {"groups": [["person", named]]}
    response = api.ask("POST", "/v1/surveys", json={"statement": json.dumps(statement)})
    assert (response.status_code, "at most 100" in response.text) == (422, True)
    draft = {"kind": "shares", "epsilon": 1.0, "parameters": {"labels": ["a", "b"]}, "groups": {"person": named}}
    response = api.ask("POST", "/v1/drafts", json=draft)
    assert response.status_code in (400, 422)
    assert "groups" in response.json()["error"]["field"]

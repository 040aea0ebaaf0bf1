"""Surveys with public groups over HTTP: publishing, reports to groups, what is estimated together and apart."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from collector.client import honest
from collector.tracked import TrackedApi, tracking_api, weekly
from sottovoce.collector.store import Store, open_store
from sottovoce.surveys.survey import Survey


@pytest.fixture
def api(tmp_path: Path) -> Iterator[TrackedApi]:
    store: Store = open_store("", tmp_path)
    with tracking_api(tmp_path, store, 0, 0.5) as found:
        yield found
    store.close()


def drinks(**more: object) -> Survey:
    return Survey(["tea", "coffee"], epsilon=2.0, groups={"arm": ["A", "B"]}, **more)  # type: ignore[arg-type]


def refusal(response: object) -> tuple[int, str]:
    return response.status_code, response.json()["error"]["code"]  # type: ignore[attr-defined]


def test_reports_belong_to_groups_and_the_survey_to_all(api: TrackedApi) -> None:
    survey = drinks()
    api.publish(survey)
    for group, value, people in (("A", "tea", 300), ("B", "coffee", 200)):
        member = survey.in_group(group)
        assert api.send(member, honest(member, value, people)).json()["accepted"] == people
    api.count()
    listed = api.ask("GET", f"/v1/surveys/{survey.id}/groups").json()
    assert listed["variables"] == {"arm": ["A", "B"]}
    assert [(group["label"], group["n_reports"]) for group in listed["groups"]] == [("arm A", 300), ("arm B", 200)]
    assert api.ask("GET", f"/v1/surveys/{survey.id}/status").json()["n_reports"] == 500
    whole = api.ask("GET", f"/v1/surveys/{survey.id}/estimate").json()
    assert whole["n_reports"] == 500
    alone = api.ask("GET", f"/v1/surveys/{survey.in_group('A').id}/estimate").json()
    assert (alone["n_reports"], alone["survey"]) == (300, survey.in_group("A").id)


def test_the_status_names_the_groups_that_people_are_asked_for(api: TrackedApi) -> None:
    survey, plain = drinks(), Survey(["tea", "coffee"], epsilon=2.0)
    weeks = weekly(groups={"arm": ["A", "B"]})
    for one in (survey, plain, weeks):
        api.publish(one)
    named = [survey, weeks, survey.in_group("A"), plain]
    told = [api.ask("GET", f"/v1/surveys/{one.id}/status").json()["groups"] for one in named]
    assert told == [{"arm": ["A", "B"]}, {"arm": ["A", "B"]}, None, None]


def test_a_survey_with_groups_takes_no_report_itself(api: TrackedApi) -> None:
    survey = drinks()
    api.publish(survey)
    plain = Survey(["tea", "coffee"], epsilon=2.0)
    pairs = [(key, survey.tag + report[4:]) for key, report in honest(plain, "tea", 1)]
    assert refusal(api.send(survey, pairs)) == (422, "survey_grouped")


def test_a_group_is_not_published_by_hand(api: TrackedApi) -> None:
    body = {"statement": drinks().in_group("A").to_json()}
    assert refusal(api.ask("POST", "/v1/surveys", json=body)) == (422, "group_of_a_survey")


def test_nothing_is_told_of_a_small_group_in_the_sum_neither(api: TrackedApi) -> None:
    survey = drinks()
    api.publish(survey, minimum_reports=100)
    for group, people in (("A", 300), ("B", 20)):
        member = survey.in_group(group)
        api.send(member, honest(member, "tea", people))
    api.count()
    assert api.ask("GET", f"/v1/surveys/{survey.id}/estimate").json()["n_reports"] == 300
    small = api.ask("GET", f"/v1/surveys/{survey.in_group('B').id}/estimate")
    assert refusal(small) == (409, "too_few_reports")


def test_groups_have_one_entry_in_the_log(api: TrackedApi) -> None:
    survey = drinks()
    api.publish(survey)
    entries = api.ask("GET", "/v1/log/entries", token="").json()["entries"]
    assert [entry["survey"] for entry in entries] == [survey.id]


def test_every_period_of_a_tracking_survey_has_its_groups(api: TrackedApi) -> None:
    tracking = weekly(groups={"arm": ["A", "B"]})
    api.publish(tracking)
    for number in (1, 2):
        api.at(number - 1, 1)
        for group, people in (("A", 30), ("B", 20)):
            member = tracking.period(number).in_group(group)
            assert api.send(member, honest(member, "yes", people)).json()["accepted"] == people
    ahead = tracking.period(3).in_group("A")
    assert refusal(api.send(ahead, honest(ahead, "yes", 1))) == (404, "period_not_open")
    api.count()
    assert [period["n_reports"] for period in api.periods(tracking)["periods"]] == [50, 50]
    curve = api.ask("GET", f"/v1/surveys/{tracking.id}/curve").json()
    assert [point["n_reports"] for point in curve["points"]] == [50, 50]
    api.at(3, 6)
    closed = tracking.period(1).in_group("A")
    assert refusal(api.send(closed, honest(closed, "yes", 1))) == (409, "survey_sealed")


def test_a_deleted_survey_has_no_groups_left(api: TrackedApi) -> None:
    for survey in (drinks(), weekly(groups={"arm": ["A", "B"]})):
        api.publish(survey)
        part = survey if isinstance(survey, Survey) else survey.period(1)
        member = part.in_group("A")
        api.send(member, honest(member, member.answer_label(0), 3))
        assert api.ask("DELETE", f"/v1/surveys/{survey.id}").status_code == 200
        assert refusal(api.send(member, honest(member, member.answer_label(0), 3))) == (410, "survey_deleted")


def test_a_group_is_not_deleted_alone(api: TrackedApi) -> None:
    """Else what was told of it before goes on being told in the sum, whose number of reports comes back."""
    survey, weeks = drinks(), weekly(groups={"arm": ["A", "B"]})
    for one in (survey, weeks):
        api.publish(one)
        part = one if isinstance(one, Survey) else one.period(1)
        for group in "AB":
            member = part.in_group(group)
            api.send(member, honest(member, member.answer_label(0), 60))
        api.count()
        told = api.ask("GET", f"/v1/surveys/{part.id}/estimate").json()["n_reports"]
        response = api.ask("DELETE", f"/v1/surveys/{part.in_group('A').id}")
        assert refusal(response) == (409, "group_of_a_survey")
        assert f"delete survey {part.id[:12]}" in response.json()["error"]["message"]
        assert api.ask("GET", f"/v1/surveys/{part.id}/status").json()["n_reports"] == told == 120
        assert api.ask("DELETE", f"/v1/surveys/{part.id}").status_code == 200, "a period with all its groups"
        assert refusal(api.ask("GET", f"/v1/surveys/{part.in_group('A').id}/estimate")) == (410, "survey_deleted")
    assert api.ask("GET", f"/v1/surveys/{weeks.id}/status").json()["n_reports"] == 0

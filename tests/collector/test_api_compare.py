"""Groups over HTTP: side by side, compared and weighed, with the numbers of the library; nothing of a small group."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Iterator
from itertools import count
from pathlib import Path
from typing import Any

import pytest

import sottovoce as sv
from collector.client import honest
from collector.tracked import TrackedApi, tracking_api
from sottovoce.collector.counting.live import live_aggregate
from sottovoce.collector.store import Store, open_store
from sottovoce.estimates.estimate import Estimate
from sottovoce.surveys.survey import Survey

POPULATION = {"arm": {"A": 0.1, "B": 0.9}}


@pytest.fixture
def api(tmp_path: Path) -> Iterator[TrackedApi]:
    store: Store = open_store("", tmp_path)
    with tracking_api(tmp_path, store, 0, 0.5) as found:
        yield found
    store.close()


def drinks(**more: Any) -> Survey:
    return Survey(["tea", "coffee", "water"], epsilon=2.0, **{"groups": {"arm": ["A", "B"]}, **more})


def filled(api: TrackedApi, survey: Survey, people: dict[Any, tuple[str, int]], minimum: int = 1) -> Estimate:
    """The survey with these people's reports, and its estimate by the library from the groups that have enough."""
    api.publish(survey, minimum_reports=minimum)
    for group, (value, n) in people.items():
        member = survey.in_group(group)
        assert api.send(member, honest(member, value, n)).json()["accepted"] == n
    api.count()
    large = [survey.groups.find(group) for group, (_, n) in people.items() if n >= minimum]  # type: ignore[union-attr]
    return survey.estimate({group: live_aggregate(api.store, survey.in_group(group)) for group in large})


def ask(api: TrackedApi, survey: Survey, what: str, status: int = 200, **given: Any) -> Any:
    response = api.ask("GET", f"/v1/surveys/{survey.id}/{what}", params=given)
    assert response.status_code == status, response.text
    return response.json()


def refused(api: TrackedApi, survey: Survey, what: str, **given: Any) -> tuple[int, str, str | None]:
    response = api.ask("GET", f"/v1/surveys/{survey.id}/{what}", params=given)
    error = response.json()["error"]
    return response.status_code, error["code"], error["field"]


def weigh(api: TrackedApi, survey: Survey, **body: Any) -> Any:
    return api.ask("POST", f"/v1/surveys/{survey.id}/weighted", json=body)


def rows(response: Any) -> list[dict[str, str]]:
    return list(csv.DictReader(io.StringIO(response.text)))


def test_every_number_is_that_of_the_library(api: TrackedApi) -> None:
    survey = drinks()
    estimate = filled(api, survey, {"A": ("tea", 300), "B": ("coffee", 200)})
    by = ask(api, survey, "by", variable="arm")
    assert by == json.loads(json.dumps(estimate.by("arm").to_dict(rows=20)))
    shown = [answer.label for answer in estimate.top()]
    assert [[answer["label"] for answer in group["answers"]] for group in by["groups"]] == [shown, shown]
    assert by["groups"][1]["answers"][0] == estimate.by("arm")["B"][shown[0]].row()
    for always, given in ((False, "0"), (True, "1"), (True, "open")):
        told = ask(api, survey, "comparison", first="A", second="arm=B", level=0.9, always=given)
        assert told == json.loads(sv.compare(estimate, "A", "B", level=0.9, always=always).to_json())
    assert told["names"] == ["arm A", "arm B"]
    assert weigh(api, survey, population=POPULATION, level=0.9).json() == json.loads(
        estimate.weighted(POPULATION, level=0.9).to_json()
    )


def test_a_form_is_weighed_by_its_private_fields(api: TrackedApi) -> None:
    survey = Survey(sv.records({"age": ["young", "old"], "drink": ["tea", "coffee"]}), epsilon=8.0)
    api.publish(survey, minimum_reports=1)
    young, old = {"age": "young", "drink": "tea"}, {"age": "old", "drink": "coffee"}
    assert api.send(survey, honest(survey, young, 300) + honest(survey, old, 100)).json()["accepted"] == 400
    api.count()
    estimate = survey.estimate(live_aggregate(api.store, survey))
    population = {"age": {"young": 0.5, "old": 0.5}}
    for method in (None, "rake"):
        told = weigh(api, survey, population=population, method=method).json()
        assert told == json.loads(estimate.weighted(population, method=method).to_json())
    assert weigh(api, survey, population=population, method="magic").status_code == 400


def test_a_watched_group_has_the_intervals_of_every_look(api: TrackedApi) -> None:
    survey = drinks()
    estimate = filled(api, survey, {"A": ("tea", 300), "B": ("coffee", 200)})
    watched, once = (ask(api, survey, "by", variable="arm", always=always, rows=1) for always in ("1", "0"))
    assert (watched["always"], once["always"]) == (True, False)
    assert watched["groups"] == estimate.watched().by("arm").to_dict(rows=1)["groups"]
    (one,), (other,) = (told["groups"][0]["answers"] for told in (watched, once))
    assert one["high"] - one["low"] > other["high"] - other["low"]


def test_files_have_all_answers(api: TrackedApi) -> None:
    survey = drinks()
    estimate = filled(api, survey, {"A": ("tea", 300), "B": ("coffee", 200)})
    response = api.ask("GET", f"/v1/surveys/{survey.id}/by.csv", params={"variable": "arm"})
    assert response.headers["content-disposition"] == f'attachment; filename="survey-{survey.id[:12]}-by.csv"'
    assert response.text == estimate.by("arm").to_csv()
    assert [(row["group"], row["label"]) for row in rows(response)] == [
        (arm, label) for arm in "AB" for label in ("tea", "coffee", "water")
    ]
    response = api.ask("GET", f"/v1/surveys/{survey.id}/comparison.csv", params={"first": "A", "second": "B"})
    assert response.text == sv.compare(estimate, "A", "B").to_csv()


def test_a_small_group_is_in_nothing_that_is_told(api: TrackedApi) -> None:
    groups = {"arm": ["A", "B"], "platform": ["phone", "web"]}
    survey = drinks(groups=groups)
    cells = [{"arm": arm, "platform": platform} for arm in "AB" for platform in ("phone", "web")]
    people = (("tea", 150), ("coffee", 20), ("tea", 130), ("water", 110))
    keys = [survey.groups.find(cell).label for cell in cells]  # type: ignore[union-attr]
    estimate = filled(api, survey, dict(zip(keys, people, strict=True)), minimum=100)
    # Twenty people of arm A on the web: in no sum over arms, platforms or everybody.
    by_arm, by_platform = (ask(api, survey, "by", variable=name) for name in groups)
    assert [group["n_reports"] for group in by_arm["groups"]] == [150, 240]
    assert [group["n_reports"] for group in by_platform["groups"]] == [280, 110]
    assert ask(api, survey, "estimate")["n_reports"] == 390
    compared = ask(api, survey, "comparison", first="A", second="B")
    assert compared == json.loads(sv.compare(estimate, "A", "B").to_json())
    assert compared["reports"] == [150, 240]
    weighed = weigh(api, survey, population={"platform": {"phone": 0.5, "web": 0.5}}).json()
    assert [group["n_reports"] for group in weighed["groups"]] == [150, 130, 110]
    small = "arm=A,platform=web"
    assert refused(api, survey, "comparison", first=small, second="B") == (409, "too_few_reports", "first")
    assert refused(api, survey, "comparison.csv", first="B", second=small) == (409, "too_few_reports", "second")
    told = rows(api.ask("GET", f"/v1/surveys/{survey.id}/by.csv", params={"variable": "platform"}))
    assert told == list(csv.DictReader(io.StringIO(estimate.by("platform").to_csv())))


def test_a_variable_whose_only_group_is_small_has_no_number(api: TrackedApi) -> None:
    survey = drinks()
    filled(api, survey, {"A": ("tea", 120), "B": ("coffee", 99)}, minimum=100)
    by = ask(api, survey, "by", variable="arm")
    assert [(group["value"], group["n_reports"], len(group["answers"])) for group in by["groups"]] == [
        ("A", 120, 3),
        ("B", None, 0),
    ]
    response = weigh(api, survey, population=POPULATION)
    assert (response.status_code, response.json()["error"]["field"]) == (409, "population")
    assert "99" not in response.text
    member = survey.in_group("B")
    api.send(member, honest(member, "coffee", 1))
    api.count()
    assert [group["n_reports"] for group in ask(api, survey, "by", variable="arm")["groups"]] == [120, 100]


def test_too_few_of_every_group_are_too_few(api: TrackedApi) -> None:
    survey = drinks()
    api.publish(survey, minimum_reports=100)
    for group in "AB":
        member = survey.in_group(group)
        api.send(member, honest(member, "tea", 60))
    api.count()
    for what, given in {
        "estimate": {},
        "aggregate": {},
        "table.csv": {},
        "picture": {},
        "by": {"variable": "arm"},
        "by.csv": {"variable": "arm"},
        "comparison": {"first": "A", "second": "B"},
    }.items():
        assert refused(api, survey, what, **given)[:2] == (409, "too_few_reports"), what


def test_what_is_told_is_made_once_also_beside_a_small_group(api: TrackedApi, monkeypatch: pytest.MonkeyPatch) -> None:
    survey = drinks()
    filled(api, survey, {"A": ("tea", 120), "B": ("coffee", 20)}, minimum=100)
    made = count()
    estimate = Survey.estimate
    monkeypatch.setattr(Survey, "estimate", lambda *given, **more: (next(made), estimate(*given, **more))[1])
    for _ in range(3):
        ask(api, survey, "estimate")
        ask(api, survey, "picture")
        ask(api, survey, "by", variable="arm")
    assert next(made) <= 2  # everybody's estimate, and the pooled one inside it


@pytest.mark.parametrize(
    ("what", "given", "field"),
    [
        ("by", {"variable": "age"}, "variable"),
        ("by.csv", {"variable": ""}, "variable"),
        ("comparison", {"first": "A", "second": "C"}, "second"),
        ("comparison", {"first": "arm=C", "second": "B"}, "first"),
        ("comparison", {"first": "age=A", "second": "B"}, "first"),
        ("comparison", {"first": "", "second": "B"}, "first"),
        ("comparison", {"first": "A", "second": "A"}, "second"),
        ("comparison", {"first": "A", "second": "B", "answer": "beer"}, "answer"),
        ("comparison", {"first": "A", "second": "B", "answer": ["tea", "tea"]}, "answer"),
    ],
)
def test_unknown_variables_groups_and_answers_are_refused(
    api: TrackedApi, what: str, given: dict[str, Any], field: str
) -> None:
    survey = drinks()
    filled(api, survey, {"A": ("tea", 30), "B": ("coffee", 20)})
    assert refused(api, survey, what, **given) == (422, "invalid_groups", field)


@pytest.mark.parametrize(
    "population",
    [{"arm": {"A": 0.5, "B": 0.6}}, {"arm": {"A": 0.5, "C": 0.5}}, {"age": {"A": 0.5, "B": 0.5}}, {"arm": {"A": -1.0}}],
)
def test_wrong_populations_are_refused(api: TrackedApi, population: Any) -> None:
    survey = drinks()
    filled(api, survey, {"A": ("tea", 30), "B": ("coffee", 20)})
    error = weigh(api, survey, population=population).json()["error"]
    assert (error["code"], error["field"]) == ("invalid_groups", "population")


def test_no_group_given_and_none_there(api: TrackedApi) -> None:
    survey = drinks()
    filled(api, survey, {"A": ("tea", 30), "B": ("coffee", 20)})
    assert refused(api, survey, "comparison", first="A") == (400, "invalid_parameter", "second")
    assert refused(api, survey, "by") == (400, "invalid_parameter", "variable")
    plain = Survey(["tea", "coffee"], epsilon=2.0)
    api.publish(plain)
    for asked in (plain, survey.in_group("A")):
        assert refused(api, asked, "by", variable="arm")[:2] == (409, "survey_without_groups")
        assert refused(api, asked, "comparison", first="A", second="B")[:2] == (409, "survey_without_groups")
        assert weigh(api, asked, population=POPULATION).json()["error"]["code"] == "survey_without_groups"


def test_words_are_found_by_group_and_compared_by_name(api: TrackedApi) -> None:
    survey = Survey(sv.words(2, "latin"), epsilon=4.0, people=600, groups={"arm": ["A", "B"]})
    estimate = filled(api, survey, {"A": ("no", 300), "B": ("ja", 200)})
    by = ask(api, survey, "by", variable="arm")
    assert [group["answers"][0]["label"] for group in by["groups"]] == ["no", "ja"]
    assert by["groups"][0]["answers"][0]["certain"] is True
    assert refused(api, survey, "comparison", first="A", second="B") == (422, "invalid_groups", "answer")
    told = ask(api, survey, "comparison", first="A", second="B", answer=["ja", "no"])
    assert told == json.loads(sv.compare(estimate, "A", "B", answers=["ja", "no"]).to_json())
    weighed = weigh(api, survey, population=POPULATION, answers=["ja"]).json()
    assert [answer["label"] for answer in weighed["answers"]] == ["ja"]


def test_a_question_of_very_many_answers_is_told_in_parts(api: TrackedApi) -> None:
    survey = Survey(sv.shares(20_000), epsilon=2.0, groups={"arm": ["A", "B"]})
    filled(api, survey, {"A": (5, 30), "B": (6, 20)})  # type: ignore[dict-item]
    by = ask(api, survey, "by", variable="arm", rows=3)
    assert (by["n_answers"], [len(group["answers"]) for group in by["groups"]]) == (20_000, [3, 3])
    assert refused(api, survey, "comparison", first="A", second="B") == (422, "invalid_groups", "answer")
    labels = [answer["label"] for answer in by["groups"][0]["answers"]]
    compared = ask(api, survey, "comparison", first="A", second="B", answer=labels)
    assert [difference["label"] for difference in compared["differences"]] == labels

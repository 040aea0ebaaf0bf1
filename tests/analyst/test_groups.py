"""Surveys with groups for analysts: the client gives the numbers that the collector gives, by group and over time."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import sottovoce as sv
from analyst.test_periods import live_of
from collector.client import honest
from collector.tracked import TrackedApi, tracking_api, weekly
from sottovoce.analyst.parquet import read_export
from sottovoce.collector.store import open_store
from sottovoce.core.errors import NoReportsError
from sottovoce.surveys.survey import Survey, Tracking

ARMS = {"arm": ["A", "B"]}


@pytest.fixture
def api(tmp_path: Path) -> Iterator[TrackedApi]:
    store = open_store("", tmp_path / "data")
    with tracking_api(tmp_path / "data", store, 0) as found:
        yield found
    store.close()


def filled(api: TrackedApi, survey: Any, people: dict[str, int], minimum: int = 1) -> None:
    if not isinstance(survey, Survey) or survey.period is None:
        api.publish(survey, minimum_reports=minimum)
    for group, n in people.items():
        member = survey.in_group(group)
        api.send(member, honest(member, member.answer_label(0), n))
    api.count()


def tracked(api: TrackedApi, people: list[dict[str, int]], minimum: int) -> Tracking:
    tracking = weekly(groups=ARMS)
    api.publish(tracking, minimum_reports=minimum)
    for number, arms in enumerate(people, 1):
        api.at(number - 1, 1)
        filled(api, tracking.period(number), arms)
    return tracking


def told(api: TrackedApi, survey: Survey, what: str, **given: Any) -> Any:
    return api.ask("GET", f"/v1/surveys/{survey.id}/{what}", params=given).json()


def test_the_client_and_the_collector_give_the_same_numbers(api: TrackedApi) -> None:
    survey = Survey(["tea", "coffee"], epsilon=2.0, groups={"arm": ["A", "B", "C"]})
    filled(api, survey, {"A": 60, "B": 50, "C": 9}, minimum=10)
    live, _ = live_of(api, survey)
    estimate = live.estimate()
    assert estimate.by("arm").to_dict(rows=20) == told(api, survey, "by", variable="arm")
    for looks in (False, True):
        given = {"first": "A", "second": "B", "always": str(int(looks))}
        assert json.loads(sv.compare(estimate.watched(looks), "A", "B").to_json()) == told(
            api, survey, "comparison", **given
        )
    population = {"arm": {"A": 0.3, "B": 0.7}}
    weighed = api.ask("POST", f"/v1/surveys/{survey.id}/weighted", json={"population": population}).json()
    assert json.loads(estimate.weighted(population).to_json()) == weighed


def test_a_value_that_is_spelt_like_another_label(api: TrackedApi) -> None:
    survey = Survey(["tea", "coffee"], epsilon=2.0, groups={"arm": ["A", "arm A"]})
    filled(api, survey, {"A": 40, "arm A": 30})
    live, _ = live_of(api, survey)
    assert live.estimate().by("arm").n_reports == {"A": 40, "arm A": 30}


def test_watching_waits_for_a_group_with_enough_reports(api: TrackedApi) -> None:
    survey = Survey(["tea", "coffee"], epsilon=2.0, groups=ARMS)
    filled(api, survey, {"A": 7, "B": 7}, minimum=10)
    api.ask("POST", f"/v1/surveys/{survey.id}/seal")
    live, _ = live_of(api, survey)
    assert list(live.watch()) == []
    with pytest.raises(NoReportsError, match="no group has 10"):
        live.estimate()


def test_a_curve_for_every_group(api: TrackedApi) -> None:
    # In the second week no group has enough, though both together have: a gap.
    tracking = tracked(api, [{"A": 30, "B": 20}, {"A": 8, "B": 9}, {"A": 25, "B": 4}], minimum=10)
    live, http = live_of(api, tracking)
    api.at(3, 6)
    curve = live.curve()
    reports = {
        value: {number: estimate.n_reports for number, estimate in own.estimates.items()}
        for value, own in curve.by("arm").items()
    }
    assert reports == {"A": {1: 30, 3: 25}, "B": {1: 20}}
    body = api.ask("GET", f"/v1/surveys/{tracking.id}/curve").json()
    assert [point["n_reports"] for point in body["points"]] == [50, 0, 25]
    assert [point["value"] for point in body["points"]] == [
        point["value"] for point in curve.to_dict(body["answer"])["points"]
    ]
    fetched = [path for path in http.asked if path.endswith("/aggregate")]
    live.curve()
    assert [path for path in http.asked if path.endswith("/aggregate")] == fetched, "closed periods are counted once"


def test_exports_have_a_folder_for_every_group_of_every_period(api: TrackedApi, tmp_path: Path) -> None:
    tracking = tracked(api, [{"A": 3, "B": 2}, {"A": 1}], minimum=1)
    live, _ = live_of(api, tracking)
    assert live.export(tmp_path / "out").reports == 6
    member = tracking.period(1).in_group("B")
    assert read_export(member, tmp_path / "out" / "period-00001" / "group-00002").n_reports == 2

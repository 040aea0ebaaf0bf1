"""Curves of groups over HTTP: one for every value of a variable, two of them compared, nothing of a small group."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import sottovoce as sv
from collector.client import honest
from collector.tracked import TrackedApi, tracking_api, weekly
from sottovoce.collector.counting.live import live_aggregate
from sottovoce.collector.store import Store, open_store
from sottovoce.surveys.survey import Tracking

ARMS = {"arm": ["A", "B", "C"]}
PEOPLE: list[dict[str, int]] = [{"A": 30, "B": 20, "C": 12}, {"A": 25, "B": 9}, {"A": 21, "B": 22}]
MINIMUM = 10


@pytest.fixture
def api(tmp_path: Path) -> Iterator[TrackedApi]:
    store: Store = open_store("", tmp_path)
    with tracking_api(tmp_path, store, 0) as found:
        yield found
    store.close()


@pytest.fixture
def tracking(api: TrackedApi) -> Tracking:
    found = weekly(groups=ARMS)
    api.publish(found, minimum_reports=MINIMUM)
    for number, arms in enumerate(PEOPLE, 1):
        api.at(number - 1, 1)
        for group, n in arms.items():
            member = found.period(number).in_group(group)
            api.send(member, honest(member, "yes", n))
    api.count()
    api.at(2, 3)
    return found


def curve_of(api: TrackedApi, tracking: Tracking) -> Any:
    """The curve by the library, from the groups that have enough."""
    return tracking.estimate(
        {
            number: {
                group: live_aggregate(api.store, tracking.period(number).in_group(group))
                for group, n in arms.items()
                if n >= MINIMUM
            }
            for number, arms in enumerate(PEOPLE, 1)
        },
        closed=[1, 2],
    )


def ask(api: TrackedApi, survey: Any, **given: Any) -> Any:
    return api.ask("GET", f"/v1/surveys/{survey.id}/curve", params=given)


def test_curves_and_their_difference_are_those_of_the_library(api: TrackedApi, tracking: Tracking) -> None:
    curve = curve_of(api, tracking)
    told = ask(api, tracking, answer="yes", by="arm").json()
    assert [group["label"] for group in told["groups"]] == ["arm A", "arm B", "arm C"]
    for group in told["groups"]:
        assert group["points"] == curve.by("arm")[group["value"]].to_dict("yes")["points"]
    # Nine people of arm B in the second week are in no number.
    assert [[point["n_reports"] for point in group["points"]] for group in told["groups"]] == [
        [30, 25, 21],
        [20, 0, 22],
        [12, 0, 0],
    ]
    assert [point["n_reports"] for point in told["points"]] == [62, 25, 43]
    assert told["comparison"] == json.loads(json.dumps(sv.compare(curve, "A", "B", answers=["yes"]).to_dict("yes")))
    chosen = ask(api, tracking, answer="yes", first="arm=C", second="A", level=0.9, always=False).json()
    assert "groups" not in chosen
    again = sv.compare(curve, "C", "A", answers=["yes"], level=0.9, always=False)
    assert chosen["comparison"] == json.loads(json.dumps(again.to_dict("yes")))
    assert "comparison" not in ask(api, tracking).json()


@pytest.mark.parametrize(
    ("given", "status", "field"),
    [
        ({"by": "age"}, 422, "by"),
        ({"first": "A"}, 422, "second"),
        ({"second": "A"}, 422, "first"),
        ({"first": "D", "second": "A"}, 422, "first"),
        ({"first": "A", "second": "A"}, 422, "second"),
        ({"first": "A", "second": "arm=D"}, 422, "second"),
    ],
)
def test_unknown_variables_and_groups(
    api: TrackedApi, tracking: Tracking, given: dict[str, str], status: int, field: str
) -> None:
    response = ask(api, tracking, **given)
    assert (response.status_code, response.json()["error"]["field"]) == (status, field)


def test_groups_that_never_have_enough_in_one_period(api: TrackedApi, tracking: Tracking) -> None:
    member = tracking.period(3).in_group("C")
    api.send(member, honest(member, "yes", MINIMUM - 1))
    api.count()
    told = ask(api, tracking, by="arm").json()
    assert [point["n_reports"] for point in told["groups"][2]["points"]] == [12, 0, 0]
    assert [point["n_reports"] for point in told["points"]] == [62, 25, 43]


def test_a_survey_without_groups_and_one_of_words(api: TrackedApi) -> None:
    plain = weekly()
    api.publish(plain, minimum_reports=1)
    api.send(plain.period(1), honest(plain.period(1), "yes", 3))
    words = weekly(question=sv.words(2, "latin"), groups=ARMS, epsilon=4.0, people=100)
    api.publish(words, minimum_reports=1)
    member = words.period(1).in_group("A")
    api.send(member, honest(member, "ja", 3))
    api.count()
    without, searched = (ask(api, survey, by="arm").json()["error"] for survey in (plain, words))
    assert without["code"] == "survey_without_groups"
    assert (searched["code"], searched["field"]) == ("invalid_curve", "by")

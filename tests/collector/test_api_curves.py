"""The curve of a tracking survey over HTTP: what the library gives, computed once, gaps and open periods marked."""

from __future__ import annotations

import base64
import secrets
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from collector.client import DRINKS
from collector.tracked import TrackedApi, tracking_api, weekly
from sottovoce.collector.api import curves as curves_module
from sottovoce.collector.api import reading as reading_module
from sottovoce.collector.counting.live import live_aggregate
from sottovoce.collector.store import open_store
from sottovoce.formats.aggregate_bytes import MEDIA_TYPE, to_bytes
from sottovoce.questions.number import Number
from sottovoce.questions.shares import Shares
from sottovoce.questions.words import Words
from sottovoce.service.refusal import Refusal
from sottovoce.surveys.simulation import draw_reports
from sottovoce.surveys.survey import Survey, Tracking


@pytest.fixture
def api(tmp_path: Path) -> Iterator[TrackedApi]:
    store = open_store("", tmp_path)
    with tracking_api(tmp_path, store, 0) as found:
        yield found
    store.close()


def answer(api: TrackedApi, tracking: Tracking, number: int, values: list[Any], seed: int) -> None:
    """Reports of people with these values, drawn with a seed; each of them counted."""
    period = tracking.period(number)
    rows = period.mechanism.codec.encode_many(draw_reports(period.mechanism, period.people(values), seed))
    pairs = [(secrets.token_bytes(16), period.tag + row.tobytes()) for row in rows]
    assert api.send(period, pairs).status_code == 200
    api.count()


def filled(api: TrackedApi) -> Tracking:
    """Four weeks: one with reports, one with too few, one with reports, one that is open."""
    tracking = weekly(6)
    api.publish(tracking, minimum_reports=20)
    for number, yes, n in ((1, 10, 60), (2, 1, 5), (3, 40, 60), (4, 30, 50)):
        api.at(number - 1)
        answer(api, tracking, number, ["yes"] * yes + ["no"] * (n - yes), seed=number)
    return tracking


def curve(api: TrackedApi, tracking: Tracking, query: str = "") -> Any:
    response = api.ask("GET", f"/v1/surveys/{tracking.id}/curve{query}")
    assert response.status_code == 200, response.text
    return response.json()


def test_the_curve_is_the_librarys(api: TrackedApi) -> None:
    tracking = filled(api)
    api.at(3, 3)
    found = curve(api, tracking, "?answer=yes&level=0.9&smooth=true")
    aggregates = {k: live_aggregate(api.store, tracking.period(k)) for k in (1, 3, 4)}
    expected = tracking.estimate(aggregates, closed=(1, 2, 3)).to_dict("yes", 0.9, True)
    assert found["points"] == expected["points"]
    assert [point["state"] for point in found["points"]] == ["closed", "empty", "closed", "open"]
    assert (found["answer"], found["answers"], found["share"]) == ("yes", ["no", "yes"], True)
    assert {name: found[name] for name in expected if name != "trend"} == {
        name: expected[name] for name in expected if name != "trend"
    }


def test_the_trend_comes_with_a_sentence(api: TrackedApi) -> None:
    tracking = filled(api)
    api.at(4)
    answer(api, tracking, 5, ["yes"] * 50, seed=5)
    api.at(6, 3)
    trend = curve(api, tracking, "?answer=yes")["trend"]
    assert trend["periods"] == 4
    assert f"{trend['slope']:+.4g} per period" in trend["statement"]


def test_without_a_name_the_first_answer_is_followed(api: TrackedApi) -> None:
    tracking = filled(api)
    assert curve(api, tracking)["answer"] == "no"


def test_a_number_is_followed_by_its_mean(api: TrackedApi) -> None:
    tracking = weekly(3, question=Number.of(low=0, high=10, unit="hours", points=5))
    body = {
        "statement": tracking.to_json(),
        "attachments": {name: base64.b64encode(raw).decode() for name, raw in tracking.attachments.items()},
        "minimum_reports": 1,
    }
    assert api.ask("POST", "/v1/surveys", json=body).status_code == 201
    answer(api, tracking, 1, [3.0] * 40, seed=1)
    found = curve(api, tracking)
    assert (found["answer"], found["unit"]) == ("mean", "hours")
    assert found["answers"][0] == "mean"


def test_differences_of_two_periods(api: TrackedApi) -> None:
    tracking = filled(api)
    path = f"/v1/surveys/{tracking.id}/difference"
    found = api.ask("GET", f"{path}?later=3&earlier=1&answer=yes&level=0.8").json()
    aggregates = {k: live_aggregate(api.store, tracking.period(k)) for k in (1, 3)}
    expected = tracking.estimate(aggregates).difference(3, 1, "yes", 0.8)
    assert (found["value"], found["low"], found["high"]) == (expected.value, expected.low, expected.high)
    assert (found["later"], found["earlier"], found["answer"], found["share"]) == (3, 1, "yes", True)
    for query, status, code in (
        ("later=3&earlier=3&answer=yes", 422, "invalid_curve"),
        ("later=3&earlier=2&answer=yes", 409, "too_few_reports"),
        ("later=3&earlier=9&answer=yes", 422, "invalid_curve"),
        ("later=3&earlier=1&answer=maybe", 422, "invalid_curve"),
        ("later=3", 400, "invalid_parameter"),
    ):
        refused = api.ask("GET", f"{path}?{query}")
        assert (refused.status_code, refused.json()["error"]["code"]) == (status, code), query


def test_parameters_that_are_none(api: TrackedApi) -> None:
    tracking = filled(api)
    for query, status, field in (
        ("answer=maybe", 422, "answer"),
        ("level=1", 400, "level"),
        ("smooth=perhaps", 400, "smooth"),
        ("answers=yes", 400, None),
    ):
        refused = api.ask("GET", f"/v1/surveys/{tracking.id}/curve?{query}")
        assert (refused.status_code, refused.json()["error"]["field"]) == (status, field), query


def test_surveys_without_a_curve(api: TrackedApi) -> None:
    api.publish(DRINKS)
    refused = api.ask("GET", f"/v1/surveys/{DRINKS.id}/curve")
    assert (refused.status_code, refused.json()["error"]["code"]) == (409, "survey_not_tracking")
    tracking = weekly()
    api.publish(tracking)
    refused = api.ask("GET", f"/v1/surveys/{tracking.id}/curve")
    assert (refused.status_code, refused.json()["error"]["code"]) == (409, "too_few_reports")


def test_only_what_is_new_is_estimated(api: TrackedApi, monkeypatch: pytest.MonkeyPatch) -> None:
    tracking = filled(api)
    made: list[str] = []
    real = curves_module.reports_of

    def noted(service: Any, record: Any, survey: Survey) -> Any:
        made.append(survey.id)
        return real(service, record, survey)

    monkeypatch.setattr(curves_module, "reports_of", noted)
    path = f"/v1/surveys/{tracking.id}/curve?answer=yes"
    first = api.ask("GET", path)
    assert made == [tracking.period(k).id for k in (1, 3, 4)]
    again = api.ask("GET", path, headers={"If-None-Match": first.headers["etag"]})
    assert again.status_code == 304
    curve(api, tracking, "?answer=no")
    assert len(made) == 3, "another answer of the same estimates"
    answer(api, tracking, 4, ["yes"] * 3, seed=9)
    assert curve(api, tracking, "?answer=yes")["points"][3]["n_reports"] == 53
    assert made[3:] == [tracking.period(4).id]
    before = curve(api, tracking, "?answer=yes")
    api.at(4, 2)
    after = curve(api, tracking, "?answer=yes")
    assert (before["points"][3]["state"], after["points"][3]["state"]) == ("open", "closed"), "without a new report"


def test_a_deleted_period_is_gone_from_the_curve_though_as_many_reports_came_elsewhere(api: TrackedApi) -> None:
    tracking = filled(api)
    api.at(3, 3)
    assert curve(api, tracking, "?answer=yes")["points"][0]["n_reports"] == 60
    api.ask("DELETE", f"/v1/surveys/{tracking.period(1).id}")
    answer(api, tracking, 4, ["yes"] * 60, seed=9)
    points = curve(api, tracking, "?answer=yes")["points"]
    assert [(one["state"], one["n_reports"]) for one in points[::3]] == [("empty", 0), ("open", 110)]


def test_values_that_are_numbers_have_a_curve(api: TrackedApi) -> None:
    tracking = weekly(2, Shares(range(18, 21)))
    api.publish(tracking)
    answer(api, tracking, 1, [18, 20, 20], seed=1)
    assert curve(api, tracking)["answer"] == "18"
    found = curve(api, tracking, "?answer=20")
    assert (found["answer"], found["answers"]) == ("20", ["18", "19", "20"])
    refused = api.ask("GET", f"/v1/surveys/{tracking.id}/curve?answer=21").json()["error"]
    assert (refused["code"], refused["field"]) == ("invalid_curve", "answer")


def test_counts_that_are_handed_in_anew_change_the_curve(api: TrackedApi) -> None:
    """Of as many reports as before."""
    tracking = filled(api)
    api.at(3, 3)
    before = curve(api, tracking, "?answer=yes")["points"]
    period = tracking.period(1)
    other = period.simulate_aggregate(["yes"] * 60, seed=3)
    handed = api.ask(
        "PUT", f"/v1/surveys/{period.id}/aggregate", content=to_bytes(other), headers={"Content-Type": MEDIA_TYPE}
    )
    assert handed.status_code == 200, handed.text
    after = curve(api, tracking, "?answer=yes")["points"]
    assert after[0]["value"] == pytest.approx(period.estimate(other).raw[1]) != before[0]["value"]


@pytest.mark.parametrize("wants", ["mean", "spread", "distribution"])
def test_every_figure_of_a_number_that_is_named_can_be_followed(api: TrackedApi, wants: str) -> None:
    tracking = weekly(2, Number.of(low=0, high=8, unit="km", wants=wants, points=5))
    attached = {name: base64.b64encode(raw).decode() for name, raw in tracking.attachments.items()}
    api.ask("POST", "/v1/surveys", json={"statement": tracking.to_json(), "attachments": attached})
    answer(api, tracking, 1, [1, 2, 6] * 20, seed=1)
    names = [name for name in curve(api, tracking)["answers"] if name in ("mean", "standard deviation", "median")]
    assert len(names) == ["mean", "spread", "distribution"].index(wants) + 1
    assert [curve(api, tracking, f"?answer={name}")["answer"] for name in names] == names


def of_words(api: TrackedApi) -> Tracking:
    """Two weeks of words."""
    tracking = weekly(3, question=Words.of(longest=4, alphabet="abcdef"), epsilon=3.0, people=600)
    api.publish(tracking, minimum_reports=20)
    for number, held in ((1, ["face"] * 400 + ["bad"] * 200), (2, ["face"] * 590 + ["bad"] * 10)):
        api.at(number - 1)
        answer(api, tracking, number, held, seed=number)
    api.at(1, 3)
    return tracking


def test_a_word_is_followed(api: TrackedApi) -> None:
    tracking = of_words(api)
    found = curve(api, tracking)
    assert (found["answer"], found["share"]) == ("face", True)
    assert {"face", "bad"} <= set(found["answers"])
    aggregates = {k: live_aggregate(api.store, tracking.period(k)) for k in (1, 2)}
    assert found["points"] == tracking.estimate(aggregates, closed=(1,)).to_dict("face")["points"]
    difference = api.ask("GET", f"/v1/surveys/{tracking.id}/difference?later=2&earlier=1&answer=FACE").json()
    assert 0 < difference["low"] < 190 / 600 < difference["high"]
    assert api.ask("GET", f"/v1/surveys/{tracking.id}/curve?answer=gazpacho").status_code == 422


def test_curves_of_words_leave_other_estimates_alone(api: TrackedApi, monkeypatch: pytest.MonkeyPatch) -> None:
    """Every period takes a search of seconds: each waits for its turn, is interrupted by the end, and made once."""
    tracking = of_words(api)
    threads, progress = [], []
    estimate = Survey.estimate

    def noted(self: Survey, *given: Any, **more: Any) -> Any:
        threads.append(threading.current_thread().name)
        progress.append(more.get("progress") is not None)
        return estimate(self, *given, **more)

    monkeypatch.setattr(Survey, "estimate", noted)
    for word in ("face", "bad", "cab"):
        curve(api, tracking, f"?answer={word}")
        assert (
            api.ask("GET", f"/v1/surveys/{tracking.id}/difference?later=2&earlier=1&answer={word}").status_code == 200
        )
    assert len(threads) == 2
    assert all(name.startswith("sottovoce-search") for name in threads)
    assert all(progress)


def test_a_search_for_a_curve_is_kept_though_the_next_fails(api: TrackedApi, monkeypatch: pytest.MonkeyPatch) -> None:
    tracking = of_words(api)
    made: list[str] = []
    real = reading_module.searched

    async def noted(service: Any, record: Any, survey: Survey) -> Any:
        made.append(survey.id)
        if made == [tracking.period(k).id for k in (1, 2)]:
            raise Refusal(503, "busy", "too many wait")
        return await real(service, record, survey)

    monkeypatch.setattr(curves_module, "searched", noted)
    assert api.ask("GET", f"/v1/surveys/{tracking.id}/curve").status_code == 503
    curve(api, tracking)
    assert made == [tracking.period(k).id for k in (1, 2, 2)]

"""Tracking surveys over HTTP: publishing, the collector's time, reports to periods, their list, ending them."""

from __future__ import annotations

import base64
from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path

import pytest

from collector.client import DRINKS, honest
from collector.tracked import STARTS, TrackedApi, tracking_api, weekly
from sottovoce.collector.store import Store, open_store
from sottovoce.questions.queries import Queries
from sottovoce.surveys.survey import Survey
from sottovoce.workloads import Prefix


@pytest.fixture
def api(tmp_path: Path) -> Iterator[TrackedApi]:
    """At noon of the day on which the first period begins; on SQLite."""
    store: Store = open_store("", tmp_path)
    with tracking_api(tmp_path, store, 0, 0.5) as found:
        yield found
    store.close()


def refusal(response: object) -> tuple[int, str, str | None]:
    told = response.json()["error"]  # type: ignore[attr-defined]
    return response.status_code, told["code"], told["field"]  # type: ignore[attr-defined]


def test_the_time_is_the_databases_and_open_to_everybody(api: TrackedApi) -> None:
    found = api.ask("GET", "/v1/time", token="")
    assert found.json() == {"now": "2031-01-06T12:00:00Z"}
    assert found.headers["cache-control"] == "no-store"


@pytest.mark.parametrize("days", [-1, -400])
def test_a_start_that_has_passed_is_refused(api: TrackedApi, days: int) -> None:
    late = weekly(starts=STARTS + timedelta(days=days))
    response = api.ask("POST", "/v1/surveys", json={"statement": late.to_json()})
    assert refusal(response) == (422, "start_in_the_past", "starts")
    assert "today is 2031-01-06" in response.json()["error"]["message"]


def test_the_same_survey_again_is_not_refused_for_having_begun(api: TrackedApi) -> None:
    tracking = weekly()
    api.publish(tracking)
    api.at(2)
    again = api.ask("POST", "/v1/surveys", json={"statement": tracking.to_json()})
    assert again.status_code == 200
    assert again.json()["id"] == tracking.id


def test_a_survey_that_begins_today_has_its_first_period_at_once(api: TrackedApi) -> None:
    tracking = weekly()
    api.publish(tracking)
    assert api.states(tracking) == ["open"]
    assert api.send(tracking.period(1), honest(tracking.period(1), "yes", 3)).json() == {"accepted": 3, "refused": []}


def test_a_period_cannot_be_published_by_hand(api: TrackedApi) -> None:
    tracking = weekly()
    body = {"statement": tracking.period(1).to_json()}
    assert refusal(api.ask("POST", "/v1/surveys", json=body)) == (422, "period_of_a_survey", "statement")
    api.publish(tracking)
    opening = api.ask("POST", f"/v1/surveys/{tracking.id}/rounds", json=body)
    assert refusal(opening)[:2] == (409, "survey_not_panel")


def test_reports_reach_their_period_from_its_start_until_it_closes(api: TrackedApi) -> None:
    tracking = weekly()
    api.publish(tracking)
    second = tracking.period(2)
    pairs = honest(second, "yes", 2)
    early = api.send(second, pairs)
    assert refusal(early)[:2] == (404, "period_not_open")
    assert int(early.headers["retry-after"]) == 86400
    assert "begins at 2031-01-13 00:00 UTC" in early.json()["error"]["message"]
    unknown = api.send(tracking.period(3), honest(tracking.period(3), "yes", 1))
    assert refusal(unknown)[:2] == (404, "unknown_survey"), "only the next period is known before it begins"
    api.clock.set(1)
    api.app.service.clock.measure()
    assert api.send(second, pairs).status_code == 200, "opened by the first report, before the keeper looks"
    api.at(2, 1.99)
    assert api.send(second, honest(second, "no", 1)).status_code == 200
    api.clock.set(2, 2)
    api.app.service.clock.measure()
    assert refusal(api.send(second, honest(second, "no", 1)))[:2] == (409, "survey_sealed"), "by the clock alone"
    api.at(2, 2)
    api.count()
    assert [one["n_reports"] for one in api.periods(tracking)["periods"]] == [0, 3, 0]
    api.clock.set(1)
    api.app.service.clock.measure()
    assert refusal(api.send(second, pairs))[:2] == (409, "survey_sealed"), "a clock that went back reopens nothing"


def test_a_tracking_survey_takes_no_reports_itself(api: TrackedApi) -> None:
    tracking = weekly()
    api.publish(tracking)
    response = api.send(tracking, [(bytes(16), bytes(5))])  # type: ignore[arg-type]
    assert refusal(response)[:2] == (422, "survey_tracking")
    for path in ("estimate", "aggregate", "picture", "bound"):
        assert refusal(api.ask("GET", f"/v1/surveys/{tracking.id}/{path}"))[:2] == (409, "survey_tracking")


def test_the_list_of_periods(api: TrackedApi) -> None:
    tracking = weekly()
    api.publish(tracking)
    api.send(tracking.period(1), honest(tracking.period(1), "yes", 4))
    api.count()
    api.at(1, 0.25)
    found = api.periods(tracking)
    assert found["now"] == "2031-01-13T06:00:00Z"
    assert (found["total"], found["page"], found["pages"]) == (3, 1, 1)
    assert found["periods"] == [
        {
            "number": 1,
            "id": tracking.period(1).id,
            "label": tracking.calendar.label(1),
            "starts": "2031-01-06T00:00:00Z",
            "ends": "2031-01-13T00:00:00Z",
            "closes": "2031-01-15T00:00:00Z",
            "state": "open",
            "n_reports": 4,
            "waiting": 0,
        },
        {
            "number": 2,
            "id": tracking.period(2).id,
            "label": tracking.calendar.label(2),
            "starts": "2031-01-13T00:00:00Z",
            "ends": "2031-01-20T00:00:00Z",
            "closes": "2031-01-22T00:00:00Z",
            "state": "open",
            "n_reports": 0,
            "waiting": 0,
        },
    ]
    assert found["next"]["number"] == 3
    assert (found["next"]["id"], found["next"]["starts"]) == (tracking.period(3).id, "2031-01-20T00:00:00Z")
    api.at(2)
    assert api.periods(tracking)["next"] is None, "there are three"
    beyond = api.ask("GET", f"/v1/surveys/{tracking.id}/periods?page=2")
    assert refusal(beyond) == (404, "no_such_page", "page")


def test_the_periods_are_for_readers_of_tracking_surveys(api: TrackedApi) -> None:
    api.publish(DRINKS)
    assert refusal(api.ask("GET", f"/v1/surveys/{DRINKS.id}/periods"))[:2] == (409, "survey_not_tracking")
    assert api.ask("GET", f"/v1/surveys/{DRINKS.id}/periods", token="").status_code == 401


def test_the_status_adds_up_the_periods(api: TrackedApi) -> None:
    tracking, endless = weekly(), weekly(None, renews=2)
    api.publish(tracking)
    api.publish(endless)
    api.at(1)
    for number, n in ((1, 3), (2, 4)):
        api.send(tracking.period(number), honest(tracking.period(number), "no", n))
    api.count()
    api.send(tracking.period(2), honest(tracking.period(2), "no", 5))
    status = api.ask("GET", f"/v1/surveys/{tracking.id}/status").json()
    assert (status["kind"], status["state"], status["n_reports"], status["waiting"]) == ("tracking", "open", 7, 5)
    assert (status["rounds"], status["asked"], status["mechanism"]) == (3, 2, tracking.period(1).mechanism.name)
    status = api.ask("GET", f"/v1/surveys/{endless.id}/status").json()
    assert (status["rounds"], status["asked"]) == (None, 2)


def test_the_list_of_surveys_has_the_survey_and_not_its_periods(api: TrackedApi) -> None:
    tracking = weekly()
    api.publish(tracking)
    listed = api.ask("GET", "/v1/surveys", token="").json()["surveys"]
    assert [(one["id"], one["kind"]) for one in listed] == [(tracking.id, "tracking")]


def test_a_period_is_fetched_like_any_survey(api: TrackedApi) -> None:
    tracking = weekly()
    api.publish(tracking)
    envelope = api.ask("GET", f"/v1/surveys/{tracking.period(1).id}", token="").json()
    assert Survey.from_json(envelope["statement"]) == tracking.period(1)
    assert refusal(api.ask("GET", f"/v1/surveys/{tracking.period(2).id}", token=""))[1] == "unknown_survey"


def test_what_a_design_names_serves_its_periods(api: TrackedApi) -> None:
    factorized = weekly(strategy="factorized", question=Queries(Prefix(6)))
    ((digest, content),) = factorized.attachments.items()
    said = {"statement": factorized.to_json(), "attachments": {digest: base64.b64encode(content).decode()}}
    assert api.ask("POST", "/v1/surveys", json={**said, "minimum_reports": 1}).status_code == 201
    api.at(1)
    period = factorized.period(2)
    assert api.ask("GET", f"/v1/surveys/{period.id}", token="").json()["attachments"] == [digest]
    assert api.send(period, honest(period, 3, 2)).status_code == 200
    api.count()
    assert api.ask("GET", f"/v1/surveys/{period.id}/estimate").json()["n_reports"] == 2
    api.ask("DELETE", f"/v1/surveys/{factorized.id}")
    found = api.ask("GET", f"/v1/attachments/{digest}", token="")
    assert found.content == content, "the statement in the log names it, and outlives its survey"


def test_sealing_and_deleting_end_all_periods(api: TrackedApi) -> None:
    tracking = weekly()
    api.publish(tracking)
    ask = api.token("ask")
    for survey_id in (tracking.id, tracking.period(1).id):
        refused = api.ask("POST", f"/v1/surveys/{survey_id}/seal", token=ask)
        assert refusal(refused)[:2] == (403, "insufficient_scope"), "only rounds are closed by who asks"
    assert api.ask("POST", f"/v1/surveys/{tracking.id}/seal").json()["state"] == "sealed"
    api.at(1)
    found = api.periods(tracking)
    assert [one["state"] for one in found["periods"]] == ["sealed"]
    assert found["next"] is None
    second = api.send(tracking.period(2), honest(tracking.period(2), "yes", 1))
    assert refusal(second)[:2] == (404, "unknown_survey")
    api.ask("DELETE", f"/v1/surveys/{tracking.id}")
    assert refusal(api.ask("GET", f"/v1/surveys/{tracking.id}/periods"))[:2] == (410, "survey_deleted")
    assert refusal(api.send(tracking.period(1), honest(tracking.period(1), "yes", 1)))[:2] == (410, "survey_deleted")
    body = {"statement": tracking.to_json()}
    api.clock.set(0)
    assert refusal(api.ask("POST", "/v1/surveys", json=body))[:2] == (409, "survey_deleted")

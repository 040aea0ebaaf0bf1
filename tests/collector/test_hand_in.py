"""Counting left to an engine: reports are gathered, counted elsewhere, handed in, and give the same estimate."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import sottovoce as sv
from collector.client import DRINKS, Api, honest, running
from sottovoce.collector.counting.aggregator import Aggregator
from sottovoce.collector.counting.live import check
from sottovoce.collector.store.records import Checkpoint
from sottovoce.core.errors import StoreError
from sottovoce.core.limits import MAX_CELLS
from sottovoce.formats.aggregate_bytes import MEDIA_TYPE, to_bytes
from sottovoce.surveys.aggregate import Aggregate
from sottovoce.surveys.survey import Survey

PLACE = f"/v1/surveys/{DRINKS.id}"
PEOPLE = honest(DRINKS, "tea", 60) + honest(DRINKS, "water", 40)


@pytest.fixture
def api(tmp_path: Path) -> Iterator[Api]:
    """A collector that counts nothing itself, with 100 reports in segments."""
    with running(tmp_path, max_counters=0) as api:
        api.publish(DRINKS)
        api.send(DRINKS, PEOPLE)
        gather(api)
        yield api


def gather(api: Api) -> None:
    """Make segments of what waits, as a worker of this service does."""
    worker = Aggregator(api.store, "test", checkpoint_after=0, max_counters=0)
    while worker.step():
        pass
    worker.close()


def hand_in(api: Api, aggregate: Aggregate, **given: Any) -> Any:
    headers = {"Content-Type": MEDIA_TYPE}
    return api.ask("PUT", f"{PLACE}/aggregate", content=to_bytes(aggregate), headers=headers, **given)


def code(response: Any, status: int) -> str:
    assert response.status_code == status, response.text
    found: str = response.json()["error"]["code"]
    return found


def counted_elsewhere() -> Aggregate:
    return DRINKS.aggregate().add([report for _, report in PEOPLE])


def test_nothing_is_counted_until_counts_are_handed_in(api: Api) -> None:
    assert api.ask("GET", f"{PLACE}/status").json()["n_reports"] == 100
    assert api.store.snapshot(DRINKS.id).checkpoint is None
    for place in ("estimate", "aggregate"):
        assert code(api.ask("GET", f"{PLACE}/{place}"), 409) == "counted_elsewhere"
    assert api.ask("POST", f"{PLACE}/seal").status_code in (200, 204)
    assert hand_in(api, counted_elsewhere()).json() == {"n_reports": 100}
    told = api.ask("GET", f"{PLACE}/estimate").json()
    assert told["answers"] == DRINKS.estimate(counted_elsewhere()).to_dict()["answers"]
    assert check(api.store, DRINKS) == counted_elsewhere()
    assert hand_in(api, counted_elsewhere()).status_code == 200


def test_counts_put_right_are_what_is_told(api: Api) -> None:
    api.store.seal(DRINKS.id)
    right = counted_elsewhere()
    wrong = Aggregate(DRINKS, 100, np.roll(right.counts, 1))
    for aggregate in (wrong, right):
        assert hand_in(api, aggregate).status_code == 200
        told = api.ask("GET", f"{PLACE}/estimate").json()
        assert told["answers"] == DRINKS.estimate(aggregate).to_dict()["answers"]
    assert check(api.store, DRINKS) == right


def test_counts_of_an_open_survey_or_one_with_waiting_reports_are_refused(api: Api) -> None:
    assert code(hand_in(api, counted_elsewhere()), 409) == "not_sealed"
    api.send(DRINKS, honest(DRINKS, "tea", 3))
    api.store.seal(DRINKS.id)
    assert code(hand_in(api, counted_elsewhere()), 409) == "not_sealed"
    gather(api)
    assert code(hand_in(api, counted_elsewhere()), 422) == "other_reports"
    assert api.store.snapshot(DRINKS.id).checkpoint is None


def test_what_is_no_aggregate_of_the_survey_is_refused(api: Api) -> None:
    api.store.seal(DRINKS.id)
    foreign = Survey(sv.shares(["a", "b"]), epsilon=1.0)
    assert code(hand_in(api, foreign.aggregate()), 409) == "mismatch"
    cut = to_bytes(counted_elsewhere())[:-1]
    said = api.ask("PUT", f"{PLACE}/aggregate", content=cut, headers={"Content-Type": MEDIA_TYPE})
    assert code(said, 422) == "invalid_report"
    said = api.ask("PUT", f"{PLACE}/aggregate", content=b"{}", headers={"Content-Type": "application/json"})
    assert code(said, 415) == "unsupported_media_type"
    assert api.store.snapshot(DRINKS.id).checkpoint is None


def test_counts_that_a_hundred_reports_cannot_have_are_refused(api: Api) -> None:
    api.store.seal(DRINKS.id)
    right = counted_elsewhere().counts
    more, below, far = right.copy(), right.copy(), right.copy()
    more[0] += 1
    below[:2] += (-1 - right[0], 1 + right[0])
    far[:2] += (2**62, -(2**62))
    for counts in (more, below, far, 0 * right):
        assert code(hand_in(api, Aggregate(DRINKS, 100, counts)), 422) == "invalid_report"
    assert api.store.snapshot(DRINKS.id).checkpoint is None


def test_only_an_admin_hands_counts_in(api: Api) -> None:
    api.store.seal(DRINKS.id)
    for scope in ("read", "publish", "ask"):
        assert code(hand_in(api, counted_elsewhere(), token=api.token(scope)), 403) == "insufficient_scope"
    assert code(hand_in(api, counted_elsewhere(), token=""), 401) == "unauthorized"


def test_the_store_takes_no_counts_of_other_reports(api: Api) -> None:
    counts = counted_elsewhere().counts.tobytes()
    assert not api.store.hand_in(DRINKS.id, Checkpoint(100, counts))
    assert not api.store.hand_in("0" * 64, Checkpoint(100, counts))
    api.store.seal(DRINKS.id)
    with pytest.raises(StoreError, match="all segments"):
        api.store.hand_in(DRINKS.id, Checkpoint(99, counts))
    assert api.store.hand_in(DRINKS.id, Checkpoint(100, counts))
    assert all(segment.checkpointed for segment in api.store.segments(DRINKS.id))


def test_more_counters_than_a_process_keeps_are_gathered(api: Api) -> None:
    survey = Survey(sv.vector(60, 1.0), epsilon=8.0, mechanism="codebook", people=10**10, max_counters=2**33)
    assert survey.mechanism.cells > MAX_CELLS
    api.publish(survey)
    api.send(survey, honest(survey, np.eye(60)[0], 5))
    gather(api)
    assert api.ask("GET", f"/v1/surveys/{survey.id}/status").json()["n_reports"] == 5
    assert code(api.ask("GET", f"/v1/surveys/{survey.id}/estimate"), 409) == "counted_elsewhere"

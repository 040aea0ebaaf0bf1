"""Aggregates, estimates and segments over HTTP: the same numbers as in process, and nothing below the minimum."""

import json
import secrets
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import sottovoce as sv
from collector.client import AGES, DRINKS, Api, honest, running
from sottovoce.collector.api import rendered
from sottovoce.collector.store.base import Store
from sottovoce.estimates.influence import influence
from sottovoce.formats.aggregate_bytes import from_bytes
from sottovoce.formats.wire import REPORT_ID_BYTES, batch_rows
from sottovoce.service.http.slow_work import LruCache

PLACE = f"/v1/surveys/{DRINKS.id}"
PEOPLE = honest(DRINKS, "tea", 60) + honest(DRINKS, "water", 40)


@pytest.fixture(scope="module")
def api(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Api]:
    """With 100 counted reports of 100 that it needs."""
    with running(tmp_path_factory.mktemp("estimates")) as api:
        api.publish(DRINKS, 100)
        api.send(DRINKS, PEOPLE)
        api.count()
        yield api


def refused(response: Any, status: int) -> tuple[str, str | None]:
    assert response.status_code == status, response.text
    error = response.json()["error"]
    return error["code"], error["field"]


def test_estimate_is_the_one_made_in_process(api: Api) -> None:
    expected = DRINKS.estimate([report for _, report in PEOPLE])
    told = api.ask("GET", f"{PLACE}/estimate").json()
    assert told == json.loads(expected.to_json()) | {
        "n_answers": 3,
        "page": 1,
        "pages": 1,
        "waiting": 0,
        "influence": None,
    }
    assert api.ask("GET", f"{PLACE}/estimate").json() == told
    wider = api.ask("GET", f"{PLACE}/estimate?level=0.999").json()
    assert wider["answers"] == json.loads(expected.to_json(0.999))["answers"]


def test_every_door_shows_the_same_interval_until_the_survey_is_sealed(tmp_path: Path) -> None:
    expected = DRINKS.estimate([report for _, report in PEOPLE])
    with running(tmp_path) as api:
        api.publish(DRINKS)
        api.send(DRINKS, PEOPLE)
        api.count()

        def lows(query: str) -> list[list[float]]:
            estimate = api.ask("GET", f"{PLACE}/estimate?{query}").json()
            table = api.ask("GET", f"{PLACE}/table.json?{query}").json()
            picture = api.ask("GET", f"{PLACE}/picture?{query}").json()
            assert estimate["always"] == table["always"] == picture["always"]
            return [[row["low"] for row in body["answers"]] for body in (estimate, table)] + [picture["low"]]

        fixed, watched = expected.interval().low.tolist(), expected.interval(always=True).low.tolist()
        assert watched != fixed
        assert lows("always=0") == [fixed] * 3
        assert lows("always=1") == lows("always=open") == [watched] * 3
        assert api.ask("POST", f"{PLACE}/seal").status_code == 200
        assert lows("always=open") == [fixed] * 3
        assert lows("always=1") == [watched] * 3


def test_hostile_devices_are_told(api: Api) -> None:
    told = api.ask("GET", f"{PLACE}/estimate?hostile=0.05").json()["influence"]
    assert told == json.loads(json.dumps(influence(DRINKS, 100, 0.05).to_dict()))
    assert told["hostile"] == 5


def test_aggregate_is_the_one_made_in_process(api: Api) -> None:
    response = api.ask("GET", f"{PLACE}/aggregate")
    assert response.headers["content-type"] == "application/vnd.sottovoce.aggregate"
    assert from_bytes(DRINKS, response.content) == DRINKS.aggregate().add([report for _, report in PEOPLE])


@pytest.mark.parametrize(
    ("query", "field"),
    [
        ("level=0", "level"),
        ("level=1", "level"),
        ("level=-0.5", "level"),
        ("level=nan", "level"),
        ("level=0.9_5", "level"),
        ("level=", "level"),
        ("level=%30.5%20", "level"),
        ("hostile=0", "hostile"),
        ("hostile=1", "hostile"),
        ("hostile=inf", "hostile"),
        ("wait=-1", "wait"),
        ("wait=61", "wait"),
        ("level=0.9&level=0.8", None),
        ("levle=0.9", None),
        ("always=2", "always"),
        ("always=population", "always"),
        ("page=0", "page"),
        ("page=1.5", "page"),
        ("page=-1", "page"),
        ("page=", "page"),
        ("page_size=0", "page_size"),
        ("page_size=1048577", "page_size"),
    ],
)
def test_parameters_out_of_range(api: Api, query: str, field: str | None) -> None:
    assert refused(api.ask("GET", f"{PLACE}/estimate?{query}"), 400) == ("invalid_parameter", field)


def test_pages_hold_all_answers_once(api: Api) -> None:
    whole = api.ask("GET", f"{PLACE}/estimate").json()
    assert (whole["n_answers"], whole["page"], whole["pages"]) == (len(whole["answers"]), 1, 1)
    pages = [api.ask("GET", f"{PLACE}/estimate?page_size=2&page={page}").json() for page in (1, 2)]
    assert [page["pages"] for page in pages] == [2, 2]
    assert [answer for page in pages for answer in page["answers"]] == whole["answers"]
    beyond = api.ask("GET", f"{PLACE}/estimate?page_size=2&page=3")
    assert refused(beyond, 404) == ("no_such_page", "page")
    assert "is page 2" in beyond.json()["error"]["message"]
    assert refused(api.ask("GET", f"{PLACE}/estimate?page=2"), 404) == ("no_such_page", "page")


def test_very_long_estimates_come_in_pages_only(api: Api, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(rendered, "MOST_ROWS", 2)
    assert refused(api.ask("GET", f"{PLACE}/estimate"), 409)[0] == "too_much"
    assert len(api.ask("GET", f"{PLACE}/estimate?page_size=2").json()["answers"]) == 2


def test_an_estimate_that_has_not_changed_is_not_sent_again(tmp_path: Path) -> None:
    with running(tmp_path) as api:
        api.publish(DRINKS)
        api.send(DRINKS, honest(DRINKS, "tea", 5))
        api.count()
        known = {"If-None-Match": api.ask("GET", f"{PLACE}/estimate").headers["etag"]}
        again = api.ask("GET", f"{PLACE}/estimate", headers=known)
        assert (again.status_code, again.content) == (304, b"")
        assert api.ask("GET", f"{PLACE}/estimate?hostile=0.1", headers=known).status_code == 200
        api.send(DRINKS, honest(DRINKS, "tea", 5))
        waiting = api.ask("GET", f"{PLACE}/estimate", headers=known)
        assert waiting.json()["waiting"] == 5
        api.count()
        assert api.ask("GET", f"{PLACE}/estimate", headers=known).json()["n_reports"] == 10


def test_nothing_below_the_minimum(tmp_path: Path) -> None:
    with running(tmp_path) as api:
        api.publish(DRINKS, 10)
        api.send(DRINKS, honest(DRINKS, "tea", 9))
        api.count()
        for what in ("estimate", "aggregate"):
            assert refused(api.ask("GET", f"{PLACE}/{what}"), 409)[0] == "too_few_reports"
        # A tenth that is not counted yet does not help.
        api.send(DRINKS, honest(DRINKS, "tea", 1))
        assert refused(api.ask("GET", f"{PLACE}/estimate"), 409)[0] == "too_few_reports"
        api.count()
        assert api.ask("GET", f"{PLACE}/estimate").json()["n_reports"] == 10
        assert api.ask("GET", f"{PLACE}/aggregate").status_code == 200


def test_an_estimate_at_hand_is_not_given_for_more_reports(tmp_path: Path) -> None:
    with running(tmp_path) as api:
        api.publish(DRINKS)
        seen = []
        for _ in range(3):
            api.send(DRINKS, honest(DRINKS, "tea", 5))
            api.count()
            seen.append(api.ask("GET", f"{PLACE}/estimate").json()["n_reports"])
        assert seen == [5, 10, 15]
        # The estimate and its bytes, of the latest reports only.
        assert len(api.app.service.surveys._results) == 2


def test_of_large_estimates_none_is_kept(tmp_path: Path) -> None:
    with running(tmp_path) as api:
        api.publish(DRINKS)
        api.send(DRINKS, honest(DRINKS, "tea", 5))
        api.count()
        service = api.app.service
        service.surveys._results = LruCache(32, 800)  # room for one picture and nothing else
        told = [api.ask("GET", f"{PLACE}/estimate").json() for _ in range(2)]
        assert told[0] == told[1]
        for level in (0.5, 0.9, 0.95):
            assert api.ask("GET", f"{PLACE}/picture?level={level}").json()["level"] == level
        assert len(service.surveys._results) == 1


def test_what_is_kept_has_a_total_size() -> None:
    kept: LruCache[int, str] = LruCache(most=3, room=10)
    for name in range(5):
        assert kept.put(name, str(name), 2) == str(name)
    assert [kept.get(name) for name in range(5)] == [None, None, "2", "3", "4"]
    kept.get(2)
    kept.put(3, "larger", 7)
    assert [kept.get(name) for name in (2, 3, 4)] == ["2", "larger", None]
    kept.put(3, "too large", 11)
    assert [kept.get(name) for name in (2, 3)] == ["2", None]
    kept.put(5, "as large as can be", 10)
    assert (len(kept), kept.get(5)) == (1, "as large as can be")


def test_waiting_reports_are_told_and_waited_for(tmp_path: Path) -> None:
    with running(tmp_path) as api:
        api.publish(DRINKS)
        api.send(DRINKS, honest(DRINKS, "tea", 3))
        api.count()
        api.send(DRINKS, honest(DRINKS, "tea", 2))
        told = api.ask("GET", f"{PLACE}/estimate").json()
        assert (told["n_reports"], told["waiting"]) == (3, 2)
        counting = threading.Timer(0.2, api.count)
        counting.start()
        told = api.ask("GET", f"{PLACE}/estimate?wait=30").json()
        counting.join()
        assert (told["n_reports"], told["waiting"]) == (5, 0)


def test_adaptive_surveys_have_no_estimate_and_their_rounds_have(tmp_path: Path) -> None:
    with running(tmp_path) as api:
        api.publish(AGES)
        for what in ("estimate", "aggregate", "segments/0"):
            assert refused(api.ask("GET", f"/v1/surveys/{AGES.id}/{what}"), 409)[0] == "survey_panel"
        asked = sv.adaptive.round_of(AGES, 1, "age < 30")
        api.open_round(asked)
        pairs = honest(asked, {"age": 20, "smokes": "no"}, 20)
        api.send(asked, pairs)
        api.count()
        told = api.ask("GET", f"/v1/surveys/{asked.id}/estimate").json()
        assert told["answers"][0]["raw"] == pytest.approx(asked.estimate([report for _, report in pairs]).raw[0])


@pytest.mark.parametrize("what", ["status", "estimate", "aggregate", "segments", "segments/1"])
@pytest.mark.parametrize("name", ["0" * 64, "..", "x" * 64, "%00"])
def test_unknown_surveys(api: Api, what: str, name: str) -> None:
    assert refused(api.ask("GET", f"/v1/surveys/{name}/{what}"), 404)[0] in ("unknown_survey", "not_found")


def test_segments_hold_every_report_once(store: Store, tmp_path: Path) -> None:
    with running(tmp_path, store=store) as api:
        api.publish(DRINKS)
        sent = []
        for n in (30, 1):
            sent += honest(DRINKS, "coffee", n)
            api.send(DRINKS, sent)
            api.count()
        listed = api.ask("GET", f"{PLACE}/segments").json()["segments"]
        assert sum(one["n"] for one in listed) == 31
        found = []
        for one in listed:
            response = api.ask("GET", f"{PLACE}/segments/{one['number']}")
            assert response.headers["content-type"] == "application/vnd.sottovoce.reports"
            assert response.headers["sottovoce-epoch"] == str(one["epoch"])
            rows = batch_rows(response.content, DRINKS.id, DRINKS.mechanism.report_bytes)
            assert len(rows) == one["n"]
            found += [(row[:REPORT_ID_BYTES].tobytes(), row[REPORT_ID_BYTES:].tobytes()) for row in rows]
        assert sorted(found) == sorted(sent)
        for number in ("999999", "-1", "x", "01", "9" * 30, secrets.token_hex(4)):
            assert refused(api.ask("GET", f"{PLACE}/segments/{number}"), 404)[0] == "unknown_segment"
        status = api.ask("GET", f"{PLACE}/status").json()
        assert (status["n_reports"], status["waiting"], status["mechanism"]) == (31, 0, DRINKS.mechanism.name)
        told = api.ask("GET", f"{PLACE}/estimate").json()
        expected = DRINKS.estimate([report for _, report in sent])
        assert np.allclose([one["raw"] for one in told["answers"]], expected.raw, rtol=1e-12)

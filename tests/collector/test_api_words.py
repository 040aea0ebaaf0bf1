"""Words over HTTP: the list and its pages, single words, refusals that repeat nothing, and few searches for many."""

import csv
import io
import json
import secrets
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any
from urllib.parse import quote

import msgspec
import pyarrow.parquet
import pytest

import sottovoce as sv
from collector.client import DRINKS, Api, running
from collector.service import until
from sottovoce.estimates.words.estimate import WordEstimate
from sottovoce.protocol.estimates import HostileDevices
from sottovoce.surveys.survey import Survey

TOWNS = Survey(sv.words(4, "abcdef"), epsilon=3.0, people=600, title="Which letters?")
NUMBERS = Survey(sv.words(below=10**3), epsilon=3.0, people=600, title="Which number?")
HELD = ["face"] * 300 + ["bad"] * 200 + ["zzz"] * 100
PLACE = f"/v1/surveys/{TOWNS.id}"
SECRET = "gazpacho"


def reports(survey: Survey, values: list[Any]) -> list[tuple[bytes, bytes]]:
    return [(secrets.token_bytes(16), report) for report in survey.simulate(values)]


PEOPLE = reports(TOWNS, HELD)


@pytest.fixture(scope="module")
def api(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Api]:
    with running(tmp_path_factory.mktemp("words")) as api:
        for survey, people in ((TOWNS, PEOPLE), (NUMBERS, reports(NUMBERS, [789] * 200)), (DRINKS, [])):
            api.publish(survey, 50)
            if people:
                api.send(survey, people)
        api.count()
        yield api


@pytest.fixture(scope="module")
def expected() -> WordEstimate:
    estimate = TOWNS.estimate([report for _, report in PEOPLE])
    assert isinstance(estimate, WordEstimate)
    return estimate


def error_of(response: Any, status: int) -> dict[str, Any]:
    assert response.status_code == status, response.text
    error: dict[str, Any] = response.json()["error"]
    assert SECRET not in error["message"]
    return error


def test_the_list_is_the_one_made_in_process(api: Api, expected: WordEstimate) -> None:
    told = api.ask("GET", f"{PLACE}/estimate").json()
    assert {"face", "bad"} <= {one["label"] for one in told["answers"] if one["certain"]}
    n = len(expected)
    more = {"n_answers": n, "page": 1, "pages": 1, "waiting": 0, "influence": None}
    assert told == json.loads(expected.to_json()) | more


def test_the_list_has_pages(api: Api, expected: WordEstimate) -> None:
    second = api.ask("GET", f"{PLACE}/estimate?page=2&page_size=1").json()
    assert [one["label"] for one in second["answers"]] == expected.labels()[1:2]
    assert (second["n_answers"], second["pages"]) == (len(expected), len(expected))
    beyond = api.ask("GET", f"{PLACE}/estimate?page={len(expected) + 1}&page_size=1")
    assert error_of(beyond, 404)["code"] == "no_such_page"


def test_malicious_devices_are_told(api: Api, expected: WordEstimate) -> None:
    told = api.ask("GET", f"{PLACE}/estimate?hostile=0.05").json()["influence"]
    assert told == json.loads(json.dumps(expected.influence(0.05).to_dict()))


def test_where_no_number_of_devices_suffices_the_schema_allows_null() -> None:
    few = json.loads(TOWNS.estimate([PEOPLE[0][1]]).to_json())["words"]["hostile_devices"]
    assert few["longest"]["devices"] is None
    assert msgspec.convert(few, HostileDevices).longest.devices is None


def test_a_picture_is_of_the_words_found(api: Api, expected: WordEstimate) -> None:
    told = api.ask("GET", f"{PLACE}/picture?always=0").json()
    assert told["labels"] == expected.labels()
    assert told["certain"] == expected.certain.tolist()
    assert told["answers"] == len(expected)
    (panel,) = told["panels"]
    assert (panel["view"], panel["start"], panel["stop"], panel["shares"]) == ("bars", 0, len(expected), True)
    assert told["words"] == json.loads(expected.to_json())["words"]


def test_every_door_of_an_open_survey_of_words_shows_the_same_intervals(api: Api, expected: WordEstimate) -> None:
    watched = expected.watched()
    told = api.ask("GET", f"{PLACE}/picture").json()
    assert (told["low"], told["high"]) == (watched.interval().low.tolist(), watched.interval().high.tolist())
    assert told["words"] == json.loads(watched.to_json())["words"]
    name = watched.labels()[0]
    (row,) = api.ask("GET", f"{PLACE}/words?word={name}&always=open").json()["answers"]
    assert (row["low"], row["high"]) == (watched.of(name).low, watched.of(name).high)
    assert row["low"] < expected.of(name).low


def test_files_say_what_is_certain(api: Api, expected: WordEstimate) -> None:
    rows = list(csv.reader(io.StringIO(api.ask("GET", f"{PLACE}/table.csv").text, newline="")))
    assert rows[0] == ["label", "value", "raw", "low", "high", "certain"]
    assert [(row[0], row[5] == "yes") for row in rows[1:]] == [*zip(expected.labels(), expected.certain, strict=True)]
    table = pyarrow.parquet.read_table(io.BytesIO(api.ask("GET", f"{PLACE}/table.parquet").content))
    assert table.column("certain").to_pylist() == expected.certain.tolist()
    assert api.ask("GET", f"{PLACE}/table.json").json()["answers"] == json.loads(expected.to_json())["answers"]


def test_single_words_are_told_in_their_order_and_normalised(api: Api, expected: WordEstimate) -> None:
    told = api.ask("GET", f"{PLACE}/words?word=BAD&word=fade&word=%20face&level=0.9").json()
    assert (told["survey"], told["n_reports"], told["level"]) == (TOWNS.id, len(PEOPLE), 0.9)
    assert [one["label"] for one in told["answers"]] == ["bad", "fade", "face"]
    asked = api.ask("POST", f"{PLACE}/words", json={"words": ["BAD", "fade", " face"], "level": 0.9})
    assert asked.json() == told
    own = [one.row() for one in expected.of_many(["bad", "fade", "face"], 0.9)]
    assert told["answers"] == json.loads(json.dumps(own))


def test_integers_are_typed_in_decimal(api: Api) -> None:
    told = api.ask("GET", f"/v1/surveys/{NUMBERS.id}/words?word=0789").json()
    assert [one["label"] for one in told["answers"]] == ["789"]
    assert told["answers"][0]["low"] > 0.3
    assert error_of(api.ask("GET", f"/v1/surveys/{NUMBERS.id}/words?word=0x1f"), 422)["code"] == "invalid_word"


@pytest.mark.parametrize("word", [SECRET, "", "abcde", "ab\ncd", "\u202eab"])
def test_what_is_no_word_is_refused_by_its_place(api: Api, word: str) -> None:
    error = error_of(api.ask("GET", f"{PLACE}/words?word=bad&word={quote(word)}"), 422)
    assert (error["code"], error["field"]) == ("invalid_word", "word")
    assert error["message"].startswith("number 2 of the given words")
    error = error_of(api.ask("POST", f"{PLACE}/words", json={"words": ["bad", word]}), 422)
    assert (error["code"], error["field"]) == ("invalid_word", "words")


def test_lone_surrogates_are_no_json(api: Api) -> None:
    headers = {"Content-Type": "application/json"}
    body = b'{"words": ["\\ud800"]}'
    assert error_of(api.ask("POST", f"{PLACE}/words", content=body, headers=headers), 400)["code"] == "malformed_json"


@pytest.mark.parametrize(
    ("query", "field"), [("", "word"), ("word=bad&level=1", "level"), ("word=bad&level=0.9&level=0.8", None)]
)
def test_parameters_are_checked(api: Api, query: str, field: str | None) -> None:
    error = error_of(api.ask("GET", f"{PLACE}/words?{query}"), 400)
    assert (error["code"], error["field"]) == ("invalid_parameter", field)


def test_lists_have_a_limit(api: Api) -> None:
    many = "&".join(["word=bad"] * 11)
    assert error_of(api.ask("GET", f"{PLACE}/words?{many}"), 400)["field"] == "word"
    error = error_of(api.ask("POST", f"{PLACE}/words", json={"words": ["bad"] * 10_001}), 400)
    assert (error["code"], error["field"]) == ("invalid_body", "words")
    assert len(api.ask("POST", f"{PLACE}/words", json={"words": ["bad"] * 10_000}).json()["answers"]) == 10_000


def test_who_may_ask(api: Api) -> None:
    assert error_of(api.ask("GET", f"{PLACE}/words?word=bad", token=""), 401)["code"] == "unauthorized"
    assert api.ask("GET", f"{PLACE}/words?word=bad", token=api.token("read")).status_code == 200


def test_other_surveys_have_no_words(api: Api) -> None:
    asked = api.ask("GET", f"/v1/surveys/{DRINKS.id}/words?word=tea")
    assert error_of(asked, 409)["code"] == "survey_not_of_words"


def test_many_readers_need_two_searches(tmp_path: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    began, go = threading.Event(), threading.Event()
    counts, estimate = [], Survey.estimate

    def searching(self: Survey, aggregate: Any, **given: Any) -> Any:
        counts.append(aggregate.n_reports)
        began.set()
        assert go.wait(60)
        return estimate(self, aggregate, **given)

    with running(tmp_path) as api, ThreadPoolExecutor(8) as readers:
        api.publish(TOWNS, 1)
        api.send(TOWNS, PEOPLE[:300])
        api.count()
        monkeypatch.setattr(Survey, "estimate", searching)
        first = readers.submit(api.ask, "GET", f"{PLACE}/estimate")
        assert began.wait(60)
        waiting = []
        for start, stop, asked in (
            (300, 400, ("estimate", "picture")),
            (400, 500, ("estimate?level=0.9", "words?word=bad")),
            (500, 600, ()),
        ):
            api.send(TOWNS, PEOPLE[start:stop])
            api.count()
            waiting += [readers.submit(api.ask, "GET", f"{PLACE}/{what}") for what in asked]
            under_way = 1 + bool(waiting) + (stop > 400)
            until(lambda most=under_way: len(api.app.service.searching) == most, "they wait for a search")
        # Nobody else waits for a search: another survey's estimate, or how this one stands.
        assert api.ask("GET", f"{PLACE}/status").json()["n_reports"] == len(PEOPLE)
        go.set()
        assert first.result().json()["n_reports"] == 300
        assert {one.result().json()["n_reports"] for one in waiting} == {len(PEOPLE)}
    assert counts == [300, len(PEOPLE)]


def test_too_few_reports_tell_nothing(tmp_path: Any) -> None:
    with running(tmp_path) as api:
        api.publish(TOWNS, 50)
        api.send(TOWNS, PEOPLE[:49])
        api.count()
        for what in ("words?word=bad", "estimate", "picture", "table.csv"):
            assert error_of(api.ask("GET", f"{PLACE}/{what}"), 409)["code"] == "too_few_reports"

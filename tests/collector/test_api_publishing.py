"""Publishing surveys and opening rounds: what is signed, and what is refused before it could be."""

import base64
import hashlib
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import sottovoce as sv
from collector.client import AGES, DRINKS, Api, honest, running
from sottovoce.collector.api import surveys
from sottovoce.core.errors import StoreUnavailableError
from sottovoce.core.signing import from_base64url, verify
from sottovoce.surveys.panel import Panel
from sottovoce.surveys.survey import Survey

TRICKS = [
    "'; DROP TABLE survey; --",
    '" OR ""="',
    "../../etc/passwd",
    "%2e%2e%2f{survey_id}{0.__class__}%s%n",
    "<script>alert(1)</script>",
    "${jndi:ldap://x}",
    "Ünï¢ødé 🙈",
]


@pytest.fixture
def api(tmp_path: Path) -> Iterator[Api]:
    with running(tmp_path) as api:
        yield api


@pytest.fixture(scope="module")
def empty(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Api]:
    """One for all requests that are refused: nothing is ever published there."""
    with running(tmp_path_factory.mktemp("empty")) as api:
        yield api
        assert api.store.surveys() == []


@pytest.fixture(scope="module")
def asking(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Api]:
    """One for all rounds that are refused: a panel that has none."""
    with running(tmp_path_factory.mktemp("asking")) as api:
        api.publish(AGES)
        yield api
        assert api.ask("GET", f"/v1/surveys/{AGES.id}/rounds").json()["rounds"] == []


def publish(api: Api, **said: Any) -> Any:
    return api.ask("POST", "/v1/surveys", json=said)


def refused(response: Any, status: int) -> tuple[str, str | None]:
    assert response.status_code == status, response.text
    error = response.json()["error"]
    return error["code"], error["field"]


def edited(survey: Survey | Panel, **fields: Any) -> str:
    return json.dumps(json.loads(survey.to_json()) | fields)


# --- surveys ------------------------------------------------------------------------------------


def test_what_is_published_is_signed_and_stands_for_ever(api: Api) -> None:
    first = publish(api, statement=DRINKS.to_json(), minimum_reports=7)
    assert first.status_code == 201
    told = first.json()
    assert told["id"] == DRINKS.id == hashlib.sha256(told["statement"].encode()).hexdigest()
    assert told["statement"] == DRINKS.to_json()
    assert told["attachments"] == []
    assert told["state"] == "open"
    assert from_base64url(told["key"]) == api.key.public
    verify(api.key.public, DRINKS.canonical, from_base64url(told["signature"], 64))
    again = publish(api, statement=DRINKS.to_json(), minimum_reports=99)
    assert (again.status_code, again.json()) == (200, told)
    assert api.ask("GET", f"/v1/surveys/{DRINKS.id}/status").json()["minimum_reports"] == 7


def test_the_minimum_is_the_services_unless_said(tmp_path: Path) -> None:
    with running(tmp_path, minimum_reports=321) as api:
        assert publish(api, statement=DRINKS.to_json()).status_code == 201
        assert api.ask("GET", f"/v1/surveys/{DRINKS.id}/status").json()["minimum_reports"] == 321


def test_the_minimum_can_only_be_raised(tmp_path: Path) -> None:
    adaptive = sv.Panel(["tea", "coffee"], rounds=2, epsilon=1.0)
    asked = sv.adaptive.round_of(adaptive, 1, sv.query("value == 'tea'"))
    with running(tmp_path, minimum_reports=50) as api:
        assert refused(publish(api, statement=DRINKS.to_json(), minimum_reports=49), 422) == (
            "minimum_too_low",
            "minimum_reports",
        )
        assert publish(api, statement=adaptive.to_json(), minimum_reports=60).status_code == 201
        rounds = f"/v1/surveys/{adaptive.id}/rounds"
        fewer = api.ask("POST", rounds, json={"statement": asked.to_json(), "minimum_reports": 59})
        assert refused(fewer, 422) == ("minimum_too_low", "minimum_reports")
        assert api.ask("POST", rounds, json={"statement": asked.to_json()}).status_code == 201
        assert api.ask("GET", f"/v1/surveys/{asked.id}/status").json()["minimum_reports"] == 60


def test_what_no_worker_could_count_is_refused(api: Api) -> None:
    told = publish(api, statement=Survey(sv.shares(2**40), epsilon=1.0).to_json())
    assert refused(told, 422) == ("too_many_counters", "statement")
    assert "counters" in told.json()["error"]["message"]


def test_an_edited_survey_is_another_one(api: Api) -> None:
    api.publish(DRINKS)
    changed = publish(api, statement=edited(DRINKS, epsilon=3)).json()
    assert changed["id"] != DRINKS.id
    assert api.ask("GET", f"/v1/surveys/{DRINKS.id}").json()["statement"] == DRINKS.to_json()


def test_two_surveys_of_one_title(api: Api) -> None:
    twin = Survey(sv.shares(["tea", "coffee"]), epsilon=1.0, title=DRINKS.title)
    api.publish(DRINKS)
    api.publish(twin)
    listed = api.ask("GET", "/v1/surveys", token="").json()["surveys"]
    assert [(one["id"], one["title"]) for one in listed] == [(DRINKS.id, DRINKS.title), (twin.id, DRINKS.title)]


@pytest.mark.parametrize("title", TRICKS)
def test_titles_and_labels_are_data(api: Api, title: str) -> None:
    survey = Survey(sv.shares([title, "x"]), epsilon=1.0, title=title)
    api.publish(survey)
    assert api.send(survey, honest(survey, title, 3)).json()["accepted"] == 3
    api.count()
    assert api.ask("GET", f"/v1/surveys/{survey.id}/status").json()["title"] == title
    response = api.ask("GET", f"/v1/surveys/{survey.id}/estimate")
    assert response.json()["answers"][0]["label"] == title
    assert response.headers["content-type"] == "application/json"
    assert [one["title"] for one in api.ask("GET", "/v1/surveys", token="").json()["surveys"]] == [title]


@pytest.mark.parametrize(
    "statement",
    [
        "{}",
        "[]",
        "no json",
        "null",
        edited(DRINKS, format=1),
        edited(DRINKS, question={"kind": "census"}),
        edited(DRINKS, epsilon=-1),
        edited(DRINKS, epsilon="1"),
        edited(DRINKS, epsilon=1e999),
        edited(DRINKS, extra=1),
        edited(DRINKS, title="two\nlines"),
        edited(DRINKS, title="x" * 201),
        edited(DRINKS, title="\ud800"),
        edited(DRINKS, question={"kind": "shares", "domain": {"labels": ["\ud800", "b", "c"]}}),
        edited(DRINKS, question={"kind": "shares", "domain": {"labels": ["a", "a"]}}),
        edited(DRINKS, design={"strategy": "histogram", "mechanism": {"name": "paper_rejection"}}),
        edited(DRINKS, design={"strategy": "histogram", "mechanism": {"name": "no noise"}}),
        edited(DRINKS, design={"strategy": "no strategy", "mechanism": {"name": "randomized_response"}}),
        edited(AGES, panel=json.loads(AGES.to_json())["panel"] | {"rounds": 0}),
        edited(AGES, panel=json.loads(AGES.to_json())["panel"] | {"rounds": 10**30}),
        DRINKS.to_json()[:-1] + ',"title":"twice"}',
        "[" * 100_000,
        '{"format":2,"question":' * 5_000,
    ],
)
def test_statements_that_are_no_surveys(empty: Api, statement: str) -> None:
    assert refused(publish(empty, statement=statement), 422) == ("invalid_survey", "statement")
    assert empty.store.surveys() == []


@pytest.mark.parametrize(
    ("body", "field"),
    [
        ({}, None),
        ([], None),
        ({"statement": 1}, "statement"),
        ({"statement": ""}, "statement"),
        ({"statement": "{}", "minimum_reports": 0}, "minimum_reports"),
        ({"statement": "{}", "minimum_reports": -5}, "minimum_reports"),
        ({"statement": "{}", "minimum_reports": "5"}, "minimum_reports"),
        ({"statement": "{}", "minimum_reports": 1.5}, "minimum_reports"),
        ({"statement": "{}", "minimum_reports": 10**13}, "minimum_reports"),
        ({"statement": "{}", "attachments": {"zz": ""}}, "attachments"),
        ({"statement": "{}", "attachments": {"0" * 64: "??"}}, "attachments[...]"),
        ({"statement": "{}", "unknown": 1}, None),
    ],
)
def test_bodies_that_are_no_publication(empty: Api, body: Any, field: str | None) -> None:
    response = empty.ask("POST", "/v1/surveys", json=body)
    code, named = refused(response, 400)
    assert code == "invalid_body"
    assert field is None or (named or "").startswith(field.partition("[")[0])


@pytest.mark.parametrize("body", [b"", b"{", b"\xff\xfe", b'{"statement": "\\ud800"}'])
def test_bodies_that_are_no_json(empty: Api, body: bytes) -> None:
    response = empty.ask("POST", "/v1/surveys", content=body, headers={"Content-Type": "application/json"})
    assert refused(response, 400) == ("malformed_json", None)


def test_other_media_types_and_compression(empty: Api) -> None:
    body = json.dumps({"statement": DRINKS.to_json()}).encode()
    plain = empty.ask("POST", "/v1/surveys", content=body, headers={"Content-Type": "text/plain"})
    assert refused(plain, 415)[0] == "unsupported_media_type"
    headers = {"Content-Type": "application/json", "Content-Encoding": "gzip"}
    assert refused(empty.ask("POST", "/v1/surveys", content=body, headers=headers), 415)[0] == "compressed_body"


def test_attachments(api: Api) -> None:
    survey = Survey(sv.queries(sv.workloads.Prefix(8)), epsilon=1.0, strategy="optimized")
    ((digest, content),) = survey.attachments.items()
    right = base64.b64encode(content).decode()
    statement = survey.to_json()
    assert refused(publish(api, statement=statement), 422)[0] == "invalid_survey"
    wrong = {digest: base64.b64encode(content + b"x").decode()}
    assert refused(publish(api, statement=statement, attachments=wrong), 422) == ("invalid_survey", "statement")
    assert refused(publish(api, statement=statement, attachments={digest: "A"}), 422)[0] == "wrong_attachment"
    extra = {digest: right, hashlib.sha256(b"").hexdigest(): ""}
    assert refused(publish(api, statement=statement, attachments=extra), 422) == (
        "unexpected_attachment",
        "attachments",
    )
    told = publish(api, statement=statement, attachments={digest: right})
    assert (told.status_code, told.json()["attachments"]) == (201, [digest])
    fetched = api.ask("GET", f"/v1/attachments/{digest}", token="")
    assert (fetched.status_code, fetched.content) == (200, content)
    assert fetched.headers["content-type"] == "application/octet-stream"
    assert api.send(survey, honest(survey, 3, 5)).json()["accepted"] == 5


def test_a_deleted_survey_cannot_come_back(api: Api) -> None:
    api.publish(DRINKS)
    assert api.ask("DELETE", f"/v1/surveys/{DRINKS.id}").status_code == 200
    assert refused(publish(api, statement=DRINKS.to_json()), 409) == ("survey_deleted", None)
    assert refused(api.ask("GET", f"/v1/surveys/{DRINKS.id}", token=""), 410)[0] == "survey_deleted"
    assert refused(api.ask("POST", f"/v1/surveys/{DRINKS.id}/seal"), 410)[0] == "survey_deleted"
    assert api.ask("GET", "/v1/surveys", token="").json()["surveys"] == []


def test_no_report_of_a_deleted_survey_is_left_in_any_file(tmp_path: Path) -> None:
    mark = b"unmistakable-id!"

    def kept() -> bytes:
        return b"".join(file.read_bytes() for file in tmp_path.iterdir())

    with running(tmp_path) as api:
        api.publish(DRINKS)
        api.send(DRINKS, [(mark, DRINKS.randomize("tea"))])
        api.count()
        assert mark in kept()
        assert api.ask("DELETE", f"/v1/surveys/{DRINKS.id}").status_code == 200
        assert mark not in kept()
        assert DRINKS.canonical in kept(), "its statement stays with its entry in the log"


@pytest.mark.parametrize("fault", [False, StoreUnavailableError("locked")])
def test_a_deletion_stands_where_the_log_cannot_be_emptied(
    api: Api, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture, fault: bool | Exception
) -> None:
    tries: list[None] = []

    def forget() -> bool:
        tries.append(None)
        if isinstance(fault, Exception):
            raise fault
        return fault

    monkeypatch.setattr(api.store, "forget", forget)
    monkeypatch.setattr(surveys, "_PAUSE", 0.0)
    api.publish(DRINKS)
    assert api.ask("DELETE", f"/v1/surveys/{DRINKS.id}").status_code == 200
    assert len(tries) > 1
    assert "may keep what was deleted" in caplog.text


# --- rounds -------------------------------------------------------------------------------------


def test_rounds_one_after_another(api: Api) -> None:
    api.publish(AGES)
    place = f"/v1/surveys/{AGES.id}/rounds"
    first, second = sv.adaptive.round_of(AGES, 1, "age < 30"), sv.adaptive.round_of(AGES, 2, "age >= 50", 2)
    assert refused(api.ask("GET", f"{place}/latest", token=""), 404)[0] == "round_not_open"
    assert refused(api.open_round(second), 409)[0] == "round_not_next"
    opened = api.open_round(first)
    assert opened.status_code == 201
    verify(api.key.public, first.canonical, from_base64url(opened.json()["signature"]))
    assert api.open_round(first).status_code == 200
    assert refused(api.open_round(sv.adaptive.round_of(AGES, 1, "age < 40")), 409)[0] == "round_not_next"
    fetched = api.ask("GET", f"{place}/latest", token="").json()
    assert fetched == opened.json() == api.ask("GET", f"/v1/surveys/{first.id}", token="").json()
    assert refused(api.open_round(second), 409)[0] == "round_not_next"
    assert api.send(first, honest(first, {"age": 20, "smokes": "no"}, 4)).json()["accepted"] == 4
    assert api.ask("POST", f"/v1/surveys/{first.id}/seal").json()["state"] == "sealed"
    sealed = api.ask("GET", f"{place}/latest", token="").json()
    assert (sealed["id"], sealed["state"]) == (first.id, "sealed")
    assert api.open_round(second, ["young", "old"]).status_code == 201
    assert api.ask("GET", f"{place}/latest", token="").json()["id"] == second.id
    api.count()
    listed = api.ask("GET", place).json()["rounds"]
    assert [(one["round"], one["state"], one["n_reports"], one["labels"]) for one in listed] == [
        (1, "sealed", 4, []),
        (2, "open", 0, ["young", "old"]),
    ]
    assert listed[0]["query"] == first.query_text
    status = api.ask("GET", f"/v1/surveys/{AGES.id}/status").json()
    assert (status["rounds"], status["asked"], status["n_reports"], status["mechanism"]) == (3, 2, 4, None)
    assert [one["id"] for one in api.ask("GET", "/v1/surveys", token="").json()["surveys"]] == [AGES.id]


def test_no_round_is_asked_for_by_its_number(asking: Api) -> None:
    """A device that did would say which round it has drawn."""
    for number in ("0", "1", "2", "x"):
        assert refused(asking.ask("GET", f"/v1/surveys/{AGES.id}/rounds/{number}", token=""), 404)[0] == "not_found"


def test_what_is_no_round_of_this_survey(api: Api) -> None:
    other = sv.Panel({"age": range(100)}, rounds=3, epsilon=2.0)
    api.publish(AGES)
    api.publish(DRINKS)
    place = f"/v1/surveys/{AGES.id}/rounds"
    for statement in (DRINKS.to_json(), AGES.to_json(), sv.adaptive.round_of(other, 1, "age < 3").to_json()):
        assert refused(api.ask("POST", place, json={"statement": statement}), 422) == ("foreign_round", "statement")
    assert refused(api.ask("POST", place, json={"statement": "{}"}), 422) == ("invalid_survey", "statement")
    asked = sv.adaptive.round_of(AGES, 1, "age < 3")
    assert refused(publish(api, statement=asked.to_json()), 422) == ("round_of_a_panel", "statement")
    assert refused(api.ask("POST", f"/v1/surveys/{DRINKS.id}/rounds", json={"statement": asked.to_json()}), 409)[0] == (
        "survey_not_panel"
    )
    assert refused(api.ask("GET", f"/v1/surveys/{DRINKS.id}/rounds/latest", token=""), 409)[0] == "survey_not_panel"
    assert refused(api.ask("GET", f"/v1/surveys/{DRINKS.id}/rounds"), 409)[0] == "survey_not_panel"
    unknown = api.ask("POST", f"/v1/surveys/{'0' * 64}/rounds", json={"statement": asked.to_json()})
    assert refused(unknown, 404)[0] == "unknown_survey"


@pytest.mark.parametrize("labels", [["a"], ["a", "b", "c"], ["a", "a"], ["", ""]])
def test_labels_name_every_choice_once(asking: Api, labels: list[str]) -> None:
    assert refused(asking.open_round(sv.adaptive.round_of(AGES, 1, "age >= 50", 2), labels), 422) == (
        "invalid_labels",
        "labels",
    )


def test_a_sealed_adaptive_survey_opens_no_round(api: Api) -> None:
    api.publish(AGES)
    assert api.ask("POST", f"/v1/surveys/{AGES.id}/seal").status_code == 200
    assert refused(api.open_round(sv.adaptive.round_of(AGES, 1, "age < 3")), 409)[0] == "round_not_next"

"""Forms turned into surveys and rounds: what comes out can be published, and every wrong field is named."""

import base64
import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

import sottovoce as sv
from collector.client import AGES, DRINKS, Api, running
from sottovoce.collector.api.drafts import MAX_DRAFT_BYTES
from sottovoce.core.limits import DEFAULT_PEOPLE
from sottovoce.estimates.half_width import half_width
from sottovoce.surveys.panel import Panel
from sottovoce.surveys.survey import Survey
from sottovoce.workloads import Prefix

AGE_AND_SEX = {"age": {"start": 0, "stop": 99}, "sex": ["f", "m"]}


@pytest.fixture(scope="module")
def api(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Api]:
    with running(tmp_path_factory.mktemp("drafts")) as api:
        yield api


def drafted(api: Api, **said: Any) -> Any:
    return api.ask("POST", "/v1/drafts", json=said)


def refused(response: Any, status: int) -> tuple[str, str | None]:
    assert response.status_code == status, response.text
    error = response.json()["error"]
    return error["code"], error["field"]


# --- surveys ------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("said", "stated"),
    [
        (
            {"kind": "shares", "title": "Drinks", "parameters": {"labels": ["tea", "coffee", "water"]}},
            lambda: Survey(sv.shares(["tea", "coffee", "water"]), epsilon=1.0, title="Drinks"),
        ),
        ({"kind": "shares", "parameters": {"values": 40}}, lambda: Survey(sv.shares(40), epsilon=1.0)),
        (
            {"kind": "shares", "parameters": {"range": {"start": 18, "stop": 99}}},
            lambda: Survey(sv.shares(range(18, 100)), epsilon=1.0),
        ),
        (
            {"kind": "shares", "parameters": {"attributes": AGE_AND_SEX, "labels": None}, "mechanism": "hadamard"},
            lambda: Survey(sv.shares({"age": range(100), "sex": ["f", "m"]}), epsilon=1.0, mechanism="hadamard"),
        ),
        (
            {"kind": "shares", "parameters": {"labels": ["tea", "coffee"], "missing": "as no answer"}},
            lambda: Survey(sv.shares(["tea", "coffee"], missing="as no answer"), epsilon=1.0),
        ),
        (
            {"kind": "number", "parameters": {"low": 0, "high": 600, "missing": "as 0"}},
            lambda: Survey(sv.number(0, 600, missing="as 0"), epsilon=1.0),
        ),
        (
            {
                "kind": "shares",
                "parameters": {
                    "attributes": {
                        "age": {"start": 0, "stop": 9, "missing": "as 0"},
                        "sex": {"labels": ["f", "m"], "missing": "as not said"},
                    }
                },
            },
            lambda: Survey(
                sv.shares({"age": sv.shares(10, missing="as 0"), "sex": sv.shares(["f", "m"], missing="as not said")}),
                epsilon=1.0,
            ),
        ),
        (
            {
                "kind": "records",
                "parameters": {
                    "attributes": {
                        "hours": {"low": 0, "high": 9, "missing": "as 1.5"},
                        "plan": {"labels": ["free", "pro"], "missing": "refuse"},
                    }
                },
            },
            lambda: Survey(
                sv.records({"hours": sv.number(0, 9, missing="as 1.5"), "plan": ["free", "pro"]}), epsilon=1.0
            ),
        ),
        (
            {"kind": "shares", "parameters": {"values": 300}, "max_report_bytes": 2, "people": 5000},
            lambda: Survey(sv.shares(300), epsilon=1.0, max_report_bytes=2, people=5000),
        ),
        (
            {"kind": "vector", "parameters": {"dimension": 20, "radius": 3}},
            lambda: Survey(sv.vector(20, 3.0), epsilon=1.0),
        ),
        (
            {"kind": "vector", "parameters": {"dimension": 2}, "mechanism": "rejection"},
            lambda: Survey(sv.vector(2, 1.0), epsilon=1.0, mechanism="rejection"),
        ),
        (
            {"kind": "vector", "parameters": {"dimension": 5}, "delta": 1e-6, "mechanism": "gaussian"},
            lambda: Survey(sv.vector(5, 1.0), epsilon=1.0, delta=1e-6, mechanism="gaussian"),
        ),
        (
            {"kind": "vector", "parameters": {"dimension": 20}, "mechanism": "codebook", "max_counters": 2**20},
            lambda: Survey(sv.vector(20, 1.0), epsilon=1.0, mechanism="codebook", max_counters=2**20),
        ),
        (
            {"kind": "queries", "parameters": {"workload": "prefix:100"}},
            lambda: Survey(sv.queries(Prefix(100)), epsilon=1.0),
        ),
        (
            {"kind": "queries", "parameters": {"workload": "prefix:100"}, "criterion": "margin", "people": 10_000},
            lambda: Survey(sv.queries(Prefix(100)), epsilon=1.0, criterion="margin", people=10_000),
        ),
        (
            {"kind": "queries", "parameters": {"workload": "prefix:100"}, "strategy": "histogram"},
            lambda: Survey(sv.queries(Prefix(100)), epsilon=1.0, strategy="histogram"),
        ),
        (
            {
                "kind": "queries",
                "parameters": {"workload": "prefix:99"},
                "mechanism": "codebook",
                "strategy": "direct",
            },
            lambda: Survey(sv.queries(Prefix(99)), epsilon=1.0, mechanism="codebook", strategy="direct"),
        ),
        (
            {"kind": "queries", "parameters": {"workload": "prefix:8"}},
            lambda: Survey(sv.queries(Prefix(8)), epsilon=1.0),
        ),
        (
            {"kind": "words", "parameters": {"longest": 8, "alphabet": "latin"}, "title": "Symptoms"},
            lambda: Survey(sv.words(8, "latin"), epsilon=1.0, title="Symptoms"),
        ),
        (
            {"kind": "words", "parameters": {"below": 2**60, "case": "lower"}},
            lambda: Survey(sv.words(below=2**60), epsilon=1.0),
        ),
        (
            {"kind": "panel", "parameters": {"attributes": AGE_AND_SEX, "rounds": 20}},
            lambda: sv.Panel({"age": range(100), "sex": ["f", "m"]}, rounds=20, epsilon=1.0),
        ),
        (
            {"kind": "panel", "parameters": {"range": {"start": -5, "stop": 5}, "rounds": 1, "radius": 2.5}},
            lambda: sv.Panel(range(-5, 6), rounds=1, epsilon=1.0, radius=2.5),
        ),
    ],
    ids=lambda said: "-".join(map(str, said.values()))[:60] if isinstance(said, dict) else "",
)
def test_a_form_becomes_the_survey_it_describes(
    api: Api, said: dict[str, Any], stated: Callable[[], Survey | Panel]
) -> None:
    expected = stated()
    response = drafted(api, epsilon=1, **said)
    assert response.status_code == 200, response.text
    told = response.json()
    assert told["statement"] == expected.to_json()
    assert told["id"] == expected.id
    assert {digest: base64.b64decode(text) for digest, text in told["attachments"].items()} == expected.attachments
    assert told["mechanism"] == expected.mechanism.name
    assert told["report_bytes"] == expected.mechanism.report_bytes
    people = said.get("people", DEFAULT_PEOPLE)
    assert told["people"] == people
    if isinstance(expected, Survey):
        design = expected.design
        assert told["strategy"] == design.name
        # The rows of a survey's own rotations reach a little farther, or less far, than those of the plan.
        assert told["margin"] == pytest.approx(half_width(design, people), rel=5e-3)
        assert told["l2"] == pytest.approx(design.expected_error(people), rel=1e-9)
    else:
        assert (told["strategy"], told["margin"], told["l2"]) == (None, None, None)
    assert f"{people:,} people" in told["explanation"]
    # Nothing was kept; what came out can be published as it is.
    assert api.ask("GET", f"/v1/surveys/{expected.id}").status_code == 404
    published = {"statement": told["statement"], "attachments": told["attachments"]}
    assert api.ask("POST", "/v1/surveys", json=published).json()["id"] == expected.id


GOOD: dict[str, dict[str, Any]] = {
    "shares": {"kind": "shares", "epsilon": 1, "parameters": {"labels": ["a", "b"]}},
    "queries": {"kind": "queries", "epsilon": 1, "parameters": {"workload": "prefix:600"}},
    "vector": {"kind": "vector", "epsilon": 1, "parameters": {"dimension": 3}},
    "words": {"kind": "words", "epsilon": 1, "parameters": {"longest": 4, "alphabet": "abc"}},
    "panel": {"kind": "panel", "epsilon": 1, "parameters": {"labels": ["a", "b"], "rounds": 3}},
}


@pytest.mark.parametrize("kind", GOOD)
@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("epsilon", 0),
        ("epsilon", -1),
        ("epsilon", 16.01),
        ("epsilon", 1e-7),
        ("epsilon", 1e300),
        ("title", "two\nlines"),
        ("title", "x" * 201),
        ("title", "right to left \u202e"),
        ("people", 0),
        ("people", 10**13),
    ],
)
def test_what_all_kinds_have(api: Api, kind: str, field: str, value: object) -> None:
    assert refused(drafted(api, **GOOD[kind] | {field: value}), 422) == ("invalid_draft", field)


@pytest.mark.parametrize(
    ("kind", "field", "value"),
    [
        ("shares", "mechanism", "gaussian"),
        ("shares", "mechanism", "../../etc/passwd"),
        ("shares", "strategy", "haar"),
        ("shares", "strategy", "hope"),
        ("shares", "max_report_bytes", 0),
        ("shares", "max_counters", 0),
        ("shares", "delta", 1),
        ("shares", "delta", -0.1),
        ("queries", "mechanism", "sphere"),
        ("queries", "strategy", "factorized"),
        ("queries", "strategy", "optimized"),
        ("vector", "mechanism", "hadamard"),
        ("vector", "mechanism", "gaussian"),
        ("vector", "strategy", "histogram"),
        ("panel", "mechanism", "binary"),
        ("panel", "strategy", "direct"),
        ("panel", "delta", 1e-6),
        ("panel", "criterion", "l2"),
        ("panel", "max_counters", 1000),
    ],
)
def test_designs_that_cannot_be(api: Api, kind: str, field: str, value: object) -> None:
    assert refused(drafted(api, **GOOD[kind] | {field: value}), 422) == ("invalid_draft", field)


@pytest.mark.parametrize(
    ("kind", "field", "value"),
    [
        ("shares", "labels", []),
        ("shares", "labels", ["only"]),
        ("shares", "labels", ["a", "a"]),
        ("shares", "labels", ["a", " "]),
        ("shares", "labels", ["a", 1]),
        ("shares", "labels", "a,b"),
        ("shares", "workload", "prefix:4"),
        ("shares", "rounds", 3),
        ("shares", "cls", 3),
        ("shares", "kind", "vector"),
        ("words", "longest", 0),
        ("words", "longest", 10**6),
        ("words", "alphabet", "abca"),
        ("words", "alphabet", "a"),
        ("words", "alphabet", "AB"),
        ("words", "alphabet", ["a", "b"]),
        ("words", "case", "upper"),
        ("words", "below", 1),
        ("words", "below", 2**65),
        ("queries", "workload", None),
        ("queries", "workload", ""),
        ("queries", "workload", 7),
        ("queries", "workload", "prefix"),
        ("queries", "workload", "prefix:1"),
        ("queries", "workload", "prefix:65537"),
        ("queries", "workload", "prefix:99999999999999999999"),
        ("queries", "workload", "bins:999999999999:1"),
        ("queries", "workload", "bins:1000000:1000"),
        ("queries", "workload", "dense:/etc/hostname"),
        ("queries", "workload", "marginals:age=10,sex=2:3"),
        ("queries", "labels", ["a", "b"]),
        ("vector", "dimension", None),
        ("vector", "dimension", 0),
        ("vector", "dimension", 2.5),
        ("vector", "dimension", "3"),
        ("vector", "dimension", True),
        ("vector", "dimension", 2**20 + 1),
        ("vector", "dimension", 10**30),
        ("vector", "radius", 0),
        ("vector", "radius", -1),
        ("vector", "radius", 1e101),
        ("panel", "rounds", None),
        ("panel", "rounds", 0),
        ("panel", "rounds", 65_537),
        ("panel", "radius", 0),
        ("panel", "labels", ["a"]),
        ("panel", "epsilon", 1),
        ("panel", "title", "a"),
    ],
)
def test_parameters_that_cannot_be(api: Api, kind: str, field: str, value: object) -> None:
    parameters = GOOD[kind]["parameters"] | {field: value}
    response = drafted(api, **GOOD[kind] | {"parameters": parameters})
    assert refused(response, 422) == ("invalid_draft", field)
    assert len(response.json()["error"]["message"]) < 500


@pytest.mark.parametrize(
    ("said", "field"),
    [
        ({"values": 1}, "values"),
        ({"values": 2**63 - 1}, "values"),
        ({"range": {"start": 5, "stop": 5}}, "range"),
        ({"range": {"start": 5, "stop": 4}}, "range"),
        ({"range": {"start": 5}}, "range"),
        ({"range": [1, 5]}, "range"),
        ({"range": {"start": 1, "stop": 5, "step": 2}}, "range"),
        ({"range": {"start": -(2**63), "stop": 2**63 - 1}}, "range"),
        ({"attributes": {}}, "attributes"),
        ({"attributes": ["age"]}, "attributes"),
        ({"attributes": {"not a name": ["a", "b"]}}, "attributes"),
        ({"attributes": {"age": ["a"]}}, "attributes"),
        ({"attributes": {"age": 3}}, "attributes"),
        ({"attributes": {"age": {"start": 3, "stop": 2}}}, "attributes"),
        ({"attributes": {"age": {"start": 3, "stop": 9, "missing": "as 2"}}}, "attributes"),
        ({"attributes": {"age": {"start": 3, "stop": 9, "labels": ["a", "b"]}}}, "attributes"),
        ({"attributes": {"age": {"low": 3, "high": 9}}}, "attributes"),
        ({"attributes": {"age": {"missing": "as 2"}}}, "attributes"),
        ({"attributes": {f"a{i}": ["x", "y"] for i in range(64)}}, "attributes"),
        ({"attributes": AGE_AND_SEX, "range": {"start": 0, "stop": 2}}, "attributes"),
        ({"labels": ["a", "b"], "range": {"start": 0, "stop": 2}}, "range"),
        ({}, "values"),
    ],
)
def test_values_that_are_none(api: Api, said: dict[str, Any], field: str) -> None:
    for kind, more in (("shares", {}), ("panel", {"rounds": 2})):
        assert refused(drafted(api, kind=kind, epsilon=1, parameters=said | more), 422) == ("invalid_draft", field)


def test_more_values_than_shares_can_have(api: Api) -> None:
    many = {"range": {"start": 0, "stop": 2**40}}
    assert refused(drafted(api, kind="shares", epsilon=1, parameters=many), 422) == ("invalid_draft", "range")
    assert drafted(api, kind="panel", epsilon=1, parameters=many | {"rounds": 2}).status_code == 200


def test_the_largest_that_can_be_asked(api: Api) -> None:
    told = drafted(api, kind="shares", epsilon=1, parameters={"values": 2**40}).json()
    assert told["id"] == Survey(sv.shares(2**40), epsilon=1.0).id
    assert drafted(api, kind="vector", epsilon=1, parameters={"dimension": 2**20}).status_code == 200


def test_a_refusal_of_an_attribute_names_it(api: Api) -> None:
    attributes = {"age": {"start": 0, "stop": 9}, "sex": ["f", "f"]}
    response = drafted(api, kind="shares", epsilon=1, parameters={"attributes": attributes})
    assert "'sex'" in response.json()["error"]["message"]


def test_a_kind_that_there_is_not(api: Api) -> None:
    response = drafted(api, kind="census", epsilon=1)
    assert refused(response, 422) == ("invalid_draft", "kind")
    assert (
        "shares, queries, vector, choices, number, records, relation, words, panel"
        in response.json()["error"]["message"]
    )


@pytest.mark.parametrize(
    ("said", "field"),
    [
        ({"epsilon": 1}, "kind"),
        ({"kind": "vector"}, "epsilon"),
        ({"kind": "vector", "epsilon": "1"}, "epsilon"),
        ({"kind": "vector", "epsilon": 1, "people": 2.5}, "people"),
        ({"kind": "vector", "epsilon": 1, "people": 2**63}, "people"),
        ({"kind": "vector", "epsilon": 1, "parameters": [3]}, "parameters"),
        ({"kind": "vector", "epsilon": 1, "parameters": {"x" * 65: 3}}, "parameters"),
        ({"kind": "vector", "epsilon": 1, "criterion": "both"}, "criterion"),
        ({"kind": "vector", "epsilon": 1, "mechanism": "x" * 65}, "mechanism"),
        ({"kind": "vector", "epsilon": 1, "colour": "red"}, None),
    ],
)
def test_other_shapes(api: Api, said: dict[str, Any], field: str | None) -> None:
    assert refused(drafted(api, **said), 400) == ("invalid_body", field)


def test_too_long_a_form(api: Api) -> None:
    labels = [f"{i:07}" for i in range(MAX_DRAFT_BYTES // 10)]
    response = drafted(api, kind="shares", epsilon=1, parameters={"labels": labels})
    assert refused(response, 413)[0] == "body_too_large"


def test_html_is_just_text(api: Api) -> None:
    labels = ["<script>alert(1)</script>", "\"'><img src=x onerror=alert(1)>", "${7*7}", "plain"]
    told = drafted(api, kind="shares", epsilon=1, title="<h1>&amp;</h1>", parameters={"labels": labels}).json()
    stated = json.loads(told["statement"])
    assert stated["title"] == "<h1>&amp;</h1>"
    assert stated["question"]["domain"]["labels"] == labels


def notes(api: Api, **said: Any) -> str:
    return "\n".join(drafted(api, **{"title": "A title", "epsilon": 1} | said).json()["notes"])


def test_notes_tell_what_may_surprise(api: Api) -> None:
    plain = GOOD["shares"]
    assert notes(api, **plain) == "about 1,800 reports give each share to within 5 points (95 %)"
    assert "each answer to within 0.1 (95 %)" in notes(api, **GOOD["vector"])
    assert "devices refuse epsilon above 2" in notes(api, **plain | {"epsilon": 2.01})
    assert "devices refuse" not in notes(api, **plain | {"epsilon": 2})
    assert "no title" in notes(api, **plain | {"title": ""})
    assert "not even 1,000,000,000 reports" in notes(api, **plain | {"epsilon": 1e-5})
    assert "takes much memory" in notes(api, kind="shares", parameters={"values": 2**25})
    assert "fetches" in notes(api, kind="queries", parameters={"workload": "prefix:8"})
    assert "share of the people" in notes(api, **GOOD["panel"])
    assert "a report takes 12,500 bytes" in notes(
        api, kind="shares", parameters={"values": 100_000}, mechanism="unary_optimized"
    )


def test_the_note_on_people_is_right() -> None:
    """To two digits, rounded up; within 1 % below the true number the next figure with two digits is not reached."""
    survey = Survey(sv.shares(["a", "b"]), epsilon=1.0)
    assert survey.design.margin(1_800) <= 0.05 < survey.design.margin(1_700)


def test_who_may_draft(api: Api) -> None:
    for scope, status in (("publish", 200), ("read", 403), ("ask", 403)):
        assert api.ask("POST", "/v1/drafts", json=GOOD["vector"], token=api.token(scope)).status_code == status
    assert api.ask("POST", "/v1/drafts", json=GOOD["vector"], token="").status_code == 401


# --- questions ----------------------------------------------------------------------------------


PLACE = f"/v1/surveys/{AGES.id}"


def question(api: Api, **said: Any) -> Any:
    return api.ask("POST", f"{PLACE}/questions", json=said)


@pytest.fixture
def session(tmp_path: Path) -> Iterator[Api]:
    with running(tmp_path) as api:
        api.publish(AGES)
        yield api


def test_a_question_becomes_the_next_round(session: Api) -> None:
    for number in (1, 2, 3):
        told = question(session, query=f"age<{10 * number}").json()
        expected = sv.adaptive.round_of(AGES, number, f"age < {10 * number}")
        assert told["statement"] == expected.to_json()
        assert (told["labels"], told["round"], told["rounds"]) == ([], number, 3)
        assert told["query"] == f"age < {10 * number}"
        assert "one in 3" in told["n_expected_note"]
        # Asking what it would be asks nobody.
        assert len(session.ask("GET", f"{PLACE}/rounds").json()["rounds"]) == number - 1
        said = {"statement": told["statement"], "labels": told["labels"]}
        opened = session.ask("POST", f"{PLACE}/rounds", json=said)
        assert opened.status_code == 201
        if number < 3:
            assert f"round {number} is still open" in question(session, query="age < 1").json()["n_expected_note"]
        session.ask("POST", f"/v1/surveys/{opened.json()['id']}/seal")
    response = question(session, query="age < 40")
    assert refused(response, 409) == ("rounds_spent", None)
    assert "all 3 rounds" in response.json()["error"]["message"]


@pytest.mark.parametrize(
    ("choices", "size", "labels"),
    [(["young", "<i>old</i>"], 2, ["young", "<i>old</i>"]), (5, 5, []), (2**20, 2**20, [])],
)
def test_choices(session: Api, choices: object, size: int, labels: list[str]) -> None:
    told = question(session, query="age // 50", choices=choices).json()
    assert told["statement"] == sv.adaptive.round_of(AGES, 1, "age // 50", size).to_json()
    assert told["labels"] == labels
    said = {"statement": told["statement"], "labels": labels}
    assert session.ask("POST", f"{PLACE}/rounds", json=said).status_code == 201


@pytest.mark.parametrize(
    ("said", "field", "words"),
    [
        ({"query": ""}, "query", "empty"),
        ({"query": "age <"}, "query", "column"),
        ({"query": "age < thirty"}, "query", "column 7"),
        ({"query": "salary > 3"}, "query", "unknown attribute"),
        ({"query": "__import__('os').system('true')"}, "query", "column"),
        ({"query": "age"}, "query", "clip"),
        ({"query": "(" * 5000}, "query", ""),
        ({"query": "age / 2", "choices": 3}, "query", "integer"),
        ({"query": "age // 50", "choices": 1}, "choices", "from 2"),
        ({"query": "age // 50", "choices": 2**20 + 1}, "choices", "from 2"),
        ({"query": "age // 50", "choices": []}, "choices", "from 2"),
        ({"query": "age // 50", "choices": ["a"]}, "choices", "from 2"),
        ({"query": "age // 50", "choices": ["a", "a"]}, "choices", "same name"),
        ({"query": "age // 50", "choices": ["a", ""]}, "choices", "one line"),
        ({"query": "age // 50", "choices": ["a", "b\nc"]}, "choices", "one line"),
        ({"query": "age // 50", "choices": ["a", "b" * 1001]}, "choices", "one line"),
    ],
)
def test_questions_that_cannot_be_asked(session: Api, said: dict[str, Any], field: str, words: str) -> None:
    response = question(session, **said)
    assert refused(response, 422) == ("invalid_draft", field)
    assert words in response.json()["error"]["message"]


def test_where_no_question_can_be_asked(session: Api) -> None:
    session.publish(DRINKS)
    elsewhere = session.ask("POST", f"/v1/surveys/{DRINKS.id}/questions", json={"query": "age < 30"})
    assert refused(elsewhere, 409) == ("survey_not_panel", None)
    assert (
        session.ask("POST", f"{PLACE}/questions", json={"query": "1"}, token=session.token("read")).status_code == 403
    )
    assert session.ask("POST", f"{PLACE}/questions", json={"query": "1"}, token=session.token("ask")).status_code == 200
    session.ask("POST", f"{PLACE}/seal")
    assert refused(question(session, query="age < 30"), 409) == ("survey_sealed", None)
    session.ask("DELETE", PLACE)
    assert refused(question(session, query="age < 30"), 410) == ("survey_deleted", None)
    assert session.ask("POST", f"/v1/surveys/{'0' * 64}/questions", json={"query": "1"}).status_code == 404


def test_no_more_attributes_than_records_can_have(api: Api) -> None:
    def said(n: int) -> Any:
        parameters = {"rounds": 2, "attributes": {f"a{i}": ["x", "y"] for i in range(n)}}
        return drafted(api, kind="panel", epsilon=1.0, parameters=parameters)

    assert said(63).status_code == 200
    for n in (64, 50_000):
        response = said(n)
        assert refused(response, 422) == ("invalid_draft", "attributes")
        assert f"{n:,} attributes; a record has at most 63" in response.json()["error"]["message"]

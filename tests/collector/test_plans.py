"""Plans over HTTP: the library's own numbers for every kind and every unknown, and bounded work for what is asked."""

import itertools
import math
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

import sottovoce as sv
from collector.client import Api, running
from sottovoce.core.limits import DEFAULT_COUNTERS, DEFAULT_PEOPLE, DEFAULT_REPORT_BYTES
from sottovoce.planning.curves import epsilon_grid, people_grid
from sottovoce.planning.panel import plan_panel
from sottovoce.planning.planner import plan
from sottovoce.planning.solve import MAX_PEOPLE
from sottovoce.questions import QUESTIONS
from sottovoce.strategies.factorized import FactorizedStrategy
from sottovoce.strategies.optimized import OptimizedStrategy
from sottovoce.surveys.panel import Panel
from sottovoce.surveys.relay import Relay
from sottovoce.surveys.survey import Survey
from sottovoce.workloads.parse import parse_workload


@pytest.fixture(scope="module")
def api(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Api]:
    with running(tmp_path_factory.mktemp("plans")) as api:
        yield api


def planned(api: Api, **said: Any) -> Any:
    response = api.ask("POST", "/v1/plans", json=said)
    assert response.status_code == 200, response.text
    return response.json()


def refused(api: Api, said: dict[str, Any], status: int = 422) -> tuple[str, str | None]:
    response = api.ask("POST", "/v1/plans", json=said)
    assert response.status_code == status, response.text
    error = response.json()["error"]
    return error["code"], error["field"]


KINDS: dict[str, dict[str, Any]] = {
    "shares": {"kind": "shares", "parameters": {"values": 60}},
    "queries": {"kind": "queries", "parameters": {"workload": "prefix:12"}},
    "vector": {"kind": "vector", "parameters": {"dimension": 20, "radius": 2.0}},
    "panel": {"kind": "panel", "parameters": {"rounds": 20}},
}
ASKED: dict[str, Any] = {
    "shares": sv.shares(60),
    "queries": sv.queries(parse_workload("prefix:12")),
    "vector": sv.vector(20, 2.0),
}
UNKNOWN: dict[str, dict[str, Any]] = {
    "error": {"epsilon": 1.0, "people": 100_000},
    "people": {"epsilon": 1.0, "margin": 0.05},
    "epsilon": {"people": 1_000_000, "l2": 0.1},
}


# --- what can be asked --------------------------------------------------------------------------


def test_questions_are_what_the_library_declares(api: Api) -> None:
    response = api.ask("GET", "/v1/questions", token="")
    assert response.status_code == 200
    told = response.json()
    assert told["defaults"] == {
        "people": DEFAULT_PEOPLE,
        "max_report_bytes": DEFAULT_REPORT_BYTES,
        "max_counters": DEFAULT_COUNTERS,
        "level": 0.95,
    }
    kinds = [*QUESTIONS.values(), Panel]
    assert [entry["kind"] for entry in told["questions"]] == [kind.kind for kind in kinds]
    for entry, kind in zip(told["questions"], kinds, strict=True):
        assert entry["summary"] == kind.summary
        plain = {"low": None, "high": None}
        assert entry["parameters"] == [plain | one.to_dict() for one in kind.parameters]
        assert entry["strategies"] == list(getattr(kind, "strategies", ()))
    mechanisms = {entry["kind"]: entry["mechanisms"] for entry in told["questions"]}
    assert mechanisms["queries"] == mechanisms["vector"] + mechanisms["shares"]
    assert {"hadamard", "randomized_response"} < set(mechanisms["shares"])
    assert {"codebook", "gaussian"} < set(mechanisms["vector"])
    assert "sphere" not in mechanisms["vector"], "it is not deployable"
    assert mechanisms["panel"] == []


# --- the numbers --------------------------------------------------------------------------------


@pytest.mark.parametrize("unknown", UNKNOWN)
@pytest.mark.parametrize("kind", ASKED)
def test_questions_are_planned_as_by_the_library(api: Api, kind: str, unknown: str) -> None:
    told = planned(api, **KINDS[kind], **UNKNOWN[unknown])
    found = plan(ASKED[kind], **UNKNOWN[unknown])
    own = found.to_dict()
    assert told["solved_for"] == unknown
    assert {name: told[name] for name in own} == own
    assert told["survey"] == found.survey().id
    assert (told["rounds"], told["radius"], told["error"]) == (None, None, None)
    draft = {"epsilon": told["epsilon"], "people": told["people"], "criterion": told["criterion"]}
    assert api.ask("POST", "/v1/drafts", json=KINDS[kind] | draft).json()["id"] == told["survey"]


COMPARED: dict[str, dict[str, Any]] = {
    "people": {"epsilon": 1.0, "difference": 0.08, "ratio": 3.0},
    "error": {"epsilon": 1.0, "people": 20_000, "groups": 2, "power": 0.9},
    "epsilon": {"people": 20_000, "difference": 0.05, "power": 0.7},
}


@pytest.mark.parametrize("unknown", COMPARED)
def test_two_groups_are_planned_as_by_the_library(api: Api, unknown: str) -> None:
    asked = COMPARED[unknown]
    told, found = planned(api, **KINDS["shares"], **asked), plan(sv.shares(60), **asked)
    own = found.to_dict()
    assert own.pop("kind") == "comparison"
    compared = {name: own.pop(name) for name in ("groups", "ratio", "difference", "power")}
    assert told["comparison"] == compared
    assert {name: told[name] for name in own} == own
    assert (told["solved_for"], told["people"], told["survey"]) == (unknown, sum(compared["groups"]), None)
    assert told["people"] in told["curves"]["people"]["x"]


@pytest.mark.parametrize(
    ("said", "field"),
    [
        ({"difference": 2.0, "epsilon": 1.0}, "difference"),
        ({"difference": -0.1, "epsilon": 1.0}, "difference"),
        ({"difference": 0.1, "epsilon": 1.0, "power": 1.0}, "power"),
        ({"difference": 0.1, "epsilon": 1.0, "ratio": 0.0}, "ratio"),
        ({"people": 1000, "epsilon": 1.0, "groups": 3}, "groups"),
        ({"difference": 0.1, "epsilon": 1.0, "margin": 0.1}, "margin"),
        ({"difference": 0.1, "epsilon": 1.0, "periods": 4}, "periods"),
        ({"difference": 0.1, "epsilon": 1.0, "change": 0.1}, "change"),
    ],
)
def test_a_bad_comparison_names_its_field(api: Api, said: dict[str, Any], field: str) -> None:
    assert refused(api, KINDS["shares"] | said) == ("invalid_draft", field)


def test_a_slope_is_planned_as_by_the_library(api: Api) -> None:
    """Regressors and outcome as a form sends them; the goal, and a note on what is known of each slope."""
    fields = {"regressors": {"age": {"low": 18, "high": 90}}, "outcome": {"minutes": {"low": 0, "high": 600}}}
    question = sv.relation({"age": sv.number(18, 90)}, outcome={"minutes": sv.number(0, 600)})
    found = planned(api, kind="relation", parameters=fields, epsilon=1.0, slope_error=0.5)
    expected = plan(question, epsilon=1.0, slope_error=0.5)
    assert found["people"] == expected.people
    assert found["notes"][0] == question.accuracy(expected.design, expected.people)
    asked = {"kind": "relation", "parameters": fields, "epsilon": 1.0}
    assert refused(api, {**asked, "slope_error": -1.0})[1] == "slope_error"
    assert refused(api, {**asked, "slope_error": 0.5, "of": "plan"})[1] == "of"


def test_a_panel_has_no_groups_to_plan(api: Api) -> None:
    assert refused(api, KINDS["panel"] | {"difference": 0.1}) == ("invalid_draft", "difference")


@pytest.mark.parametrize("aim", [{"people": 100_000}, {"margin": 0.02, "least": 5000, "epsilon": 3.0}])
def test_a_shuffler_is_planned_as_by_the_library(api: Api, aim: dict[str, Any]) -> None:
    asked = {"central_epsilon": 0.5, "delta": 1e-8, **aim}
    told, found = planned(api, **KINDS["shares"], **asked), plan(sv.shares(60), **asked)
    assert found.central is not None
    certificate, central = found.central.certificate, told["central"]
    own = found.to_dict() | {"central": central}
    assert {name: told[name] for name in own} == own
    for name in ("local_epsilon", "epsilon", "lower", "delta", "method", "assumption"):
        assert central[name] == getattr(certificate, name)
    assert (central["least"], central["relay"], central["promise"]) == (certificate.n, None, found.promise)
    assert (found.central.limit_note in told["notes"]) == bool(found.central.limit_note)
    draft = {"epsilon": told["epsilon"], "people": told["people"], "mechanism": told["mechanism"]}
    relay = {"url": "https://relay.example.org", "least": central["least"], "delta": 1e-8}
    drafted = api.ask("POST", "/v1/drafts", json=KINDS["shares"] | draft | {"relay": relay}).json()
    assert drafted["central"] == central | {"relay": relay["url"]}


@pytest.mark.parametrize("host", ["stats.example.org", "Stats.example.org:443"])
def test_a_relay_at_the_collectors_own_address_is_refused(api: Api, host: str) -> None:
    own, headers = Relay("https://stats.example.org/relay", least=2000), {"Host": host}
    stated = Survey(sv.shares(["tea", "coffee"]), epsilon=2.0, title="Nobody could answer", relay=own).to_json()
    refused = api.ask("POST", "/v1/surveys", json={"statement": stated}, headers=headers)
    assert (refused.status_code, refused.json()["error"]["code"]) == (422, "own_relay")
    draft = KINDS["shares"] | {"epsilon": 2.0, "relay": own.to_statement()}
    refused = api.ask("POST", "/v1/drafts", json=draft, headers=headers)
    assert (refused.status_code, refused.json()["error"]["field"]) == (422, "relay.url")
    assert api.ask("POST", "/v1/drafts", json=draft, headers={"Host": "[::"}).status_code == 200


def test_a_published_survey_shows_both_guarantees_if_it_states_a_relay(
    api: Api, monkeypatch: pytest.MonkeyPatch
) -> None:
    relay = Relay("https://relay.example.org", least=2000, delta=1e-7)
    once = Survey(sv.shares(["tea", "coffee", "milk"]), epsilon=3.0, title="Through a relay", relay=relay)
    weekly = sv.Tracking(once.question, epsilon=3.0, every="week", starts="2030-01-07", periods=4, relay=relay)
    direct = Survey(sv.shares(["tea", "coffee", "milk"]), epsilon=3.0, title="Sent directly")
    for survey in (once, weekly, direct):
        api.publish(survey)
        told = api.ask("GET", f"/v1/surveys/{survey.id}/status").json()["central"]
        if survey is direct:
            assert told is None
            continue
        found = survey.amplified()
        assert (told["local_epsilon"], told["epsilon"], told["lower"]) == (3.0, found.epsilon, found.lower)
        assert (told["least"], told["delta"], told["relay"]) == (2000, 1e-7, relay.url)
        assert told["assumption"] == found.assumption
        assert str(found).startswith(told["promise"])
    # It follows from the statement, so it is computed once.
    monkeypatch.setattr(Survey, "amplified", None)
    assert api.ask("GET", f"/v1/surveys/{once.id}/status").json()["central"]["least"] == 2000


def test_a_shuffler_is_refused_as_by_the_library(api: Api) -> None:
    shares = KINDS["shares"] | {"people": 1000, "central_epsilon": 0.5, "delta": 1e-8}
    assert refused(api, shares | {"delta": None}) == ("invalid_draft", "delta")
    assert refused(api, shares | {"people": 1}) == ("invalid_draft", "people")
    assert refused(api, shares | {"central_epsilon": None, "epsilon": 1.0, "least": 10}) == ("invalid_draft", "least")
    panel = KINDS["panel"] | {"epsilon": 1.0, "people": 1000, "central_epsilon": 0.5}
    assert refused(api, panel) == ("invalid_draft", "central_epsilon")


@pytest.mark.parametrize("unknown", ["error", "people", "epsilon", "rounds"])
def test_panels_are_planned_as_by_the_library(api: Api, unknown: str) -> None:
    given: dict[str, Any] = {"rounds": 20, "epsilon": 1.0, "people": 100_000, "error": 0.1}
    del given[unknown]
    found = plan_panel(**given)
    parameters = {"rounds": given.pop("rounds", None)}
    told = planned(api, kind="panel", parameters=parameters, **given)
    assert told["question"] == "panel"
    assert told["solved_for"] == unknown
    assert (told["rounds"], told["epsilon"], told["people"]) == (found.rounds, found.epsilon, found.people)
    assert (told["error"], told["target"], told["radius"]) == (found.error, given.get("error"), 1.0)
    assert (told["margin"], told["l2"], told["bound"], told["survey"]) == (None, None, None, None)
    (option,) = told["options"]
    assert (option["bound"], option["bound_statement"]) == (found.line.bound, found.statement)


@pytest.mark.parametrize("population", ["uniform", [0.5, 0.25, 0.125, 0.125]])
def test_a_population_has_errors_of_its_own(api: Api, population: Any) -> None:
    shares = np.full(4, 0.25) if population == "uniform" else population
    said = {"kind": "queries", "parameters": {"workload": "prefix:4"}, "strategy": "haar"}
    told = planned(api, **said, **UNKNOWN["error"], population=population)
    found = plan(sv.queries(parse_workload("prefix:4")), strategy="haar", population=shares, **UNKNOWN["error"])
    assert (told["margin"], told["l2"], told["population"]) == (found.margin, found.l2, "given")
    worst = planned(api, **said, **UNKNOWN["error"])
    assert worst["population"] == "worst case"
    assert worst["margin"] >= told["margin"]
    assert any("largest" in note for note in worst["notes"])


def test_a_short_report_is_kept_to(api: Api) -> None:
    free = planned(api, **KINDS["shares"], **UNKNOWN["error"], max_report_bytes=2**20)
    short = planned(api, **KINDS["shares"], **UNKNOWN["error"], max_report_bytes=2)
    assert free["options"][0]["report_bytes"] > 2 >= short["options"][0]["report_bytes"]
    assert short["l2"] > free["l2"]
    (left_out,) = [one for one in short["options"] if one["name"] == free["options"][0]["name"]]
    assert left_out["fits"] is False
    assert "bytes" in left_out["reason"]


@pytest.mark.slow
def test_what_is_not_tried_says_so(api: Api) -> None:
    said = {"kind": "queries", "parameters": {"workload": f"prefix:{FactorizedStrategy.quick_values + 1}"}}
    told = planned(api, **said, **UNKNOWN["error"])
    reasons = {one["strategy"]: one["reason"] for one in told["options"] if one["margin"] is None}
    assert {"factorized", "optimized", "fourier"} <= reasons.keys()
    assert "not tried" in reasons["optimized"]
    assert "sottovoce optimize" in reasons["optimized"]
    assert all(one["reason"] for one in told["options"] if not one["fits"])


# --- the curves ---------------------------------------------------------------------------------


@pytest.mark.parametrize(("kind", "unknown"), list(itertools.product(ASKED, UNKNOWN)))
def test_curves_go_through_the_plan_and_fall(api: Api, kind: str, unknown: str) -> None:
    told = planned(api, **KINDS[kind], **UNKNOWN[unknown])
    best = told["options"][0]
    for axis in ("people", "epsilon"):
        curve = told["curves"][axis]
        assert curve["x"] == sorted(set(curve["x"]))
        here = curve["x"].index(told[axis])
        assert curve["lines"][best["name"]][here] == pytest.approx(told[told["criterion"]], rel=1e-9)
        assert set(curve["lines"]) <= {one["name"] for one in told["options"] if one["margin"] is not None}
        for name, line in curve["lines"].items():
            known = [y for y in line if y is not None]
            assert len(line) == len(curve["x"])
            assert all(math.isfinite(y) and y > 0 for y in known)
            if axis == "people" or name == best["name"]:
                # Parameters are whole numbers: where one changes, the error may rise a little.
                assert all(b <= a * 1.06 for a, b in itertools.pairwise(known))


def test_curves_of_a_panel(api: Api) -> None:
    told = planned(api, **KINDS["panel"], **UNKNOWN["error"])
    for axis in ("people", "epsilon"):
        curve = told["curves"][axis]
        here = curve["x"].index(told[axis])
        assert curve["lines"]["bound"][here] == told["error"]
        assert curve["lines"]["expected"][here] < told["error"]


def test_grids_stay_within_what_is_allowed() -> None:
    assert people_grid(1)[0] == 1
    assert people_grid(MAX_PEOPLE)[-1] == MAX_PEOPLE
    assert epsilon_grid(2.0**-20)[0] == 2.0**-20
    assert epsilon_grid(16.0)[-1] == 16.0


# --- what is refused ----------------------------------------------------------------------------


def parameters(kind: str, **given: Any) -> dict[str, Any]:
    return {"kind": kind, "parameters": given} | UNKNOWN["error"]


@pytest.mark.parametrize(
    ("said", "field"),
    [
        (KINDS["shares"], None),
        (KINDS["shares"] | {"epsilon": 1}, None),
        (KINDS["vector"] | {"epsilon": 1, "people": 10, "margin": 0.1}, None),
        (KINDS["queries"] | {"people": 10}, None),
        (KINDS["panel"] | {"people": 10}, None),
        (KINDS["shares"] | {"epsilon": 1, "margin": 0.1, "l2": 0.1}, "l2"),
        (KINDS["shares"] | {"epsilon": 1, "margin": 0.1, "criterion": "l2"}, "criterion"),
        (KINDS["shares"] | {"epsilon": 1, "error": 0.1}, "error"),
        (KINDS["panel"] | {"epsilon": 1, "margin": 0.1}, "margin"),
        (KINDS["panel"] | UNKNOWN["error"] | {"population": "uniform"}, "population"),
        (KINDS["panel"] | UNKNOWN["error"] | {"max_report_bytes": 9}, "max_report_bytes"),
        (parameters("census"), "kind"),
        (parameters("shares"), "values"),
        (parameters("queries"), "workload"),
        (parameters("vector"), "dimension"),
        (parameters("panel"), None),
        (parameters("shares", values=1), "values"),
        (parameters("shares", values=2**40 + 1), "values"),
        (parameters("shares", values=5, dimension=3), "dimension"),
        (parameters("panel", rounds=5, labels=["a", "b"]), "labels"),
        (parameters("vector", dimension=2**20 + 1), "dimension"),
        (parameters("vector", dimension=3, radius=0), "radius"),
        (parameters("vector", dimension=3, radius=1e300), "radius"),
        (parameters("panel", rounds=65_537), "rounds"),
        (parameters("queries", workload="prefix:65537"), "workload"),
        (parameters("queries", workload="dense:/dev/zero"), "workload"),
        (parameters("queries", workload="bins:999999999999999999:1"), "workload"),
        (parameters("queries", workload="ranges:99999999"), "workload"),
        (parameters("queries", workload="parities:60:2"), "workload"),
        (KINDS["shares"] | UNKNOWN["error"] | {"max_report_bytes": 0}, "max_report_bytes"),
        (KINDS["shares"] | UNKNOWN["error"] | {"max_report_bytes": 1, "mechanism": "codebook"}, "mechanism"),
        (KINDS["shares"] | UNKNOWN["error"] | {"population": [1.0]}, "population"),
        (KINDS["shares"] | UNKNOWN["error"] | {"population": [2.0] * 60}, "population"),
        (KINDS["vector"] | UNKNOWN["error"] | {"population": "uniform"}, "population"),
        (parameters("shares", values=2**40) | {"population": "uniform"}, "population"),
        (
            parameters("queries", workload=f"prefix:{OptimizedStrategy.quick_values + 1}") | {"strategy": "optimized"},
            "strategy",
        ),
        (
            parameters("queries", workload=f"prefix:{FactorizedStrategy.quick_values + 1}")
            | {"strategy": "factorized"},
            "strategy",
        ),
        *((KINDS[kind] | {"epsilon": 17, "people": 10}, "epsilon") for kind in KINDS),
        *((KINDS[kind] | {"epsilon": 1, "people": 0}, "people") for kind in KINDS),
        *((KINDS[kind] | {"epsilon": 1, "people": 10**16}, "people") for kind in KINDS),
        *((KINDS[kind] | {"epsilon": 0, "margin": 0.1}, "epsilon") for kind in ASKED),
        *((KINDS[kind] | {"epsilon": 1, "margin": 0}, "margin") for kind in ASKED),
        *((KINDS[kind] | {"epsilon": 1, "margin": 99}, "margin") for kind in ASKED),
        *((KINDS[kind] | {"epsilon": 1, "l2": 99}, "l2") for kind in ASKED),
        *((KINDS[kind] | {"epsilon": 1e-5, "margin": 1e-6}, "margin") for kind in ASKED),
        *((KINDS[kind] | {"people": 5, "l2": 1e-6}, "l2") for kind in ASKED),
        (KINDS["panel"] | {"epsilon": 1, "error": 0}, "error"),
        (KINDS["panel"] | {"epsilon": 1, "error": 99}, "error"),
        (KINDS["panel"] | {"people": 5, "error": 1e-6}, "error"),
    ],
)
def test_plans_that_cannot_be(api: Api, said: dict[str, Any], field: str | None) -> None:
    assert refused(api, said) == ("invalid_draft", field)


@pytest.mark.parametrize(
    ("said", "field"),
    [
        ({}, "kind"),
        ({"kind": "vector", "people": 1.5}, "people"),
        ({"kind": "vector", "people": 10**30}, "people"),
        ({"kind": "vector", "epsilon": "1"}, "epsilon"),
        ({"kind": "vector", "target_error": 0.1}, None),
        ({"kind": "vector", "population": "zipf"}, "population"),
        ({"kind": "vector", "population": ["a"]}, "population[0]"),
    ],
)
def test_other_shapes(api: Api, said: dict[str, Any], field: str | None) -> None:
    assert refused(api, said, 400) == ("invalid_body", field)


def test_too_long_a_body(api: Api) -> None:
    said = {"kind": "queries", "parameters": {"workload": "prefix:" + "1" * 2**22}}
    assert refused(api, said, 413)[0] == "body_too_large"


def test_who_may_plan(api: Api) -> None:
    said = KINDS["shares"] | UNKNOWN["error"]
    assert api.ask("POST", "/v1/plans", json=said, token="").status_code == 401
    assert api.ask("POST", "/v1/plans", json=said, token=api.token("read")).status_code == 200


# --- how much work ------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "said",
    [
        {"kind": "shares", "parameters": {"values": 2**40}, "people": 10**10, "margin": 0.05},
        {"kind": "vector", "parameters": {"dimension": 2**20}, "epsilon": 0.1, "l2": 0.5},
        {"kind": "panel", "parameters": {"rounds": 65_536}, "people": 10**10, "error": 0.5},
    ],
)
def test_the_largest_that_may_be_asked_is_answered(api: Api, said: dict[str, Any]) -> None:
    told = planned(api, **said)
    assert len(told["curves"]["people"]["x"]) <= 50
    assert len(told["curves"]["epsilon"]["x"]) <= 20


def test_a_plan_is_worked_out_once(api: Api, monkeypatch: pytest.MonkeyPatch) -> None:
    said = {"kind": "shares", "parameters": {"values": 77}, "epsilon": 1, "people": 77}
    first = planned(api, **said)
    monkeypatch.setattr("sottovoce.collector.api.plans.make_plan", lambda asked: pytest.fail("worked out again"))
    assert planned(api, **said) == first


@pytest.mark.slow
def test_a_plan_of_words_says_what_is_found(api: Api) -> None:
    parameters = {"longest": 8, "alphabet": "latin"}
    told = planned(api, kind="words", parameters=parameters, epsilon=2.0, share=0.005, probability=0.8)
    same = plan(QUESTIONS["words"].of(**parameters), epsilon=2.0, share=0.005, probability=0.8)
    assert told["people"] == same.people
    assert told["recall"] == same.recall.to_dict()
    assert told["recall"]["target"] == 0.005
    said = {"kind": "words", "parameters": parameters, "epsilon": 2.0}
    assert refused(api, said | {"share": 0})[1] == "share"
    assert refused(api, said | {"share": 0.1, "probability": 1})[1] == "probability"
    assert refused(api, {"kind": "shares", "parameters": {"values": 5}, "epsilon": 2.0, "share": 0.1})[1] == "share"
    assert planned(api, kind="shares", parameters={"values": 5}, epsilon=2.0, people=1000)["recall"] is None

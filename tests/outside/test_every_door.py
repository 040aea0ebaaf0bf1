"""A mechanism, a strategy and a question of another package go through every door; their files are all they need."""

from __future__ import annotations

import argparse
import dataclasses
import json
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import sottovoce as sv
from collector.service import Service, running, until
from commands import run_here
from outside.package import ENTRY_POINTS, put_on_path, write_package
from sottovoce.cli.parser import build_parser
from sottovoce.core.errors import SurveyError
from sottovoce.device import Device
from sottovoce.lab import fleet
from sottovoce.mechanisms.registry import REGISTRY as MECHANISMS
from sottovoce.questions.registry import REGISTRY as QUESTIONS
from sottovoce.questions.registry import RESERVED
from sottovoce.strategies.registry import REGISTRY as STRATEGIES

ASKED = {"target": 65, "highest": 120}
WORDS = ["reaching", "--target", "65", "--highest", "120", "--epsilon", "1"]
VALUES = [30] * 1500 + [80] * 500
COMMANDS = (("plan",), ("simulate",), ("survey", "create"))
ALLOWED = ["lazy_response", "merged", "reaching"]


@pytest.fixture(autouse=True)
def site(tmp_path: Path) -> Iterator[Path]:
    """The package, installed for this process and for those that it starts."""
    folder = write_package(tmp_path)
    with put_on_path(folder):
        yield folder


@pytest.fixture
def service(tmp_path: Path, site: Path) -> Iterator[Service]:
    with running(tmp_path / "data", PYTHONPATH=os.environ["PYTHONPATH"]) as started:
        yield started


def reaching() -> Any:
    return sv.questions.make_question("reaching", **ASKED)


def asked(**others: Any) -> sv.Survey:
    return sv.Survey(reaching(), epsilon=1.0, title="Reaching", **others)


def options_of(*words: str) -> set[str]:
    """The long options of a command."""
    parser: argparse.ArgumentParser = build_parser(words)
    for word in words:
        [inner] = [action for action in parser._actions if isinstance(action, argparse._SubParsersAction)]
        parser = inner.choices[word]
    options = [option for action in parser._actions for option in action.option_strings]
    return {option[2:].replace("-", "_") for option in options if option.startswith("--")}


def test_all_three_are_found_by_their_names() -> None:
    assert list(MECHANISMS.others()) == ["lazy_response"]
    assert list(STRATEGIES.others()) == ["merged"]
    assert list(QUESTIONS.others()) == ["reaching"]


@pytest.mark.parametrize("others", [{}, {"strategy": "merged"}, {"mechanism": "lazy_response"}], ids=repr)
def test_python(others: dict[str, Any]) -> None:
    survey = asked(**others)
    assert survey.explain()
    again = sv.Survey.from_json(survey.to_json())
    assert (again, again.id) == (survey, survey.id)
    estimate = survey.estimate(survey.simulate(VALUES, seed=1))
    [answer] = estimate.top()
    assert answer.label == "65 or more"
    assert answer.low <= 0.25 <= answer.high
    assert estimate.influence(0.01)
    assert estimate.summary()


def test_auto_leaves_them_to_those_who_name_them() -> None:
    survey = asked()
    assert not STRATEGIES.is_foreign(type(survey.design))
    assert not MECHANISMS.is_foreign(type(survey.mechanism))


def test_plans() -> None:
    plan = sv.plan(reaching(), epsilon=1.0, margin=0.02)
    assert plan.survey().question == reaching()
    named = sv.plan(reaching(), epsilon=1.0, margin=0.02, strategy="merged")
    assert named.survey().design.name == "merged"
    assert named.people > 0


def test_tracking() -> None:
    weekly = sv.Tracking(reaching(), epsilon=1.0, periods=4, every="week", starts="2027-01-04")
    assert sv.Survey.from_json(weekly.to_json()) == weekly
    estimates = {number: weekly.period(number) for number in (1, 2)}
    curve = weekly.estimate({n: one.simulate_aggregate(VALUES, seed=n) for n, one in estimates.items()})
    first = next(point for point in curve.series().points if point.n_reports)
    assert first.low <= 0.25 <= first.high


def test_audits() -> None:
    assert sv.audit(asked(), samples=200, seconds=2).sound
    foreign = sv.audit(asked(mechanism="lazy_response"), samples=200, seconds=2)
    assert foreign.sound
    assert any("states" in one for one in (foreign.method, *foreign.assumptions)), "its own word is all that is known"


def test_shuffling_is_certified() -> None:
    for survey in (asked(), asked(strategy="merged"), asked(mechanism="lazy_response")):
        assert 0 < survey.amplified(people=10_000, delta=1e-6).epsilon < 1


def test_engines(tmp_path: Path) -> None:
    survey = asked(strategy="merged")
    reports = list(survey.simulate(VALUES[:300], seed=2))
    ids = [number.to_bytes(16, "little") for number in range(len(reports))]
    pq.write_table(pa.table({"report_id": ids, "report": reports}), tmp_path / "reports.parquet")
    with sv.engines.local(work=tmp_path / "work").count(survey, tmp_path / "reports.parquet") as counted:
        assert counted.estimate().n_reports == 300


def test_disclosure() -> None:
    text = sv.disclose(asked()).to_markdown()
    assert "the share of people whose value reaches a number" in text


def test_commands(
    tmp_path: Path, service: Service, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    run = run_here(capsys)
    monkeypatch.setenv("SOTTOVOCE_URL", service.url)
    monkeypatch.setenv("SOTTOVOCE_TOKEN", service.token)
    monkeypatch.chdir(tmp_path)
    planned = run("plan", *WORDS, "--people", "1e5", "--json").json
    assert planned["question"] == "reaching"
    assert run("simulate", *WORDS, "--people", "1e4", "--seed", "1", "--json").json["question"] == "reaching"
    created = run("survey", "create", *WORDS, "--strategy", "merged", "--title", "Reaching", "--json")
    assert created.status == 0, created.err
    survey = created.json["id"]
    device = ["--store", str(tmp_path / "device.db")]
    refused = run("answer", service.url, survey, "80", *device)
    assert refused.status != 0, "a device runs nothing of another package unless its owner allows it"
    assert "--allow-mechanism" in refused.err
    allowed = [word for name in ALLOWED for word in ("--allow-mechanism", name)]
    answered = run("answer", service.url, survey, "80", *device, *allowed, "--json")
    assert answered.status == 0, answered.err
    until(lambda: service.ask("GET", f"/v1/surveys/{survey}/status").json["n_reports"] == 1, "the answer is counted")
    told = run("estimate", survey, "--key", service.fingerprint, "--json")
    assert told.status == 0, told.err
    assert told.json["n_reports"] == 1
    assert "65 or more" in run("estimate", survey, "--key", service.fingerprint).out


def test_http_and_the_dashboard(service: Service) -> None:
    declared = {one["kind"]: one for one in service.ask("GET", "/v1/questions").json["questions"]}
    assert [one["name"] for one in declared["reaching"]["parameters"]] == ["target", "highest"]
    draft = {"kind": "reaching", "parameters": ASKED, "epsilon": 1.0, "title": "Reaching", "people": 10_000}
    drafted = service.ask("POST", "/v1/drafts", json=draft)
    assert drafted.status == 200, drafted.json
    survey = sv.Survey.from_json(drafted.json["statement"])
    assert isinstance(survey, sv.Survey)
    assert survey.question == reaching()
    planned = service.ask(
        "POST", "/v1/plans", json={name: draft[name] for name in ("kind", "parameters", "epsilon", "people")}
    )
    assert planned.status == 200, planned.json
    service.publish(survey)
    reports = [(os.urandom(16), report) for report in survey.simulate(VALUES, seed=3)]
    assert service.send(survey, reports).status == 200
    until(lambda: service.status(survey)["n_reports"] == len(VALUES), "all are counted")
    estimate = service.ask("GET", f"/v1/surveys/{survey.id}/estimate").json
    [row] = estimate["answers"]
    assert row["label"] == "65 or more"
    assert row["low"] <= 0.25 <= row["high"]
    assert service.ask("GET", f"/v1/surveys/{survey.id}/picture").status == 200


def test_a_fleet_answers(service: Service) -> None:
    survey = asked(strategy="merged")
    service.publish(survey)
    sent = fleet.run(service.url, survey.id, people=40, singles=2, seed=1)
    assert sent.accepted == 40
    until(lambda: service.status(survey)["n_reports"] == 40, "all are counted")


def test_a_device_answers_what_its_owner_allowed(tmp_path: Path, service: Service) -> None:
    survey = asked(strategy="merged", mechanism="auto")
    service.publish(survey)
    with Device(tmp_path / "device.db", allow_mechanisms=ALLOWED) as device:
        device.answer(service.url, survey.id, 80)
    until(lambda: service.status(survey)["n_reports"] == 1, "it is counted")


# --- packages that something is wrong with ----------------------------------------------------


@pytest.mark.parametrize(
    ("change", "registry", "words"),
    [
        (("outside_kinds.reaching:Reaching", "outside_kinds.nowhere:Reaching"), QUESTIONS, "nowhere"),
        (("outside_kinds.merged:Merged", "outside_kinds.merged:Missing"), STRATEGIES, "Missing"),
        (("reaching = outside", "shares = outside"), QUESTIONS, "shares"),
        (("outside_kinds.lazy_response:LazyResponse", "outside_kinds.reaching:Reaching"), MECHANISMS, "not a subclass"),
    ],
)
def test_what_is_wrong_is_named_and_the_rest_goes_on(
    tmp_path: Path, change: tuple[str, str], registry: Any, words: str
) -> None:
    assert change[0] in ENTRY_POINTS
    (tmp_path / "wrong").mkdir()
    site = write_package(tmp_path / "wrong", ENTRY_POINTS.replace(*change))
    program = (
        "import json, warnings; warnings.simplefilter('always'); import sottovoce.questions.registry as q, "
        "sottovoce.strategies.registry as s, sottovoce.mechanisms.registry as m; "
        "print(json.dumps([sorted(one.REGISTRY.others()) for one in (m, s, q)]))"
    )
    path = os.pathsep.join([str(site), *os.environ["PYTHONPATH"].split(os.pathsep)[1:]])
    command, variables = [sys.executable, "-c", program], os.environ | {"PYTHONPATH": path}
    done = subprocess.run(command, capture_output=True, text=True, check=True, env=variables)
    found = dict(zip((MECHANISMS, STRATEGIES, QUESTIONS), json.loads(done.stdout), strict=True))
    assert words in done.stderr
    assert found[registry] == []
    assert sum(map(len, found.values())) == 2


def test_a_parameter_with_the_name_of_a_general_option_is_refused() -> None:
    """Commands would otherwise have one option with two meanings."""
    general = {
        name
        for command in COMMANDS
        for kind in QUESTIONS.ours.values()
        for name in options_of(*command, kind.kind) - {one.name for one in kind.parameters}
    }
    assert general == RESERVED
    for name in ("least", "run", "asked_as", "two words", "-x"):
        clash = dataclasses.replace(type(reaching()).parameters[0], name=name)
        kind = type("Clash", (type(reaching()),), {"kind": "clash", "parameters": (clash,)})
        with pytest.raises(SurveyError, match=f"parameter '{name}'"):
            QUESTIONS.register(kind)

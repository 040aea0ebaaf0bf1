"""What missing values count as, on the command line: in options, in attributes, and in files of values."""

from __future__ import annotations

from argparse import Namespace
from pathlib import Path
from typing import Any

import pytest

import sottovoce as sv
from commands import Run
from sottovoce.cli.survey_options import asked_question
from sottovoce.core.errors import DomainError
from sottovoce.questions import QUESTIONS, Question


def asked(kind: str, **options: Any) -> Question:
    declared = {one.name: one.default for one in QUESTIONS[kind].parameters}
    return asked_question(QUESTIONS[kind], Namespace(**(declared | options)))


def test_options_are_the_arguments_of_the_questions() -> None:
    drinks = asked("shares", labels="tea,coffee", missing="as prefer not to say")
    assert drinks == sv.shares(["tea", "coffee"], missing="as prefer not to say")
    assert asked("shares", range="1..5", missing="as 3") == sv.shares(range(1, 6), missing="as 3")
    assert asked("number", low=0.0, high=600.0, missing="as 0") == sv.number(0, 600, missing="as 0")
    travel = sv.choices(["bus", "tram"], missing="as neither")
    assert asked("choices", options="bus,tram", missing="as neither") == travel
    form = [
        "plan=free,pro missing as not known",
        "age=0..99 missing as 0",
        "minutes=number:0..600:minutes  missing as 30.5",
        "town=Oslo,Bergen missing refuse",
    ]
    fields = {
        "plan": sv.shares(["free", "pro"], missing="as not known"),
        "age": sv.shares(range(100), missing="as 0"),
        "minutes": sv.number(0, 600, "minutes", missing="as 30.5"),
        "town": ["Oslo", "Bergen"],
    }
    assert asked("records", attributes=form) == sv.records(fields)
    del fields["minutes"]
    assert asked("shares", attributes=[form[0], form[1], form[3]]) == sv.shares(fields)


@pytest.mark.parametrize(
    ("kind", "options", "field"),
    [
        ("number", {"low": 0.0, "high": 600.0, "missing": "as 601"}, "missing"),
        ("number", {"low": 0.0, "high": 600.0, "missing": "0"}, "missing"),
        ("shares", {"range": "1..5", "missing": "as none"}, "missing"),
        ("shares", {"attributes": ["a=0..9", "b=x,y"], "missing": "as x"}, "missing"),
        ("choices", {"options": "bus,tram", "missing": "neither"}, "missing"),
        ("records", {"attributes": ["a=0..9 missing as 10"]}, "attributes"),
        ("records", {"attributes": ["a=number:0..9 missing as ten"]}, "attributes"),
    ],
)
def test_what_is_not_a_value_is_refused_at_its_option(kind: str, options: dict[str, Any], field: str) -> None:
    with pytest.raises(DomainError) as refusal:
        asked(kind, **options)
    assert refusal.value.field == field


def test_a_plan_says_how_to_create_the_survey_with_its_policy(run: Run) -> None:
    number = ("--low", "0", "--high", "600", "--missing", "as 0")
    outcome = run("plan", "number", *number, "--epsilon", "1", "--people", "5000")
    assert outcome.status == 0
    assert "--missing 'as 0'" in " ".join(outcome.out.split())


def test_empty_cells_of_histories_are_missing(run: Run, tmp_path: Path) -> None:
    path = tmp_path / "histories.csv"
    path.write_text("jan,feb\n" + "yes,\nno,no\n,yes\n" * 400, encoding="utf-8")
    words = ("simulate", "shares", "--labels", "no,yes", "--epsilon", "4", "--every", "month", "--starts", "2026-01-01")
    told = (*words, "--histories", str(path), "--seed", "3", "--answer", "no answer", "--json")
    assert run(*words, "--histories", str(path), "--json").json["error"]["type"] == "ValueOutsideDomainError"
    [curve] = run(*told, "--missing", "as no answer").json["curves"]
    for point in curve["points"]:
        assert point["truth"] == pytest.approx(1 / 3)
        assert point["value"] == pytest.approx(1 / 3, abs=0.2)

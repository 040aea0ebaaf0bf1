"""How things are related, from the command line: slopes, correlations, pictures, and made-up records of a form."""

from __future__ import annotations

import csv
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import sottovoce as sv
from sottovoce.formats.aggregate_file import write_aggregate
from sottovoce.formats.sharded import in_shards
from sottovoce.surveys.survey import Survey

AGE = np.linspace(20, 88, 20_000)
PEOPLE = {"age": AGE, "minutes": 300 - 2 * (AGE - 54) + 200 * np.sin(np.arange(20_000))}


def counted(survey: Survey, path: Path) -> str:
    aggregate = survey.simulate_aggregate(PEOPLE, seed=1)
    write_aggregate(path, survey, aggregate.n_reports, in_shards(aggregate.counts))
    return str(path)


@pytest.fixture
def relation(tmp_path: Path) -> tuple[str, Any]:
    question = sv.relation({"age": sv.number(18, 90)}, outcome=sv.number(0, 600, "minutes"))
    survey = sv.Survey(question, epsilon=8.0, title="Usage")
    return counted(survey, tmp_path / "relation.bin"), survey.estimate(survey.simulate_aggregate(PEOPLE, seed=1))


@pytest.fixture
def form(tmp_path: Path) -> tuple[str, Any]:
    fields = {"age": sv.number(18, 90, points=7), "minutes": sv.number(0, 600, "minutes", points=7)}
    survey = sv.Survey(sv.records(fields), epsilon=8.0)
    return counted(survey, tmp_path / "form.bin"), survey.estimate(survey.simulate_aggregate(PEOPLE, seed=1))


def test_slopes_stand_below_the_means(run: Any, relation: tuple[str, Any]) -> None:
    path, estimate = relation
    told = run("estimate", "--aggregate", path, "--json").json["figures"]
    assert [one["name"] for one in told] == ["slope of age", "R squared"]
    assert told[0]["value"] == estimate.slope("age").value
    assert "slope of age: -2." in " ".join(run("estimate", "--aggregate", path).out.split())


def test_lines_and_correlations_are_those_of_python(
    run: Any, relation: tuple[str, Any], form: tuple[str, Any], tmp_path: Path
) -> None:
    path, estimate = relation
    picture = tmp_path / "line.png"
    line = run("estimate", "--aggregate", path, "--line", "--picture", str(picture), "--json").json
    assert line["slopes"][0]["value"] == estimate.slope("age").value
    assert picture.read_bytes()[:4] == b"\x89PNG"
    assert "minutes by age" in run("estimate", "--aggregate", path, "--line", "age").out
    found = run("estimate", "--aggregate", path, "--correlation", "age", "minutes", "--json").json
    assert found["value"] == estimate.correlation("age", "minutes").value
    path, estimate = form
    line = run("estimate", "--aggregate", path, "--line", "minutes", "age", "--json").json
    assert line["slopes"][0]["value"] == estimate.regression("minutes", on=["age"]).slope("age").value
    refused = run("estimate", "--aggregate", path, "--line", "minutes")
    assert refused.status == 2
    assert "the outcome, and then what it depends on" in refused.err


def test_records_are_made_up_into_a_file(run: Any, form: tuple[str, Any], tmp_path: Path) -> None:
    path, estimate = form
    out = tmp_path / "made_up.csv"
    asked = ("estimate", "--aggregate", path, "--synthesize", str(out), "--records", "50", "--seed", "3")
    told = run(*asked, "--json").json
    assert (told["records"], told["seed"]) == (50, 3)
    with out.open(newline="") as file:
        rows = list(csv.DictReader(file))
    expected = estimate.synthesize(50, 3).records
    assert [{name: float(value) for name, value in row.items()} for row in rows] == expected
    assert "made-up" in run("estimate", "--aggregate", path, "--synthesize", str(out)).out


@pytest.mark.parametrize(
    "options",
    [
        ("--line", "--correlation", "age", "minutes"),
        ("--records", "5"),
        ("--line", "--records", "5"),
        ("--line", "--csv", "answers.csv"),
        ("--correlation", "age", "minutes", "--picture", "line.png"),
        ("--line", "--watch"),
        ("--synthesize", "made_up.csv"),
        ("--line", "height"),
    ],
)
def test_what_does_not_belong_together_is_refused(
    run: Any, relation: tuple[str, Any], options: tuple[str, ...]
) -> None:
    refused = run("estimate", "--aggregate", relation[0], *options)
    assert refused.status == 2
    assert refused.err.startswith("sottovoce: error:")

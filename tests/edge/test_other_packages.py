"""`sottovoce randomize` loads nothing of another package that was not allowed by name."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

import sottovoce as sv
from commands import Run
from outside.package import put_on_path, write_package

ASKED = {
    "shares": (sv.shares(["tea", "coffee"]), "tea"),
    "number": (sv.number(0, 600), 7),
    "choices": (sv.choices(["tea", "coffee"]), ["tea"]),
    "records": (sv.records({"age": range(9), "hours": sv.number(0, 9)}), {"age": 3, "hours": 4}),
    "words": (sv.words(8, "latin"), "tea"),
    "vector": (sv.vector(3), [0, 1, 0]),
    "queries": (sv.queries(sv.workloads.Prefix(9)), 3),
}


@pytest.fixture
def nothing_is_loaded(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setattr("importlib.metadata.EntryPoint.load", lambda point: pytest.fail(f"{point} was loaded"))
    with put_on_path(write_package(tmp_path_factory.mktemp("outside"))):
        yield


@pytest.mark.parametrize("kind", ASKED)
def test_a_survey_of_this_package_loads_nothing(run: Run, kind: str, nothing_is_loaded: None) -> None:
    question, value = ASKED[kind]
    survey = sv.Survey(question, epsilon=1.0)
    Path("survey.json").write_text(survey.to_json(), encoding="utf-8")
    for digest, content in survey.attachments.items():
        Path(digest).write_bytes(content)
    Path("in.jsonl").write_text(json.dumps({"value": value}) + "\n", encoding="utf-8")
    words = ("--column", "value", "--input", "in.jsonl", "--output", "out.jsonl")
    done = run("randomize", "survey.json", *words)
    assert done.status == 0, done.err


@pytest.mark.parametrize(
    "change", [("shares", "reaching"), ("histogram", "merged"), ("randomized_response", "lazy_response")]
)
def test_a_survey_of_another_package_loads_nothing(run: Run, change: tuple[str, str], nothing_is_loaded: None) -> None:
    survey = sv.Survey(sv.shares(["tea", "coffee"]), epsilon=1.0, mechanism="randomized_response")
    Path("survey.json").write_text(survey.to_json().replace(f'"{change[0]}"', f'"{change[1]}"'), encoding="utf-8")
    done = run("randomize", "survey.json", "--column", "value", "--output", "out.jsonl")
    assert done.status == 2
    assert f"'{change[1]}' is not part of sottovoce" in done.err

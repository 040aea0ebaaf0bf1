"""Simulated words: invented ones, the lines of a file, and what is said beside the truth."""

from __future__ import annotations

import io
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from refusing import refuses
from sottovoce.core.errors import SimulationError
from sottovoce.lab.populations.words import read_lines
from sottovoce.questions.words import Words

ASKED = ("simulate", "words", "--longest", "4", "--alphabet", "abcdef", "--epsilon", "3", "--seed", "3")
LINES = ["Face"] * 250 + ["bad "] * 130 + ["far too long"] * 20


def test_every_line_of_a_file_is_one_person(run: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "words.txt"
    path.write_text("\n".join(LINES))
    told = run(*ASKED, "--population", str(path), "--json").json
    assert (told["people"], told["false_certain"]) == (400, 0)
    truth = {one["label"]: one["truth"] for one in told["answers"]}
    assert (truth["face"], truth["bad"]) == (0.625, 0.325)
    for one in told["answers"][:2]:
        assert one["certain"]
        assert one["low"] <= one["truth"] <= one["high"]
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(path.read_bytes())))
    piped = run(*ASKED, "--population", "-", "--json").json
    assert piped["answers"] == told["answers"]
    shown = " ".join(run(*ASKED, "--population", str(path)).out.split())
    for words in ("face", "0.6250", "certain, and nobody has it 0", "seed 3"):
        assert words in shown


def test_people_are_drawn_from_a_file_if_their_number_is_given(run: Any, tmp_path: Path) -> None:
    path = tmp_path / "words.txt"
    path.write_text("face\nbad\n")
    told = run(*ASKED, "--people", "500", "--population", str(path), "--repeats", "2", "--json").json
    assert (told["people"], told["repeats"]) == (500, 2)
    assert {"face", "bad"} == {one["label"] for one in told["answers"] if one["certain"]}
    assert told["standard_errors"]["largest_error"] >= 0


@pytest.mark.parametrize(
    ("options", "helpful"),
    [
        ((), "--people"),
        (("--population", "nowhere.txt"), "nowhere.txt"),
        (("--people", "100", "--smooth"), "--histories"),
        (("--people", "0"), "people must be"),
    ],
)
def test_mistakes_are_named(run: Any, options: tuple[str, ...], helpful: str) -> None:
    outcome = run(*ASKED, *options)
    assert outcome.status == 2
    assert helpful in outcome.err


@pytest.mark.parametrize(
    "given", [{"alphabet": "ab", "longest": 2}, {"alphabet": "unicode"}, {"alphabet": "bytes"}, {"below": 2**64}]
)
def test_invented_people_have_words_of_the_survey(given: dict[str, Any]) -> None:
    people = Words.of(**given).invented_people()
    assert len(people.labels) == len(set(people.labels)) == (6 if given == {"alphabet": "ab", "longest": 2} else 1000)
    assert people.answers.sum() == pytest.approx(1)
    assert (np.diff(people.answers) <= 0).all()
    again = Words.of(**given).invented_people()
    assert again.labels == people.labels
    assert all(people.code.admits(value) for value in people.draw(50, np.random.default_rng(1)))


def test_a_file_must_have_people_and_be_text(tmp_path: Path) -> None:
    question = Words.of(longest=4)
    (tmp_path / "empty").write_bytes(b"")
    (tmp_path / "bytes").write_bytes(b"\xff\xfe")
    for name in ("empty", "bytes", "."):
        with refuses(SimulationError, "population"):
            question.people_of_lines(read_lines(str(tmp_path / name), "population"))

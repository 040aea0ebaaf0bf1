"""Planning and simulating: every mistake gives exit status 2 and one line that helps."""

from __future__ import annotations

import os
from pathlib import Path

import numpy as np
import pytest

from sottovoce.mechanisms.registry import MECHANISMS
from sottovoce.questions import QUESTIONS

PLAN = {
    "shares": ("plan", "shares", "--values", "40", "--epsilon", "1", "--people", "2000"),
    "queries": ("plan", "queries", "--workload", "prefix:12", "--epsilon", "1", "--people", "2000"),
    "vector": ("plan", "vector", "--dimension", "8", "--epsilon", "1", "--people", "2000"),
    "number": ("plan", "number", "--low", "0", "--high", "3", "--epsilon", "1", "--people", "2000"),
    "choices": ("plan", "choices", "--options", "a,b,c,d", "--most", "2", "--epsilon", "1", "--people", "2000"),
    "records": ("plan", "records", "--attributes", "a=1..9", "--tables", "1", "--epsilon", "1", "--people", "2000"),
    "relation": (
        "plan",
        "relation",
        "--regressors",
        "a=b,c",
        "--outcome",
        "h=number:0..9",
        "--epsilon",
        "1",
        "--people",
        "2000",
    ),
    "words": ("plan", "words", "--longest", "4", "--alphabet", "abc", "--epsilon", "1", "--people", "2000"),
}
SIMULATE = {kind: ("simulate", *words[1:], "--seed", "5") for kind, words in PLAN.items()}


def check(outcome, kind: str, *helpful: str) -> None:
    """One line on standard error and the same as JSON on standard output."""
    assert outcome.status == 2
    (line,) = outcome.err.splitlines()
    assert line.startswith("sottovoce: error: ")
    for words in helpful:
        assert words in line
    assert outcome.json == {"error": {"type": kind, "message": line.removeprefix("sottovoce: error: ")}}


def changed(words: tuple[str, ...], **options: str | None) -> list[str]:
    """The command with some options replaced, added, or (None) taken away."""
    given = dict(zip(words[2::2], words[3::2], strict=True)) | {
        f"--{name.replace('_', '-')}": value for name, value in options.items()
    }
    listed = [word for name, value in given.items() if value is not None for word in (name, value)]
    return [*words[:2], *listed, "--json"]


# --- what is asked for --------------------------------------------------------------------------


@pytest.mark.parametrize("kind", PLAN)
@pytest.mark.parametrize(
    ("options", "error", "helpful"),
    [
        ({"margin": "0", "people": None}, "PlanError", "margin is 0: it must be a number above 0 and below"),
        ({"margin": "-1", "people": None}, "PlanError", "margin is -1"),
        ({"margin": "nan", "people": None}, "PlanError", "margin is nan"),
        ({"margin": "13", "people": None}, "PlanError", "what two answers can differ by"),
        ({"l2": "0", "people": None}, "PlanError", "l2 is 0"),
        ({"l2": "1e3", "people": None}, "PlanError", "the largest distance of two sets of answers"),
        ({"margin": "0.1", "l2": "0.1", "people": None}, "PlanError", "give margin or l2, not both"),
        ({"margin": "0.1"}, "PlanError", "give exactly two of epsilon, people and margin"),
        ({"epsilon": None, "people": None}, "PlanError", "got none"),
        ({"epsilon": None}, "PlanError", "margin or l2"),
        ({"margin": "0.1", "people": None, "criterion": "l2"}, "PlanError", "leave criterion out"),
        ({"criterion": "linf"}, "UsageError", "choose from 'l2', 'margin'"),
        ({"people": "1e11"}, "SurveyError", "people is 100000000000"),
        ({"people": "0"}, "SurveyError", "people is 0"),
        (
            {"epsilon": "1e-4", "people": None, "margin": "1e-2"},
            "PlanError",
            "people; a plan allows at most",
        ),
        (
            {"epsilon": "1e-4", "people": None, "margin": "1e-6"},
            "PlanError",
            "raise epsilon",
        ),
        ({"epsilon": None, "people": "10", "margin": "1e-5"}, "PlanError", "out of reach with 10 people"),
        ({"epsilon": "0"}, "SurveyError", "epsilon is 0"),
        ({"delta": "1"}, "SurveyError", "delta is 1.0"),
        ({"max_report_bytes": "0"}, "SurveyError", "max_report_bytes is 0"),
        ({"strategy": "guess"}, "SurveyError", "strategy must be one of"),
        ({"mechanism": "laplace"}, "MechanismError", f"mechanism must be one of {', '.join(MECHANISMS)}"),
        ({"picture": "picture.doc"}, "SimulationError", "must end in .png"),
        ({"picture": "nowhere/picture.png"}, "SimulationError", "there is no directory 'nowhere'"),
    ],
    ids=str,
)
def test_plans_that_cannot_be(run, kind, options, error, helpful):
    check(run(*changed(PLAN[kind], **options)), error, helpful)


@pytest.mark.parametrize(
    ("kind", "options", "error", "helpful"),
    [
        ("shares", {"dimension": "3"}, "UsageError", "--dimension is for 'vector', not for 'sottovoce plan shares'"),
        ("vector", {"workload": "prefix:3"}, "UsageError", "--workload is for 'queries'"),
        ("queries", {"values": "3"}, "UsageError", "--values is for 'shares'"),
        ("shares", {"rounds": "3"}, "UsageError", "--rounds is for 'panel'"),
        ("shares", {"loud": "3"}, "UsageError", "unrecognized arguments: --loud"),
        ("queries", {"workload": None}, "UsageError", "--workload"),
        ("vector", {"dimension": None}, "UsageError", "--dimension"),
        ("shares", {"values": None}, "SurveyError", "give the values in exactly one way"),
        ("shares", {"range": "1..9"}, "SurveyError", "got values and range"),
        ("shares", {"values": "1"}, "SurveyError", "values is 1"),
        ("shares", {"values": "2.5"}, "UsageError", "not a whole number"),
        ("shares", {"values": None, "range": "nine"}, "DomainError", "write both ends, like 18..99"),
        ("shares", {"values": None, "range": "9..1"}, "DomainError", "domain size is 0"),
        ("shares", {"values": None, "labels": "@nowhere.txt"}, "DomainError", "name a file with one label per line"),
        ("shares", {"values": None, "labels": "a,a"}, "DomainError", "more than once"),
        ("shares", {"values": None, "attributes": "age"}, "DomainError", "write it like age=0..99"),
        ("shares", {"values": None, "attributes": "a=0..9 b=x,y"}, "DomainError", "write attributes apart"),
        ("vector", {"radius": "-1"}, "SurveyError", "radius is -1"),
        ("vector", {"radius": "inf"}, "SurveyError", "radius is inf"),
        ("vector", {"dimension": "1e9"}, "SurveyError", "dimension is 1000000000"),
        ("vector", {"population": "zipf"}, "PlanError", "population goes with values that can be listed"),
        ("shares", {"population": "nowhere.txt"}, "SimulationError", "No such file"),
        ("shares", {"strategy": "haar"}, "SurveyError", "cannot be asked by haar"),
        (
            "shares",
            {"mechanism": "gaussian"},
            "PlanError",
            "no mechanism for values is named 'gaussian'",
        ),
        ("queries", {"strategy": "fourier"}, "PlanError", "no design can serve this queries question"),
    ],
    ids=str,
)
def test_each_question_has_its_own(run, kind, options, error, helpful):
    check(run(*changed(PLAN[kind], **options)), error, helpful)


def test_a_question_that_no_design_can_serve(run):
    words = changed(PLAN["shares"], values="1e9", max_report_bytes="1")
    check(run(*words), "PlanError", "no design can serve this shares question", "1 are allowed")


@pytest.mark.parametrize("words", [SIMULATE["queries"], PLAN["queries"]], ids=["simulate", "plan"])
@pytest.mark.parametrize("workload", ["quantiles:10", "prefix", "prefix:", "prefix:ten", "prefix:-3", "bins:100", ""])
def test_workloads_that_nobody_knows(run, words, workload):
    check(
        run(*changed(words, workload=workload)), "WorkloadError", "is not a workload", "prefix:1024", "dense:FILE.npy"
    )


@pytest.mark.parametrize(
    ("matrix", "helpful"),
    [
        (None, "not found"),
        (b"0.1,0.2\n", "cannot be read as a .npy file"),
        (b"", "cannot be read as a .npy file"),
        (np.array([[0.0, np.nan]]), "not a number"),
        (np.array([[0.0, np.inf]]), "not a number"),
        (np.array([[None, "x"]], dtype=object), "cannot be read"),
        (np.array([[1 + 2j, 0]]), "complex128"),
        (np.array([["a", "b"]]), "str"),
        (np.arange(3.0), "two-dimensional"),
        (np.zeros((2, 3)), "zeros"),
    ],
    ids=["missing", "text", "empty", "nan", "inf", "object", "complex", "strings", "vector", "zeros"],
)
def test_matrices_that_are_none(run, tmp_path, matrix, helpful):
    path = tmp_path / "matrix.npy"
    if isinstance(matrix, bytes):
        path.write_bytes(matrix)
    elif matrix is not None:
        np.save(path, matrix, allow_pickle=True)
    check(run(*changed(PLAN["queries"], workload=f"dense:{path}")), "WorkloadError", helpful)


def test_a_good_matrix_is_read(run, tmp_path):
    np.save(tmp_path / "matrix.npy", np.array([[1.0, 0, 2], [0, 1, 1]]))
    found = run(*changed(PLAN["queries"], workload=f"dense:{tmp_path / 'matrix.npy'}")).json
    assert (found["question"], found["answers"]) == ("queries", 2)


# --- simulations --------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", ["queries", "vector"])
@pytest.mark.parametrize(
    ("options", "error", "helpful"),
    [
        ({"mechanism": "gaussian", "strategy": "direct"}, "MechanismError", "gaussian cannot give delta = 0"),
        ({"mechanism": "sphere", "strategy": "direct"}, "MechanismError", "sphere"),
        ({"mechanism": "hadamard", "strategy": "direct"}, "MechanismError", "codebook"),
        ({"delta": "1.5"}, "SurveyError", "below 1"),
        ({"delta": "-0.5"}, "SurveyError", "delta is -0.5"),
        ({"delta": "nan"}, "SurveyError", "delta is nan"),
        ({"delta": "small"}, "UsageError", "'small' is not a number"),
        ({"epsilon": "0"}, "SurveyError", "epsilon is 0"),
        ({"people": "0"}, "SimulationError", "people must be"),
        ({"people": "1e13"}, "SurveyError", "people is"),
        ({"repeats": "0"}, "SimulationError", "repeats must be"),
        ({"seed": "-1"}, "SimulationError", "seed must be"),
    ],
    ids=str,
)
def test_simulations_that_cannot_be(run, kind, options, error, helpful):
    check(run(*changed(SIMULATE[kind], **options)), error, helpful)


@pytest.mark.parametrize(
    ("words", "options", "error", "helpful"),
    [
        (SIMULATE["queries"], {"population": "nowhere.txt"}, "SimulationError", "No such file"),
        (SIMULATE["vector"], {"dimension": "0"}, "SurveyError", "dimension is 0"),
        (("mechanisms", ""), {"delta": "1"}, "SurveyError", "delta is 1.0"),
        (("mechanisms", ""), {"dimension": "0"}, "SurveyError", "dimension is 0"),
    ],
)
def test_each_command_has_its_own(run, words, options, error, helpful):
    check(run(*filter(None, changed(words, **options))), error, helpful)


# --- pictures -----------------------------------------------------------------------------------


def test_a_picture_that_fails_in_the_end_is_no_traceback(run, tmp_path, monkeypatch):
    replace = os.replace

    def full(source: str, target: str) -> None:
        if Path(target).parent == tmp_path:  # compiled code is cached elsewhere
            raise OSError(28, "No space left on device")
        replace(source, target)

    monkeypatch.setattr("sottovoce.core.files.os.replace", full)
    words = changed(PLAN["vector"], picture=str(tmp_path / "plan.png"))
    check(run(*words), "SimulationError", "cannot be written: No space left on device")


def test_a_picture_that_is_a_directory_is_refused(run, tmp_path):
    (tmp_path / "taken.png").mkdir()
    words = changed(PLAN["vector"], picture=str(tmp_path / "taken.png"))
    check(run(*words), "SimulationError", "is a directory; name a file in it for the picture")


def test_a_picture_needs_its_library(run, monkeypatch):
    monkeypatch.setattr("sottovoce.figures.style.find_spec", lambda name: None)
    check(run(*changed(PLAN["vector"], picture="error.png")), "MissingExtraError", "pip install 'sottovoce[plot]'")


def test_every_kind_is_among_these():
    assert set(PLAN) == set(QUESTIONS)

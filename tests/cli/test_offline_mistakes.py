"""Query sets and means on the command line: every mistake gives exit status 2 and one line that helps."""

from __future__ import annotations

import math

import numpy as np
import pytest

QUERIES = ("simulate", "queries", "--workload", "prefix:12", "--users", "2000", "--epsilon", "1", "--seed", "5")
MEAN = ("simulate", "mean", "--dimension", "8", "--radius", "3", "--users", "2000", "--epsilon", "1", "--seed", "5")
PLAN_QUERIES = ("plan", "queries", "--workload", "prefix:12", "--users", "2000", "--epsilon", "1")
PLAN_MEAN = ("plan", "mean", "--dimension", "8", "--users", "2000", "--epsilon", "1")


def check(outcome, kind: str, *helpful: str) -> None:
    """One line on standard error and the same as JSON on standard output."""
    assert outcome.status == 2
    (line,) = outcome.err.splitlines()
    assert line.startswith("sottovoce: error: ")
    for words in helpful:
        assert words in line
    assert outcome.json == {"error": {"type": kind, "message": line.removeprefix("sottovoce: error: ")}}


def changed(words: tuple[str, ...], **options: str) -> list[str]:
    """The command with some options replaced or added."""
    given = dict(zip(words[2::2], words[3::2], strict=True)) | {
        f"--{name.replace('_', '-')}": value for name, value in options.items()
    }
    return [*words[:2], *(word for pair in given.items() for word in pair), "--json"]


@pytest.mark.parametrize("words", [QUERIES, PLAN_QUERIES])
@pytest.mark.parametrize("workload", ["quantiles:10", "prefix", "prefix:", "prefix:ten", "prefix:-3", "bins:100", ""])
def test_workloads_that_nobody_knows(run, words, workload):
    check(
        run(*changed(words, workload=workload)), "WorkloadError", "is not a workload", "prefix:1024", "dense:FILE.npy"
    )


@pytest.mark.parametrize("words", [QUERIES, PLAN_QUERIES])
@pytest.mark.parametrize(
    ("matrix", "helpful"),
    [
        (None, "there is no file"),
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
def test_matrices_that_are_none(run, tmp_path, words, matrix, helpful):
    path = tmp_path / "matrix.npy"
    if isinstance(matrix, bytes):
        path.write_bytes(matrix)
    elif matrix is not None:
        np.save(path, matrix, allow_pickle=True)
    check(run(*changed(words, workload=f"dense:{path}")), "WorkloadError", helpful)


def test_a_good_matrix_is_read(run, tmp_path):
    np.save(tmp_path / "matrix.npy", np.array([[1.0, 0, 2], [0, 1, 1]]))
    found = run(*changed(PLAN_QUERIES, workload=f"dense:{tmp_path / 'matrix.npy'}")).json
    assert (found["n_queries"], found["domain_size"], found["radius"]) == (2, 3, math.sqrt(5))


@pytest.mark.parametrize("words", [QUERIES, MEAN])
@pytest.mark.parametrize(
    ("options", "kind", "helpful"),
    [
        ({"mechanism": "gaussian"}, "MechanismError", "gaussian cannot give delta = 0"),
        ({"mechanism": "sphere"}, "MechanismError", "choose among codebook, gaussian, rejection"),
        ({"mechanism": "hadamard"}, "MechanismError", "choose among codebook, gaussian, rejection"),
        ({"delta": "1"}, "SurveyError", "delta is 1.0"),
        ({"delta": "1.5"}, "SurveyError", "below 1"),
        ({"delta": "-0.5"}, "SurveyError", "delta is -0.5"),
        ({"delta": "nan"}, "SurveyError", "delta is nan"),
        ({"delta": "small"}, "UsageError", "'small' is not a number"),
        ({"epsilon": "0"}, "SurveyError", "epsilon is 0"),
        ({"users": "0"}, "SimulationError", "the number of people"),
        ({"users": "1e13"}, "SurveyError", "users is"),
        ({"repeats": "0"}, "SimulationError", "repeats must be"),
        ({"seed": "-1"}, "SimulationError", "seed must be"),
    ],
)
def test_simulations_that_cannot_be(run, words, options, kind, helpful):
    check(run(*changed(words, **options)), kind, helpful)


@pytest.mark.parametrize(
    ("words", "options", "kind", "helpful"),
    [
        (MEAN, {"radius": "-1"}, "SurveyError", "radius is -1.0"),
        (MEAN, {"radius": "inf"}, "SurveyError", "radius is inf"),
        (MEAN, {"dimension": "0"}, "SurveyError", "dimension is 0"),
        (PLAN_MEAN, {"radius": "-1"}, "SurveyError", "radius is -1.0"),
        (PLAN_MEAN, {"radius": "0"}, "SurveyError", "a finite number above 0"),
        (PLAN_MEAN, {"dimension": "1e9"}, "SurveyError", "dimension is 1000000000"),
        (PLAN_MEAN, {"delta": "1"}, "SurveyError", "delta is 1.0"),
        (PLAN_MEAN, {"target_error": "0.1"}, "PlanError", "exactly two of"),
        (PLAN_QUERIES, {"target_error": "0.1"}, "PlanError", "got epsilon, users, target_error"),
        (PLAN_QUERIES, {"delta": "2"}, "SurveyError", "delta is 2.0"),
        (PLAN_QUERIES, {"max_report_bytes": "0"}, "SurveyError", "max_report_bytes is 0"),
        (PLAN_QUERIES[:-2], {}, "PlanError", "got users"),
        (PLAN_QUERIES[:-2], {"target_error": "0.0001"}, "PlanError", "out of reach with 2,000 people"),
        (PLAN_QUERIES[:-2], {"target_error": "7"}, "PlanError", "below 6.928"),
        (PLAN_MEAN[:4], {"epsilon": "0.001", "target_error": "1e-6"}, "PlanError", "more than 1e+15 people"),
        (QUERIES, {"distribution": "nowhere.txt"}, "SimulationError", "No such file"),
        (("mechanisms", ""), {"delta": "1"}, "SurveyError", "delta is 1.0"),
        (("mechanisms", ""), {"dimension": "0"}, "SurveyError", "dimension is 0"),
    ],
)
def test_each_command_has_its_own(run, words, options, kind, helpful):
    check(run(*filter(None, changed(words, **options))), kind, helpful)


@pytest.mark.parametrize(
    ("path", "helpful"),
    [("picture.doc", "must end in .png"), ("nowhere/picture.png", "there is no directory 'nowhere'")],
)
@pytest.mark.parametrize("words", [PLAN_QUERIES, PLAN_MEAN, ("plan", "distribution", "--domain-size", "5")])
def test_pictures_that_cannot_be_written_are_told_before_the_work(run, words, path, helpful):
    check(run(*changed(words, picture=path)), "SimulationError", helpful)


def test_a_picture_that_fails_in_the_end_is_no_traceback(run, tmp_path):
    (tmp_path / "taken.png").mkdir()
    check(run(*changed(PLAN_MEAN, picture=str(tmp_path / "taken.png"))), "SimulationError", "cannot be written")


def test_a_picture_needs_its_library(run, monkeypatch):
    monkeypatch.setattr("sottovoce.plotting.find_spec", lambda name: None)
    check(run(*changed(PLAN_MEAN, picture="error.png")), "MissingExtraError", "pip install 'sottovoce[plot]'")

"""Every mistake gives exit status 2, one line that helps, and no traceback."""

from __future__ import annotations

import numpy as np
import pytest

from sottovoce.auditing import auditable
from sottovoce.core.errors import CapacityError, MechanismError, SimulationError, SurveyError
from sottovoce.mechanisms.registry import MECHANISMS

GIVEN = {"--values": "10", "--people": "100", "--epsilon": "1", "--mechanism": "hadamard"}


def simulate(**changed: str) -> list[str]:
    """A command line that would work, but for what is changed."""
    options = GIVEN | {f"--{name.replace('_', '-')}": value for name, value in changed.items()}
    return ["simulate", "shares", *(word for option in options.items() for word in option)]


def check(outcome, kind: str, *helpful: str) -> None:
    """One line on standard error and the same as JSON on standard output."""
    assert outcome.status == 2
    (line,) = outcome.err.splitlines()
    assert line.startswith("sottovoce: error: ")
    for words in helpful:
        assert words in line
    assert outcome.json == {"error": {"type": kind, "message": line.removeprefix("sottovoce: error: ")}}


OPTIONS = [
    ({"epsilon": "0"}, SurveyError, "typical deployments use 0.5 to 4"),
    ({"epsilon": "-1"}, SurveyError, "epsilon is -1"),
    ({"epsilon": "nan"}, SurveyError, "epsilon is nan"),
    ({"epsilon": "inf"}, SurveyError, "epsilon is inf"),
    ({"epsilon": "1e6"}, SurveyError, "to 16"),
    ({"epsilon": "much"}, None, "--epsilon: 'much' is not a number"),
    ({"values": "0"}, SurveyError, "values is 0"),
    ({"values": "1"}, SurveyError, "an integer from 2"),
    ({"values": "2.5"}, None, "'2.5' is not a whole number"),
    ({"values": str(2**40 + 1)}, SurveyError, f"to {2**40}"),
    ({"values": "1e999999999"}, None, "is not a whole number"),
    ({"values": str(2**40)}, CapacityError, "simulate at most"),
    ({"mechanism": "laplace"}, MechanismError, f"mechanism must be one of {', '.join(MECHANISMS)}"),
    ({"people": "0"}, SimulationError, "from 1"),
    ({"people": "-5"}, SimulationError, "people must be"),
    ({"people": "many"}, None, "1_000_000 or 1e6"),
    ({"repeats": "0"}, SimulationError, "repeats must be"),
    ({"seed": "-1"}, SimulationError, "seed must be"),
]


@pytest.mark.parametrize(("changed", "kind", "helpful"), OPTIONS, ids=lambda x: str(x) if isinstance(x, dict) else "")
def test_simulate_refuses(run, changed, kind, helpful):
    outcome = run(*simulate(**changed), "--json")
    check(outcome, "UsageError" if kind is None else kind.__name__, helpful)
    silent = run(*simulate(**changed))
    assert (silent.status, silent.out, silent.err) == (2, "", outcome.err)


FILES = {
    "empty.txt": (b"", "is empty"),
    "negative.txt": (b"0.5 0.6 -0.1" + b" 0" * 7, "number 3 is negative"),
    "nan.txt": (b"nan" + b" 0" * 9, "number 1 is negative or not finite"),
    "short.txt": (b"0.5 0.5", "holds 2 numbers, but the domain has 10"),
    "long.txt": (b"0.05\n" * 20, "holds 20 numbers"),
    "sum.txt": (b"0.2," * 9 + b"0.2", "sum to 2"),
    "words.txt": (b"0.5 0.5\nsecret words", "other than numbers in line 2"),
    "binary.txt": (b"\xff\xfe\x00\x81", "not a text file"),
    "text.npy": (b"0.1 " * 10, "not a NumPy array file"),
}


@pytest.mark.parametrize("name", FILES)
def test_distribution_files_are_checked(run, tmp_path, name):
    content, helpful = FILES[name]
    (tmp_path / name).write_bytes(content)
    outcome = run(*simulate(population=str(tmp_path / name)), "--json")
    check(outcome, "SimulationError", helpful, name)
    assert "secret" not in outcome.err


@pytest.mark.parametrize("array", [np.ones((2, 5)) / 10, np.array(["a"] * 10), np.array([None] * 10)])
def test_arrays_of_the_wrong_kind_are_refused(run, tmp_path, array):
    np.save(tmp_path / "bad.npy", array, allow_pickle=True)
    check(run(*simulate(population=str(tmp_path / "bad.npy")), "--json"), "SimulationError", "array")


def test_a_missing_file_is_told_with_the_names_that_exist(run, tmp_path):
    outcome = run(*simulate(population=str(tmp_path / "no.txt")), "--json")
    check(outcome, "SimulationError", "No such file", "zipf, uniform, geometric")
    check(run(*simulate(population=str(tmp_path)), "--json"), "SimulationError", "cannot be read")


@pytest.mark.parametrize(
    ("words", "kind", "helpful"),
    [
        (["sing"], "UsageError", "invalid choice: 'sing'"),
        (["simulate"], "UsageError", "KIND"),
        (["simulate", "shares"], "UsageError", "required: --epsilon"),
        (["mechanisms", "--loud"], "UsageError", "--loud (see: sottovoce mechanisms --help)"),
        (["survey", "list", "--loud"], "UsageError", "--loud (see: sottovoce survey list --help)"),
        (["--loud", "mechanisms"], "UsageError", "--loud (see: sottovoce --help)"),
        (["mechanisms", "--epsilon", "0"], "SurveyError", "epsilon is 0"),
        (["audit", "laplace"], "MechanismError", f"choose among {', '.join(auditable())}"),
        (["audit", "auto"], "MechanismError", f"'auto' cannot be audited; choose among {', '.join(auditable())}"),
        (["audit", "sphere"], "MechanismError", "'sphere' cannot be audited"),
        (["audit", "hadamard", "--epsilon", "nan"], "SurveyError", "epsilon is nan"),
        (["audit", "hadamard", "--samples", "0"], "SurveyError", "samples is 0"),
        (["plan", "shares", "--values", "10", "--people", "10"], "PlanError", "exactly two"),
        (["plan", "shares", "--values", "1", "--people", "10", "--epsilon", "1"], "SurveyError", "from 2"),
        (["demo", "--people", "0"], "SimulationError", "from 1"),
        (["demo", "--seed", "-1"], "SimulationError", "seed"),
        (["demo", "--no-report", "--picture", "picture.doc"], "SimulationError", ".png"),
    ],
)
def test_every_command_refuses_in_the_same_way(run, words, kind, helpful):
    check(run(*words, "--json"), kind, helpful)


def test_the_demo_finds_out_first_where_it_cannot_write(run, tmp_path):
    (tmp_path / "taken").write_text("a file, no directory")
    check(run("demo", "--out", str(tmp_path / "taken"), "--json"), "SimulationError", "the results need a directory")


def test_a_mistake_in_a_process_of_its_own(run_process):
    outcome = run_process(*simulate(epsilon="0"), "--json")
    check(outcome, "SurveyError", "epsilon is 0")


def test_too_little_memory_is_no_traceback(run, monkeypatch):
    def allocate(*_: object, **__: object) -> None:
        raise MemoryError

    monkeypatch.setattr("sottovoce.lab.simulation.survey_error.histogram_of", allocate)
    check(run(*simulate(), "--json"), "MemoryError", "not enough memory")


def test_a_file_name_cannot_write_on_the_terminal(run):
    outcome = run("estimate", "--aggregate", "counts\x1b[2J\r\u202e.bin", "--json")
    check(outcome, "ReportError", "counts[2J .bin")
    assert outcome.err.rstrip("\n").isprintable()

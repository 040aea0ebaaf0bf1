"""Every command teaches itself."""

from __future__ import annotations

import subprocess
import sys

import pytest

from sottovoce.questions import QUESTIONS
from sottovoce.surveys.panel import Panel

COMMANDS = [
    (),
    ("demo",),
    ("optimize",),
    ("strategies",),
    *((command, kind) for command in ("plan", "simulate") for kind in (*QUESTIONS, Panel.kind)),
    *(("survey", "create", kind) for kind in (*QUESTIONS, Panel.kind, "file")),
    ("plan",),
    ("simulate",),
    ("survey", "create"),
    ("mechanisms",),
    ("audit",),
]


@pytest.mark.parametrize("words", COMMANDS, ids=" ".join)
def test_help_shows_examples_of_that_command(run, words):
    outcome = run(*words, "--help")
    assert outcome.status == 0
    examples = outcome.out.split("examples:\n", 1)[1]
    assert " ".join(("sottovoce", *words)) in examples
    assert outcome.err == ""


@pytest.mark.parametrize("words", [("plan",), ("simulate",), ("survey", "create")], ids=" ".join)
def test_what_needs_a_word_is_explained(run, words):
    assert "marginals:age=10,sex=2,country=30:2" in run(*words, "queries", "--help").out.split("workloads:\n", 1)[1]
    ways = run(*words, "shares", "--help").out.split("values, one of:\n", 1)[1]
    for option in ("--values 40", "--labels @colours.txt", "--range 18..99", "--attributes age=0..99"):
        assert option in ways


def test_without_a_command_there_is_help(run):
    outcome = run()
    assert outcome.status == 0
    assert "examples:" in outcome.out


def test_version(run_process):
    import sottovoce

    assert run_process("--version").out == f"sottovoce {sottovoce.__version__}\n"


@pytest.mark.parametrize("module", ["sottovoce", "sottovoce.cli"])
def test_both_modules_can_be_run(module):
    done = subprocess.run([sys.executable, "-m", module, "--version"], capture_output=True, text=True, check=True)
    assert done.stdout.startswith("sottovoce ")


def test_help_needs_no_heavy_library():
    code = (
        "import sys, sottovoce.cli as c; c.main(['--help']); c.main(['mechanisms', '--help']); "
        "sys.exit(', '.join(m for m in ('numba', 'scipy', 'matplotlib', 'pandas') if m in sys.modules) or 0)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr.strip()) == (0, "")

"""Every command teaches itself."""

from __future__ import annotations

import subprocess
import sys

import pytest

from sottovoce.cli.parser import COMMANDS as COMMAND_SUMMARIES
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


HEAVY = {"numpy", "scipy", "numba", "matplotlib", "pandas", "rich", "granian", "msgspec", "cryptography"}


def modules_after(code: str) -> set[str]:
    """The modules that a fresh process has loaded after this code, without what the command itself prints."""
    done = subprocess.run(
        [sys.executable, "-c", f"{code}\nimport sys; print('\\nloaded', *sys.modules)"],
        capture_output=True,
        text=True,
        check=True,
    )
    return set(done.stdout.rsplit("\nloaded ", 1)[1].split())


def modules_after_command(*words: str) -> set[str]:
    return modules_after(f"from sottovoce.cli import main; assert main({list(words)}) == 0")


def commands_in(modules: set[str]) -> set[str]:
    return {name for name in COMMAND_SUMMARIES if f"sottovoce.cli.{name}" in modules}


def test_importing_the_package_loads_nothing_heavy():
    modules = modules_after("import sottovoce")
    assert modules & HEAVY == set()
    assert {name for name in modules if name.startswith("sottovoce.")} == {"sottovoce.core", "sottovoce.core.version"}


@pytest.mark.parametrize("words", [("--version",), ("--help",), ()], ids=" ".join)
def test_the_version_and_the_general_help_load_no_command(words):
    modules = modules_after_command(*words)
    assert modules & HEAVY == set()
    assert commands_in(modules) == set()


@pytest.mark.parametrize("name", ["plan", "mechanisms", "ledger", "survey"])
def test_help_of_a_command_loads_that_command_alone(name):
    modules = modules_after_command(name, "--help")
    assert commands_in(modules) == {name}
    assert modules & {"scipy", "numba", "matplotlib", "pandas"} == set()


def test_the_general_help_lists_every_command_with_its_summary(run):
    listed = run("--help").out.split("commands:\n", 1)[1].split("examples:", 1)[0].split()
    assert listed == ["COMMAND", *" ".join(f"{name} {summary}" for name, summary in COMMAND_SUMMARIES.items()).split()]

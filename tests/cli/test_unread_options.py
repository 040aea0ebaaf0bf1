"""An option that a command would not read is refused, by name: nothing that somebody typed is swallowed."""

from __future__ import annotations

import argparse
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

import sottovoce as sv
from commands import Run
from sottovoce.cli import estimate as estimate_command
from sottovoce.cli import main
from sottovoce.cli.parser import build_parser, commands_of
from sottovoce.engines.cost import Rates
from sottovoce.formats.aggregate_file import write_aggregate
from sottovoce.formats.sharded import in_shards

DRINKS = sv.Survey(sv.shares(["tea", "coffee"]), epsilon=1.0)
WORDS = sv.Survey(sv.words(longest=2, alphabet="digits"), epsilon=4.0, people=1000)
MONTHLY = sv.Tracking(["yes", "no"], epsilon=1.0, every="month", starts="2026-01-01", periods=3)

SCENARIOS = {
    "estimate of files": "estimate --aggregate drinks.bin",
    "estimate of words": "estimate --aggregate words.bin",
    "estimate of periods": "estimate --aggregate period.bin",
    "estimate of a tracking survey": "estimate Monthly --url http://127.0.0.1:9 --token t",
    "simulate shares": "simulate shares --values 4 --people 100 --epsilon 1",
    "simulate a number": "simulate number --low 0 --high 9 --people 100 --epsilon 1",
    "simulate a vector": "simulate vector --dimension 2 --people 100 --epsilon 1",
    "simulate words": "simulate words --longest 2 --alphabet digits --people 200 --epsilon 4",
    "simulate histories": "simulate shares --labels a,b --histories people.csv --every month --starts 2026-01-01 "
    "--epsilon 1",
    "simulate a panel": "simulate panel --rounds 2 --people 100 --epsilon 1",
    "plan": "plan shares --values 4 --epsilon 1 --people 100",
    "plan a panel": "plan panel --rounds 2 --epsilon 1 --people 100",
    "audit of a survey": "audit --survey drinks.json --samples 100 --seconds 0.1",
    "audit of a mechanism": "audit randomized_response --values 2 --samples 100 --seconds 0.1",
    "disclose": "disclose drinks.json --audit none --partial --output page.html",
    "disclose as JSON": "disclose drinks.json --audit none --partial --json",
    "amplify": "amplify drinks.json --people 100 --delta 1e-6",
    "mechanisms": "mechanisms --values 4 --dimension 2",
    "strategies": "strategies --values 4 --workloads prefix --seconds 0.1",
    "randomize": "randomize drinks.json --column drink --input drinks.jsonl --output {new}.jsonl",
    "aggregate": "aggregate drinks.json --reports reports.parquet --out {new}.bin",
}
"""Command lines for what a command may meet, each of which succeeds."""

REFUSED = {
    "estimate --aggregate period.bin --sum nonsense --likeliest --word zzz": "--sum",
    "estimate --aggregate period.bin --top 3": "--top",
    "audit --survey drinks.json --delta 1e-6": "--delta",
    "audit hadamard randomized_response --delta 1e-6": "--delta",
    "plan shares --values 4 --epsilon 1 --people 100 --cost --rates rates.json --workers 9": "--workers",
    "demo --no-report --out elsewhere": "--out",
    "serve --only-work --new-admin-token": "--new-admin-token",
    "strategies --measure --objective total": "--objective",
    "aggregate --reports reports --engine spark --restart": "--restart",
    "simulate shares --values 4 --people 100 --epsilon 1 --population zipf --histories people.csv": "--population",
}
"""Command lines with an option that nothing would read, and the option."""


class Recording(argparse.Namespace):
    """Arguments that remember which of them were read."""

    def __getattribute__(self, name: str) -> Any:
        if not name.startswith("_"):
            object.__getattribute__(self, "__dict__").setdefault("_read", set()).add(name)
        return object.__getattribute__(self, name)


@pytest.fixture
def files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with what the command lines name, and a collector with a tracking survey."""
    monkeypatch.chdir(tmp_path)
    Path("drinks.json").write_text(DRINKS.to_json())
    period = MONTHLY.period(1)
    crowds: dict[str, tuple[sv.Survey, list[Any]]] = {
        "drinks": (DRINKS, ["tea"] * 200),
        "words": (WORDS, ["1"] * 200),
        "period": (period, ["yes"] * 200),
    }
    for name, (survey, people) in crowds.items():
        counted = survey.simulate_aggregate(people, seed=1)
        write_aggregate(f"{name}.bin", survey, counted.n_reports, in_shards(counted.counts))
    Rates(cores=2, near_rows=4e6, far_rows=1e6, folded_cells=1e8, decoded_cells=2e7, row_bytes=4.5).save(
        Path("rates.json")
    )
    Path("people.csv").write_text("1,2,3\n" + "a,b,a\n" * 60)
    Path("drinks.jsonl").write_text('{"drink": "tea"}\n' * 3)
    assert (
        main(
            [
                "randomize",
                *["drinks.json", "--column", "drink", "--input", "drinks.jsonl", "--output", "reports.parquet"],
            ]
        )
        == 0
    )
    curve = MONTHLY.estimate(MONTHLY.simulate([["yes"] * 300] * 3, seed=1))
    live = SimpleNamespace(survey=MONTHLY, curve=lambda: curve)

    def connected(arguments: argparse.Namespace) -> SimpleNamespace:
        assert (arguments.url, arguments.token) == ("http://127.0.0.1:9", "t")
        assert (arguments.key, arguments.insecure) == (None, False)
        return SimpleNamespace(survey=lambda name: live)

    monkeypatch.setattr(estimate_command, "connected", connected)
    return tmp_path


def leaf(words: list[str]) -> argparse.ArgumentParser:
    """The parser of the command that these words select."""
    commands = commands_of(build_parser(words), "sottovoce")
    return next(parser for name, parser in commands.items() if name.split()[1:] == words[: len(name.split()) - 1])


def typed(action: argparse.Action) -> list[str]:
    """The option as somebody would type it."""
    option = action.option_strings[-1]
    if action.nargs == 0:
        return [option]
    choice = next(iter(action.choices or ("7",)))
    return [option, "2026-01-01" if action.dest == "starts" else str(choice)]


def read_by(words: list[str], run: Run) -> set[str]:
    """The options that the command reads; it must succeed."""
    arguments = Recording(**vars(build_parser(words).parse_args(words)))
    vars(arguments).pop("_read", None)
    status = arguments.run(arguments)
    assert status in (0, 3), words
    return set(vars(arguments)["_read"])


@pytest.mark.parametrize("scenario", SCENARIOS)
def test_what_a_command_does_not_read_is_refused(scenario: str, files: Path, run: Run) -> None:
    words = SCENARIOS[scenario].format(new="read").split()
    read = read_by(words, run)
    actions = [one for one in leaf(words)._actions if one.option_strings and one.dest not in ("help", "version")]
    unread = [one for one in actions if one.dest not in read and one.option_strings[-1] not in words]
    for place, action in enumerate(unread):
        outcome = run(*SCENARIOS[scenario].format(new=f"again{place}").split(), *typed(action))
        assert outcome.status == 2, action.option_strings
        assert action.option_strings[-1] in outcome.err


@pytest.mark.parametrize("words", REFUSED)
def test_options_that_exclude_each_other_are_refused_at_once(words: str, files: Path, run: Run) -> None:
    outcome = run(*words.split())
    assert outcome.status == 2
    assert REFUSED[words] in outcome.err


def test_some_options_are_not_read_in_some_cases(files: Path, run: Run) -> None:
    """The test above has something to refuse."""
    once, tracked = (read_by(SCENARIOS[name].split(), run) for name in ("estimate of files", "estimate of periods"))
    assert {"sum", "likeliest", "hostile"} <= once - tracked
    assert not {"sum", "likeliest", "hostile", "word", "false_discovery"} & tracked

"""`python -m evidence` as people use it."""

from __future__ import annotations

import json
import math
from dataclasses import replace
from importlib import import_module

import pytest


@pytest.fixture
def table(tmp_path):
    path = tmp_path / "people.csv"
    path.write_text("drink\n" + "tea\ncoffee\nwater\ntea\n" * 100)
    return path


def test_findings_alone_measure_nobody(run, tmp_path):
    done = run("reproduce", "findings", "--json", "--out", str(tmp_path / "new"), "--quick")
    told = json.loads(done.out)
    assert done.status == 0
    assert (told["measured"], told["table"], told["seed"]) == ([], [], 7)
    assert len(told["findings"]) > 5
    assert (tmp_path / "new" / "findings.csv").exists()


def test_a_part_of_the_table_is_told_and_written(run, tmp_path):
    done = run("reproduce", "distribution", "--quick", "--seed", "2", "--out", str(tmp_path))
    assert done.status == 0
    for words in ("Table 1, measured (seed 2)", "expectations and results", "reproduction.html"):
        assert words in done.out
    assert (tmp_path / "distribution-people.svg").exists()


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["reproduce", "table3"], "'table3' cannot be reproduced"),
        (["reproduce", "--seed", "-1"], "seed must be a non-negative integer"),
        (["compare", "--data", "TABLE", "--column", "food"], "has no column 'food'"),
        (["compare", "--data", "TABLE", "--column", "drink", "--epsilon", "0"], "epsilon must be"),
        (["compare", "--data", "TABLE", "--column", "drink", "--repeats", "1"], "repeats must be"),
        (["compare", "--data", "TABLE", "--column", "drink", "--sample", "0"], "1 or more"),
        (["compare", "--data", "TABLE", "--column", "drink", "--picture", "x.gif"], "must end in .png"),
        (["compare", "--data", "TABLE", "--column", "drink", "--picture", "nowhere/x.png"], "no directory 'nowhere'"),
        (["reproduce", "--out", "TABLE"], "is a file, and the results need a directory"),
    ],
)
def test_mistakes_are_one_line_and_come_before_the_work(run, table, words, message, monkeypatch):
    monkeypatch.setattr(import_module("evidence.reproduce.run"), "reproduce", None)
    done = run(*(str(table) if word == "TABLE" else word for word in words))
    assert done.status == 2
    assert done.out == ""
    assert message in done.err
    assert done.err.count("\n") == 1


def test_a_column_is_compared(run, table, tmp_path):
    picture = tmp_path / "compared.svg"
    done = run(
        *("compare", "--data", str(table), "--column", "drink", "--epsilon", "1", "2", "--no-peers"),
        *("--repeats", "2", "--picture", str(picture), "--json"),
    )
    told = json.loads(done.out)
    assert (done.status, told["people"], told["values"], told["peers"]) == (0, 400, 3, [])
    assert {one["epsilon"] for one in told["compared"]} == {1.0, 2.0}
    assert picture.read_text().startswith("<?xml")
    assert told["picture"] == str(picture)
    shown = run("compare", "--data", str(table), "--column", "drink", "--no-peers", "--repeats", "2", "--sample", "50")
    assert "50 of 400 people, 3 values, epsilon 1" in shown.out
    assert "tea" not in done.out + shown.out


@pytest.mark.parametrize(
    ("module", "work", "words"),
    [
        ("evidence.reproduce.run", "seed_of", ["reproduce", "offline", "--quick", "--out"]),
        (
            "evidence.compare.compare",
            "candidates",
            ["compare", "--data", "TABLE", "--column", "drink", "--picture"],
        ),
    ],
)
def test_an_interruption_leaves_nothing(run, table, module, work, words, monkeypatch):
    def interrupt(*given, **settings):
        raise KeyboardInterrupt

    monkeypatch.setattr(import_module(module), work, interrupt)
    done = run(*(str(table) if word == "TABLE" else word for word in words), str(table.parent / "result.png"))
    assert done.status == 130
    assert (done.out, done.err) == ("", "")
    assert list(table.parent.iterdir()) == [table]


def test_published_algorithms_are_not_as_private_as_they_claim(run):
    done = run("published", "--json")
    results = {row["mechanism"]: row for row in done.json["results"]}
    assert done.status == 0
    assert not results["published_gaussian"]["sound"]
    assert not results["published_rejection"]["sound"]
    assert results["published_gaussian"]["exact_epsilon"] > 1.5
    assert results["published_rejection"]["exact_epsilon"] is None
    assert "impossible" in results["published_rejection"]["method"]
    assert math.isclose(results["published_gaussian"]["delta"], 1e-6)
    shown = run("published", "--epsilon", "1")
    assert shown.status == 0
    assert shown.out.count("BROKEN") == 2


def test_one_that_is_sound_after_all_is_a_failure(run, monkeypatch):
    module = import_module("evidence.published.audit")
    honest = module.audit_published_rejection
    monkeypatch.setattr(module, "audit_published_rejection", lambda epsilon: replace(honest(epsilon), verdict="proved"))
    assert run("published", "--json").status == 1


def test_benchmarks_can_be_named(run, monkeypatch):
    command = import_module("evidence.benchmarks.__main__")
    given = []
    monkeypatch.setattr(command, "main", lambda words: given.append(words) or 0)
    assert run("bench", "startup", "--json").status == 0
    assert given == [["startup", "--json"]]


def test_the_help_lists_every_command(run):
    from evidence.cli import COMMANDS

    shown = run().out
    assert all(f"  {name}" in shown for name in COMMANDS)

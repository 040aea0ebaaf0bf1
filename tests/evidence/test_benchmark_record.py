"""`python -m evidence.benchmarks`: what is kept of a run, and what one failure leaves of the others."""

from __future__ import annotations

import json
import sys
from importlib import import_module
from pathlib import Path
from types import ModuleType

import pytest

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture
def bench(monkeypatch, tmp_path):
    """Runs benchmarks made of given rows; keeps results in a file of their own."""
    monkeypatch.syspath_prepend(ROOT)
    command = import_module("evidence.benchmarks.__main__")
    results = tmp_path / "results" / "latest.json"

    def run(rows_of, *words):
        monkeypatch.setattr(command, "MODULES", tuple(rows_of))
        for name, rows in rows_of.items():
            module = ModuleType(f"evidence.benchmarks.{name}")
            module.run = rows if callable(rows) else lambda rows=rows: rows
            monkeypatch.setitem(sys.modules, f"evidence.benchmarks.{name}", module)
        status = command.main(words, results)
        kept = json.loads(results.read_text()) if results.exists() else {"rows": []}
        return status, {(row["name"], row["against"]): row for row in kept["rows"]}, kept

    return run


def row(name, ratio, **more):
    return {"name": name, "against": "a copy", "ratio": ratio, **more}


def test_a_part_keeps_the_rest_for_the_next_whole_run(bench, capsys):
    bench({"fast": [row("sum", 2.0)], "small": [row("size", 3.0)]})
    bench({"fast": [row("sum", 4.0)], "small": []}, "fast")
    _, kept, _ = bench({"fast": [row("sum", 8.0)], "small": [row("size", 9.0)]})
    assert [(one["ratio"], one["last_ratio"]) for one in kept.values()] == [(8.0, 4.0), (9.0, 3.0)]
    last_table = capsys.readouterr().out.rpartition("last run")[2]
    assert "4" in last_table
    assert "3" in last_table


def test_one_failure_is_told_and_loses_nothing_of_the_others(bench, capsys):
    def fail():
        raise RuntimeError("no such luck")

    status, kept, _ = bench({"first": [row("sum", 2.0)], "broken": fail, "after": [row("size", 3.0)]})
    told = capsys.readouterr()
    assert status == 1
    assert [one["ratio"] for one in kept.values()] == [2.0, 3.0]
    assert "FAILED: broken" in told.err
    assert "no such luck" in told.err
    assert "FAILED: RuntimeError" in told.out


def test_an_interruption_keeps_what_was_measured_before_it(bench, tmp_path):
    def interrupt():
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        bench({"first": [row("sum", 2.0)], "second": interrupt})
    assert json.loads((tmp_path / "results" / "latest.json").read_text())["rows"][0]["ratio"] == 2.0


def test_a_missed_target_is_told_loudly_and_is_no_failure(bench, capsys):
    status, _, _ = bench(
        {"fast": [row("sum", 2.0, target=">= 3", met=False), row("size", 1.0, target="<= 1", met=True)]}
    )
    told = capsys.readouterr()
    assert status == 0
    assert "MISSED 1 of the targets: sum (a copy)" in told.err
    assert ">= 3 MISSED" in told.out


def test_a_note_takes_no_figure_s_place(bench):
    bench({"fast": [row("sum", 2.0)]})
    status, kept, _ = bench({"fast": [{"name": "sum", "note": "not measured"}]})
    assert status == 0
    assert kept["sum", "a copy"]["ratio"] == 2.0


def test_where_and_when_is_kept(bench):
    _, kept, whole = bench({"fast": [row("sum", 2.0)]}, "--json")
    assert {"date", "commit", "cpu", "cores", "python", "machine", "system"} <= set(whole["machine"])
    assert whole["machine"]["cores"] >= 1
    assert kept["sum", "a copy"]["run"]["date"] == whole["machine"]["date"]


def test_a_file_of_something_else_is_no_last_run(bench, tmp_path, capsys):
    (tmp_path / "results").mkdir()
    (tmp_path / "results" / "latest.json").write_text("half a fi")
    status, kept, _ = bench({"fast": [row("sum", 2.0)]})
    assert (status, kept["sum", "a copy"]["last_ratio"]) == (0, None)
    assert "cannot be read" in capsys.readouterr().err


def test_a_benchmark_that_is_not_there_is_told(bench, capsys):
    with pytest.raises(SystemExit):
        bench({"fast": []}, "fats")
    assert "no benchmark 'fats'; choose among fast" in capsys.readouterr().err

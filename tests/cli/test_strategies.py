"""Searching for channels and comparing strategies on the command line."""

from __future__ import annotations

import csv
import io
import json
import os
import pty
import signal
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import sottovoce as sv
from sottovoce.lab.simulation.strategy_measure import POPULATIONS, measure_strategies, measure_strategy
from sottovoce.lab.simulation.strategy_table import ALPHA, CHANNELS, COLUMNS, FAMILIES, channel_noise, evaluate, family
from sottovoce.mechanisms.registry import create
from sottovoce.questions import Queries
from sottovoce.strategies import worst_variance_bound
from sottovoce.strategies.files import load
from sottovoce.strategies.search.cache import directory
from sottovoce.workloads import Prefix

OPTIMIZE = ("optimize", "--workload", "prefix:8", "--epsilon", "1")
TABLE = ("strategies", "--values", "8", "--workloads", "prefix", "parities")


@pytest.fixture(autouse=True)
def own_cache(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> None:
    """Nothing is taken from the user's cache, nor kept there; what one test searched, the next may use."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path_factory.getbasetemp() / "strategies"))


@pytest.mark.parametrize("words", [("optimize",), ("strategies",)])
def test_help_shows_examples_of_that_command(run, words):
    outcome = run(*words, "--help")
    assert (outcome.status, outcome.err) == (0, "")
    assert " ".join(("sottovoce", *words)) in outcome.out.split("examples:\n", 1)[1]


# --- optimize -------------------------------------------------------------------------------


def test_optimize_says_what_was_won_and_what_could_still_be(run, tmp_path):
    path = tmp_path / "prefix.strategy"
    found = run(*OPTIMIZE, "--out", str(path), "--json").json
    assert (found["workload"], found["n_queries"], found["domain_size"], found["epsilon"]) == ("prefix", 8, 8, 1.0)
    assert (found["objective"], found["finished"], found["file"]) == ("worst", True, str(path))
    assert found["lower_bound"] == pytest.approx(worst_variance_bound(Prefix(8), 1.0))
    assert found["lower_bound"] < found["variance"] == found["worst_variance"] < found["best_analytic"]["variance"]
    serving = set(Queries.strategies) - {"optimized", "fourier", "tables"}
    others = [evaluate(Prefix(8), 1.0).noise[name] for name in serving]
    assert found["best_analytic"]["variance"] <= min(other for other in others if other) * (1 + 1e-9)
    strategy = load(path, Prefix(8), 1.0)
    assert strategy.worst == pytest.approx(found["variance"])
    assert len(strategy.attachment) == found["fetched_bytes"]
    assert sv.Survey(sv.queries(Prefix(8)), epsilon=1.0, strategy=strategy).mechanism.cells == found["reports"]
    assert len(list(directory().glob("*.channel"))) >= 1


def test_optimize_as_a_table(run):
    shown = " ".join(run(*OPTIMIZE).out.split())
    for words in ("8 queries over 8 values at epsilon 1", "best without a search:", "lower bound for every mechanism"):
        assert words in shown
    assert "of the variance could still be saved" in shown
    cut = " ".join(
        run(
            "optimize", "--workload", "prefix:40", "--epsilon", "1", "--seconds", "1e-6", "--objective", "total"
        ).out.split()
    )
    assert "ended early" in cut
    assert "the mean over all values" in cut


def test_a_search_that_was_cut_short_is_told_and_not_kept(run, tmp_path):
    before = len(list(directory().glob("*.channel")))
    found = run(
        "optimize",
        "--workload",
        "prefix:30",
        "--epsilon",
        "1",
        "--seconds",
        "1e-6",
        "--out",
        str(tmp_path / "f"),
        "--json",
    ).json
    assert found["finished"] is False
    assert len(list(directory().glob("*.channel"))) == before
    assert load(tmp_path / "f", Prefix(30), 1.0).worst == pytest.approx(found["worst_variance"])


@pytest.mark.parametrize(
    ("words", "complaint"),
    [
        ((*OPTIMIZE, "--objective", "mean"), "objective must be one of 'worst', 'total'"),
        ((*OPTIMIZE, "--rows", "3"), "rows is 3"),
        ((*OPTIMIZE, "--seconds", "0"), "time_limit must be a number of seconds above 0"),
        ((*OPTIMIZE, "--out", "/nowhere/at/all"), "there is no directory '/nowhere/at' for the strategy"),
        (("optimize", "--workload", "prefix:100000", "--epsilon", "1"), "values"),
        (("optimize", "--workload", "cubes:8", "--epsilon", "1"), "is not a workload"),
        (("optimize", "--workload", "prefix:8"), "--epsilon"),
        (("strategies", "--workloads", "cubes"), "'cubes' is not a query set of this table"),
        (("strategies", "--values", "12", "--workloads", "3way"), "12 values are not binary records"),
        (("strategies", "--values", "8", "--objective", "mean"), "objective must be one of"),
        (("strategies", "--csv", "/nowhere/at/all"), "there is no directory '/nowhere/at' for the table"),
        (
            ("simulate", "queries", "--workload", "prefix:8", "--people", "9", "--epsilon", "1", "--strategy", "no"),
            "auto",
        ),
    ],
)
def test_mistakes(run, words, complaint):
    outcome = run(*words)
    assert outcome.status == 2
    assert outcome.err.startswith("sottovoce: error: ")
    assert complaint in outcome.err
    assert outcome.err.count("\n") == 1


def test_interrupting_a_search_keeps_the_best_so_far(tmp_path):
    """The bar says how far it is; Ctrl-C then ends the search, not the command."""
    path = tmp_path / "ranges.strategy"
    ours, theirs = pty.openpty()
    process = subprocess.Popen(
        [
            sys.executable,
            "-m",
            "sottovoce",
            "optimize",
            "--workload",
            "ranges:150",
            "--epsilon",
            "1",
            "--out",
            str(path),
            "--json",
        ],
        stdout=subprocess.PIPE,
        stderr=theirs,
        env=os.environ | {"TERM": "xterm-256color", "COLUMNS": "120", "XDG_CACHE_HOME": str(tmp_path)},
    )
    os.close(theirs)
    try:
        shown = b""
        while b"so far" not in shown:
            shown += os.read(ours, 4096)
        process.send_signal(signal.SIGINT)
        assert process.stdout is not None
        with process.stdout:
            found = json.loads(process.stdout.read())
        assert process.wait() == 0
    finally:
        process.kill()
        process.wait()
        os.close(ours)
    assert found["finished"] is False
    assert found["lower_bound"] < found["variance"]
    assert path.stat().st_size > found["fetched_bytes"]
    assert not (tmp_path / "sottovoce").exists()


# --- the table ------------------------------------------------------------------------------


def test_samples_follow_from_variances(run, tmp_path):
    path = tmp_path / "samples.csv"
    rows = run(*TABLE, "--csv", str(path), "--json").json["rows"]
    assert [(row["workload"], row["values"], row["n_queries"]) for row in rows] == [
        ("prefix", 8, 8),
        ("parities", 8, 7),
    ]
    for row in rows:
        assert set(row["variance"]) == set(COLUMNS) == set(row["samples"])
        for column, variance in row["variance"].items():
            if variance is None:
                assert column in ("fourier", "tables")
                assert row["samples"][column] is None
            else:
                assert row["samples"][column] == pytest.approx(variance / (row["n_queries"] * 0.01))
    with path.open(encoding="utf-8") as file:
        lines = list(csv.DictReader(file))
    figures = {(line["workload"], line["strategy"]): float(line["samples"]) for line in lines}
    assert figures == {
        (row["workload"], column): pytest.approx(samples)
        for row in rows
        for column, samples in row["samples"].items()
        if samples is not None
    }
    assert ALPHA == 0.01


@pytest.mark.parametrize("objective", ["worst", "total"])
@pytest.mark.parametrize("name", FAMILIES)
def test_auto_is_below_every_single_one_and_above_the_bound(name, objective):
    row = evaluate(family(name, 8), 1.0, objective=objective)
    others = [row.noise[column] for column in COLUMNS if column not in ("auto", "lower_bound")]
    # Rounding a known channel toward privacy costs less than this.
    assert row.noise["auto"] <= min(other for other in others if other is not None) * (1 + 1e-4)
    assert row.noise["lower_bound"] <= row.noise["auto"] * (1 + 1e-9)


def test_known_mechanisms_have_their_known_noise():
    """For the shares of the values themselves the best reconstruction is each mechanism's own."""
    noise = channel_noise(family("histogram", 16), 1.0, "total")
    for name in CHANNELS:
        mechanism = create(name, 16, 1.0)
        own = float(mechanism.variance(np.eye(16)[0], 1).sum())
        # Hadamard Response has more rows than values, so that a little is won by reading all of them at once.
        assert (
            own * (0.8 if name in ("hadamard", "projective_geometry") else 1 - 1e-6) <= noise[name] <= own * (1 + 1e-6)
        )


def test_tables_for_people(run):
    shown = run(*TABLE, "--epsilon", "0.5", "1").out
    assert shown.count("8 values, epsilon") == 2
    assert "lower_bound" in shown


# --- measured -------------------------------------------------------------------------------


def test_measured_errors_are_those_of_the_strategy():
    """For a point mass n E||raw - truth||^2 is that value's noise.

    In the limit of many people the error is Gaussian. The sum of its squares, of given mean, spreads most if all lies
    in one direction: then 120 repeats give a chi-square of 120 degrees. Bounds at 1e-8 each; noise of a third, or of
    twice as much, falls outside.
    """
    from scipy.stats import chi2

    repeats, survey = 120, sv.Survey(sv.queries(Prefix(8)), epsilon=1.0, strategy="haar")
    found = measure_strategy(survey, "point", 4000, repeats=repeats)
    ratio = found.l2_raw**2 * 4000 / survey.design.total_variance(np.eye(8)[8 // 3]).value
    low, high = chi2.ppf(1e-8, repeats) / repeats, chi2.isf(1e-8, repeats) / repeats
    assert 1 / 3 < low < ratio < high < 2
    assert found.l2_weighted < found.l2_raw
    assert found.l2_plain <= found.l2_raw


def test_all_populations_crowds_and_strategies_are_measured(run, monkeypatch):
    rows = list(measure_strategies(["prefix"], [8], [1.0], people=(200, 400), repeats=1))
    assert len(rows) == 2 * 4 * len(POPULATIONS)
    assert {row.strategy for row in rows} == {"optimized", "auto", "direct", "gaussian"}
    assert {row.mechanism for row in rows if row.strategy == "gaussian"} == {"gaussian"}
    assert all(np.isclose(row.l2_weighted, row.l2_plain) for row in rows if row.strategy in ("direct", "gaussian"))
    monkeypatch.setattr("sottovoce.lab.simulation.strategy_measure.measure_strategies", lambda *a, **k: iter(rows))
    told = run("strategies", "--measure", "--json").json["measured"]
    assert told == [row.to_dict() for row in rows]
    shown = run("strategies", "--measure").out
    assert "bimodal" in shown
    assert "weighted" in shown


def test_results_are_read_as_csv_by_others(run, tmp_path):
    path = tmp_path / "samples.csv"
    assert run("strategies", "--values", "8", "--workloads", "prefix", "--csv", str(path)).status == 0
    header = next(csv.reader(io.StringIO(Path(path).read_text(encoding="utf-8"))))
    assert header == [
        "workload",
        "values",
        "n_queries",
        "epsilon",
        "objective",
        "finished",
        "strategy",
        "variance",
        "samples",
    ]

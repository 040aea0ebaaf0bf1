"""Measured rates, what is predicted from them, and how both are told."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest

import sottovoce as sv
from refusing import refuses
from sottovoce.cli import main
from sottovoce.core.errors import PlanError, SottovoceError
from sottovoce.engines.calibrate import calibrate
from sottovoce.engines.cost import FAR_CELLS, NEAR_CELLS, Rates, cost_here, cost_on_spark
from sottovoce.mechanisms import create
from sottovoce.mechanisms.codebook import Codebook

RATES = Rates(
    cores=2,
    near_rows=4e6,
    far_rows=1e6,
    folded_cells=1e8,
    decoded_cells=2e7,
    row_bytes=5.0,
    spark_seconds=3.0,
    spark_rows=5e5,
)


@pytest.fixture(scope="module")
def measured(tmp_path_factory: pytest.TempPathFactory) -> Path:
    place = tmp_path_factory.mktemp("rates") / "rates.json"
    calibrate(10_000).save(place)
    return place


def test_this_machine_is_measured_and_remembered(measured: Path) -> None:
    found = Rates.load(measured)
    assert found.cores >= 1
    assert found.spark_rows is None
    assert 0 < found.row_bytes < 40
    found.save(measured)
    assert Rates.load(measured) == found
    assert [path.name for path in measured.parent.iterdir()] == ["rates.json"]


def test_the_prediction_is_the_arithmetic_it_says() -> None:
    mechanism = create("hadamard", NEAR_CELLS - 1, 1.0)
    assert mechanism.cells == NEAR_CELLS
    n = 10**9
    here = cost_here(mechanism, n, RATES)
    assert here.count_seconds == n / 4e6
    assert here.storage_bytes == n * (16 + mechanism.report_bytes + 5.0)
    assert here.estimate_seconds == NEAR_CELLS / 2e7
    assert here.shuffle_bytes == 0
    spark = cost_on_spark(mechanism, n, RATES, workers=10, cores=4)
    assert spark.count_seconds == pytest.approx(3.0 + n / (5e5 * 40) + 120 * NEAR_CELLS / (1e8 / RATES.cores * 40))
    assert spark.shuffle_bytes == 8 * n + 120 * 2 * NEAR_CELLS
    assert spark.storage_bytes == here.storage_bytes


def test_far_counters_cost_more_and_more_workers_less() -> None:
    near, far = (create("hadamard", cells - 1, 1.0) for cells in (NEAR_CELLS, FAR_CELLS))
    assert cost_here(far, 10**6, RATES).count_seconds == 1.0
    assert cost_here(near, 10**6, RATES).count_seconds == 0.25
    taken = [cost_on_spark(far, 10**12, RATES, workers=k, cores=8).count_seconds for k in (1, 10, 100)]
    assert taken == sorted(taken, reverse=True)
    assert taken[0] / taken[1] == pytest.approx(10, rel=0.01)


def test_counters_beyond_memory_are_held_in_shards() -> None:
    usual = Codebook.best(1000, 1.0, 1.0, 0.0, 10**10)
    many = usual.for_people(10**10, 2**34)
    assert many.cells > 2**33
    assert cost_here(many, 10**9, RATES).memory_bytes < cost_here(usual, 10**9, RATES).memory_bytes
    spark = cost_on_spark(many, 10**9, RATES, workers=4, cores=4)
    assert spark.shuffle_bytes == 10**9 * (8 + many.report_bytes)
    assert cost_here(usual, 10, RATES).estimate_seconds == 10 * usual.size / 1e8


@pytest.mark.parametrize(
    ("workers", "cores", "field"), [(0, 1, "workers"), (1, 0, "worker_cores"), (10**6, 1, "workers")]
)
def test_machines_out_of_range_are_refused(workers: int, cores: int, field: str) -> None:
    with refuses(SottovoceError, field):
        cost_on_spark(create("hadamard", 7, 1.0), 10, RATES, workers, cores)


def test_spark_that_was_not_measured_is_not_guessed() -> None:
    unmeasured = replace(RATES, spark_rows=None, spark_seconds=None)
    with pytest.raises(PlanError, match="calibrate --spark"):
        cost_on_spark(create("hadamard", 7, 1.0), 10, unmeasured, 1, 1)


@pytest.mark.parametrize("rate", [0.0, -1.0, float("nan"), float("inf"), "fast", None, True])
def test_rates_are_numbers(rate: object) -> None:
    with refuses(PlanError, "near_rows"):
        replace(RATES, near_rows=rate)


@pytest.mark.parametrize("content", ["", "[]", "{}", '{"format": 2}', '{"format": 1, "cores": 2}'])
def test_files_that_hold_no_rates_are_refused(tmp_path: Path, content: str) -> None:
    place = tmp_path / "rates.json"
    place.write_text(content)
    with pytest.raises(PlanError, match="sottovoce calibrate"):
        Rates.load(place)


def test_too_few_reports_measure_nothing() -> None:
    with refuses(SottovoceError, "reports"):
        calibrate(9_999)


def test_a_plan_tells_the_cost(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    place = tmp_path / "rates.json"
    RATES.save(place)
    words = ["plan", "shares", "--values", "1000", "--epsilon", "1", "--people", "1e9"]
    assert main([*words, "--cost", "--rates", str(place), "--workers", "10", "--json"]) == 0
    told = json.loads(capsys.readouterr().out)["cost"]
    assert [cost["where"] for cost in told] == ["this machine, 2 cores", "10 Spark workers of 4"]
    assert told[0] == cost_here(create(_chosen(told), 1000, 1.0), 10**9, RATES).to_dict()
    assert main([*words, "--cost", "--rates", str(place)]) == 0
    shown = capsys.readouterr().out
    assert "counting 1,000,000,000 reports" in shown
    assert "8 Spark workers of 4" in shown


def _chosen(told: list[dict[str, float]]) -> str:
    from sottovoce import plan

    return plan(sv.shares(1000), epsilon=1.0, people=10**9).best.mechanism


def test_the_cost_of_queries_is_that_of_the_best_strategy(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    place = tmp_path / "rates.json"
    replace(RATES, spark_rows=None, spark_seconds=None).save(place)
    words = ["plan", "queries", "--workload", "prefix:16", "--epsilon", "1", "--people", "1e6"]
    assert main([*words, "--cost", "--rates", str(place)]) == 0
    assert "calibrate --spark" in capsys.readouterr().out


def test_without_rates_the_remedy_is_told(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    words = ["plan", "vector", "--dimension", "10", "--epsilon", "1", "--people", "1e6", "--cost"]
    assert main(words) != 0
    assert "run 'sottovoce calibrate' first" in capsys.readouterr().err


def test_the_command_measures_and_keeps(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    assert main(["calibrate", "--reports", "10000"]) == 0
    assert "sottovoce plan" in capsys.readouterr().out
    kept = tmp_path / "sottovoce" / "rates.json"
    assert Rates.load(kept).near_rows > 0
    assert main(["calibrate", "--reports", "10000", "--out", str(tmp_path / "none" / "rates.json")]) != 0
    assert "no directory" in capsys.readouterr().err
    assert main(["calibrate", "--reports", "10000", "--out", str(tmp_path / "rates.json"), "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["file"] == str(tmp_path / "rates.json")

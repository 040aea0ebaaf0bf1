"""A small fleet through the whole life of a tracking survey: a real collector, a moved clock, a kill, lost answers."""

from __future__ import annotations

from pathlib import Path

import pytest

from evidence.benchmarks.tracking_collector import simulate

pytestmark = pytest.mark.slow


def test_every_report_is_in_its_period_once_and_no_budget_is_exceeded(tmp_path: Path) -> None:
    outcome = simulate(tmp_path, devices=300, periods=6, window=3, restarts=1, lost=0.4, seed=2)
    assert outcome.is_right, outcome
    assert (outcome.restarts, outcome.windows, outcome.most_spent) == (1, 2, 2.0)
    assert outcome.posted > outcome.drawn > 500, "some were sent again"
    assert min(outcome.missed, outcome.waiting, outcome.again) > 0, "some woke up when it was not their turn"

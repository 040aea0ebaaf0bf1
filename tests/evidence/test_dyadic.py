"""Seats beside the dyadic tree: its privacy over histories, its variance, and where it wins."""

from __future__ import annotations

import math

import numpy as np
import pytest

from evidence.experiments.dyadic import (
    compare_dyadic,
    dyadic_device,
    dyadic_variance,
    few_changes,
    seats_variance,
    simulate_dyadic,
)
from refusing import refuses
from sottovoce.auditing.history import all_histories, audit_histories
from sottovoce.core.errors import SimulationError
from sottovoce.mechanisms.randomized_response import RandomizedResponse


@pytest.mark.parametrize(("periods", "changes"), [(2, 1), (4, 1), (5, 2), (4, 3)])
def test_the_tree_takes_the_whole_epsilon_and_no_more(periods: int, changes: int) -> None:
    """For people who keep to the number of changes, and for those who do not: the device leaves the others out."""
    for histories in (few_changes(periods, changes), all_histories(2, periods)):
        loss = audit_histories(dyadic_device(periods, changes, 1.0), histories)
        assert loss.ratio == RandomizedResponse(2, 1.0).privacy_ratio()


def test_histories_with_few_changes_are_counted() -> None:
    assert len(few_changes(5, 1)) == 6
    assert len(few_changes(4, 4)) == 16
    assert (1, 1, 1, 1) in few_changes(4, 1), "a yes at once is one change"
    assert (1, 0, 0, 0) not in few_changes(4, 1)


def test_where_the_tree_wins() -> None:
    found = {(line.periods, line.changes): line for line in compare_dyadic()}
    assert {key for key, line in found.items() if line.wins == "every"} == {(365, 1), (730, 1), (1000, 1)}
    assert {key for key, line in found.items() if line.wins == "on average"} == {(104, 1), (182, 1), (1000, 2)}
    assert round(found[365, 1].worst) == 337
    assert round(found[365, 1].seats) == 427
    assert found[52, 1].to_dict()["wins"] == "never"


def test_the_variance_is_that_of_simulated_people() -> None:
    """Chi-square of 2,000 draws: a relative standard deviation of 3.2 %; bounds at five of them, in six periods."""
    rng = np.random.default_rng(1)
    people, periods, repeats = 100, 52, 2000
    ends = np.sort(rng.integers(1, periods + 1, (people, 2)), axis=1)
    week = np.arange(1, periods + 1)
    histories = ((week >= ends[:, :1]) & (week < ends[:, 1:])).astype(np.int8)
    found = np.array([simulate_dyadic(histories, 2, 1.0, rng) for _ in range(repeats)])
    truth = histories.mean(axis=0)
    for period in (1, 5, 31, 32, 47, 52):
        expected = dyadic_variance(period, periods, 2, 1.0, float(truth[period - 1])) / people
        here = found[:, period - 1]
        assert abs(here.mean() - truth[period - 1]) < 5 * math.sqrt(expected / repeats)
        assert abs(here.var() / expected - 1) < 5 * math.sqrt(2 / repeats)


def test_people_who_change_too_often_are_refused() -> None:
    with refuses(SimulationError, "histories"):
        simulate_dyadic(np.array([[1, 0, 1]], dtype=np.int8), 1, 1.0, np.random.default_rng(1))


def test_seats_have_the_variance_of_one_survey_times_the_periods() -> None:
    assert seats_variance(52, 1.0) == pytest.approx(60.875, abs=1e-3)

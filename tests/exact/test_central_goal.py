"""The central guarantee of a plan at its edges: batches, what a shuffler proves, and the notes beside it."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any, cast

import pytest

from refusing import refuses
from sottovoce.core.errors import PlanError
from sottovoce.core.limits import DEFAULT_CAP
from sottovoce.mechanisms import Mechanism
from sottovoce.mechanisms.randomized_response import RandomizedResponse
from sottovoce.planning.central import _WITHIN, Central, CentralGoal
from sottovoce.planning.solve import largest_epsilon
from sottovoce.surveys.relay import LEAST_BATCH
from sottovoce.theory.shuffling import Shuffled


def goal(least: int | None = None, delta: float = 1e-6, most: float = 2.0) -> CentralGoal:
    return CentralGoal(1.0, delta, least, most)


def central(local: float, reached: float) -> Central:
    return Central(goal(), cast(Any, SimpleNamespace(local_epsilon=local, epsilon=reached, delta=1e-6)))


def test_everybody_is_in_one_batch_unless_a_smallest_one_is_given() -> None:
    assert goal().batch(LEAST_BATCH) == LEAST_BATCH
    assert goal().batch(LEAST_BATCH + 7) == LEAST_BATCH + 7
    assert goal(500).batch(500) == goal(500).batch(10**6) == 500
    for least, people in ((None, LEAST_BATCH - 1), (500, 499)):
        with refuses(PlanError, "people"):
            goal(least).batch(people)


def test_a_local_epsilon_within_the_goal_needs_no_proof() -> None:
    def blanket() -> None:
        raise AssertionError("nothing is to be proved")

    assert goal().allows(cast(Mechanism, SimpleNamespace(epsilon=1.0, blanket=blanket)), 2)


def test_a_larger_one_is_allowed_from_the_delta_on_that_is_proved() -> None:
    mechanism = RandomizedResponse(2, 1.5)
    assert _WITHIN == 1 - 3e-5
    proved = Shuffled(1.5, mechanism.blanket(), 1000).delta_at(_WITHIN * 1.0)
    assert 0 < proved < 1e-3
    assert goal(delta=proved).allows(mechanism, 1000)
    assert not goal(delta=proved * (1 - 1e-12)).allows(mechanism, 1000)
    assert not goal(delta=proved).allows(mechanism, 900), "fewer people hide less"


@pytest.mark.parametrize(
    ("local", "reached", "said"),
    [(2.0, 0.5, True), (1.98, 0.5, True), (1.97, 0.5, False), (2.0, 0.99, True), (2.0, 0.991, False)],
)
def test_the_limit_is_named_where_it_binds(local: float, reached: float, said: bool) -> None:
    assert bool(central(local, reached).limit_note) == said


def test_devices_refuse_what_is_above_their_cap() -> None:
    assert central(DEFAULT_CAP, 0.5).device_note == ""
    assert f"above {DEFAULT_CAP:g}" in central(DEFAULT_CAP * 1.001, 0.5).device_note


def test_the_largest_epsilon_is_found_by_halving() -> None:
    tried: list[float] = []

    def holds(epsilon: float) -> bool:
        tried.append(epsilon)
        return epsilon <= 4.1279

    assert largest_epsilon(holds, 0.5) == 4.12
    assert len(tried) <= 13
    assert all(0.5 < epsilon <= 16 for epsilon in tried)
    assert largest_epsilon(lambda _: False, 0.51234) == 0.51234, "known holds, whatever its digits"
    assert largest_epsilon(lambda _: True, 0.5, most=2.004) == 2.0
    assert largest_epsilon(lambda _: True, 0.5, most=0.5) == 0.5


@pytest.mark.parametrize("tries", [0, 1, 2, 3, 8])
def test_a_search_ends_after_so_many_tries(tries: int) -> None:
    tried: list[float] = []

    def holds(epsilon: float) -> bool:
        tried.append(epsilon)
        return epsilon <= 4.1279

    found = largest_epsilon(holds, 0.5, tries=tries)
    assert len(tried) == tries
    assert found == max([0.5, *(epsilon for epsilon in tried if epsilon <= 4.1279)])


@pytest.mark.parametrize("largest", [0.5, 0.501, 0.502, 0.503])
def test_the_next_larger_ones_are_not_passed_over(largest: float) -> None:
    assert largest_epsilon(lambda epsilon: epsilon <= largest, 0.5) == largest

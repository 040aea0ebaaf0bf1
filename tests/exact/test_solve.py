"""The solver behind every plan."""

from __future__ import annotations

import math

import pytest

from refusing import refuses
from sottovoce.core.errors import MechanismError, PlanError, SurveyError
from sottovoce.core.limits import MAX_EPSILON, MIN_EPSILON
from sottovoce.planning.solve import MAX_PEOPLE, Target, check_target, fewest_people, least_epsilon, solve


def error(epsilon: float, people: int) -> float:
    return 2 / (epsilon * math.sqrt(people))


@pytest.mark.parametrize("least", [1, 2, 3, 1000, MAX_PEOPLE - 1, MAX_PEOPLE])
def test_fewest(least: int) -> None:
    assert fewest_people(lambda people: people >= least) == least


def test_least_epsilon_is_enough_even_where_no_mechanism_carries_a_signal() -> None:
    assert least_epsilon(lambda epsilon: epsilon > 0.5001) == 0.501

    def silent(epsilon: float) -> bool:
        if epsilon < 1:
            raise MechanismError("too small")
        return True

    assert least_epsilon(silent) == 1.0
    assert least_epsilon(lambda epsilon: epsilon >= 16) == 16


def test_epsilons_are_the_numbers_that_are_shown() -> None:
    for wanted in (0.00123, 0.0314, 0.7, 1.0, 3.333, 12.34):
        found = least_epsilon(lambda epsilon, wanted=wanted: epsilon >= wanted)
        assert found == float(f"{found:.3g}")
        assert found == float(f"{found:.3g}")
        assert wanted <= found <= wanted * 1.0101


def test_each_of_the_three_is_worked_out() -> None:
    assert solve(error, 1.0, 400, Target("margin", None)) == (1.0, 400, "error")
    assert solve(error, 1.0, None, Target("margin", 0.1)) == (1.0, 400, "people")
    assert solve(error, None, 400, Target("margin", 0.1)) == (1.0, 400, "epsilon")


@pytest.mark.parametrize(
    ("epsilon", "people", "value", "field"),
    [
        (None, None, None, None),
        (1.0, None, None, None),
        (1.0, 10, 0.1, None),
        (1.0, 0, None, "people"),
        (1.0, MAX_PEOPLE + 1, None, "people"),
        (-1.0, 10, None, "epsilon"),
        (None, 10, 0.001, "margin"),
        (1.0, None, 1e-6, "margin"),
    ],
)
def test_refusals(epsilon, people, value, field: str | None) -> None:
    with refuses((PlanError, SurveyError), field):
        solve(error, epsilon, people, Target("margin", value))


def test_what_does_not_average_out_is_told_apart() -> None:
    with refuses(PlanError, "l2"):
        solve(lambda epsilon, people: 0.5 + error(epsilon, people), 1.0, None, Target("l2", 0.4))


@pytest.mark.parametrize("value", [0, -0.1, 1.0, 7, math.inf, math.nan, 10**400])
def test_errors_that_cannot_be_asked_for(value: float) -> None:
    with refuses(PlanError, "margin"):
        check_target("margin", value, 1.0, "what answers can differ by")


@pytest.mark.parametrize("value", ["0.1", True, None, [0.1]])
def test_errors_that_are_no_numbers(value: object) -> None:
    with refuses(PlanError, "margin"):
        check_target("margin", value, 1.0, "what answers can differ by")


def test_answers_that_never_differ_have_no_error_to_reach() -> None:
    with refuses(PlanError, "margin"):
        check_target("margin", 0.1, 0.0, "what answers can differ by")


def test_all_allowed_epsilons_of_three_digits_are_searched() -> None:
    assert 9.53e-7 < MIN_EPSILON < least_epsilon(lambda epsilon: True) == 9.54e-7
    assert least_epsilon(lambda epsilon: epsilon > 9.54e-7) == 9.55e-7
    assert least_epsilon(lambda epsilon: epsilon > 9.98) == 9.99
    assert least_epsilon(lambda epsilon: epsilon > 15.8) == 15.9
    assert least_epsilon(lambda epsilon: epsilon > 15.9) == MAX_EPSILON


def test_an_error_that_is_just_reached_is_reached() -> None:
    assert solve(lambda epsilon, people: 0.5, None, 10, Target("margin", 0.5))[0] < 1e-5
    assert solve(lambda epsilon, people: 1 / epsilon, None, 10, Target("margin", 1 / MAX_EPSILON))[0] == MAX_EPSILON
    assert solve(lambda epsilon, people: 1 / people, 1.0, None, Target("margin", 1 / MAX_PEOPLE))[1] == MAX_PEOPLE
    assert check_target("margin", 1e-300, 1.0, "") == 1e-300
    assert check_target("margin", math.nextafter(1.0, 0), 1.0, "") < 1


@pytest.mark.parametrize("most", [1, 2, 3, 1000])
def test_no_more_people_are_tried_than_allowed(most: int) -> None:
    tried: list[int] = []

    def reaches(people: int) -> bool:
        tried.append(people)
        return people >= most

    assert fewest_people(reaches, most) == most
    assert all(0 < people <= most for people in tried)

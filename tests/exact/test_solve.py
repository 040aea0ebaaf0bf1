"""The solver behind every plan."""

from __future__ import annotations

import math

import pytest

from sottovoce.core.errors import MechanismError, PlanError, SurveyError
from sottovoce.planning.solve import MAX_USERS, Target, check_target, fewest_users, least_epsilon, solve


def error(epsilon: float, users: int) -> float:
    return 2 / (epsilon * math.sqrt(users))


@pytest.mark.parametrize("least", [1, 2, 3, 1000, MAX_USERS - 1, MAX_USERS])
def test_fewest(least: int) -> None:
    assert fewest_users(lambda users: users >= least) == least


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
    assert solve(error, 1.0, None, Target("margin", 0.1)) == (1.0, 400, "users")
    assert solve(error, None, 400, Target("margin", 0.1)) == (1.0, 400, "epsilon")


@pytest.mark.parametrize(
    ("epsilon", "users", "value", "helpful"),
    [
        (None, None, None, "exactly two of epsilon, users and margin .got none"),
        (1.0, None, None, "got epsilon"),
        (1.0, 10, 0.1, "got epsilon, users, margin"),
        (1.0, 0, None, "users is 0"),
        (1.0, MAX_USERS + 1, None, "users is 10000000001"),
        (-1.0, 10, None, "epsilon is -1"),
        (None, 10, 0.001, "out of reach with 10 people at any epsilon up to 16: there it is still 0.0395"),
        (
            1.0,
            None,
            1e-6,
            "needs 4,000,000,000,000 people; a plan allows at most 10,000,000,000: raise",
        ),
    ],
)
def test_refusals(epsilon, users, value, helpful: str) -> None:
    with pytest.raises((PlanError, SurveyError), match=helpful):
        solve(error, epsilon, users, Target("margin", value))


def test_what_does_not_average_out_is_told_apart() -> None:
    with pytest.raises(PlanError, match="however many people answer: part of the error does not average out") as caught:
        solve(lambda epsilon, users: 0.5 + error(epsilon, users), 1.0, None, Target("l2", 0.4))
    assert caught.value.field == "l2"


@pytest.mark.parametrize("value", [0, -0.1, 1.0, 7, math.inf, math.nan, 10**400])
def test_errors_that_cannot_be_asked_for(value: float) -> None:
    with pytest.raises(PlanError, match="above 0 and below 1, what answers can differ by") as caught:
        check_target("margin", value, 1.0, "what answers can differ by")
    assert caught.value.field == "margin"


@pytest.mark.parametrize("value", ["0.1", True, None, [0.1]])
def test_errors_that_are_no_numbers(value: object) -> None:
    with pytest.raises(PlanError, match="margin has type"):
        check_target("margin", value, 1.0, "what answers can differ by")


def test_answers_that_never_differ_have_no_error_to_reach() -> None:
    with pytest.raises(PlanError, match="no margin to reach; leave it out") as caught:
        check_target("margin", 0.1, 0.0, "what answers can differ by")
    assert caught.value.field == "margin"

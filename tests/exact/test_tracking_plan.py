"""Plans of tracking surveys: people of all periods, what is seen between two, and what answering always would cost."""

from __future__ import annotations

import math
from typing import Any

import pytest

import sottovoce as sv
from refusing import refuses
from sottovoce.core.errors import PlanError, SottovoceError
from sottovoce.planning.tracking import CHANGE_PER_MARGIN, TrackingPlan

YES_NO = ["yes", "no"]


def test_a_period_is_planned_as_a_survey_of_its_people() -> None:
    found = sv.plan(YES_NO, periods=52, epsilon=1.0, people=1_000_000)
    alone = sv.plan(YES_NO, epsilon=1.0, people=1_000_000 // 52)
    assert isinstance(found, TrackingPlan)
    assert (found.margin, found.l2, found.period.people) == (alone.margin, alone.l2, alone.people)
    assert (found.people, found.window, found.windows, found.epsilon_in_all) == (1_000_000, 52, 1, 1.0)
    assert found.solved_for == "error"


def test_the_gain_over_answering_every_week() -> None:
    """n Var of 60.9 against 2,704: 44 times."""
    beside = sv.plan(YES_NO, periods=52, epsilon=1.0, people=1_000_000).every_period
    assert beside.epsilon == 1 / 52
    assert beside.times == pytest.approx(2704.17 / 60.875, rel=1e-3)
    assert beside.margin == pytest.approx(1.96 * math.sqrt(2704.17 / 1e6), rel=2e-3)


def test_solving_for_people_and_for_epsilon() -> None:
    found = sv.plan(YES_NO, periods=12, epsilon=1.0, change=0.02)
    assert found.solved_for == "people"
    assert found.target == "change"
    assert found.people == 12 * found.period.people
    assert found.change <= 0.02
    fewer = sv.plan(YES_NO, periods=12, epsilon=1.0, people=found.people - 12, criterion="margin")
    assert fewer.change > 0.02
    back = sv.plan(YES_NO, periods=12, people=found.people, change=0.02)
    assert (back.solved_for, back.epsilon) == ("epsilon", 1.0)


def test_a_change_is_seen_with_the_power_that_is_said() -> None:
    """1.96 + 0.84 standard errors of a difference, over 1.96 of one estimate."""
    assert pytest.approx(math.sqrt(2) * (1.959964 + 0.841621) / 1.959964, rel=1e-6) == CHANGE_PER_MARGIN


def test_windows_renew() -> None:
    found = sv.plan(YES_NO, periods=52, renews=13, epsilon=1.0, people=130_000)
    assert (found.window, found.windows, found.period.people, found.epsilon_in_all) == (13, 4, 10_000, 4.0)
    assert "epsilon 1 in each window of 13 periods, epsilon 2 for any 13 periods, and so epsilon 4 over all 52" in str(
        found
    )
    endless = sv.plan(YES_NO, renews=13, epsilon=1.0, people=130_000)
    assert (endless.periods, endless.windows, endless.epsilon_in_all) == (None, None, None)
    assert "adds up without an end" in str(endless)


def test_the_planned_survey() -> None:
    found = sv.plan(YES_NO, periods=52, renews=13, epsilon=1.0, people=130_000)
    survey = found.survey("week", "2027-01-04", title="habit")
    asked = sv.Tracking(
        sv.questions.Shares(YES_NO),
        periods=52,
        renews=13,
        every="week",
        starts="2027-01-04",
        epsilon=1.0,
        people=10_000,
        title="habit",
    )
    assert survey.id == asked.id
    once = sv.plan(YES_NO, periods=52, epsilon=1.0, people=130_000).survey("week", "2027-01-04")
    assert once.calendar.windows == 1


def test_in_words_and_as_plain_values() -> None:
    found = sv.plan(YES_NO, periods=52, epsilon=1.0, people=1_000_000)
    assert str(found) == (
        "1,000,000 people, about 19,230 in each of 52 periods, epsilon 1 in all. In every period each share is known "
        "to about ±1.53 points (95 %); between two periods a change of 3.09 points is seen (at 95 %, with a power of "
        "80 %). Answering every period at epsilon 0.0192 would take 44,419,833 people for the same error, 44.4 times "
        "as many."
    )
    plain = found.to_dict()
    assert plain["kind"] == "tracking"
    assert (plain["people"], plain["people_per_period"], plain["periods"], plain["window"]) == (10**6, 19_230, 52, 52)
    assert plain["every_period"]["people"] == 44_419_833
    minutes = sv.plan(sv.questions.Number.of(low=0, high=600, unit="minutes"), renews=13, epsilon=1.0, people=10**6)
    assert "minutes (95 %)" in str(minutes)


def test_what_cannot_be_compared_says_why() -> None:
    small = sv.plan(YES_NO, periods=3660, epsilon=0.003, people=10**9).every_period
    assert small.people is None
    assert "is below" in small.reason
    many = sv.plan(YES_NO, periods=3660, epsilon=0.01, people=10**9)
    assert many.every_period.people is None
    assert many.every_period.margin is not None
    assert "would not do" in str(many)


@pytest.mark.parametrize(
    ("given", "field"),
    [
        ({"change": 0.1, "epsilon": 1.0}, "change"),
        ({"periods": 52, "change": 0.1, "margin": 0.1, "epsilon": 1.0}, "change"),
        ({"periods": 52, "people": 10, "epsilon": 1.0}, "people"),
        ({"periods": 50, "renews": 13, "people": 1000, "epsilon": 1.0}, "periods"),
        ({"periods": 52, "change": 1e-6, "epsilon": 1.0}, "change"),
        ({"periods": 52, "change": 2.0, "epsilon": 1.0}, "change"),
        ({"periods": 1, "people": 100, "epsilon": 1.0}, "periods"),
        ({"renews": 1, "people": 100, "epsilon": 1.0}, "renews"),
    ],
)
def test_bad_plans(given: dict[str, Any], field: str) -> None:
    with refuses(SottovoceError, field) as refusal:
        sv.plan(YES_NO, **given)
    assert isinstance(refusal.value, (PlanError, ValueError))

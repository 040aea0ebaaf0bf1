"""Plans of two groups: people for a difference, the difference that people show, and what is refused."""

from __future__ import annotations

import math
from statistics import NormalDist

import numpy as np
import pytest
from scipy.stats import binom

import sottovoce as sv
from commands import run_here
from refusing import refuses
from sottovoce.core.errors import SottovoceError
from sottovoce.theory.two_samples import common_answer, two_sided

YES = ["no", "yes"]
STRENGTH = NormalDist().inv_cdf(0.975) + NormalDist().inv_cdf(0.8)


def test_people_of_one_bit_reports_are_those_of_the_formula() -> None:
    """0.45 against 0.53 at epsilon 1: ((1.96 + 0.84) / 0.08)^2 (V(0.45) + V(0.53)), V(y) = (y - x0)(x1 - y)."""
    plan = sv.plan(YES, epsilon=1.0, difference=0.08, population=[[0.55, 0.45], [0.47, 0.53]])
    zero, one = plan.survey("A").mechanism.two_outcomes
    variances = sum((share - zero) * (one - share) for share in (0.45, 0.53))
    assert plan.groups == (2868, 2868)
    assert plan.groups[0] == math.ceil((STRENGTH / 0.08) ** 2 * variances)
    assert plan.difference <= 0.08


def test_a_difference_is_a_change_between_two_periods() -> None:
    """Two groups are two periods of a tracking survey, for the worst population."""
    groups = sv.plan(sv.shares(12), epsilon=2.0, difference=0.03)
    periods = sv.plan(sv.shares(12), epsilon=2.0, periods=2, change=0.03)
    assert groups.groups[0] == periods.period.people


@pytest.mark.parametrize("ratio", [0.25, 1.0, 3.0])
def test_what_people_show_takes_these_people(ratio: float) -> None:
    planned = sv.plan(sv.number(0, 60, "minutes"), epsilon=1.0, difference=2.0, power=0.9, ratio=ratio)
    first, second = planned.groups
    assert second == math.ceil(first * ratio)
    shown = sv.plan(sv.number(0, 60, "minutes"), epsilon=1.0, people=planned.people, power=0.9, ratio=ratio)
    assert shown.solved_for == "error"
    assert shown.difference == pytest.approx(2.0, rel=1e-3)
    strength = NormalDist().inv_cdf(0.975) + NormalDist().inv_cdf(0.9)
    variance = planned.group.design.variance(None, None, 1).value[0]
    assert planned.difference == pytest.approx(strength * math.sqrt(variance * (1 / first + 1 / second)), rel=1e-4)


def test_epsilon_is_computed() -> None:
    plan = sv.plan(YES, people=20_000, difference=0.05)
    assert plan.solved_for == "epsilon"
    assert plan.difference <= 0.05
    assert sv.plan(YES, epsilon=plan.epsilon * 0.98, people=20_000, groups=2).difference > 0.05


@pytest.mark.parametrize(
    "question",
    [
        sv.shares(40),
        sv.choices(["a", "b", "c"], most=2),
        sv.records({"country": ["DE", "FR"], "plan": ["free", "pro"]}, tables=2),
        sv.words(8, "latin"),
        sv.vector(3),
    ],
    ids=lambda question: question.kind,
)
def test_every_kind_is_planned(question: sv.questions.Question) -> None:
    plan = sv.plan(question, epsilon=2.0, people=200_000, groups=2)
    assert 0 < plan.difference < 0.5
    assert plan.to_dict()["groups"] == [100_000, 100_000]
    assert "100,000 in each of 2 groups" in str(plan)
    first, second = (plan.survey(name) for name in ("A", "B"))
    assert first.id != second.id


def test_a_plan_has_its_power() -> None:
    """The exact chance that the test is significant, over all counts but those of chance 1e-8."""
    plan = sv.plan(YES, epsilon=2.0, difference=0.1, population=[[0.6, 0.4], [0.5, 0.5]])
    zero, one = plan.survey("A").mechanism.two_outcomes
    n, raws, chances = plan.groups[0], [], []
    for share in (0.4, 0.5):
        law = binom(n, (share - zero) / (one - zero))
        counts = np.arange(law.ppf(1e-8), law.isf(1e-8))
        raws.append(zero + (one - zero) * counts / n)
        chances.append(law.pmf(counts))
    first, second = (grid.ravel() for grid in np.meshgrid(*raws, indexing="ij"))

    def variance(y: np.ndarray) -> np.ndarray:
        return (y - zero) * (one - y)

    sizes = np.full(first.shape, float(n))
    limits = np.zeros(first.shape), np.ones(first.shape)
    common = common_answer((first, second), (sizes, sizes), (variance, variance), limits)
    seen = two_sided(first - second, np.sqrt(2 * variance(common) / n)) <= 0.05
    assert float(np.outer(*chances).ravel()[seen].sum()) == pytest.approx(0.8, abs=0.01)


def test_the_command_gives_the_same(capsys: pytest.CaptureFixture[str]) -> None:
    run = run_here(capsys)
    words = "plan", "shares", "--labels", "no,yes", "--epsilon", "1"
    shown = run(*words, "--difference", "0.02", "--json").json
    assert shown["groups"] == list(sv.plan(YES, epsilon=1.0, difference=0.02).groups)
    text = run(*words, "--people", "2e4", "--groups", "2").out
    assert "4.29 points" in " ".join(text.split())
    assert "one survey for each group" in text


def test_the_planned_survey_may_have_both_groups() -> None:
    plan = sv.plan(YES, epsilon=1.0, difference=0.02)
    both = plan.survey("Both", groups={"arm": ["A", "B"]})
    assert both.groups == sv.Survey(YES, epsilon=1.0, groups={"arm": ["A", "B"]}).groups
    assert both.design == plan.survey("A").design
    with refuses(SottovoceError, "groups"):
        plan.survey("Both", groups={"arm": "AB"})


@pytest.mark.parametrize(
    ("field", "given"),
    [
        ("difference", {"difference": 0.0}),
        ("difference", {"difference": 1.0}),
        ("difference", {"difference": math.nan}),
        ("difference", {"difference": "two points"}),
        ("power", {"difference": 0.02, "power": 0.0}),
        ("power", {"difference": 0.02, "power": 1.0}),
        ("power", {"difference": 0.02, "power": 0.01}),
        ("power", {"difference": 0.02, "power": math.nan}),
        ("groups", {"difference": 0.02, "groups": 3}),
        ("ratio", {"difference": 0.02, "ratio": 0.0}),
        ("ratio", {"difference": 0.02, "ratio": math.inf}),
        ("margin", {"difference": 0.02, "margin": 0.01}),
        ("periods", {"difference": 0.02, "periods": 4}),
        ("central_epsilon", {"difference": 0.02, "central_epsilon": 0.5, "delta": 1e-8}),
        ("criterion", {"difference": 0.02, "criterion": "l2"}),
        ("population", {"difference": 0.02, "population": [[0.5, 0.5]] * 3}),
        ("population", {"difference": 0.02, "population": [[0.5, 0.5], [0.5, 0.6]]}),
        (None, {"difference": 0.02, "people": 100}),
        (None, {"groups": 2}),
        ("people", {"groups": 2, "people": 1}),
        ("difference", {"difference": 1e-9}),
    ],
)
def test_bad_plans_are_refused(field: str | None, given: dict[str, object]) -> None:
    with refuses(SottovoceError, field):
        sv.plan(YES, epsilon=1.0, **given)  # type: ignore[call-overload]

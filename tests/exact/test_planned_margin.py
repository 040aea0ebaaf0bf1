"""The margin of a plan is the half-width that its survey's estimate prints: in the median of seeded surveys."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import sottovoce as sv
from sottovoce.estimates.half_width import half_width

PEOPLE = 3_000

ASKED: dict[str, tuple[Any, Any]] = {
    "two values": (sv.shares(2), [0.5, 0.5]),
    "shares": (sv.shares(6), [0.4, 0.2, 0.1, 0.1, 0.1, 0.1]),
    "ranges": (sv.queries(sv.workloads.Prefix(8)), np.full(8, 1 / 8)),
}


def printed(survey: sv.Survey, values: Any) -> float:
    """The median over a few seeded surveys of the widest interval's half-width."""
    widths = []
    for seed in range(5):
        low, high = survey.estimate(survey.simulate(values, seed=seed)).interval(0.95)
        widths.append(float((high - low).max()) / 2)
    return float(np.median(widths))


@pytest.mark.parametrize("name", ASKED)
def test_a_given_population_prints_what_was_planned(name: str) -> None:
    question, shares = ASKED[name]
    plan = sv.plan(question, epsilon=1.0, people=PEOPLE, population=shares)
    people = np.repeat(np.arange(len(shares)), np.rint(np.asarray(shares) * PEOPLE).astype(np.int64))
    assert printed(plan.survey(), people) == pytest.approx(plan.margin, rel=0.04)


@pytest.mark.parametrize("epsilon", [1.0, 4.0])
def test_numbers_at_both_ends_print_what_was_planned_for_the_worst(epsilon: float) -> None:
    plan = sv.plan(sv.number(0, 10, "hours"), epsilon=epsilon, people=PEOPLE)
    assert printed(plan.survey(), [0.0, 10.0] * (PEOPLE // 2)) == pytest.approx(plan.margin, rel=0.03)
    assert plan.margin > 1.15 * plan.best.margin, "1.96 standard errors say too little of few reports"


def test_records_sets_and_vectors_print_what_was_planned() -> None:
    rng = np.random.default_rng(1)
    fields = {"plan": ["free", "pro"], "country": ["DE", "FR", "IT"]}
    records = sv.plan(sv.records(fields), epsilon=2.0, people=PEOPLE)
    rows = [{name: rng.choice(labels) for name, labels in fields.items()} for _ in range(PEOPLE)]
    assert printed(records.survey(), rows) == pytest.approx(records.margin, rel=0.08)
    sets = sv.plan(sv.choices(["a", "b", "c", "d"], 2), epsilon=1.0, people=PEOPLE)
    ticked = [["a", "b"] if person % 2 else ["c"] for person in range(PEOPLE)]
    assert printed(sets.survey(), ticked) == pytest.approx(sets.margin, rel=0.06)
    vectors = sv.plan(sv.vector(3), epsilon=1.0, people=PEOPLE)
    assert printed(vectors.survey(), np.zeros((PEOPLE, 3))) == pytest.approx(vectors.margin, rel=0.05)


def test_people_for_a_margin_are_those_whose_intervals_have_it() -> None:
    plan = sv.plan(sv.number(0, 10, "hours"), epsilon=1.0, margin=0.5)
    assert 0.49 < plan.margin <= 0.5
    assert printed(plan.survey(), ([0.0, 10.0] * plan.people)[: plan.people]) == pytest.approx(0.5, rel=0.03)
    fewer = half_width(plan.design, round(0.97 * plan.people))
    assert fewer > 0.5, "and not many more than needed"


def test_what_to_expect_is_beside_what_is_proved() -> None:
    """For 200 values at epsilon 0.5, 106,118 people prove an L2 error of 0.171; uniform ones err far less."""
    plan = sv.plan(sv.shares(200), epsilon=0.5, people=20_000)
    assert plan.expected_l2 is not None
    assert plan.expected_l2.l2 < 0.171 < plan.l2
    assert plan.expected_l2.people == "uniform values"
    assert "for uniform values" in str(plan)
    assert plan.to_dict()["expected_l2"] == {"l2": plan.expected_l2.l2, "people": "uniform values"}
    survey = plan.survey()
    errors = [
        np.linalg.norm(survey.estimate(survey.simulate(np.arange(20_000) % 200, seed=seed)).values - 1 / 200)
        for seed in range(3)
    ]
    assert np.mean(errors) == pytest.approx(plan.expected_l2.l2, rel=0.1)

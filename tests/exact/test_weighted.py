"""Estimates weighed to a known population: weights, variances, intervals, what is said, and refusals."""

from __future__ import annotations

import csv
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

import sottovoce as sv
from refusing import refuses
from sottovoce.core.errors import NoReportsError, SurveyError
from sottovoce.estimates.estimate import Estimate
from sottovoce.estimates.population import rake, read_population
from sottovoce.estimates.weighted import CANNOT_MEND

AGES = {"age": ["young", "old"]}
CROSSED = {"age": ["young", "old"], "sex": ["f", "m"]}


def skewed(seed: int = 1, scale: int = 1, epsilon: float = 2.0) -> Estimate:
    """Far more young people than the population has; the young drink tea, the old coffee."""
    survey = sv.Survey(["tea", "coffee"], epsilon=epsilon, groups=AGES)
    people = {
        "young": ["tea"] * (1600 * scale) + ["coffee"] * (400 * scale),
        "old": ["tea"] * (120 * scale) + ["coffee"] * (480 * scale),
    }
    return survey.estimate(survey.simulate_groups(people, seed=seed))


HALVES = {"age": {"young": 0.5, "old": 0.5}}


def test_one_margin_is_post_stratification() -> None:
    estimate = skewed()
    weighted = estimate.weighted(HALVES)
    apart = estimate.by("age")
    raw = (apart["young"].raw + apart["old"].raw) / 2
    np.testing.assert_allclose([answer.raw for answer in weighted], raw, rtol=1e-12)
    errors = np.sqrt(apart["young"].standard_errors ** 2 + apart["old"].standard_errors ** 2) / 2
    np.testing.assert_allclose(weighted.standard_errors, errors, rtol=1e-12)
    assert [round(group.factor, 3) for group in weighted.groups] == [0.65, 2.167]
    assert 0 < weighted.effective_reports < estimate.n_reports


def test_its_own_shares_change_nothing() -> None:
    estimate = skewed()
    shares = {"age": {"young": 2000 / 2600, "old": 600 / 2600}}
    weighted = estimate.weighted(shares)
    np.testing.assert_allclose([answer.raw for answer in weighted], estimate.raw, rtol=1e-9)


@pytest.mark.parametrize(
    ("question", "people"),
    [
        ([f"v{number}" for number in range(60)], ["v0"] * 300 + ["v1"] * 300 + ["v2"] * 400),
        (sv.choices([f"v{number}" for number in range(20)], most=2), [["v0"], ["v1", "v2"]] * 300),
        (sv.number(0, 10, "minutes"), [2.0, 9.0] * 300),
        (sv.number(0, 10, "minutes", wants="distribution", points=16), [2.0, 9.0] * 300),
        (sv.records({"plan": ["free", "pro"], "os": ["x", "y"]}), {"plan": ["free"] * 400, "os": ["x"] * 400}),
        (sv.vector(3, 1.0), [[0.0, 0.0, 1.0]] * 400),
    ],
    ids=["shares", "choices", "mean", "distribution", "records", "vector"],
)
def test_equal_weights_on_equal_groups_show_what_all_together_do(question: Any, people: Any) -> None:
    """Answers are made possible once: the mean of groups' possible answers lies at the ends of its intervals."""
    arms = [f"g{number}" for number in range(10)]
    survey = sv.Survey(question, epsilon=1.0, people=4000, groups={"arm": arms})
    pooled = survey.estimate(survey.simulate_groups(dict.fromkeys(arms, people), seed=1))
    weighted = pooled.weighted({"arm": dict.fromkeys(arms, 0.1)})
    for answer in weighted:
        whole = survey.question.compared(answer.label).of(pooled, 0.95)
        assert answer.value == pytest.approx(whole.value, abs=0.1 * (whole.high - whole.low)), answer.label


def test_the_bias_is_removed_and_the_intervals_hold() -> None:
    """The truth is 50 %: 80 % of the young half, 20 % of the old."""
    answers = [skewed(seed).weighted(HALVES)["tea"] for seed in range(200)]
    hits = sum(answer.low <= 0.5 <= answer.high for answer in answers)
    assert hits >= 180  # of 200 at 95 %: fewer have a chance of 1 in 300
    raw = np.array([answer.raw for answer in answers])
    # These very people are the same in every run: what varies is their reports, less than people and reports.
    stated = skewed().weighted(HALVES).standard_errors[0]
    assert abs(raw.mean() - 0.5) < 4 * stated / np.sqrt(len(raw))
    assert raw.std() < 1.15 * stated
    unweighted = skewed()["tea"]
    assert unweighted.low > 0.5


def test_two_margins_are_raked() -> None:
    cells = np.array([0.4, 0.1, 0.3, 0.2])
    rows, columns = [[0, 1], [2, 3]], [[0, 2], [1, 3]]
    weights = rake(cells, [(rows, np.array([0.3, 0.7])), (columns, np.array([0.45, 0.55]))])
    assert weights[:2].sum() == pytest.approx(0.3)
    assert weights[[0, 2]].sum() == pytest.approx(0.45)
    # Nearest in relative entropy: interactions stay as they were.
    odds = weights[0] * weights[3] / (weights[1] * weights[2])
    assert odds == pytest.approx(0.4 * 0.2 / (0.1 * 0.3))


def test_a_margin_of_one_of_two_variables_leaves_the_other() -> None:
    survey = sv.Survey(["tea", "coffee"], epsilon=2.0, groups=CROSSED)
    people = {f"age {age}, sex {sex}": ["tea"] * n for age, sex, n in (("young", "f", 300), ("young", "m", 100))}
    people |= {"age old, sex f": ["coffee"] * 50, "age old, sex m": ["coffee"] * 150}
    weighted = survey.estimate(survey.simulate_groups(people, seed=1)).weighted(HALVES)
    shares = {group.label: group.weight for group in weighted.groups}
    assert shares["age young, sex f"] == pytest.approx(0.375)
    assert shares["age old, sex m"] == pytest.approx(0.375)


@pytest.mark.parametrize(
    ("question", "people"),
    [
        (sv.number(0, 10, "minutes"), [2.0] * 400),
        (sv.choices(["a", "b", "c"], most=2), [["a"]] * 400),
        (sv.records({"plan": ["free", "pro"], "os": ["x", "y"]}), {"plan": ["free"] * 400, "os": ["x"] * 400}),
    ],
    ids=["number", "choices", "records"],
)
def test_other_kinds_are_weighed(question: Any, people: Any) -> None:
    survey = sv.Survey(question, epsilon=4.0, groups=AGES)
    weighted = survey.estimate(survey.simulate_groups({"young": people, "old": people}, seed=1)).weighted(HALVES)
    for answer in weighted:
        assert answer.low <= answer.value <= answer.high
    assert str(weighted).endswith(CANNOT_MEND)


def test_files_and_frames_say_the_same(tmp_path: Path) -> None:
    rows = [("age", "young", 0.5), ("age", "old", 0.5)]
    path = tmp_path / "population.csv"
    with path.open("w", newline="") as file:
        csv.writer(file).writerows([("variable", "value", "share"), *rows])
    frame = pd.DataFrame(rows, columns=["variable", "value", "share"])
    estimate = skewed()
    told = [estimate.weighted(given).to_dict() for given in (HALVES, path, str(path), frame)]
    assert all(one == told[0] for one in told)


def test_a_tiny_group_is_named() -> None:
    survey = sv.Survey(["tea", "coffee"], epsilon=2.0, groups=AGES)
    people = {"young": ["tea"] * 2000, "old": ["coffee"] * 20}
    notes = survey.estimate(survey.simulate_groups(people, seed=1)).weighted(HALVES).notes
    assert notes[0] == "fewer than 100 reports: age old"
    assert notes[1].endswith(": age old")
    assert notes[-1] == CANNOT_MEND


@pytest.mark.parametrize(
    "population",
    [
        {},
        {"age": {}},
        {"age": {"young": 0.2, "old": 0.2}},
        {"age": {"young": 1.2, "old": -0.2}},
        {"age": {"young": float("nan"), "old": 0.5}},
        {"age": {"young": "many", "old": 0.5}},
        {"age": {"young": 0.5, "ancient": 0.5}},
        {"height": {"small": 0.5, "tall": 0.5}},
        {"age": 0.5},
        ["age"],
        "no such file.csv",
        3,
    ],
)
def test_bad_populations_are_refused(population: Any) -> None:
    with refuses(SurveyError, "population"):
        skewed().weighted(population)


def test_a_group_without_reports_cannot_stand_for_anybody() -> None:
    survey = sv.Survey(["tea", "coffee"], epsilon=2.0, groups=AGES)
    estimate = survey.estimate(survey.simulate_groups({"young": ["tea"] * 20}, seed=1))
    with refuses(NoReportsError, "population"):
        estimate.weighted(HALVES)


def test_shares_that_are_rounded_are_scaled() -> None:
    assert sum(read_population({"age": {"a": 0.333, "b": 0.333, "c": 0.333}})["age"].values()) == pytest.approx(1)


def test_a_survey_without_groups_is_not_weighed() -> None:
    plain = sv.Survey(["tea", "coffee"], epsilon=1.0)
    with refuses(SurveyError, "population"):
        plain.estimate(plain.simulate(["tea"], seed=1)).weighted(HALVES)


def test_a_watched_estimate_is_not_weighed_with_intervals_of_one_look() -> None:
    survey = sv.Survey(["tea", "coffee"], epsilon=2.0, groups={"arm": ["A", "B"]})
    estimate = survey.estimate(survey.simulate_groups({"A": ["tea"] * 50, "B": ["coffee"] * 50}, seed=1))
    population = {"arm": {"A": 0.5, "B": 0.5}}
    with refuses(SurveyError, "always"):
        estimate.watched().weighted(population)
    assert len(estimate.watched().watched(False).weighted(population)) == 2

"""Estimates weighed to a known population by private fields: weights, errors and refusals."""

from __future__ import annotations

import json
from dataclasses import replace
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import sottovoce as sv
from refusing import refuses
from sottovoce.core.errors import SurveyError
from sottovoce.estimates.covariance import covariance
from sottovoce.estimates.weighted import CANNOT_MEND

AGES = ["18-39", "40-64", "65+"]
FIELDS: dict[str, Any] = {"sex": ["f", "m"], "age": AGES, "drink": ["tea", "coffee"]}
ONE = {"age": {"18-39": 0.35, "40-64": 0.4, "65+": 0.25}}
TWO = {**ONE, "sex": {"f": 0.5, "m": 0.5}}


def people(n: int = 30_000) -> dict[str, Any]:
    """Many young people and women answer, who drink tea."""
    rng = np.random.default_rng(1)
    age, sex = rng.choice(3, n, p=[0.55, 0.3, 0.15]), rng.choice(2, n, p=[0.6, 0.4])
    tea = rng.random(n) < 0.8 - 0.25 * age - 0.1 * sex
    return {
        "sex": np.array(["f", "m"])[sex],
        "age": np.array(AGES)[age],
        "drink": np.where(tea, "tea", "coffee"),
        "minutes": 10.0 * (1 + age),
    }


def form(tables: int = 2, epsilon: float = 4.0, n: int = 30_000, seed: int = 1, **more: Any) -> Any:
    survey = sv.Survey(sv.records({**FIELDS, **more}, tables=tables), epsilon=epsilon)
    columns = people(n)
    return survey.estimate(survey.simulate_aggregate({name: columns[name] for name in (*FIELDS, *more)}, seed=seed))


def test_one_margin_is_post_stratification_of_the_raw_table() -> None:
    estimate = form()
    table = estimate.table("age", "drink").raw
    shares = np.array([*ONE["age"].values()])
    expected = (shares[:, None] * table / table.sum(axis=1, keepdims=True)).sum(axis=0)
    for method in ("greg", "rake"):
        weighted = estimate.weighted(ONE, method=method)
        np.testing.assert_allclose([weighted[f"drink={drink}"].raw for drink in FIELDS["drink"]], expected, rtol=1e-9)
        assert weighted.method == method
    assert estimate.weighted(ONE).method == "greg"


def test_its_own_shares_change_nothing() -> None:
    estimate = form()
    own = estimate.table("age").raw
    weighted = estimate.weighted({"age": dict(zip(AGES, own.tolist(), strict=True))})
    np.testing.assert_allclose([a.raw for a in weighted], [estimate[a.label].raw for a in weighted], rtol=1e-9)


@pytest.mark.parametrize(("method", "tables"), [("greg", 2), ("greg", 3), ("rake", 3)])
def test_known_margins_are_met_without_error(method: str, tables: int) -> None:
    weighted = form(tables).weighted(TWO, answers=["age=65+", "sex=f", "drink=tea"], method=method)
    assert weighted["age=65+"].raw == pytest.approx(0.25)
    assert weighted["sex=f"].raw == pytest.approx(0.5)
    np.testing.assert_allclose(weighted.standard_errors[:2], 0, atol=1e-7)
    assert weighted.standard_errors[2] > 0.001


@pytest.mark.parametrize(
    ("method", "tables", "population"), [("greg", 2, ONE), ("greg", 2, TWO), ("rake", 2, ONE), ("rake", 3, TWO)]
)
def test_errors_are_those_of_the_derivative(method: str, tables: int, population: Any) -> None:
    """The gradient by differences, with the covariance of all raw answers, gives the stated variance."""
    estimate = form(tables)
    names, step = ["drink=tea"], 1e-6

    def raw(answers: Any) -> float:
        return float(replace(estimate, raw=answers).weighted(population, names, method=method)["drink=tea"].raw)

    # Along the answers of possible populations: raw tables agree with each other.
    ways = estimate.survey.design.workload.changes(np.eye(len(estimate.raw))).T
    slopes = np.array([(raw(estimate.raw + step * way) - raw(estimate.raw - step * way)) / (2 * step) for way in ways])
    row = np.linalg.lstsq(ways, slopes, rcond=None)[0]
    design, answers = estimate.survey.design, estimate._combinable
    variance = covariance(design, row[None], answers.population, estimate.n_reports)[0, 0]
    stated = estimate.weighted(population, names, method=method).standard_errors[0]
    assert stated == pytest.approx(np.sqrt(variance), rel=1e-4)


@pytest.mark.parametrize("method", ["greg", "rake"])
def test_the_weights_are_those_of_a_survey_package(method: str) -> None:
    """Without noise: raw tables that are exactly those of the sample. `tools/make_known_weights.py` asked samplics."""
    known = json.loads((Path(__file__).parent / "known_weights.json").read_text())
    values, counts = known["values"], np.array(known["counts"])
    cells = [(*cell, drink) for cell in product(*values.values()) for drink in ("tea", "coffee")]
    survey = sv.Survey(sv.records({**values, "drink": ["tea", "coffee"]}, tables=3), epsilon=8.0)
    inputs = np.array([survey.question.private_input(list(cell)) for cell in cells])
    shares = np.repeat(counts / counts.sum() / 2, 2)  # half of every cell drinks tea
    exact = shares @ survey.design.workload.columns(inputs)
    drawn = survey.estimate(survey.simulate_aggregate([cell for cell in cells for _ in range(2_000)], seed=1))
    estimate = replace(drawn, raw=exact, values=exact.copy())
    named = [
        ", ".join(f"{name}={value}" for name, value in zip(values, cell, strict=True))
        for cell in product(*values.values())
    ]
    weighted = estimate.weighted(known["margins"], [*named, "drink=tea"], method=method)
    found = np.array([weighted[name].raw for name in named]) / (counts / counts.sum())
    np.testing.assert_allclose(found, known["weights"][method], rtol=1e-9)


def test_groups_are_raked_as_by_a_survey_package() -> None:
    known = json.loads((Path(__file__).parent / "known_weights.json").read_text())
    values, counts = known["values"], known["counts"]
    survey = sv.Survey(["tea", "coffee"], epsilon=2.0, groups=values)
    labels = [group.label for group in survey.groups or ()]
    people = {label: ["tea"] * count for label, count in zip(labels, counts, strict=True)}
    weighted = survey.estimate(survey.simulate_groups(people, seed=1)).weighted(known["margins"])
    np.testing.assert_allclose([group.factor for group in weighted.groups], known["weights"]["rake"], rtol=1e-9)


def test_a_number_has_its_weighted_mean() -> None:
    estimate = form(minutes=sv.number(0, 60, "minutes"))
    answer = estimate.weighted(TWO)["mean of minutes"]
    truth = 0.35 * 10 + 0.4 * 20 + 0.25 * 30
    assert answer.low <= truth <= answer.high
    assert answer.high - answer.low < 2
    assert answer.unit == "minutes"
    assert estimate.mean("minutes").high < truth


def test_values_that_are_counted_together_are_one() -> None:
    merged = form().weighted({"age": {"18-39": 0.4, "40-64 or 65+": 0.6}})
    table = form().table("age", "drink").raw
    older = table[1:].sum(axis=0)
    expected = 0.4 * table[0] / table[0].sum() + 0.6 * older / older.sum()
    np.testing.assert_allclose([merged[f"drink={drink}"].raw for drink in FIELDS["drink"]], expected, rtol=1e-9)
    assert [group.label for group in merged.groups] == ["age 18-39", "age 40-64 or 65+"]


@pytest.mark.parametrize("method", ["greg", "rake"])
def test_public_groups_and_private_fields_together(method: str) -> None:
    """Public ages, private sexes: both margins are met, and the share is that of the crossed truth."""
    columns = people()
    question = sv.records({"sex": ["f", "m"], "drink": ["tea", "coffee"]})
    survey = sv.Survey(question, epsilon=4.0, groups={"age": AGES})
    own = {age: {name: columns[name][columns["age"] == age] for name in ("sex", "drink")} for age in AGES}
    weighted = survey.estimate(survey.simulate_groups(own, seed=1)).weighted(TWO, method=method)
    truth = sum(share * (0.75 - 0.25 * at) for at, share in enumerate(ONE["age"].values()))
    assert weighted["drink=tea"].low <= truth <= weighted["drink=tea"].high
    assert {group.label for group in weighted.groups} == {*(f"age {age}" for age in AGES), "sex f", "sex m"}


def test_what_is_said() -> None:
    weighted = form().weighted(TWO)
    assert "30,000 reports weighed by age and sex (greg), worth" in str(weighted)
    assert str(weighted).endswith(CANNOT_MEND)
    plain = weighted.to_dict()
    assert plain["method"] == "greg"
    assert plain["groups"][0] == {
        "group": {"age": "18-39"},
        "weight": 0.35,
        "share": pytest.approx(0.55, abs=0.02),
        "n_reports": None,
        "factor": pytest.approx(0.35 / 0.55, abs=0.03),
    }
    assert [row["label"] for row in plain["answers"]] == ["drink=tea", "drink=coffee"]


def test_weights_below_nothing_are_named() -> None:
    extreme = {"age": {"18-39": 0.96, "40-64": 0.02, "65+": 0.02}, "sex": {"f": 0.02, "m": 0.98}}
    assert any("less than nothing" in note for note in form().weighted(extreme).notes)


@pytest.mark.parametrize(
    "population",
    [
        {"age": {"18-39": 0.5, "40-64": 0.2, "65+": 0.2}},
        {"age": {"18-39": 0.5, "40-64": 0.5, "90+": 0.0}},
        {"age": {"18-39": 0.5, "40-64": float("nan"), "65+": 0.5}},
        {"age": {"18-39": 0.5, "40-64 or 40-64": 0.25, "65+": 0.25}},
        {"age": {"18-39 or 40-64": 0.5, "40-64 or 65+": 0.5}},
        {"height": {"small": 0.5, "tall": 0.5}},
        {"minutes": {"0": 0.5, "60": 0.5}},
    ],
)
def test_bad_populations_are_refused(population: Any) -> None:
    with refuses(SurveyError, "population"):
        form(n=2_000, minutes=sv.number(0, 60)).weighted(population)


def test_bad_arguments_are_refused() -> None:
    estimate = form()
    for answers in ("drink=tea", [], 3, ["age=65+"]):
        with refuses(SurveyError, "answers"):
            estimate.weighted(ONE, answers=answers)
    with refuses(SurveyError, "answers"):
        estimate.weighted(ONE, answers=["drink=cocoa"])
    with refuses(SurveyError, "method"):
        estimate.weighted(ONE, method="magic")
    with refuses(SurveyError, "level"):
        estimate.weighted(ONE, level=2)


def test_tables_that_were_not_asked_for_are_named_with_the_way_out() -> None:
    with refuses(SurveyError, "answers") as refusal:
        form(2).weighted(TWO, method="rake")
    assert "tables=3" in str(refusal.value)
    assert "'greg'" in str(refusal.value)
    with refuses(SurveyError, "answers"):
        form(1).weighted(ONE)
    with refuses(SurveyError, "population"):
        form(1).weighted(TWO)


def test_a_value_too_rare_to_divide_by_is_refused_with_the_way_out() -> None:
    """Where nobody, or next to nobody, has a value, its raw share is noise, and may be negative."""
    estimate = form(epsilon=0.5, n=500)
    for method in ("greg", "rake"):
        with refuses(SurveyError, "population") as refusal:
            estimate.weighted(ONE, method=method)
        assert "merge it" in str(refusal.value)


def test_crossed_values_too_rare_are_refused_for_raking_only() -> None:
    columns = people()
    columns["sex"] = np.where(columns["age"] == "65+", "f", columns["sex"])
    survey = sv.Survey(sv.records(FIELDS, tables=3), epsilon=4.0)
    estimate = survey.estimate(survey.simulate_aggregate({name: columns[name] for name in FIELDS}, seed=1))
    assert estimate.weighted(TWO).method == "greg"
    with refuses(SurveyError, "population") as refusal:
        estimate.weighted(TWO, method="rake")
    assert "age 65+, sex m" in str(refusal.value)


def test_public_groups_are_raked() -> None:
    survey = sv.Survey(["tea", "coffee"], epsilon=2.0, groups={"age": ["young", "old"]})
    estimate = survey.estimate(survey.simulate_groups({"young": ["tea"] * 200, "old": ["coffee"] * 200}, seed=1))
    population = {"age": {"young": 0.3, "old": 0.7}}
    assert estimate.weighted(population, method="rake").to_dict() == estimate.weighted(population).to_dict()
    with refuses(SurveyError, "method"):
        estimate.weighted(population, method="greg")

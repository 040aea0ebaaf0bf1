"""Correlations and lines from the tables of a form: values, intervals, and what is refused."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import sottovoce as sv
from refusing import refuses
from sottovoce.core.errors import SurveyError
from sottovoce.estimates.form_relation import FormRelation

FORM = {"plan": ["free", "pro", "team"], "age": sv.number(18, 90, points=7), "minutes": sv.number(0, 600, points=7)}
PLANS = np.array(["free", "pro", "team"])


def people(n: int, seed: int) -> dict[str, Any]:
    rng = np.random.default_rng(seed)
    plan, age = rng.choice(3, n, p=[0.5, 0.3, 0.2]), rng.normal(54, 12, n)
    minutes = 280 + 4 * (age - 54) + np.array([0, 40, -60])[plan] + rng.normal(0, 70, n)
    return {"plan": PLANS[plan], "age": age.clip(18, 90), "minutes": minutes.clip(0, 600)}


def estimated(fields: dict[str, Any], columns: dict[str, Any], seed: int = 1, **options: Any) -> Any:
    survey = sv.Survey(sv.records(fields, **options), epsilon=4.0)
    return survey.estimate(survey.simulate_aggregate({name: columns[name] for name in fields}, seed=seed))


@pytest.fixture(scope="module")
def estimate() -> Any:
    return estimated(FORM, people(200_000, 1))


def test_moments_are_those_of_the_tables(estimate: Any) -> None:
    """Each mean by hand, from the raw cells of the table that holds it."""
    relation = FormRelation(estimate, ("plan", "age", "minutes"))
    means, grid = relation.means, np.linspace(-1, 1, 7)
    age, both = estimate.table("age").raw, estimate.table("age", "minutes").raw
    pro, mixed = estimate.table("plan").raw[1], estimate.table("plan", "age").raw
    assert means.mean[2] == pytest.approx(grid @ age)
    assert means.mean[0] == pytest.approx(2 * pro - 1)
    assert means.products[2, 3] == pytest.approx(grid @ both @ grid)
    assert means.products[2, 2] == pytest.approx(grid**2 @ age - (1 / 3) ** 2 / 6)
    assert means.products[0, 2] == pytest.approx(np.array([-1, 1, -1]) @ mixed @ grid)
    assert means.products[0, 1] == pytest.approx(-1 - means.mean[0] - means.mean[1])
    assert means.products[0, 0] == 1.0


def test_the_error_of_a_slope_is_the_gradient_through_the_covariance(estimate: Any) -> None:
    """By differences of the slope for small changes of the raw answers, and the covariance of all answers."""
    line = estimate.regression("minutes", on="age")
    relation = FormRelation(estimate, ("age", "minutes"))
    rows = np.stack([relation._weights(*product) for product in relation._workload.features.products])

    def slope(raw: np.ndarray) -> float:
        x, y, square, product, _ = rows @ raw
        noise = relation.means.noise
        assert noise is not None
        spread = square - (1 / 3) ** 2 / 6 - x * x + noise[0, 0]
        return float((product - x * y + noise[0, 1]) / spread)

    assert line.fit is not None
    assert line.fit.slopes[0] == pytest.approx(slope(estimate.raw))
    step = 1e-6
    gradient = np.array(
        [(slope(estimate.raw + step * unit) - slope(estimate.raw)) / step for unit in np.eye(len(estimate))]
    )
    error = float(np.sqrt(gradient @ estimate.covariance() @ gradient))
    assert line.fit.errors[0] == pytest.approx(error, rel=1e-4)


def test_what_is_found_is_near_the_truth_and_inside(estimate: Any) -> None:
    """At 99.9 % none of these six should fail; without the correction for rounding the first three would."""
    true = people(2_000_000, 9)
    age, minutes, plan = true["age"], true["minutes"], true["plan"]
    design = np.stack([age, plan == "pro", plan == "team", np.ones(len(age))], axis=1)
    slopes = np.linalg.lstsq(design, minutes, rcond=None)[0]
    line = estimate.regression("minutes", on=["age", "plan"])
    found = [
        (estimate.correlation("age", "minutes", level=0.999), np.corrcoef(age, minutes)[0, 1]),
        (estimate.correlation("minutes", "plan=team", level=0.999), np.corrcoef(plan == "team", minutes)[0, 1]),
        *((line.slope(name, 0.999), slopes[at]) for at, name in enumerate(("age", "plan=pro", "plan=team"))),
        (line.predict({"age": 40, "plan": "team"}, level=0.999), slopes @ [40, 0, 1, 1]),
    ]
    for answer, truth in found:
        assert answer.low <= truth <= answer.high, answer
    assert found[0][0].high - found[0][0].low < 0.2
    assert repr(line) == "<line of minutes on age, plan=pro, plan=team from 200,000 reports, epsilon 4>"


def test_an_outcome_of_two_values(estimate: Any) -> None:
    columns = {**people(50_000, 3)}
    columns["pays"] = np.where(columns["age"] > 54, "yes", "no")
    form = estimated({"age": FORM["age"], "pays": ["no", "yes"]}, columns)
    slope = form.regression("pays", on="age").slope("age", 0.999)
    true = np.polyfit(columns["age"], columns["pays"] == "yes", 1)[0]
    assert slope.low <= true <= slope.high
    assert slope.low > 0


def test_what_tables_cannot_tell_is_refused(estimate: Any) -> None:
    columns = people(5_000, 2)
    coarse = estimated({"age": sv.number(18, 90), "minutes": FORM["minutes"]}, columns)
    with refuses(SurveyError, "names") as refusal:
        coarse.correlation("age", "minutes")
    assert "number(18, 90, points=7)" in str(refusal.value)
    alone = estimated({"age": FORM["age"], "minutes": FORM["minutes"]}, columns, tables=1)
    with refuses(SurveyError, "names"):
        alone.correlation("age", "minutes")
    narrow = {"age": np.full(50_000, 54.0), "minutes": people(50_000, 2)["minutes"]}
    with refuses(SurveyError, "names") as refusal:
        estimated({"age": FORM["age"], "minutes": FORM["minutes"]}, narrow).correlation("age", "minutes")
    assert "rounding hides it" in str(refusal.value)
    for bad, field in (
        (lambda: estimate.correlation("age", "age"), "second"),
        (lambda: estimate.correlation("aeg", "minutes"), "first"),
        (lambda: estimate.correlation("plan", "minutes"), "first"),
        (lambda: estimate.regression("minutes", on=[]), "on"),
        (lambda: estimate.regression("minutes", on=["age", "age"]), "on"),
        (lambda: estimate.regression("minutes", on=["minutes"]), "on"),
        (lambda: estimate.regression("plan", on=["age"]), "outcome"),
        (lambda: estimate.regression("nothing", on=["age"]), "outcome"),
    ):
        with refuses(SurveyError, field):
            bad()
    with refuses(SurveyError, "always"):
        estimate.watched("so far").correlation("age", "minutes")
    watched, once = (one.correlation("age", "minutes") for one in (estimate.watched(), estimate))
    assert watched.high - watched.low > once.high - once.low

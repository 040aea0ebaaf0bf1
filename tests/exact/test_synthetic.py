"""Made-up records: they agree with the tables, are the same for the same seed, and say what they are."""

from __future__ import annotations

from itertools import combinations
from typing import Any

import numpy as np
import pytest

import sottovoce as sv
from refusing import refuses
from sottovoce.core.errors import SottovoceError
from sottovoce.estimates.estimate import NotEstimatedError
from sottovoce.theory.largest_entropy import SharesTable, crowd_of_pairs, listed_shares, table_of

FORM: dict[str, Any] = {
    "country": ["DE", "FR", "IT"],
    "plan": ["free", "pro"],
    "age": range(18, 22),
    "minutes": sv.number(0, 60, "minutes", points=5),
}


@pytest.fixture(scope="module")
def estimate() -> Any:
    survey = sv.Survey(sv.records(FORM), epsilon=4.0)
    rng = np.random.default_rng(1)
    country, n = rng.choice(3, 60_000, p=[0.5, 0.3, 0.2]), 60_000
    people = {
        "country": np.array(["DE", "FR", "IT"])[country],
        "plan": np.where(rng.random(n) < np.array([0.1, 0.3, 0.6])[country], "pro", "free"),
        "age": rng.integers(18, 22, n),
        "minutes": np.clip(rng.normal(20 + 8 * country, 9), 0, 60),
    }
    return survey.estimate(survey.simulate_aggregate(people, seed=1))


def test_the_listed_distribution_has_the_largest_entropy() -> None:
    """Two pairs of three attributes that share one: the third is independent of the first given the second."""
    rng = np.random.default_rng(1)
    joint = rng.dirichlet(np.ones(12)).reshape(2, 3, 2)
    first, second = joint.sum(axis=2), joint.sum(axis=0)
    parts = [np.eye(2), np.eye(3), np.eye(2)]
    _, shares = listed_shares(parts, [SharesTable((0, 1), first), SharesTable((1, 2), second)], 50)
    expected = first[:, :, None] * second[None] / second.sum(axis=1)[None, :, None]
    assert shares.reshape(2, 3, 2) == pytest.approx(expected, abs=1e-9)


def test_numbers_between_grid_points_count_for_both() -> None:
    """All at the middle of two grid points, or half at each: the table is the same, and entropy prefers neither."""
    part = np.array([[1.0, 0.0], [0.75, 0.25], [0.5, 0.5], [0.25, 0.75], [0.0, 1.0]])
    records, shares = listed_shares([part], [SharesTable((0,), np.array([0.5, 0.5]))], 50)
    assert shares == pytest.approx(np.full(5, 0.2))
    assert table_of(records, [part], [0], shares) == pytest.approx([0.5, 0.5])


def test_a_crowd_comes_near_tables_that_a_tree_does_not_hold() -> None:
    """Eight attributes that depend on one thing which is not asked: any two are related, and a tree has seven pairs."""
    rng = np.random.default_rng(2)
    people = rng.normal(size=(40_000, 8)) + 1.5 * rng.normal(size=(40_000, 1))
    cells = np.digitize(people, [-1.0, 1.0])
    parts = [np.eye(3)] * 8
    pairs = {pair: table_of(cells, parts, pair) for pair in combinations(range(8), 2)}
    singles = [table_of(cells, parts, [place]) for place in range(8)]

    def off(rounds: int) -> float:
        crowd = crowd_of_pairs(parts, singles, pairs, 4_096, rounds, np.random.default_rng(3), lambda _: None)
        return float(np.mean([np.abs(table_of(crowd, parts, pair) - pairs[pair]).sum() / 2 for pair in pairs]))

    assert off(0) > 0.06
    assert off(30) < 0.015


def test_made_up_records_agree_with_the_estimate(estimate: Any) -> None:
    made = estimate.synthesize(5_000, seed=4)
    assert len(made) == len(made.records) == 5_000
    assert {len(error.names) for error in made.errors} == {1, 2}
    assert len(made.errors) == 4 + 6
    assert max(error.distance for error in made.errors) < 0.01
    frame = made.to_pandas()
    assert frame.attrs["label"] == made.label
    assert "made-up" in made.label
    assert "epsilon 4 as before" in made.label
    table = estimate.table("country", "plan").values
    counted = np.array(
        [[((frame.country == c) & (frame.plan == p)).mean() for p in FORM["plan"]] for c in FORM["country"]]
    )
    error = next(error for error in made.errors if error.names == ("country", "plan"))
    assert np.abs(counted - table).sum() / 2 == pytest.approx(error.distance, abs=1e-9)
    assert set(frame.age) <= set(range(18, 22))
    assert frame.minutes.between(0, 60).all()
    assert frame.minutes.mean() == pytest.approx(estimate.mean("minutes").raw, abs=0.3)
    assert len(set(frame.minutes)) > 4_000  # not at grid points
    assert "pairs:" in str(made)
    assert repr(made) == "<5,000 made-up records of country, plan, age, minutes>"


def test_the_same_seed_gives_the_same_records(estimate: Any) -> None:
    assert estimate.synthesize(50, seed=4).columns == estimate.synthesize(50, seed=4).columns
    assert estimate.synthesize(50, seed=4).columns != estimate.synthesize(50, seed=5).columns


def test_many_attributes_come_near_their_pairs() -> None:
    """Too many records to list. Independent columns would be far off."""
    survey = sv.Survey(sv.records({f"f{i}": ["a", "b", "c", "d"] for i in range(9)}), epsilon=8.0)
    rng = np.random.default_rng(1)
    people = rng.normal(size=(60_000, 9)) + 1.5 * rng.normal(size=(60_000, 1))
    letters = np.array(list("abcd"))
    columns = {f"f{i}": letters[np.digitize(people[:, i], [-1.5, 0.0, 1.5])] for i in range(9)}
    estimate = survey.estimate(survey.simulate_aggregate(columns, seed=1))
    made = estimate.synthesize(3_000, seed=1)
    apart = [
        np.abs(estimate.table(*error.names).values - np.outer(*(estimate.table(n).values for n in error.names))).sum()
        / 2
        for error in made.errors
        if len(error.names) == 2
    ]
    assert np.mean([error.distance for error in made.errors if len(error.names) == 2]) < 0.25 * np.mean(apart)
    assert made.columns == estimate.synthesize(3_000, seed=1).columns


def test_forms_of_single_attributes_give_independent_columns() -> None:
    survey = sv.Survey(sv.records({"a": ["x", "y"], "b": ["u", "v"]}, tables=1), epsilon=4.0)
    estimate = survey.estimate(survey.simulate([{"a": "x", "b": "u"}, {"a": "y", "b": "v"}] * 5_000, seed=1))
    made = estimate.synthesize(4_000, seed=1)
    frame = made.to_pandas()
    assert [error.names for error in made.errors] == [("a",), ("b",)]
    both = ((frame.a == "x") & (frame.b == "u")).mean()
    assert both == pytest.approx((frame.a == "x").mean() * (frame.b == "u").mean(), abs=0.002)


def test_bad_numbers_and_other_estimates_are_refused(estimate: Any) -> None:
    with refuses(SottovoceError, "n"):
        estimate.synthesize(0, seed=1)
    with refuses(SottovoceError, "n"):
        estimate.synthesize(10**7, seed=1)
    with refuses(SottovoceError, "seed"):
        estimate.synthesize(10, seed=-1)
    with refuses(SottovoceError, "seed"):
        estimate.synthesize(10, seed="x")
    survey = sv.Survey(sv.shares(["a", "b"]), epsilon=1.0)
    with pytest.raises(NotEstimatedError):
        survey.estimate(survey.simulate(["a", "b"], seed=1)).synthesize(10, seed=1)

"""Tables of many cells: in blocks as at once, and by counted reports no less than the exact moments say."""

from __future__ import annotations

import numpy as np
import pytest

import sottovoce as sv
from sottovoce.mechanisms.projective_geometry import ProjectiveGeometry
from sottovoce.strategies.laws.variance import Population
from sottovoce.strategies.tables import combination
from sottovoce.strategies.tables.law import TableLaw


def test_blocks_of_rows_make_no_difference(monkeypatch: pytest.MonkeyPatch) -> None:
    survey = sv.Survey(sv.records({"a": range(24), "b": range(30), "c": ["x", "y", "z"]}), epsilon=1.0)
    assert any(isinstance(table.mechanism, ProjectiveGeometry) for table in survey.mechanism.tables)
    people = {"a": np.arange(3000) % 24, "b": np.arange(3000) % 30, "c": ["x", "y", "z"] * 1000}
    counted = survey.simulate_aggregate(people, seed=1)

    def found() -> list[np.ndarray]:
        estimate = survey.estimate(counted)
        known = survey.design.variance(None, Population(answers=estimate.values), 3000).value
        return [known, *estimate.interval(), estimate.table("a", "b").interval().high, estimate.influence(5).per_answer]

    whole = found()
    monkeypatch.setattr(combination, "_BLOCK", 2**12)
    for once, in_blocks in zip(whole, found(), strict=True):
        assert np.allclose(once, in_blocks, rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize("epsilon", [0.5, 2.0])
def test_counted_reports_bound_the_exact_moments(epsilon: float) -> None:
    """With as many reports of each kind as expected, limits are above E X^2, and the floor below every variance."""
    mechanism, rng = ProjectiveGeometry.best(40, epsilon), np.random.default_rng(2)
    rows, shares = rng.normal(size=(6, 40)), rng.dirichlet(np.ones(40))
    reports, place = 10**7, np.arange(6)
    counts = np.rint(reports * mechanism.report_chances(shares)).astype(np.int64)
    law = TableLaw(6, reports, 0.025)
    law.limits = 1
    law.add_geometry(mechanism, int(counts.sum()), counts, rows, place, place)
    moments = mechanism.second_moments(rows)
    assert (law.moment >= moments @ shares * (1 - 1e-5)).all()
    assert (law.moment <= moments @ shares * 1.02).all()
    assert (law.floor > 0).all()
    assert (law.floor <= (moments - rows**2).min(axis=1) * (1 + 1e-9)).all()
    assert (law.curve().at(np.zeros(6)) >= (moments @ shares - (rows @ shares) ** 2) * (1 - 1e-5)).all()

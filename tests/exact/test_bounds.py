"""Bounds on the L2 error: for raw answers the root of the total variance, for projected ones the least proved.

They are checked exactly for one and two reports of every small channel in test_strategy_registry, against measured
errors in tests/statistical/test_bounds.
"""

from __future__ import annotations

import math

import numpy as np
import pytest

import sottovoce as sv
from sottovoce.core.errors import CapacityError, MechanismError
from sottovoce.estimates.bound_curve import bound_curve
from sottovoce.mechanisms.codebook import Codebook
from sottovoce.planning.planner import plan
from sottovoce.strategies.histogram import Histogram
from sottovoce.strategies.setting import Setting
from sottovoce.workloads import Bins, Dense, Identity, Marginals, Parities, Prefix, Ranges

FIVE_COLUMNS = Marginals(k=2, age=8, income=8, height=8, weight=8, hours=8)
"""Two-way tables of five binned columns."""

WORKLOADS = {
    "prefix": Prefix(40),
    "ranges": Ranges(12),
    "identity": Identity(30),
    "bins": Bins(24, edges=[0, 5, 12, 24]),
    "marginals": Marginals(k=2, a=3, b=4, c=2),
    "parities": Parities(5, 2),
    "dense": Dense(np.random.default_rng(1).normal(size=(7, 20))),
    "five columns": FIVE_COLUMNS,
}


def designs(workload):
    for strategy in ("direct", "histogram", "haar", "hierarchical", "fourier", "factorized"):
        try:
            yield sv.Survey(sv.queries(workload), epsilon=1.0, strategy=strategy, people=10**4).design
        except MechanismError:
            continue


@pytest.mark.parametrize("name", WORKLOADS)
def test_bounds_are_never_above_the_root_of_the_variance_nor_above_the_plan(name: str) -> None:
    workload = WORKLOADS[name]
    if name == "five columns":
        found = [
            sv.Survey(sv.queries(workload), epsilon=1.0, strategy=one, people=10**4).design
            for one in ("fourier", "direct")
        ]
    else:
        found = list(designs(workload))
    assert found
    for design in found:
        for n in (1, 10, 1000, 10**5, 10**7, 10**9):
            spread = math.sqrt(design.total_variance(None, n).value)
            bias = design.operator_norm * (design.coordinate_bias + design.measured_bias)
            raw, bound = design.raw_bound(n), design.bound(n)
            assert raw.value == pytest.approx(spread + bias)
            assert raw.statement.startswith("exact total variance: sqrt(V / n)")
            assert bound.value <= raw.value * (1 + 1e-12)
            assert bound.value <= workload.diameter
            assert bound.value == design.expected_error(n)
            uniform = np.full(workload.n_values, 1 / workload.n_values)
            assert design.expected_error(n, uniform) <= bound.value


def test_the_bound_of_five_binned_columns_says_something() -> None:
    n = 100_000
    planned = plan(sv.queries(FIVE_COLUMNS), epsilon=1.0, people=n)
    survey = planned.survey()
    rng = np.random.default_rng(1)
    shares = rng.dirichlet(np.full(FIVE_COLUMNS.n_values, 0.05))
    estimate = survey.estimate(survey.simulate_aggregate(histogram=rng.multinomial(n, shares), seed=1))
    measured = float(np.linalg.norm(estimate.values - FIVE_COLUMNS.matvec(shares)))
    assert measured < estimate.bound.value == planned.l2 <= estimate.raw_bound.value < 0.65
    assert estimate.bound.value < 0.1 * FIVE_COLUMNS.diameter
    assert survey.design.name == "tables"  # which projects in the space of the answers only
    assert np.linalg.norm(estimate.values - estimate.raw) < estimate.raw_bound.value
    curve = bound_curve(survey, n)
    assert curve.l2[curve.n.index(n)] == estimate.bound.value
    assert estimate.summary()["raw_bound"] == {
        "l2": estimate.raw_bound.value,
        "statement": estimate.raw_bound.statement,
    }


@pytest.mark.parametrize("name", ["prefix", "marginals", "ranges"])
def test_answers_are_projected_where_that_has_the_lower_bound(name: str) -> None:
    """In the space of the answers no draw is farther from the truth than the raw answers."""
    workload = WORKLOADS[name]
    rng = np.random.default_rng(2)
    shares = rng.dirichlet(np.full(workload.n_values, 0.2))
    for strategy in ("histogram", "haar"):
        survey = sv.Survey(sv.queries(workload), epsilon=1.0, strategy=strategy)
        for n in (3, 100, 10_000):
            aggregate = survey.simulate_aggregate(histogram=rng.multinomial(n, shares), seed=n)
            estimate = survey.estimate(aggregate)
            design, raw = survey.design, survey.design.raw_coordinates(aggregate.counts, n)
            answers, coordinates = design._answer_bound(n), design._coordinate_bound(n)
            assert design.projects_answers(n) == (answers.value < coordinates.value)
            assert estimate.bound == min(coordinates, answers, key=float)
            if design.projects_answers(n):
                truth = workload.matvec(shares)
                assert np.linalg.norm(estimate.values - truth) <= np.linalg.norm(estimate.raw - truth) + 1e-6
            else:
                assert np.array_equal(estimate.values, design.project_coordinates(raw).values)
            behind = np.zeros(workload.n_values)
            behind[estimate.distribution.support] = estimate.distribution.weights
            assert np.allclose(workload.matvec(behind), estimate.values)


def test_without_a_variance_the_coordinates_give_the_bounds(monkeypatch: pytest.MonkeyPatch) -> None:
    (design,) = Histogram.designs(Setting(Prefix(20), 1.0, 0.0, 1000, mechanism="hadamard"))

    def too_long(self, people):
        raise CapacityError("too long")

    known = design.raw_bound(1000).value
    monkeypatch.setattr(Histogram, "_total", too_long)
    (design,) = Histogram.designs(Setting(Prefix(20), 1.0, 0.0, 1000, mechanism="hadamard"))
    assert not design.projects_answers(1000)
    assert design.bound(1000) == design._coordinate_bound(1000)
    assert design.raw_bound(1000).value > known
    assert "of the coordinates" in design.raw_bound(1000).statement


@pytest.mark.parametrize("first", [Prefix(9), Ranges(9)])
def test_inner_products_of_columns_are_those_of_the_matrix(first) -> None:
    matrix = first.dense()
    some, others = np.array([0, 3, 8]), np.arange(9)
    assert np.array_equal(first.gram(some, others), matrix[:, some].T @ matrix[:, others])


def haar(count: int, size: int, rng: np.random.Generator) -> np.ndarray:
    Q, R = np.linalg.qr(rng.normal(size=(count, size, size)))
    return Q * np.sign(np.diagonal(R, axis1=1, axis2=2))[:, None, :]


@pytest.mark.parametrize(("epsilon", "rotations", "n"), [(1.0, 1, 400), (1.0, 8, 2000), (4.0, 4, 1000)])
def test_the_expected_maximum_holds_with_shared_rotations(epsilon: float, rotations: int, n: int) -> None:
    """Uniform rotations, everybody the same vector (the worst to share), against the measured mean of the maximum.

    200 surveys: the mean's standard error is below a tenth of the bound, and the gap between the two is far larger.
    """
    size, directions, repeats = 64, 200, 200
    k = Codebook.best(size - 1, 1.0, epsilon, 0.0, n).constants
    rng = np.random.default_rng(7)
    a = rng.normal(size=(directions, size))
    a /= np.linalg.norm(a, axis=1, keepdims=True)
    u, h = a[0], k.candidates // 2
    maxima = []
    for _ in range(repeats):
        Q = haar(rotations, size, rng)
        scores = Q @ u
        ranks = np.argsort(np.argsort(-np.abs(scores).reshape(rotations, -1, h)), axis=-1).reshape(rotations, size)
        chances = np.full((rotations, size, 2), (1 - k.inside) / (k.candidates - k.marked))
        sign = (scores < 0).astype(int)[..., None]
        top = np.where(ranks < k.marked, k.inside / k.marked, chances[..., 0])[..., None]
        np.put_along_axis(chances, sign, top, axis=2)
        counts = rng.multinomial(n, chances.reshape(-1) / chances.sum()).reshape(chances.shape)
        estimate = np.einsum("pk,pkj->j", counts[..., 0] - counts[..., 1], Q) / (k.scale * n)
        maxima.append(float(((estimate - u) @ a.T).max()))
    stated = k.expected_maximum(rotations, directions, n)
    assert np.mean(maxima) < stated < 3 * np.mean(maxima)
    assert k.expected_maximum(rotations, 1, n) == 0

"""E[(weights.x)^2 | value] of one report's estimate x: fast forms against sums over every report."""

from __future__ import annotations

from functools import cache

import numpy as np
import pytest
from numpy.typing import NDArray

from refusing import refuses
from sottovoce.core.errors import MechanismError
from sottovoce.mechanisms import FiniteMechanism, create, serving
from sottovoce.mechanisms import finite as finite_module
from sottovoce.mechanisms.projective_geometry import ProjectiveGeometry
from sottovoce.mechanisms.subset_selection import SubsetSelection
from sottovoce.mechanisms.symmetric import SymmetricMechanism

Floats = NDArray[np.float64]

every_mechanism = pytest.mark.parametrize("name", serving(FiniteMechanism))
SYMMETRIC = [
    name for name in serving(FiniteMechanism) if issubclass(serving(FiniteMechanism)[name], SymmetricMechanism)
]


@cache
def channel(mechanism: FiniteMechanism) -> tuple[Floats, Floats]:
    """P(report | value), and what each report alone would estimate."""
    chances, estimates = [], []
    for report in mechanism.outputs():
        counts = mechanism.empty()
        payload = np.frombuffer(mechanism.encode(report), dtype=np.uint8)
        mechanism.count_encoded(counts, payload[None, :])
        estimates.append(mechanism.estimate(counts, 1))
        chances.append([float(mechanism.probability(report, value)) for value in range(mechanism.domain_size)])
    return np.array(chances), np.array(estimates)


def summed(mechanism: FiniteMechanism, weights: Floats) -> Floats:
    """The moments by their definition."""
    chances, estimates = channel(mechanism)
    return np.asarray(np.square(weights @ estimates.T) @ chances)


def some_weights(domain_size: int) -> Floats:
    """Of either sign, constant, a unit vector, and nearly constant."""
    drawn = np.random.default_rng(1).normal(size=(3, domain_size))
    return np.vstack([drawn, np.ones(domain_size), np.eye(domain_size)[-1], 1000 + drawn[:1]])


@every_mechanism
@pytest.mark.parametrize("epsilon", [0.5, 1.0, 4.0])
def test_they_are_the_sums_over_the_channel(name: str, epsilon: float) -> None:
    for mechanism in serving(FiniteMechanism)[name].miniatures(epsilon):
        weights = some_weights(mechanism.domain_size)
        np.testing.assert_allclose(mechanism.second_moments(weights), summed(mechanism, weights), rtol=1e-9)


@every_mechanism
@pytest.mark.parametrize("domain_size", [1000, 1021])
def test_at_one_thousand_values_a_unit_vector_gives_the_variance(name: str, domain_size: int) -> None:
    """With everybody at u, n times the variance of p(v) is M(u) - [u = v]."""
    mechanism = create(name, domain_size, 2.0)
    for v in (0, 17, domain_size - 1):
        moments = mechanism.second_moments(np.eye(domain_size)[v])
        for u in (0, 16, v):
            everybody = np.eye(domain_size)[u]
            np.testing.assert_allclose(moments[u] - (u == v), mechanism.variance(everybody, 1)[v], rtol=1e-9)


@every_mechanism
def test_at_one_thousand_values_two_weights_of_opposite_sign_obey_the_parallelogram(name: str) -> None:
    """M of the sum and of the difference add up to twice both M: what a quadratic form does and nothing else."""
    mechanism = create(name, 1000, 1.0)
    first, second = np.random.default_rng(2).normal(size=(2, 1000))
    moments = mechanism.second_moments(np.array([first + second, first - second, first, second]))
    np.testing.assert_allclose(moments[0] + moments[1], 2 * (moments[2] + moments[3]), rtol=1e-9)


@pytest.mark.parametrize("name", ["randomized_response", "hadamard", "hadamard_blocks", "projective_geometry"])
def test_at_one_thousand_values_they_are_the_sums_over_the_channel(name: str) -> None:
    """Where a report is a number there are few enough to go through all, for some values."""
    mechanism = create(name, 1000, 2.0)
    weights = np.random.default_rng(3).normal(size=1000)
    answers = np.array([mechanism.estimate(alone, 1) @ weights for alone in np.eye(mechanism.cells, dtype=np.int64)])
    moments = mechanism.second_moments(weights)
    for value in (0, 500, 999):
        chances = np.array([float(mechanism.probability(report, value)) for report in mechanism.outputs()])
        np.testing.assert_allclose(moments[value], chances @ answers**2, rtol=1e-9)


@every_mechanism
def test_a_row_is_answered_as_among_many(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    mechanism = create(name, 37, 1.0)
    rows = np.random.default_rng(5).normal(size=(9, 37))
    together = mechanism.second_moments(rows)
    assert together.shape == rows.shape
    monkeypatch.setattr(finite_module, "_BLOCK", 4 * mechanism.cells)
    np.testing.assert_allclose(mechanism.second_moments(rows), together, rtol=1e-12)
    np.testing.assert_allclose([mechanism.second_moments(row) for row in rows], together, rtol=1e-12)


@every_mechanism
def test_the_weights_are_left_alone_and_no_weights_have_no_moments(name: str) -> None:
    mechanism = create(name, 5, 1.0)
    weights = np.arange(5.0)
    weights.flags.writeable = False
    assert (mechanism.second_moments(weights) > 0).all()
    assert mechanism.second_moments(np.zeros(5)).tolist() == [0.0] * 5
    assert mechanism.second_moments(np.empty((0, 5))).shape == (0, 5)


@pytest.mark.parametrize("name", ["randomized_response", "subset_selection"])
@pytest.mark.parametrize("domain_size", [1000, 1_000_000])
def test_constant_weights_lose_no_digits_where_reports_support_equally_many(name: str, domain_size: int) -> None:
    """Every report's estimates add up to one, however noisy each of them is."""
    mechanism = RESTORED[name](domain_size)
    np.testing.assert_allclose(mechanism.second_moments(np.ones(domain_size)), 1.0, rtol=1e-12)
    constant = np.float64(domain_size), np.float64(domain_size), np.float64(1)
    np.testing.assert_allclose(mechanism.pair_moments.second_moment(*constant), 1.0, rtol=1e-12)


RESTORED = {
    "randomized_response": lambda size: serving(FiniteMechanism)["randomized_response"](size, 1.0),
    "subset_selection": lambda size: SubsetSelection(size, 1.0, 3),
}


def test_constant_weights_lose_no_digits_in_projective_geometry() -> None:
    mechanism = ProjectiveGeometry(553, 3.0, 23, 3)
    assert mechanism.cells == 553
    np.testing.assert_allclose(mechanism.second_moments(np.full(553, 1e6)), 1e12, rtol=1e-12)


@pytest.mark.parametrize("name", SYMMETRIC)
def test_pair_moments_are_the_matrix_of_second_moments(name: str) -> None:
    for mechanism in serving(FiniteMechanism)[name].miniatures(1.0):
        assert isinstance(mechanism, SymmetricMechanism)
        moments, size = mechanism.pair_moments, mechanism.domain_size
        chances, estimates = channel(mechanism)
        for u in range(size):
            exact = estimates.T @ (chances[:, [u]] * estimates)
            own = np.zeros((size, size))
            own[u] += 1
            own[:, u] += 1
            stated = moments.same * np.eye(size) + moments.all + moments.own * own
            stated[u, u] += moments.itself
            np.testing.assert_allclose(stated, exact, rtol=1e-9, atol=1e-12 * exact.max())


@pytest.mark.parametrize("name", SYMMETRIC)
def test_pair_moments_from_norms_and_sums_alone(name: str) -> None:
    mechanism = create(name, 5, 1.0)
    assert isinstance(mechanism, SymmetricMechanism)
    rows = np.random.default_rng(6).normal(size=(4, 5))
    norms, sums = np.square(rows).sum(axis=1, keepdims=True), rows.sum(axis=1, keepdims=True)
    found = mechanism.pair_moments.second_moment(norms, sums, rows)
    np.testing.assert_allclose(found, mechanism.second_moments(rows), rtol=1e-12)


@every_mechanism
def test_the_default_goes_through_all_reports(name: str) -> None:
    """What a mechanism gets that writes no form of its own."""
    mechanism = serving(FiniteMechanism)[name].miniatures(1.0)[0]
    weights = some_weights(mechanism.domain_size)
    listed = FiniteMechanism._second_moments(mechanism, weights)
    np.testing.assert_allclose(listed, mechanism.second_moments(weights), rtol=1e-9)


def test_the_default_refuses_too_many_reports(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(finite_module, "MOST_LISTED", 25)
    small, large = create("randomized_response", 5, 1.0), create("randomized_response", 6, 1.0)
    FiniteMechanism._second_moments(small, np.ones((1, 5)))
    with pytest.raises(MechanismError, match=r"6 values has too many reports .* implement the mechanism's _second"):
        FiniteMechanism._second_moments(large, np.ones((1, 6)))


@pytest.mark.parametrize("shape", [(), (4,), (6,), (5, 4), (5, 1), (2, 2, 5)])
def test_weights_that_are_not_one_for_every_value_are_refused(shape: tuple[int, ...]) -> None:
    with refuses(MechanismError, "weights"):
        create("hadamard", 5, 1.0).second_moments(np.ones(shape))

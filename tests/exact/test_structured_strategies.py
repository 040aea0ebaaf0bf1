"""Hierarchical, Haar and Fourier strategies: devices conform, and every mean and variance equals its enumeration."""

from __future__ import annotations

import math
from itertools import pairwise

import numpy as np
import pytest

from refusing import refuses
from sottovoce.auditing.conformance import check_instance
from sottovoce.core.errors import (
    CapacityError,
    MechanismError,
    NoReportsError,
    SurveyError,
    WorkloadError,
)
from sottovoce.domain import Domain
from sottovoce.mechanisms.channel import ChannelMechanism
from sottovoce.mechanisms.fourier import Fourier
from sottovoce.mechanisms.haar import Haar
from sottovoce.mechanisms.hierarchical import Hierarchical
from sottovoce.mechanisms.sampled import MAX_TILT, tilted_weights
from sottovoce.projections import project_hull
from sottovoce.randomness import os_source, within_epsilon
from sottovoce.strategies.fourier import FourierStrategy
from sottovoce.strategies.laws.variance import Population
from sottovoce.strategies.sampled import SampledStrategy
from sottovoce.strategies.trees.haar import HaarStrategy
from sottovoce.strategies.trees.hierarchical import HierarchicalStrategy
from sottovoce.workloads import Bins, Dense, Identity, Marginals, Parities, Prefix, Ranges
from sottovoce.workloads.base import Workload

RECORDS = Domain.product(a=range(3), b=range(2), c=range(4))
BITS = Domain.product(x=range(2), y=range(2), z=range(2))


def line_workloads(size: int) -> list[Workload]:
    """Every family that is analysed by structure, and one by its matrix."""
    return [
        Prefix(size),
        Ranges(size),
        Identity(size),
        Bins(range(size), [size // 3, size - 1, size]),
        Dense(np.random.default_rng(3).normal(size=(4, size))),
    ]


PRODUCT_WORKLOADS: list[Workload] = [
    Marginals(RECORDS, 1),
    Marginals(RECORDS, 2),
    Marginals(RECORDS, 3),
    Marginals(BITS, 2),
    Parities(4, 2),
    Parities(BITS, 3),
    Identity(5),
    Identity(BITS),
    Bins(range(6), [1, 3, 6]),
    Bins(RECORDS, [0, 1, 3], attribute="a"),
    Bins(RECORDS, 3, attribute="c"),
]


def fourier(workload: Workload, epsilon: float, tilt: int) -> FourierStrategy:
    """The strategy with a tilt of ours."""
    m = FourierStrategy.best(workload, epsilon).mechanism
    return FourierStrategy(workload, Fourier(m.domain_size, epsilon, m.sizes, m.order, m.only, tilt))


def channel(mechanism: ChannelMechanism) -> np.ndarray:
    """P(report | value), one row a value."""
    values = range(mechanism.domain_size)
    return np.array([[float(mechanism.probability(z, u)) for z in mechanism.outputs()] for u in values])


def check_by_enumeration(strategy: SampledStrategy) -> np.ndarray:
    """Compare all that a strategy states with sums over its channel; returns V, one row a coordinate."""
    A = strategy.workload.dense()
    J = A.shape[1]
    P = channel(strategy.mechanism)
    V = np.array([strategy.coordinates.column(u) for u in range(J)]).T
    raw = np.array([strategy.raw_coordinates(count, 1) for count in np.eye(P.shape[1], dtype=np.int64)])
    assert np.allclose(P @ raw, V.T), "raw coordinates are biased"
    square = float(1 / strategy.mechanism.signal**2)
    for row in P:
        assert np.allclose((raw.T * row) @ raw, square * np.eye(len(V))), "noise is not the same in all directions"
    answers = np.array([strategy.answers(v) for v in raw])
    assert np.allclose(P @ answers, A.T), "answers are biased"
    second = P @ answers**2
    noise = (second - A.T**2).sum(axis=1)
    assert np.allclose([strategy.total_variance(one).value for one in np.eye(J)], noise)
    assert np.allclose((strategy.worst, strategy.total), (noise.max(), noise.mean()))
    assert np.isclose(strategy.moment, strategy.central_moments().sum())
    p = np.random.default_rng(1).dirichlet(np.ones(J))
    exact = (p @ second - (A @ p) ** 2) / 7
    assert np.allclose(strategy.variance(None, Population.answering(A @ p), 7).value, exact)
    assert np.allclose(strategy.answers(V @ p), A @ p), "consistent coordinates are not answered exactly"
    y = np.random.default_rng(2).normal(size=len(V))
    assert np.allclose(strategy.coordinates.matvec(p), V @ p)
    assert np.allclose(strategy.coordinates.rmatvec(y), y @ V)
    return V


@pytest.mark.parametrize("epsilon", [0.5, 1.0, 3.0])
@pytest.mark.parametrize("kind", [Hierarchical, Haar, Fourier])
def test_devices_conform(kind: type[ChannelMechanism], epsilon: float) -> None:
    for mechanism in kind.miniatures(epsilon):
        check_instance(mechanism)


@pytest.mark.parametrize(
    ("size", "epsilon", "tilt"), [(2, 0.5, 0), (3, 1.0, 8), (6, 3.0, -5), (8, 1.0, 3), (13, 0.5, 0)]
)
def test_haar_by_enumeration(size: int, epsilon: float, tilt: int) -> None:
    for workload in line_workloads(size):
        check_by_enumeration(HaarStrategy(workload, Haar(size, epsilon, tilt)))


@pytest.mark.parametrize(
    ("size", "epsilon", "branching", "tilt"),
    [(2, 0.5, 2, 0), (3, 1.0, 2, 8), (6, 3.0, 6, 0), (7, 0.5, 3, -5), (9, 1.0, 3, 0), (13, 2.0, 3, 6), (11, 1.0, 4, 0)],
)
def test_hierarchical_by_enumeration(size: int, epsilon: float, branching: int, tilt: int) -> None:
    for workload in line_workloads(size):
        strategy = HierarchicalStrategy(workload, Hierarchical(size, epsilon, branching, tilt))
        V = check_by_enumeration(strategy)
        # No linear unbiased answers have less noise: Gauss-Markov over p = e_last + Z q, whose shares sum to one.
        A = workload.dense()
        Z = np.vstack([np.eye(size - 1), -np.ones(size - 1)])
        covariance = Z @ np.linalg.inv((V @ Z).T @ (V @ Z)) @ Z.T / float(strategy.mechanism.signal) ** 2
        assert np.allclose(np.diag(A @ covariance @ A.T), strategy.central_moments())


@pytest.mark.parametrize("workload", PRODUCT_WORKLOADS, ids=repr)
def test_fourier_by_enumeration(workload: Workload) -> None:
    for epsilon, tilt in ((0.5, 0), (2.0, 6)):
        check_by_enumeration(fourier(workload, epsilon, tilt))


@pytest.mark.parametrize("size", [100, 128, 129, 250])
def test_sums_in_closed_form(size: int) -> None:
    for workload in (Prefix(size), Ranges(size), Identity(size)):
        strategies: list[SampledStrategy] = [HaarStrategy(workload, Haar(size, 1.0, 2))]
        strategies += [HierarchicalStrategy(workload, Hierarchical(size, 1.0, b, -3)) for b in (2, 3, 7, size)]
        for strategy in strategies:
            assert math.isclose(strategy.moment, strategy.central_moments().sum(), rel_tol=1e-10)


def test_intervals_and_rows_agree() -> None:
    size = 50
    for workload in line_workloads(size)[:4]:
        plain = Dense(workload.dense())
        mechanism = Hierarchical(size, 1.0, 4, 2)
        structured, by_matrix = HierarchicalStrategy(workload, mechanism), HierarchicalStrategy(plain, mechanism)
        assert np.allclose(structured.central_moments(), by_matrix.central_moments())
        assert np.isclose(structured.worst, by_matrix.worst)


@pytest.mark.parametrize(
    "workload", [Prefix(100), Ranges(60), Identity(64), Bins(range(100), [0, 50, 75, 100])], ids=repr
)
def test_best_leaves_no_better_weights(workload: Workload) -> None:
    size, tilts = workload.shape[1], range(-MAX_TILT, MAX_TILT + 1)
    haar = min(HaarStrategy(workload, Haar(size, 1.0, t)).moment for t in tilts)
    assert HaarStrategy.best(workload, 1.0).moment == haar
    tree = min(
        HierarchicalStrategy(workload, Hierarchical(size, 1.0, b, t)).moment for t in tilts for b in (2, 3, 4, 8, size)
    )
    assert HierarchicalStrategy.best(workload, 1.0).moment <= tree


def test_best_leaves_no_better_weights_of_tables() -> None:
    workload = Marginals(k=3, **{f"bit{i}": 2 for i in range(8)})
    best = FourierStrategy.best(workload, 1.0)
    moments = {tilt: fourier(workload, 1.0, tilt).moment for tilt in range(-MAX_TILT, MAX_TILT + 1)}
    assert best.moment == min(moments.values()) < 0.8 * moments[0]


def test_weights_are_small_integers() -> None:
    for tilt in range(-MAX_TILT, MAX_TILT + 1):
        weights = tilted_weights(40, tilt)
        assert len(weights) == 40
        assert min(weights) >= 1
        assert sum(weights) <= 40 * 2**10
        assert all((a <= b) if tilt >= 0 else (a >= b) for a, b in pairwise(weights))


def test_prefixes_beat_noise_per_query() -> None:
    """A level-sampling tree needs about c^2 J log^2 J/12, a vector mechanism 6.33 J^2 at epsilon 1."""
    c = 1 / math.tanh(0.5)
    for size in (128, 1024, 2**20):
        haar, tree = (kind.best(Prefix(size), 1.0).worst for kind in (HaarStrategy, HierarchicalStrategy))
        levels = math.log2(size)
        assert haar == pytest.approx(c**2 * size * levels * (levels / 12 + 1 / 18), rel=0.01)
        assert haar < tree < 1.2 * haar
        assert tree < 6.33 * size**2 / 30


@pytest.mark.parametrize("kind", [HaarStrategy, HierarchicalStrategy])
def test_products_of_a_large_domain_are_adjoint(kind: type[HaarStrategy] | type[HierarchicalStrategy]) -> None:
    size, rng = 10**6, np.random.default_rng(5)
    V = kind.best(Prefix(size), 1.0).coordinates
    x, y = rng.normal(size=size), rng.normal(size=V.shape[0])
    assert math.isclose(V.matvec(x) @ y, x @ V.rmatvec(y), rel_tol=1e-9, abs_tol=1e-6)
    j = 777_777
    assert math.isclose(V.rmatvec(y)[j], V.column(j) @ y, rel_tol=1e-9, abs_tol=1e-9)


def simulated(strategy: SampledStrategy, p: np.ndarray, n: int) -> np.ndarray:
    """Raw coordinates of n simulated people."""
    rng = np.random.default_rng(11)
    counts = strategy.mechanism.empty()
    values = rng.choice(len(p), size=n, p=p)
    strategy.mechanism.count_into(counts, strategy.mechanism.randomize_many(values, rng))
    return strategy.raw_coordinates(counts, n)


def test_a_large_domain_end_to_end() -> None:
    """Bernstein's inequality for each of the J answers, false alarm 1e-8 in all.

    An answer is a mean of n independent terms with the stated variance. In one report only one difference of halves
    moves a prefix sum, by at most half of c/q, so a term is within M = c/(2 q) + 1 of its mean, and a deviation above
    sqrt(2 Var L) + 2 M L/(3 n) has a probability of at most 2 exp(-L).
    """
    size, n = 3000, 200_000
    p = np.exp(-(((np.arange(size) - 900) / 300) ** 2))
    p /= p.sum()
    strategy = HaarStrategy(Prefix(size), Haar(size, 1.0))
    v = simulated(strategy, p, n)
    truth = strategy.workload.matvec(p)
    L = math.log(2 * size / 1e-8)
    M = len(strategy.mechanism.spans) / (2 * float(strategy.mechanism.signal)) + 1
    tolerance = np.sqrt(2 * strategy.variance(None, p, n).value * L) + 2 * M * L / (3 * n) + 1e-12
    assert (np.abs(strategy.answers(v) - truth) <= tolerance).all()
    assert not (np.abs(strategy.answers(1.5 * v) - truth) <= tolerance).all(), "a wrong scale must be noticed"


def test_projection_in_coordinates_is_least_squares_over_distributions() -> None:
    size, n = 400, 50_000
    p = np.random.default_rng(7).dirichlet(np.ones(size))
    for kind in (HaarStrategy, HierarchicalStrategy):
        strategy = kind.best(Prefix(size), 1.0)
        v = simulated(strategy, p, n)
        V = np.array([strategy.coordinates.column(u) for u in range(size)]).T
        found, dense = project_hull(strategy.coordinates, v), project_hull(V, v)
        assert found.converged
        assert np.allclose(found.values, dense.values, atol=1e-7)
        # Both the truth and the projection are in the hull, so the projection is the nearer one in every draw.
        assert np.linalg.norm(found.values - V @ p) <= np.linalg.norm(v - V @ p)


@pytest.mark.parametrize("size", [2, 7, 16, 50])
def test_inner_products_of_columns(size: int) -> None:
    some, all_of_them = np.array([0, size // 2, size - 1]), np.arange(size)
    for mechanism in (Haar(size, 1.0, 3), Hierarchical(size, 1.0, 2, -2)):
        kind = HaarStrategy if isinstance(mechanism, Haar) else HierarchicalStrategy
        V = kind(Prefix(size), mechanism).coordinates
        assert np.allclose(V.gram(some, all_of_them), V.columns(some) @ V.columns(all_of_them).T)


def test_tables_of_many_attributes_need_no_list_of_records() -> None:
    workload = Marginals(k=1, **{f"bit{i}": 2 for i in range(40)})
    strategy = FourierStrategy.best(workload, 1.0)
    c2 = float(1 / strategy.mechanism.signal) ** 2
    # A cell is (1 +- theta)/2, theta reported on by one in forty.
    assert np.allclose(strategy.central_moments(), c2 * 40 / 4)
    assert strategy.worst == pytest.approx(80 * c2 * 40 / 4 - 40 / 2)
    v = strategy.coordinates.column(2**39)
    assert strategy.answers(v)[:4].tolist() == [0.0, 1.0, 1.0, 0.0]
    with pytest.raises(CapacityError, match="40 bits"):
        strategy.coordinates.rmatvec(v)


@pytest.mark.parametrize("mechanism", [Haar(2**40, 1.0), Hierarchical(2**40 - 7, 1.0, 3, 2)], ids=repr)
def test_devices_of_huge_domains(mechanism: Haar | Hierarchical) -> None:
    source = os_source()
    for value in (0, 12345678901, mechanism.domain_size - 1):
        report = mechanism.randomize(value, source)
        assert mechanism.decode(mechanism.encode(report)) == report
        assert mechanism.probability(report, value) > 0
    assert within_epsilon(mechanism.privacy_ratio(), 1.0)
    assert mechanism.report_bytes == 6


def test_bad_parameters_are_refused() -> None:
    for branching, tilt, field in ((1, 0, "branching"), (9, 0, "branching"), (2, 16, "tilt")):
        with refuses(SurveyError, field):
            Hierarchical(8, 1.0, branching, tilt)
    with refuses(SurveyError, "tilt"):
        Haar(8, 1.0, -16)
    for sizes, order, only, field in (
        ((2, 2), 1, 0, "sizes"),
        ((8,), 2, 0, "order"),
        ((8,), 1, 2, "only"),
        ((2, 4), 2, 1, "order"),
        ((), 1, 0, "sizes"),
        ((8, 1), 1, 2, "sizes[1]"),
    ):
        with refuses(SurveyError, field):
            Fourier(8, 1.0, sizes, order, only)
    with refuses(SurveyError, "order"):
        Fourier(2**40, 1.0, (2,) * 40, 40)


def test_misuse_is_refused() -> None:
    strategy = HaarStrategy.best(Prefix(8), 1.0)
    with refuses(MechanismError, "mechanism"):
        HaarStrategy(Prefix(9), strategy.mechanism)
    with pytest.raises(NoReportsError):
        strategy.raw_coordinates(strategy.mechanism.empty(), 0)
    with pytest.raises(WorkloadError, match="coordinates"):
        strategy.answers(np.zeros(3))
    large = Bins(Domain.product(a=range(100), b=range(100)), 10, attribute="a")
    assert not HaarStrategy.serves(large)
    with refuses(WorkloadError, "workload"):
        HierarchicalStrategy.best(large, 1.0)
    assert FourierStrategy.serves(large)
    with refuses(WorkloadError, "workload"):
        FourierStrategy.best(Prefix(8), 1.0)
    with refuses(MechanismError, "mechanism"):
        FourierStrategy(Parities(3, 1), Fourier(8, 1.0, (2, 2, 2), 2))
